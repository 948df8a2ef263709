"""Judging what was seen: the same sentences on the screen, on the page, in hooks and in `check`.

Statuses and the performance data follow the Monitoring Plugins Development Guidelines
(https://www.monitoring-plugins.org/doc/guidelines.html): 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from cron2queue.durations import duration
from cron2queue.redaction import redact
from cron2queue.runtime.alerts import OFF, AlertSettings, Threshold
from cron2queue.runtime.metrics.exposition import number
from cron2queue.runtime.sight.views import MissedTick, QueueView, StatusView
from cron2queue.text import safe_text


class Level(IntEnum):
    """Exit statuses of a monitoring plugin."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_SEVERITY = {Level.OK: 0, Level.UNKNOWN: 1, Level.WARNING: 2, Level.CRITICAL: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Perf:
    """One figure for the graphs; `unit` is `s`, `B`, `c` or nothing."""

    label: str
    value: float
    unit: str = ""
    threshold: Threshold = OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One thing that was looked at, what it is, and what to do when it is not well."""

    level: Level
    check: str
    subject: str
    text: str
    remedy: str = ""
    perf: tuple[Perf, ...] = ()


def worst(levels: Iterable[Level]) -> Level:
    """The level of the whole: critical before warning before unknown before ok."""
    return max(levels, key=_SEVERITY.__getitem__, default=Level.OK)


def level_of(value: float, threshold: Threshold) -> Level:
    """Where a value stands."""
    if threshold.critical is not None and value >= threshold.critical:
        return Level.CRITICAL
    return Level.WARNING if threshold.warning is not None and value >= threshold.warning else Level.OK


def judge(status: StatusView, alerts: AlertSettings, *, relayed: bool = False) -> Iterator[Judgement]:
    """Everything that one look at the database can tell, well or not; `relayed`: workers hear of jobs from a relay alone."""
    unsent = relayed and not any(worker.alive and worker.is_relay for worker in status.workers)
    served = {queue for worker in status.workers if worker.alive for queue in worker.queues}
    for queue in sorted(status.queues, key=lambda queue: queue.urgency):
        yield from _queue(queue, alerts, served=queue.queue in served)
        if unsent and alerts.of(queue.queue).no_worker and (stuck := _stuck(queue)):
            text = f"{stuck}, and no relay is at work: Celery's workers hear of none"
            remedy = "start it: python -m cron2queue.runtime relay; if it runs, its log tells what it waits for"
            yield Judgement(level=Level.CRITICAL, check="no-relay", subject=queue.queue, text=text, remedy=remedy)
    for kind in status.unclaimed:
        if alerts.of(kind.queue).unclaimed_kind:
            text = f"{kind.jobs} ready in queue {kind.queue}, and no living worker knows the kind"
            remedy = "deploy a worker that has a handler for it"
            yield Judgement(level=Level.CRITICAL, check="unclaimed-kind", subject=kind.kind, text=text, remedy=remedy)
    yield from (_tick(tick, alerts.of(tick.queue).missed_tick) for tick in status.missed)
    yield from _whole(status, alerts)


def troubles(judgements: Iterable[Judgement]) -> list[Judgement]:
    """What is not well, the worst first, each level in the order in which it was judged."""
    bad = (judgement for judgement in judgements if judgement.level is not Level.OK)
    return sorted(bad, key=lambda judgement: -_SEVERITY[judgement.level])


def _halved(limit: float | None) -> Threshold:
    return OFF if limit is None else Threshold(limit / 2, limit)


def _queue(queue: QueueView, alerts: AlertSettings, *, served: bool) -> Iterator[Judgement]:
    own = alerts.of(queue.queue)
    yield _age(queue, own.oldest_age or _halved(queue.age_limit))
    yield _depth(queue, own.depth or _halved(queue.depth_limit))
    yield _dead(queue, own.dead)
    yield _refused(queue, own.refused)
    yield _lease_lost(queue, own.lease_lost)
    stuck = _stuck(queue)
    if own.no_worker and stuck and not served:
        text = f"{stuck}, and no worker is alive for this queue"
        remedy = f"start one: cron2queue worker --queue {queue.queue}"
        yield Judgement(level=Level.CRITICAL, check="no-worker", subject=queue.queue, text=text, remedy=remedy)
    if queue.paused:
        remedy = f"cron2queue queues resume {queue.queue}"
        yield Judgement(level=Level.WARNING, check="paused", subject=queue.queue, text=queue.pause, remedy=remedy)


def _stuck(queue: QueueView) -> str:
    """What only a worker can move on: what waits, unless the queue is paused, and what a worker that stopped left behind."""
    waits = () if queue.paused else ((queue.count("ready"), "ready"), (queue.due, "due"))
    jobs = (*waits, (queue.held, "left by a worker that stopped"))
    return ", ".join(f"{count} {word}" for count, word in jobs if count.n)


def _age(queue: QueueView, threshold: Threshold) -> Judgement:
    age = queue.oldest_ready_seconds or 0.0
    level = level_of(age, threshold)
    limit = f", limit {duration(threshold.critical)}" if threshold.critical is not None else ""
    perf = Perf(label=f"{queue.queue}_oldest", value=round(age, 3), unit="s", threshold=threshold)
    return Judgement(
        level=level,
        check="oldest-age",
        subject=queue.queue,
        text=f"the oldest ready job waits {duration(age)}{limit}",
        remedy="more workers for this queue, or look at what they run" if level else "",
        perf=(perf,),
    )


def _depth(queue: QueueView, threshold: Threshold) -> Judgement:
    waiting = queue.waiting
    level = level_of(waiting.n, threshold)
    limit = f", limit {threshold.critical:,.0f}" if threshold.critical is not None else ""
    return Judgement(
        level=level,
        check="depth",
        subject=queue.queue,
        text=f"{waiting} {'job waits' if waiting.n == 1 else 'jobs wait'}{limit}",
        remedy="producers are refused at the limit: more workers, or fewer jobs" if level else "",
        perf=(Perf(label=f"{queue.queue}_waiting", value=waiting.n, threshold=threshold),),
    )


def _dead(queue: QueueView, threshold: Threshold) -> Judgement:
    dead = queue.count("dead")
    level = level_of(dead.n, threshold)
    perf = Perf(label=f"{queue.queue}_dead", value=dead.n, threshold=threshold)
    remedy = "cron2queue dead list" if level else ""
    return Judgement(level=level, check="dead", subject=queue.queue, text=f"{dead} dead", remedy=remedy, perf=(perf,))


def _refused(queue: QueueView, threshold: Threshold) -> Judgement:
    remedy = "see that their producers come again; more workers, or a higher depth-limit"
    return _in_an_hour(queue, "refused", "job", queue.refused, threshold, remedy)


def _lease_lost(queue: QueueView, threshold: Threshold) -> Judgement:
    remedy = "a worker was too slow to beat: look at its load and the database's"
    return _in_an_hour(queue, "lease-lost", "lease", queue.lease_lost, threshold, remedy)


def _in_an_hour(queue: QueueView, check: str, noun: str, number: int, threshold: Threshold, remedy: str) -> Judgement:
    """What happened to a queue's jobs in the last hour, counted."""
    level = level_of(number, threshold)
    perf = Perf(label=f"{queue.queue}_{check.replace('-', '_')}", value=number, threshold=threshold)
    happened = f"{noun} was" if number == 1 else f"{noun}s were"
    text = f"{number:,} {happened} {check.rpartition('-')[2]} in the last hour"
    return Judgement(level=level, check=check, subject=queue.queue, text=text, remedy=remedy if level else "", perf=(perf,))


