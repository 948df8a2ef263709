"""All evidence of one look at a host: by entry, between entries, and what could not be used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cron2queue.crontab.lines import EntryId
from cron2queue.evidence.statistics import Evidence, Window
from cron2queue.record import Record

__all__ = ["EntryId", "EvidenceBook", "Overlap"]

HOW_TO_GET_EVIDENCE = (
    'Debian and Ubuntu: set EXTRA_OPTS="-L 15" in /etc/default/cron and restart cron, so that ends and failures are logged; '
    "with systemd give --journal live; or wrap the entries for a week: cron2queue observe --wrap"
)


class Overlap(Record):
    """How often a start of `then` met a live run of `first`: `met` of `starts` starts of `then` in the common window."""

    first: EntryId
    then: EntryId
    met: int
    starts: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.met / self.starts if self.starts else 0.0


class EvidenceBook(Record):
    """Evidence by entry id. An empty book says why it is empty; that nothing was seen proves nothing.

    `runs` = `matched` + `unmatched`. `skipped` names each part of the input that was not used, with its reason.
    `never_seen` are entries that should have run in the window and were not seen, although the log has others of the
    same kind; `unscheduled` are (user, command, number of runs) that no entry accounts for. `changes` are the moments
    at which the log says that a crontab was edited: earlier runs may belong to earlier lines.
    """

    available: bool
    sources: tuple[str, ...] = ()
    window: Window | None = None
    runs: int = 0
    matched: int = 0
    unmatched: int = 0
    skipped: tuple[str, ...] = ()
    by_entry: Mapping[EntryId, Evidence] = MappingProxyType({})
    never_seen: tuple[EntryId, ...] = ()
    unscheduled: tuple[tuple[str, str, int], ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    changes: tuple[str, ...] = ()
    covered: float = 1.0
    """Which share of the window the logs cover, between 0 and 1; less when a rotated file is missing."""
    how_to_get_evidence: str = ""

    @classmethod
    def empty(cls, why: str, *, skipped: tuple[str, ...] = ()) -> EvidenceBook:
        """No evidence, and the reason in words."""
        return cls(available=False, skipped=skipped, how_to_get_evidence=f"{why}. {HOW_TO_GET_EVIDENCE}")

    def overlap(self, first: EntryId, then: EntryId) -> Overlap | None:
        """How often `then` met a live run of `first`, which may be never; None when the ends of `first` are not known."""
        for each in self.overlaps:
            if each.first == first and each.then == then:
                return each
        lived, started = self.by_entry.get(first), self.by_entry.get(then)
        if lived is None or started is None or not lived.n or (lived.bounds is not None and lived.bounds.n * 10 > lived.n):
            return None
        return Overlap(first=first, then=then, met=0, starts=started.starts)
