"""What stands in a block beside the lines of jobs: nearly all of it is of no interest, and is never looked at line by line."""

from bisect import bisect_right
from collections.abc import Iterator, Set
from itertools import accumulate
from typing import NamedTuple

from cron2queue.evidence.messages import Messages


class Aside(NamedTuple):
    """A line with a mark, and the number of the job's line that comes after it."""

    number: int
    line: bytes


def lines_aside(chunks: list[bytes], messages: Messages, named: Set[bytes | None]) -> list[Aside]:
    """The lines that a format may read, in order, from what stands before, between and behind the lines of jobs.

    Left out are the sessions of the processes that are `named`, unless they log something else that is found here. Each
    chunk but the last ends with the beginning of a job's line, up to its tag.
    """
    text = b"".join(chunks)
    parts = messages.sessions.split(text)
    loggers = parts[2::3]
    others = set(loggers) - named
    rest = b"".join(parts[::3])
    host, jobs = messages.shape.host, len(chunks) - 1

    def is_there(mark: bytes) -> bool:
        return rest.count(mark) > jobs * host.count(mark) if mark in host else rest.rfind(mark) >= 0

    marks = [mark for mark in messages.marks if is_there(mark)]
    if not others and not marks:
        return []
    del parts[2::3]
    beside = _Beside(text, parts, loggers)
    found = {*beside.of(others), *(start for mark in marks for start in beside.with_mark(mark))}
    heads = list(accumulate(map(len, chunks)))
    if marks or None in others:  # the beginnings of the jobs' own lines may hold a mark; whoever logs more may do so of its job
        width = messages.shape.width
        found.difference_update(end - width for end in heads[:-1])
        more = {each["pid"] for each in map(messages.logger.search, map(beside.line, found)) if each is not None}
        found.update(beside.of(more))
    return [Aside(bisect_right(heads, start), beside.line(start)) for start in sorted(found)]


class _Beside:
    """A text of which the sessions, each from its tag on, are known: every second of its parts; and who logged them."""

    def __init__(self, text: bytes, parts: list[bytes], loggers: list[bytes | None]) -> None:
        self._text = text
        self._parts = parts
        self._loggers = loggers
        self._ends = list(accumulate(map(len, parts)))

    def of(self, loggers: Set[bytes | None]) -> Iterator[int]:
        """Where the lines of these begin."""
        for number, each in enumerate(self._loggers):
            if each in loggers:
                yield self._text.rfind(b"\n", 0, self._ends[2 * number])

    def with_mark(self, mark: bytes) -> Iterator[int]:
        """Where the lines begin that are no sessions, and in which the mark stands."""
        for part, end in zip(self._parts[::2], self._ends[::2], strict=True):
            place = part.find(mark)
            while place >= 0:
                yield self._text.rfind(b"\n", 0, end - len(part) + place)
                after = part.find(b"\n", place)
                place = part.find(mark, after) if after >= 0 else -1

    def line(self, start: int) -> bytes:
        """The line that begins there."""
        end = self._text.find(b"\n", start + 1)
        return self._text[start + 1 : end if end >= 0 else None]
