"""JSON is written piece by piece, and is to the character what the standard library writes at once."""

import json
from typing import Any

import pytest

from cron2queue.report.written import Each, pieces

VALUES: list[Any] = [
    {},
    [],
    {"a": {}, "b": [], "c": [1, 2.5, -0.0, 1e300], "d": None, "e": True, "f": 'ü "quoted" \\ \n \x1f \u2028 \ud83d\ude00'},
    {"rows": [{"x": [], "y": {"z": [[1], [], {"deep": False}]}}, {"x": ["a", "b"]}], "ä": "€"},
    [[{"a": [{}]}], 0, "", None],
]


def whole(value: Any, *, ascii_only: bool) -> str:
    return json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False) + "\n"


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_it_is_what_the_library_writes(value: Any, ascii_only: bool) -> None:
    assert "".join(pieces(value, ascii_only=ascii_only)) == whole(value, ascii_only=ascii_only)
    each = {"first": 1, "items": Each(lambda item: item, VALUES), "none": Each(str, []), "inside": [{"items": Each(str, "ab")}]}
    made = {"first": 1, "items": VALUES, "none": [], "inside": [{"items": ["a", "b"]}]}
    assert "".join(pieces(each, ascii_only=ascii_only)) == whole(made, ascii_only=ascii_only)


def test_an_item_is_made_when_it_is_its_turn() -> None:
    made: list[int] = []

    def make(item: int) -> int:
        made.append(item)
        return item

    written = pieces({"items": Each(make, range(3))}, ascii_only=False)
    while "1" not in next(written):
        pass
    assert made == [0, 1]


def test_what_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        list(pieces({"share": float("nan")}, ascii_only=False))
