"""The same values as JSON records. The keys are a contract: docs/reference/operators-json.md; new ones may come, none goes."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from cron2queue.runtime.health import Judgement, troubles
from cron2queue.runtime.sight.views import (
    ActionView,
    AttemptView,
    DeadGroup,
    DeadView,
    JobView,
    KindView,
    LetterGroup,
    LettersView,
    QueueView,
    StatusView,
    WorkerView,
)

SCHEMA = 1
_COUNTED = ("ready", "scheduled", "blocked", "running", "dead")


def moment(at: datetime | None) -> str | None:
    """ISO 8601 with microseconds, in UTC."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")


def seconds(value: float | None) -> float | None:
    """Seconds to the millisecond."""
    return None if value is None else round(value, 3)


def status_record(status: StatusView, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """`status --format json`."""
    return {
        "schema": SCHEMA,
        "at": moment(status.at),
        "queues": [queue_record(queue) for queue in sorted(status.queues, key=lambda queue: queue.urgency)],
        "workers": [worker_record(worker) for worker in status.workers],
        "unclaimed_kinds": [{"kind": each.kind, "queue": each.queue, "ready": each.jobs.n} for each in status.unclaimed],
        "missed_ticks": [
            {
                "entry": tick.name,
                "schedule": tick.schedule,
                "due": moment(tick.due),
                "missed": tick.missed,
                "last_seen": moment(tick.last_seen),
                "queue": tick.queue,
            }
            for tick in status.missed
        ],
        "paused_kinds": [{"kind": each.kind, "seconds": seconds(each.seconds)} for each in status.paused_kinds],
        "dead": [group_record(group) for group in status.dead],
        "dead_letters": [{"queue": each.queue, "reason": each.reason, "count": each.n} for each in status.dead_letters],
        "alerts": [alert_record(each) for each in troubles(judgements)],
    }


def alert_record(judgement: Judgement) -> dict[str, Any]:
    """One thing that is not well, or was looked at."""
    return {
        "level": judgement.level.name.lower(),
        "check": judgement.check,
        "subject": judgement.subject,
        "text": judgement.text,
        "remedy": judgement.remedy or None,
    }


def queue_record(queue: QueueView) -> dict[str, Any]:
    """One queue. `capped` names the counts that stopped at the number shown."""
    counts = {name: queue.count(name) for name in _COUNTED}
    counts["running"] = queue.held
    return {
        "queue": queue.queue,
        "paused": queue.paused,
        **{name: count.n for name, count in counts.items()},
        "due": queue.due.n,
        "capped": [name for name, count in counts.items() if count.capped],
        "oldest_ready_seconds": seconds(queue.oldest_ready_seconds),
        "limit_seconds": queue.age_limit,
        "depth_limit": queue.depth_limit,
        "concurrency": queue.concurrency,
        "paused_by": queue.paused_by,
        "paused_seconds": seconds(queue.paused_seconds),
        "refused": queue.refused,
        "duplicates": queue.duplicates,
        "lease_lost": queue.lease_lost,
        "kinds": [kind_record(kind) for kind in queue.kinds],
    }


def kind_record(kind: KindView) -> dict[str, Any]:
    """One kind over the last hour, in seconds."""
    return {
        "kind": kind.kind,
        "wait_p50": seconds(kind.wait_p50),
        "wait_p95": seconds(kind.wait_p95),
        "run_p50": seconds(kind.run_p50),
        "run_p95": seconds(kind.run_p95),
        "succeeded": kind.succeeded,
        "failed": kind.failed,
        "retried": kind.retried,
        "dead": kind.dead,
    }


def worker_record(worker: WorkerView) -> dict[str, Any]:
    """One worker with what it runs."""
    return {
        "worker": worker.worker,
        "host": worker.host,
        "pid": worker.pid,
        "queues": list(worker.queues),
        "alive": worker.alive,
        "running": [
            {
                "id": job.id,
                "kind": job.kind,
                "key": job.key,
                "queue": job.queue,
                "seconds": seconds(job.seconds),
                "progress": {"fraction": job.fraction, "phase": job.phase},
            }
            for job in worker.running
        ],
        "version": worker.version,
        "kinds": list(worker.kinds),
        "beat_age_seconds": seconds(worker.beat_age),
        "rss_bytes": worker.rss_bytes,
        "started_at": moment(worker.started_at),
    }


def job_record(job: JobView, *, detailed: bool = False) -> dict[str, Any]:
    """One job; with `detailed`, also every attempt and every action of an operator."""
    record: dict[str, Any] = {
        "id": job.id,
        "kind": job.kind,
        "key": job.key,
        "queue": job.queue,
        "state": job.state,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "run_at": moment(job.run_at),
        "created_at": moment(job.created_at),
        "started_at": moment(job.started_at),
        "finished_at": moment(job.finished_at),
        "progress": {"fraction": job.fraction, "phase": job.phase},
        "owner": job.owner,
        "message": job.message,
    }
    if detailed:
        record["history"] = [attempt_record(attempt) for attempt in job.history]
        record["actions"] = [action_record(action) for action in job.actions]
        record |= {"result": job.result, "worker": job.worker, "crashes": job.crashes, "priority": job.priority}
    return record


def attempt_record(attempt: AttemptView) -> dict[str, Any]:
    """One attempt, for operators: with its diagnostic and the end of its output."""
    return {
        "attempt": attempt.attempt,
        "worker": attempt.worker,
        "started_at": moment(attempt.started_at),
        "ended_at": moment(attempt.ended_at),
        "outcome": attempt.outcome,
        "exit_status": attempt.exit_status,
        "signal": attempt.signal,
        "message": attempt.message,
        "diagnostic": attempt.diagnostic,
        "output_tail": attempt.output_tail,
        "wait_seconds": seconds(attempt.wait_seconds),
        "run_seconds": seconds(attempt.run_seconds),
        "max_rss_bytes": attempt.max_rss_bytes,
    }


def action_record(action: ActionView) -> dict[str, Any]:
    """What an operator did."""
    return {
        "at": moment(action.at),
        "by": action.by,
        "action": action.action,
        "target": action.target,
        "details": action.details,
    }


def group_record(group: DeadGroup) -> dict[str, Any]:
    """Dead jobs that share kind and error."""
    return {
        "kind": group.kind,
        "error": group.error,
        "count": group.count,
        "first": moment(group.first),
        "last": moment(group.last),
        "example": group.example,
    }


def letter_record(group: LetterGroup) -> dict[str, Any]:
    """Messages that the broker gave up and that share kind and reason."""
    return {
        "kind": group.kind,
        "reason": group.reason,
        "count": group.count,
        "last": moment(group.last),
        "example": group.example or None,
        "became": [{"what": what, "count": n} for what, n in group.became.items()],
    }


def letters_record(letters: LettersView) -> dict[str, Any]:
    """What the broker gave up since then."""
    return {
        "since": moment(letters.since),
        "total": letters.total,
        "not_listed": letters.not_listed,
        "partial": letters.partial,
        "groups": [letter_record(group) for group in letters.groups],
    }


def dead_record(dead: DeadView, letters: LettersView) -> dict[str, Any]:
    """`dead list --format json`: `looked_at` of `total` jobs are in the groups."""
    return {
        "schema": SCHEMA,
        "total": dead.total.n,
        "capped": dead.total.capped,
        "looked_at": dead.looked_at,
        "groups": [group_record(group) for group in dead.groups],
        "dead_letters": letters_record(letters),
    }


def jobs_record(jobs: Iterable[JobView]) -> list[dict[str, Any]]:
    """`jobs list --format json`."""
    return [job_record(job) for job in jobs]
