"""What `cron2queue prune` does and says."""

from collections.abc import Mapping
from dataclasses import replace

from cron2queue.cli.operators import Act
from cron2queue.cli.screens.canvas import as_json, put
from cron2queue.runtime.retention import Retention

_WORDS = {"inbox": "messages", "log": "lines of the operators' log"}


def prune(act: Act, ages: Mapping[str, float | None], *, most: int, dry_run: bool) -> None:
    """Delete, and say how many of what are gone. Ages are days; below zero keeps everything, None is the plan's."""
    planned = act.where.settings.retention if act.where.settings else Retention()
    keep = replace(planned, **{what: None if age < 0 else age for what, age in ages.items() if age is not None})
    if dry_run:
        _count(act, keep)
        return
    with act.where.store() as store:
        gone = store.prune(keep, most=most, by=act.by)
    said = f"{gone['jobs']} jobs, {gone['inbox']} messages and {gone['operations']} lines of the operators' log are gone"
    put(as_json({**gone, "by": act.by}) if act.format == "json" else said)


def _count(act: Act, keep: Retention) -> None:
    with act.where.inspection() as inspection:
        counts = inspection.older(keep)
    said = ", ".join(f"{count} {_WORDS.get(what, what)}" for what, count in counts.items())
    record = {"would_prune": {what: count.n for what, count in counts.items()}}
    put(as_json(record) if act.format == "json" else f"would be deleted: {said or 'nothing, all is kept'}")
