"""Foreign text (crontabs, logs, database rows) made safe to show, and bytes made text without loss."""

import unicodedata

from cron2queue.expressions import regex

# Blank to the eye, yet not control or format characters: fillers, joiners, variation selectors, the empty Braille cell.
_BLANK = regex("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_MARKS_IN_A_ROW = 2  # more accents on one letter than any language needs climb over the neighbouring lines


def to_text(data: bytes) -> str:
    """Decode as UTF-8; bytes that are not become lone surrogates, so that `to_bytes` gives the same bytes back."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The inverse of `to_text`, for any text that came from it."""
    return text.encode("utf-8", "surrogateescape")


def escape(character: str) -> str:
    """One character as `\\xNN`, `\\uNNNN` or `\\UNNNNNNNN`; a byte that was not UTF-8 as the byte it was."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe_text(text: str) -> str:
    """One line that no terminal, log or page can be steered by.

    Control, bidi and invisible characters, spaces that are not U+0020 (cron does not take them for blanks), piled-up
    accents and invalid bytes are shown as `\\xNN` or `\\uNNNN`. Markup of the place where the text is shown (rich,
    HTML, Markdown) is that place's own matter.
    """
    if text.isascii():
        return text if text.isprintable() else "".join(c if c.isprintable() else escape(c) for c in text)
    return "".join(_shown(text))


def _shown(text: str) -> list[str]:
    shown: list[str] = []
    marks = _MARKS_IN_A_ROW  # an accent at the very start would sit on our own last character
    for c in text:
        if c.isascii() or not unicodedata.combining(c):
            marks = 0
            shown.append(c if c.isprintable() and not _BLANK.match(c) else escape(c))
        else:
            marks += 1
            shown.append(c if marks <= _MARKS_IN_A_ROW and not _BLANK.match(c) else escape(c))
    return shown


def ascii_text(text: str) -> str:
    """Safe text in ASCII alone, for terminals and files that cannot hold more: the rest is escaped like a control."""
    shown = safe_text(text)
    return shown if shown.isascii() else "".join(c if c.isascii() else escape(c) for c in shown)


def cut(text: str, width: int, *, mark: str = "…") -> str:
    """At most `width` characters, with a mark where something was cut. Redact and make safe first."""
    return text if len(text) <= width else text[: max(0, width - len(mark))] + mark[: max(0, width)]


def cut_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut on a character boundary; lone surrogates become `?`."""
    data = text.encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")
