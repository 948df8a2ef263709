"""The acts of the operators' commands: call one verb of the store, and tell in one line (or JSON) what it did.

The store records each act with who did it, in the transaction that does it.
"""

from collections.abc import Sequence
from typing import Any

from cron2queue.cli.operation import Operation, completed
from cron2queue.cli.operators import Act
from cron2queue.cli.screens.canvas import as_json, put
from cron2queue.cli.screens.words import duration, plural, shown
from cron2queue.cli.showing import not_found, resolved
from cron2queue.cli.trouble import say
from cron2queue.errors import Refused, UsageError
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.plan_tables import did_you_mean
from cron2queue.runtime.sight.inspection import JobFilter
from cron2queue.runtime.verbs.drafts import checked_name

NAME_LENGTH = 64
_CANCELLED = {
    JobState.CANCELLED: "cancelled",
    JobState.CANCEL_REQUESTED: "asked to stop",
}


def _tell(act: Act, record: dict[str, Any], sentence: str) -> None:
    """What was done and by whom, for people or for programs."""
    put(as_json({**record, "by": act.by}) if act.format == "json" else sentence)


def cancel_jobs(act: Act, ids: Sequence[str], *, owner: str | None) -> None:
    """`jobs cancel`. A job that had ended already is told as what it is; all ids are tried before the exit status says so."""
    states: dict[str, JobState] = {}
    with act.where.inspection() as inspection:
        wanted = [resolved(inspection, each, owner=owner) for each in ids]
    with act.where.store() as store:
        for public_id in wanted:
            state = store.cancel(public_id, by=act.by, principal=owner)
            if state is None:
                raise not_found(public_id)
            states[public_id] = state
    said = "\n".join(f"{public_id}  {_CANCELLED.get(state, f'is {state} already')}" for public_id, state in states.items())
    _tell(act, {"cancelled": {public_id: str(state) for public_id, state in states.items()}}, said)
    if any(state not in _CANCELLED for state in states.values()):
        raise Refused("a job that has ended cannot be cancelled", remedy="cron2queue jobs show ID tells how it ended")


def retry_jobs(act: Act, ids: Sequence[str], *, owner: str | None) -> None:
    """`jobs retry`."""
    with act.where.inspection() as inspection:
        wanted = [resolved(inspection, each, owner=owner) for each in ids]
        states = {each: job.state for each in wanted if (job := inspection.job(each, owner=owner)) is not None}
    others = {each: state for each, state in states.items() if state != JobState.DEAD}
    if others:
        told = ", ".join(f"{each} is {state}" for each, state in others.items())
        raise Refused(f"only dead jobs can be retried: {told}", remedy="waiting ones: cron2queue jobs release")
    with act.where.store() as store:
        count = store.requeue(wanted, by=act.by)
    _tell(act, {"requeued": count, "ids": wanted}, f"{plural(count, 'job')} requeued")


def release_jobs(act: Act, ids: Sequence[str], *, owner: str | None) -> None:
    """`jobs release`. Jobs that do not wait for a time are told as what they are; the others are released all the same."""
    with act.where.inspection() as inspection:
        wanted = [resolved(inspection, each, owner=owner) for each in ids]
    with act.where.store() as store:
        states = {each: store.make_due(each, by=act.by, principal=owner) for each in wanted}
        store.move_due()
    released = [each for each, state in states.items() if state is JobState.SCHEDULED]
    _tell(act, {"released": released}, f"{plural(len(released), 'job')} due now")
    others = {each: state for each, state in states.items() if state is not JobState.SCHEDULED}
    if others:
        told = ", ".join(f"{each} is {state or 'gone'}" for each, state in others.items())
        raise Refused(f"only jobs that wait for their time can be released: {told}", remedy="dead ones: cron2queue jobs retry")


def requeue_dead(act: Act, ids: Sequence[str], wanted: JobFilter, *, every: bool, spread: float, dry_run: bool) -> None:
    """`dead requeue`."""
    filtered = wanted != JobFilter(states=wanted.states)
    if bool(ids) + filtered + every != 1:
        raise UsageError("say which dead jobs: ids, filters, or --all", remedy="cron2queue dead list shows them grouped")
    with act.where.inspection() as inspection:
        chosen = [resolved(inspection, each, owner=None) for each in ids] or inspection.dead_ids(wanted)
    if dry_run:
        _tell(act, {"would_requeue": len(chosen)}, f"{plural(len(chosen), 'dead job')} would be requeued")
        return
    with act.where.store() as store:
        count = store.requeue(chosen, by=act.by, spread=spread) if chosen else 0
    over = f", spread over {duration(spread)}" if spread and count else ""
    _tell(act, {"requeued": count, "spread_seconds": spread}, f"{plural(count, 'dead job')} requeued{over}")


def _tell_unheard_of(operation: Operation, name: str) -> None:
    """Say that no plan, job or worker knows the queue: at night it is rather a slip than a queue to come."""
    planned = operation.settings.queues if operation.settings else None
    with operation.inspection() as inspection:
        known = frozenset(each.queue for each in inspection.queues(planned=planned))
    if known and name not in known:
        say(f"no plan, job or worker has named the queue {name!r} so far\n  remedy: {did_you_mean(name, known)}")


def pause_queue(act: Act, name: str) -> None:
    """`queues pause`."""
    checked_name("queue", name, NAME_LENGTH)
    _tell_unheard_of(act.where, name)
    with act.where.store() as store:
        changed = store.pause(name, by=act.by)
    said = "is paused: nothing more is claimed from it" if changed else "was paused already"
    _tell(act, {"queue": name, "paused": True, "changed": changed}, f"{shown(name)} {said}")


def resume_queue(act: Act, name: str) -> None:
    """`queues resume`."""
    checked_name("queue", name, NAME_LENGTH)
    with act.where.store() as store:
        changed = store.resume(name, by=act.by)
    said = "goes on" if changed else "was not paused"
    _tell(act, {"queue": name, "paused": False, "changed": changed}, f"{shown(name)} {said}")


def limit_queue(act: Act, name: str, *, concurrency: int | None, depth: int | None, age: float | None) -> None:
    """`queues limit`. 0 takes a limit away."""
    given = {"concurrency": concurrency, "depth": depth, "age": age}
    values = {limit: value or None for limit, value in given.items() if value is not None}
    if not values:
        raise UsageError("no limit given", remedy="use --concurrency, --depth or --age")
    checked_name("queue", name, NAME_LENGTH)
    _tell_unheard_of(act.where, name)
    with act.where.store() as store:
        store.set_limit("queue", name, by=act.by, **values)
    said = ", ".join(f"{limit} {'unlimited' if value is None else value}" for limit, value in values.items())
    _tell(act, {"queue": name, "limits": values}, f"{shown(name)}: {said}")


def restart_workers(act: Act) -> None:
    """`workers restart`."""
    with act.where.store() as store:
        store.restart_workers(by=act.by)
    with act.where.inspection() as inspection:
        alive = sum(worker.alive for worker in inspection.workers())
    who = "1 worker stops after its jobs" if alive == 1 else f"{alive:,} workers stop after their jobs"
    none = "no worker runs now, so that there is none to restart: `cron2queue worker` starts one"
    said = f"{who}; the service manager starts the new code" if alive else shown(completed(none, act.where.options))
    _tell(act, {"restart": True, "workers": alive}, said)
