"""From signs to a verdict: one decision an entry, one plain sentence that names its evidence, and the order by pain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from sys import intern
from typing import TYPE_CHECKING

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.faults import is_broken, is_mistaken
from cron2queue.analyser.fields import reversed_ranges
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import holds_lock, time_limit
from cron2queue.analyser.rhythm import rhythm
from cron2queue.analyser.schedulers import RUN_PARTS, WORKERS, KnownScheduler, known_scheduler
from cron2queue.analyser.services import is_service
from cron2queue.analyser.signs import signs_of
from cron2queue.analyser.templates import is_unrendered
from cron2queue.analyser.timing import MINUTE, is_dead, is_rare, known_duration, runs_per_day
from cron2queue.analyser.trades import trade_of
from cron2queue.analyser.verdicts import BECOMES, Answer, Decision, Signs, Verdict
from cron2queue.analyser.wording import count
from cron2queue.crontab.schedule import AtReboot
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import CrontabFile, Entry

LONG = 30 * MINUTE
DUPLICATE = "duplicate-entry"
_QUESTIONS = {
    "mostly_empty": "mostly-empty: does it mostly find nothing to do?",
    "overlap_hurts": "overlap-hurts: does it hurt when two copies run at once?",
    "user_waits": "user-waits: does a user wait for its next run?",
    "lost_on_failure": "lost-on-failure: is work lost when one run fails?",
}
_WITHOUT_LOCK = {
    "mostly_empty": "so start it less often, where that is soon enough",
    "overlap_hurts": "so let it be quicker, or start it less often",
    "user_waits": "so start it more often, or let a queue start it",
    "lost_on_failure": "so let somebody hear of its failures",
}


class _Ruling(Record):
    decision: Decision
    because: str
    becomes: str = ""


def _yes_reasons(signs: Signs) -> str:
    """The reasons of the signs that say yes, the best known first, each kind of knowing named once."""
    parts = []
    for sure in (Confidence.PROVEN, Confidence.MEASURED, Confidence.DECLARED, Confidence.INFERRED):
        reasons = [sign.reason for _, sign in signs if sign.answer is Answer.YES and sign.confidence is sure]
        if reasons:
            parts.append(f"{'; '.join(reasons)} ({sure})")
    return "; ".join(parts)


def _broken(findings: Sequence[Finding]) -> Finding | None:
    return next((each for each in findings if is_broken(each)), None)


def _dead(subject: Subject, file: CrontabFile, entry: Entry, findings: Sequence[Finding]) -> _Ruling | None:
    if not file.loaded and not subject.is_template(file):
        why = f": {file.why}" if file.why else ""
        return _Ruling(
            decision=Decision.FIX,
            because=f"does not run today, since {daemon(file.dialect).title} ignores the whole file{why} (proven)",
        )
    if entry.command.endswith("\r"):
        because = f"broken today: {daemon(file.dialect).title} keeps the carriage return at the end of its command (proven)"
        return _Ruling(decision=Decision.FIX, because=because)
    if is_dead(entry.schedule):
        if reversed_ranges(entry.schedule_text):
            return _Ruling(decision=Decision.FIX, because="never fires, since a range runs backwards (proven)")
        return _Ruling(decision=Decision.DROP, because="never fires, and nobody has missed it (proven)")
    double = next((each for each in findings if each.rule == DUPLICATE), None)
    if double is not None and double.related:
        return _Ruling(
            decision=Decision.DROP,
            because=f"line {double.related[0].line} starts the same command at the same moments (proven)",
        )
    return None


def _scheduler(file: CrontabFile, entry: Entry, known: KnownScheduler) -> _Ruling:
    if known is RUN_PARTS:
        return _Ruling(
            decision=Decision.KEEP, because=f"{known.name}: {known.advice}; leave it, its scripts are the jobs (inferred)"
        )
    if known in WORKERS:
        return _Ruling(decision=Decision.KEEP, because=f"{known.name}: {known.advice} (inferred)", becomes="a systemd service")
    wrap = known.guard and not holds_lock(entry.command) and daemon(file.dialect).second_copy
    advice = known.advice if wrap or not known.guard else "it has its lock, leave it"
    return _Ruling(
        decision=Decision.GUARD if wrap else Decision.KEEP,
        because=f"{known.name}, a scheduler of its own: {advice} (inferred)",
    )


def _approved(subject: Subject, file: CrontabFile, entry: Entry, *, doubted: bool) -> str:
    evidence, how_often = subject.evidence(file, entry), rhythm(entry)
    if evidence is None or not evidence.starts:
        leave = "leave it for the rest" if doubted else "and nothing speaks against it: leave it"
        return f"{how_often}, {leave} (inferred, no log tells of it)"
    if evidence.failures:
        return (
            f"{how_often}, {evidence.failures:,} of {evidence.statuses:,} runs failed: leave it, and look at those (measured)"
        )
    fine = "none failed" if evidence.failures == 0 and evidence.statuses else "as planned"
    return f"{how_often}, {count(evidence.starts, 'run')} in the log, {fine}: leave it (measured)"


def _by_signs(subject: Subject, file: CrontabFile, entry: Entry, signs: Signs, *, doubted: bool) -> _Ruling:
    yes, unknown = signs.count(Answer.YES), signs.count(Answer.UNKNOWN)
    if yes >= 2:
        known, trade = known_duration(subject, file, entry), trade_of(entry.command)
        split = known is not None and known.typical >= LONG and trade is not None and bool(trade.clashes)
        return _Ruling(decision=Decision.SPLIT if split else Decision.QUEUE, because=_yes_reasons(signs))
    if yes == 1:
        if holds_lock(entry.command) and time_limit(entry.command) is not None:
            return _Ruling(
                decision=Decision.KEEP, because=f"{_yes_reasons(signs)}, and a lock and a time limit guard it already"
            )
        if _guard_helps(file, entry, signs):
            return _Ruling(decision=Decision.GUARD, because=_yes_reasons(signs))
    if unknown >= 2 and not is_rare(entry):
        asked = "none of the four signs is known" if unknown == 4 else f"{unknown} of the four signs are not known"
        because = f"{rhythm(entry)}, and {asked}: answer the questions, or give its log"
        return _Ruling(decision=Decision.ASK, because=because)
    if yes == 1:
        advice = next(_WITHOUT_LOCK[key] for key, sign in signs if sign.answer is Answer.YES)
        because = f"{_yes_reasons(signs)}: no lock helps against that, {advice}"
        return _Ruling(decision=Decision.KEEP, because=because)
    return _Ruling(decision=Decision.KEEP, because=_approved(subject, file, entry, doubted=doubted))


def _guard_helps(file: CrontabFile, entry: Entry, signs: Signs) -> bool:
    """A lock helps where two copies may hurt; a time limit where a run that hangs keeps all later ones from their work."""
    if signs.overlap_hurts.answer is not Answer.NO:
        return True
    one_at_a_time = holds_lock(entry.command) or not daemon(file.dialect).second_copy
    return one_at_a_time and time_limit(entry.command) is None and not is_rare(entry)


def _ruling(subject: Subject, file: CrontabFile, entry: Entry, signs: Signs, findings: Sequence[Finding]) -> _Ruling:
    if is_unrendered(file, entry):
        return _Ruling(decision=Decision.KEEP, because="a line of a template, and no entry yet: render it first (inferred)")
    dead = _dead(subject, file, entry, findings)
    if dead is not None:
        return dead
    if isinstance(entry.schedule, AtReboot):
        if is_service(entry.command):
            because = "a daemon started at boot: as a service it would be restarted when it ends, and logged (inferred)"
            return _Ruling(decision=Decision.KEEP, because=because, becomes="a systemd service")
        return _Ruling(decision=Decision.KEEP, because="runs once at boot: leave it (inferred)")
    known, broken = known_scheduler(entry.command), _broken(findings)
    if known is not None and broken is None:
        return _with_doubt(_scheduler(file, entry, known), findings)
    by_signs = _by_signs(subject, file, entry, signs, doubted=_doubt(findings) is not None)
    if broken is None:
        return _with_doubt(by_signs, findings)
    if by_signs.decision in (Decision.QUEUE, Decision.SPLIT):
        return by_signs.but(because=f"broken today, {broken.message} (proven); {by_signs.because}")
    return _Ruling(decision=Decision.FIX, because=f"broken today: {broken.message} (proven)")


# Warnings that the verdict itself answers.
_ANSWERED = frozenset({"no-lock", "self-overlap", "long-running", "failing"})


def _doubt(findings: Sequence[Finding]) -> Finding | None:
    """The first warning at the entry that is to be settled whatever becomes of it."""
    return next((each for each in findings if each.severity is not Severity.NOTE and each.rule not in _ANSWERED), None)


def _with_doubt(ruling: _Ruling, findings: Sequence[Finding]) -> _Ruling:
    """What stays is not approved of, nor guarded, while its line hardly says what was meant."""
    mistaken = next((each for each in findings if is_mistaken(each)), None)
    if mistaken is not None:
        because = f"hardly what was meant: {mistaken.message} ({mistaken.confidence})"
        if ruling.decision in (Decision.QUEUE, Decision.SPLIT):
            return ruling.but(because=f"{because}; {ruling.because}")
        return _Ruling(decision=Decision.FIX, because=because)
    if ruling.decision not in (Decision.KEEP, Decision.ASK):
        return ruling
    doubt = _doubt(findings)
    return ruling if doubt is None else ruling.but(because=f"{ruling.because}; settle first: {doubt.message}")


def _overlap(entry: Entry, decision: Decision) -> str:
    if decision not in (Decision.QUEUE, Decision.SPLIT, Decision.GUARD):
        return ""
    trade = trade_of(entry.command)
    gathers = trade is not None and trade.name in (
        "sends messages",
        "works off a queue of its own",
        "builds an index or a cache",
    )
    return "merge" if decision is not Decision.GUARD and gathers else "skip"


def _pain(subject: Subject, file: CrontabFile, verdict: Verdict, broken: bool) -> tuple[float, ...]:
    """Smaller is earlier: broken today, then lost work, then empty pollers, then long runs."""
    signs, known = verdict.signs, known_duration(subject, file, verdict.entry)
    lost, empty = signs.lost_on_failure.answer is Answer.YES, signs.mostly_empty.answer is Answer.YES
    group = 0 if broken else 1 if lost else 2 if empty else 3
    moves = 0 if verdict.decision in (Decision.QUEUE, Decision.SPLIT, Decision.FIX) else 1
    return (
        moves if not broken else 0,
        group,
        -signs.count(Answer.YES),
        -(known.long if known else 0),
        -runs_per_day(verdict.entry),
    )


_NUMBERED = frozenset({Decision.QUEUE, Decision.SPLIT, Decision.GUARD, Decision.FIX})
_REST = (Decision.ASK, Decision.KEEP, Decision.DROP)


@lru_cache(maxsize=64)
def _questions(unknown: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_QUESTIONS[key] for key in unknown)


def verdict_of(subject: Subject, file: CrontabFile, entry: Entry, name: str, findings: Sequence[Finding]) -> Verdict:
    """The verdict on one entry, not yet numbered; `findings` are those at the entry that stand."""
    signs = signs_of(subject, file, entry)
    ruling = _ruling(subject, file, entry, signs, findings)
    asks = ruling.decision in (Decision.ASK, Decision.GUARD, Decision.QUEUE, Decision.SPLIT)
    unknown = [key for key, sign in signs if sign.answer is Answer.UNKNOWN] if asks else []
    return Verdict(
        entry_id=subject.id_of(file, entry),
        entry=entry,
        path=file.path,
        name=name,
        decision=ruling.decision,
        signs=signs,
        because=intern(ruling.because),
        questions=_questions(tuple(unknown)),
        becomes=ruling.becomes or BECOMES[ruling.decision],
        overlap=_overlap(entry, ruling.decision),
    )


class Ranking:
    """Collects verdicts and puts them in the order of migration: pain first, then questions, what stays, what goes."""

    def __init__(self) -> None:
        self._numbered: dict[tuple[float, ...], list[Verdict]] = {}
        self._rest: dict[Decision, list[Verdict]] = {decision: [] for decision in _REST}

    def add(self, subject: Subject, file: CrontabFile, verdict: Verdict, *, broken: bool) -> None:
        """One more, in reading order; `broken`: it does not do its work today."""
        if verdict.decision in _NUMBERED:
            pain = _pain(subject, file, verdict, broken)
            self._numbered.setdefault(pain, []).append(verdict)
        else:
            self._rest[verdict.decision].append(verdict)

    def ordered(self) -> tuple[Verdict, ...]:
        """All of them, the numbered ones with their number."""
        by_pain = chain.from_iterable(self._numbered.pop(pain) for pain in sorted(self._numbered))
        first = [verdict.but(order=at) for at, verdict in enumerate(by_pain, 1)]
        return tuple(chain(first, *self._rest.values()))
