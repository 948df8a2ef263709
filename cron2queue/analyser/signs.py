"""The four signs of a cron job that has outgrown cron, each with how it is known. What nobody knows stays unknown."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.expecting import asks_for_work
from cron2queue.analyser.finding import Confidence
from cron2queue.analyser.guards import holds_lock
from cron2queue.analyser.timing import MINUTE, RARE, is_rare, known_duration, met_itself, runs_per_day, shortest_gap
from cron2queue.analyser.trades import Trade, trade_of, writes_nothing
from cron2queue.analyser.verdicts import Answer, Sign, Signs
from cron2queue.durations import duration

if TYPE_CHECKING:
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import CrontabFile, Entry

SHORT = 15 * MINUTE
MOSTLY = 0.5


@lru_cache(maxsize=16384)
def _sign(answer: Answer, confidence: Confidence, reason: str) -> Sign:
    """Equal signs are one object: a fleet has hundreds of thousands of them."""
    return Sign(answer=answer, confidence=confidence, reason=reason)


def _declared(value: bool | None, yes: str, no: str) -> Sign | None:
    if value is None:
        return None
    return _sign(Answer.YES if value else Answer.NO, Confidence.DECLARED, yes if value else no)


def _no(reason: str, confidence: Confidence = Confidence.INFERRED) -> Sign:
    return _sign(Answer.NO, confidence, reason)


def _yes(reason: str, confidence: Confidence = Confidence.INFERRED) -> Sign:
    return _sign(Answer.YES, confidence, reason)


def _unknown(reason: str) -> Sign:
    return _sign(Answer.UNKNOWN, Confidence.INFERRED, reason)


def mostly_empty(subject: Subject, file: CrontabFile, entry: Entry) -> Sign:
    """It runs every few minutes and mostly finds nothing to do."""
    said = _declared(
        subject.declared(file, entry).mostly_empty, "it mostly finds nothing to do", "it mostly finds something to do"
    )
    if said:
        return said
    evidence = subject.evidence(file, entry)
    if evidence is not None and evidence.empty is not None:
        empty = evidence.empty
        sure = Confidence.MEASURED if empty.confidence == "measured" else Confidence.INFERRED
        share = f"{empty.share:.0%} of {empty.n:,} runs find nothing to do" if empty.n else empty.reason
        if empty.share >= MOSTLY and not is_rare(entry):
            return _yes(share, sure)
        return _no(share, sure)
    if is_rare(entry):
        return _no("it runs too seldom to be a poller")
    test = asks_for_work(entry.command)
    if test is not None:
        return _yes(f"{test} lets it do nothing; how often it does is not measured")
    return _unknown(f"nobody has measured whether its {runs_per_day(entry):,.0f} runs a day find work")


def overlap_hurts(subject: Subject, file: CrontabFile, entry: Entry) -> Sign:
    """It becomes unpleasant when it runs longer than its interval."""
    said = _declared(subject.declared(file, entry).overlap_hurts, "two copies at once hurt", "two copies at once do no harm")
    if said:
        return said
    gap, trade = shortest_gap(entry), trade_of(entry.command)
    if gap is None:
        return _no("it has no second start to meet")
    if not daemon(file.dialect).second_copy:
        return _no(f"{daemon(file.dialect).title} never starts a second copy", Confidence.PROVEN)
    if holds_lock(entry.command):
        return _no("a lock keeps two copies apart")
    if (trade and trade.clashes is False) or writes_nothing(entry.command):
        return _no("two copies at once would do little harm")
    return _by_duration(subject, file, entry, gap) or _by_trade(gap, trade)


def _by_duration(subject: Subject, file: CrontabFile, entry: Entry, gap: float) -> Sign | None:
    evidence, known = subject.evidence(file, entry), known_duration(subject, file, entry)
    met = met_itself(evidence)
    if met:
        return _yes(f"{met:.0%} of its starts meet a live predecessor", Confidence.MEASURED)
    if known is None:
        return None
    takes = f"p95 run {known.words}" if known.confidence is Confidence.MEASURED else f"a run takes {known.words}"
    if known.long > gap:
        return _yes(f"{takes}, and the next starts after {duration(gap)}", known.confidence)
    return _no(f"{takes}, and {duration(gap)} lie between two starts", known.confidence)


def _by_trade(gap: float, trade: Trade | None) -> Sign:
    if gap >= RARE:
        return _no(f"{duration(gap)} lie between two starts")
    if gap <= SHORT and trade and trade.clashes:
        return _yes(f"it {trade.name} every {duration(gap)}, and no lock keeps two copies apart")
    return _unknown("nobody has measured how long its runs take")


def user_waits(subject: Subject, file: CrontabFile, entry: Entry) -> Sign:
    """A user waits for its next run."""
    said = _declared(subject.declared(file, entry).user_waits, "a user waits for its next run", "no user waits for it")
    if said:
        return said
    gap, trade = shortest_gap(entry), trade_of(entry.command)
    if trade and trade.waits is False:
        return _no(f"it {trade.name}, for which nobody waits")
    if gap is None or gap >= RARE:
        return _no("nobody waits for a job that comes so seldom")
    if gap <= SHORT and trade and trade.waits:
        return _yes("somebody waits for its next run")
    return _unknown("the crontab does not tell whether a user waits for it")


def lost_on_failure(subject: Subject, file: CrontabFile, entry: Entry) -> Sign:
    """When it fails once, the work is lost."""
    said = _declared(
        subject.declared(file, entry).lost_on_failure,
        "a failed run loses its work",
        "the next run does the work of a failed one",
    )
    if said:
        return said
    trade = trade_of(entry.command)
    if trade and trade.lost is False:
        return _no(f"it {trade.name}; the next run does the work of a failed one")
    if trade and trade.lost:
        return _yes("nothing retries a failed run, and its work is lost")
    return _unknown("the crontab does not tell whether the next run makes up for a failed one")


@lru_cache(maxsize=4096)
def _signs(empty: Sign, overlap: Sign, waits: Sign, lost: Sign) -> Signs:
    return Signs(mostly_empty=empty, overlap_hurts=overlap, user_waits=waits, lost_on_failure=lost)


def signs_of(subject: Subject, file: CrontabFile, entry: Entry) -> Signs:
    """All four; equal ones are one object."""
    return _signs(
        mostly_empty(subject, file, entry),
        overlap_hurts(subject, file, entry),
        user_waits(subject, file, entry),
        lost_on_failure(subject, file, entry),
    )
