"""A start that waits for its end, and who is told of what became of it."""

from typing import Protocol

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.log_format import Ending, Subject
from cron2queue.evidence.runs import Pairing


class Started:
    """A start that waits for its end. Mutable and bare, since millions of them pass by."""

    __slots__ = (
        "at",
        "child",
        "done",
        "doubtful",
        "dropped",
        "floor",
        "held",
        "lap",
        "met",
        "met_at_start",
        "met_by",
        "pid",
        "place",
        "source",
        "subject",
        "tally",
    )

    def __init__(self, at: float, subject: Subject, source: str, pid: int, child: int, place: int) -> None:
        self.at = at
        self.subject = subject
        self.source = source
        self.pid = pid
        self.child = child
        self.place = place
        self.floor = self.lap = 0
        self.tally: object = None
        self.done = self.doubtful = self.met = self.met_at_start = False
        self.held = self.dropped = False
        self.met_by: tuple[object, ...] = ()


class Found(Protocol):
    """Who is told of starts and of what became of them."""

    def started(self, start: Started) -> bool:
        """A start, at once; whether anybody wants to know what becomes of it."""

    def ended(self, start: Started, at: float, ending: Ending, pairing: Pairing) -> None:
        """Its end, with a known duration."""

    def bounded(self, start: Started, low: float, high: float | None, ending: Ending) -> None:
        """It ended, after at least `low` and at most `high` seconds."""

    def cut(self, start: Started) -> None:
        """Its end was cut off: by the log's edge, a reboot, or a gap."""

    def wants(self, subject: Subject) -> bool:
        """Whether anybody wants to know what becomes of this subject's runs."""

    def began_all(self, batch: Batch, waiting: dict[int, Started]) -> None:
        """All starts of a batch, those that wait for their ends by their places."""

    def ended_all(self, batch: Batch) -> None:
        """The closed runs of a batch."""

    @property
    def latest(self) -> float:
        """When the latest start was, in seconds since 1970."""

    def endless(self, start: Started) -> None:
        """Its source never writes ends."""

    def refused(self, subject: Subject, at: float, source: str) -> None:
        """The daemon did not start it, since the run before was alive."""

    def changed(self, at: float, whose: str) -> None:
        """A crontab was edited."""

    def lost(self, messages: int) -> None:
        """So many messages were dropped, among which may be some of jobs."""

    def reports(self, what: str, source: str) -> None:
        """The source tells of `what` ("output", "failures") whenever there is some."""
