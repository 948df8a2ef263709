"""JSON piece by piece, to the character as `json.dumps(..., indent=2)` has it: a fleet's would fill the memory."""

from __future__ import annotations

from json import dumps
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Each:
    """A list whose items are made when it is their turn, and are gone when they are written."""

    def __init__(self, make: Callable[[Any], object], items: Iterable[Any]) -> None:
        self._make, self._items = make, items

    def __iter__(self) -> Iterator[object]:
        return map(self._make, self._items)


def pieces(value: object, *, ascii_only: bool) -> Iterator[str]:
    """The text of a value of dicts, lists and plain values; every `Each` in it is one piece an item."""
    writer = _Writer(encode_basestring_ascii if ascii_only else encode_basestring)
    yield from writer.pieces(value, "\n")
    yield "\n"


class _Writer:
    def __init__(self, text: Callable[[str], str]) -> None:
        self._text = text

    def pieces(self, value: object, lead: str) -> Iterator[str]:
        """`lead`: a line break and the blanks in front of what closes the value."""
        inner, before = lead + "  ", ""
        if isinstance(value, dict):
            for name, each in value.items():
                yield f"{before}{inner}{self._text(name)}: " if before else f"{{{inner}{self._text(name)}: "
                yield from self.pieces(each, inner)
                before = ","
            yield f"{lead}}}" if before else "{}"
        elif isinstance(value, Each) or (isinstance(value, list) and any(isinstance(each, dict | list) for each in value)):
            for each in value:
                yield f"{before}{inner}" if before else f"[{inner}"
                yield self._whole(each, inner) if isinstance(value, Each) else "".join(self.pieces(each, inner))
                before = ","
            yield f"{lead}]" if before else "[]"
        else:
            yield self._whole(value, lead)

    def _whole(self, value: object, lead: str) -> str:
        if isinstance(value, str):
            return self._text(value)
        if value is None:
            return "null"
        if type(value) is int:
            return str(value)
        if not value or not isinstance(value, dict | list):
            return dumps(value, allow_nan=False)  # makes an encoder each time: what comes often is written above
        inner = lead + "  "
        if isinstance(value, dict):
            parts = [f"{self._text(name)}: {self._whole(each, inner)}" for name, each in value.items()]
            return f"{{{inner}{f',{inner}'.join(parts)}{lead}}}"
        return f"[{inner}{f',{inner}'.join([self._whole(each, inner) for each in value])}{lead}]"
