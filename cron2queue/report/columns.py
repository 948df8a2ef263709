"""Text measured and laid out in screen columns: East Asian characters take two, combining marks none."""

import unicodedata


def columns(text: str) -> int:
    """How many columns of a terminal the (safe) text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(c) for c in text)


def _width(c: str) -> int:
    if unicodedata.combining(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def fitted(text: str, width: int, *, mark: str = "…", right: bool = False) -> str:
    """Exactly `width` columns: padded, or cut with a mark. Redact and make safe first."""
    if text.isascii() and len(text) <= width:
        return text.rjust(width) if right else text.ljust(width)
    cut = text if columns(text) <= width else _head(text, width - len(mark)) + mark[: max(width, 0)]
    pad = " " * (width - columns(cut))
    return pad + cut if right else cut + pad


def _head(text: str, width: int) -> str:
    if text.isascii():
        return text[: max(0, width)]
    used = 0
    for index, c in enumerate(text):
        used += _width(c)
        if used > width:
            return text[:index]
    return text


def folded(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken at blanks, and inside a word only when it alone is wider."""
    width = max(width, 4)
    if columns(text) <= width and not text.startswith(" "):
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if columns(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        while columns(word) > width:
            head = _head(word, width)
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line] if line or not lines else lines
