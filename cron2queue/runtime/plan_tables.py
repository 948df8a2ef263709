"""Reading tables of the plan: each key by its own reader, and each mistake with its file, line, key and remedy."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cron2queue.errors import UsageError


class Unfit(ValueError):
    """A value is not what its key takes; the text completes "... must be". `words` are all that it takes, if it takes words."""

    def __init__(self, text: str, words: Collection[str] = ()) -> None:
        super().__init__(text)
        self.words = frozenset(map(str, words))

    def remedy(self, value: object) -> str:
        """What was meant, where that can be guessed."""
        meant = did_you_mean(value, self.words) if self.words and isinstance(value, str) else ""
        return meant if meant.startswith("did you mean") else f"write {self}"


def did_you_mean(word: str, known: Mapping[str, object] | frozenset[str]) -> str:
    """The remedy for a word that is not known."""
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}" if known else "the plan names none"


class Misplaced(UsageError):
    """A mistake in the plan, at a key of a table or at the table itself."""

    def __init__(self, message: str, *, table: str, key: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.table = table
        self.key = key


def read_table(
    table: object, where: str, readers: Mapping[str, Callable[[object], Any]], *, others: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The values of a table of the plan by the names of their fields; keys of `others` are somebody else's to read.

    Raises Misplaced for what cannot stand there.
    """
    if not isinstance(table, dict):
        raise Misplaced(f"{where} must be a table", remedy=f"write [{where}] on a line of its own", table=where)
    read: dict[str, Any] = {}
    for key, value in table.items():
        if key in others:
            continue
        if key not in readers:
            remedy = did_you_mean(key, others.union(readers))
            raise Misplaced(f"unknown key {key!r} in [{where}]", remedy=remedy, table=where, key=key)
        try:
            read[key.replace("-", "_")] = readers[key](value)
        except Unfit as unfit:
            said = f"{where}.{key} must be {unfit}, not {value!r:.80}"
            raise Misplaced(said, remedy=unfit.remedy(value), table=where, key=key) from None
    return read


def tables_of(document: Mapping[str, Any], name: str, where: str = "") -> Mapping[str, object]:
    """The tables [NAME.*] of the plan. Raises Misplaced if something else stands there."""
    tables = document.get(name, {})
    where = where or name
    if not isinstance(tables, dict):
        raise Misplaced(f"[{where}] must hold one table a name", remedy=f"write [{where}.NAME] above its keys", table=where)
    return tables


@contextmanager
def placed(path: Path) -> Iterator[None]:
    """A mistake in the plan is told with the file, and with the line where it is one of a key or a table.

    What knows a place of its own (a handler's module) keeps it.
    """
    try:
        yield
    except UsageError as trouble:
        raise UsageError(trouble.message, remedy=trouble.remedy, place=_place(trouble, path)) from None


def unreadable(trouble: ValueError, data: bytes, path: Path) -> UsageError:
    """The error for a file that is no UTF-8 or no TOML, at the line and column where that shows."""
    import re  # only a mistake needs it

    if isinstance(trouble, UnicodeDecodeError):
        line, column = data.count(b"\n", 0, trouble.start) + 1, trouble.start - data.rfind(b"\n", 0, trouble.start)
        return UsageError("the plan is not UTF-8", place=f"{path}:{line}:{column}", remedy="save it as UTF-8")
    said, at = str(trouble), re.search(r" \(at line (\d+), column (\d+)\)$", str(trouble))
    if at is None:
        return UsageError(f"the plan is not TOML: {said}", place=str(path), remedy="repair what it names")
    place = f"{path}:{at[1]}:{at[2]}"
    return UsageError(f"the plan is not TOML: {said[: at.start()]}", place=place, remedy="repair that line")


def _place(trouble: UsageError, path: Path) -> str:
    """File and line, where the mistake is one of a key or a table."""
    if not isinstance(trouble, Misplaced):
        return trouble.place or str(path)
    from cron2queue.runtime.plan_lines import line_of  # only a mistake needs it

    text = path.read_text(encoding="utf-8")
    line = line_of(text, trouble.table, trouble.key) or line_of(text, trouble.table)
    return f"{path}:{line}" if line else str(path)
