"""What to do with each entry, and why: four signs, one decision, one plain sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from cron2queue.analyser.finding import Confidence, EntryId
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.crontab.lines import Entry


class Answer(StrEnum):
    """The answer to one of the four questions."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Sign(Record):
    """One answer, how it is known, and the reason in half a sentence."""

    answer: Answer
    confidence: Confidence
    reason: str


class Signs(Record):
    """The four signs of a cron job that has outgrown cron; two or more make it a job for a queue."""

    mostly_empty: Sign
    overlap_hurts: Sign
    user_waits: Sign
    lost_on_failure: Sign

    def __iter__(self) -> Iterator[tuple[str, Sign]]:
        yield "mostly_empty", self.mostly_empty
        yield "overlap_hurts", self.overlap_hurts
        yield "user_waits", self.user_waits
        yield "lost_on_failure", self.lost_on_failure

    def count(self, answer: Answer) -> int:
        """How many of the four have this answer."""
        all_four = self.mostly_empty, self.overlap_hurts, self.user_waits, self.lost_on_failure
        return [sign.answer for sign in all_four].count(answer)


class Decision(StrEnum):
    """What becomes of an entry."""

    QUEUE = "QUEUE"
    SPLIT = "SPLIT"
    GUARD = "GUARD"
    KEEP = "KEEP"
    FIX = "FIX"
    DROP = "DROP"
    ASK = "ASK"


BECOMES: Mapping[Decision, str] = {
    Decision.QUEUE: "queue",
    Decision.SPLIT: "producer + queue",
    Decision.GUARD: "stays, guarded",
    Decision.KEEP: "stays",
    Decision.FIX: "repaired",
    Decision.DROP: "switched off",
    Decision.ASK: "not decided",
}
"""The words for a decision, wherever it is told: in the audit, by convert and in its review."""


class Verdict(Record):
    """The decision on one entry.

    `because` is one plain sentence that names its evidence. `order` counts from 1 by pain; None means that the entry
    stays or goes without migration. `becomes` says the result in two or three words ("queue orders", "stays, guarded",
    "a systemd service"); `overlap` is the policy to use: skip, merge, wait, or "" where none is needed.
    """

    entry_id: EntryId
    entry: Entry
    path: str
    name: str
    decision: Decision
    signs: Signs
    because: str
    order: int | None = None
    questions: tuple[str, ...] = ()
    becomes: str = ""
    overlap: str = ""