def _tick(tick: MissedTick, threshold: Threshold) -> Judgement:
    text = f"{tick.missed} missed since {tick.due:%Y-%m-%d %H:%M} UTC"
    remedy = "look whether cron runs on its host, and for its mail"
    return Judgement(
        level=level_of(tick.missed, threshold), check="missed-tick", subject=tick.name, text=text, remedy=remedy
    )  # fmt: skip


def _whole(status: StatusView, alerts: AlertSettings) -> Iterator[Judgement]:
    if status.clock_skew is not None:
        skew = abs(status.clock_skew)
        level = level_of(skew, alerts.clock_skew)
        perf = Perf(label="clock_skew", value=round(skew, 3), unit="s", threshold=alerts.clock_skew)
        text, remedy = f"{skew:.1f} s between this host and the database", "run a time service on both" if level else ""
        yield Judgement(level=level, check="clock-skew", subject="clock", text=text, remedy=remedy, perf=(perf,))


def plugin_output(judgements: Sequence[Judgement], *, verbose: bool = False) -> str:
    """One status line with performance data, the worst first; with `verbose`, a line for each judgement below."""
    level = worst(judgement.level for judgement in judgements)
    bad = troubles(judgements)
    said = "; ".join(_sentence(judgement) for judgement in bad) or f"{len(judgements)} checks"
    perf = " ".join(_perf(each) for judgement in judgements for each in judgement.perf)
    lines = [f"CRON2QUEUE {level.name} - {said}" + (f" | {perf}" if perf else "")]
    if verbose:
        lines += [f"{each.level.name} {_clean(each.check)} {_sentence(each)}{_remedy(each)}" for each in judgements]
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Safe to show, secrets masked; a pipe would begin the performance data."""
    return safe_text(redact(text)).replace("|", "\\x7c")


def _sentence(judgement: Judgement) -> str:
    return f"{_clean(judgement.subject)}: {_clean(judgement.text)}"


def _remedy(judgement: Judgement) -> str:
    return f" ({_clean(judgement.remedy)})" if judgement.remedy and judgement.level is not Level.OK else ""


def _perf(perf: Perf) -> str:
    label = _clean(perf.label).replace("=", "_").replace("'", "''")
    warning, critical = (("" if each is None else number(each)) for each in (perf.threshold.warning, perf.threshold.critical))
    return f"'{label}'={number(perf.value)}{perf.unit};{warning};{critical};0"
