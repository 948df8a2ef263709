"""Foreign text (crontabs, logs, database rows) made safe to show, and bytes made text without loss."""

import re
import unicodedata

# C0, DEL, C1, surrogates (bytes that were not UTF-8), line and paragraph separators, and everything that reorders text.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufeff{_BIDI}]")
_INVISIBLE = frozenset({"Cf", "Cc", "Cs", "Co", "Cn"})


def to_text(data: bytes) -> str:
    """Decode as UTF-8; bytes that are not become lone surrogates, so that `to_bytes` gives the same bytes back."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The inverse of `to_text`, for any text that came from it."""
    return text.encode("utf-8", "surrogateescape")


def _visible(match: re.Match[str]) -> str:
    return _escape(match.group())


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: show the byte that it stands for
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe_text(text: str) -> str:
    """One line that no terminal, log or page can be steered by.

    Control, bidi and invisible format characters and invalid bytes are shown as `\\xNN` or `\\uNNNN`. Markup of the
    place where it is shown (rich, HTML, Markdown) is that place's own matter.
    """
    shown = _UNSAFE.sub(_visible, text)
    if shown.isascii():
        return shown
    return "".join(_escape(c) if unicodedata.category(c) in _INVISIBLE else c for c in shown)


def cut(text: str, width: int, *, mark: str = "…") -> str:
    """At most `width` characters, with a mark where something was cut. Redact and make safe first."""
    return text if len(text) <= width else text[: max(0, width - len(mark))] + mark


def cut_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut on a character boundary; lone surrogates become `?`."""
    data = text.encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")
