"""What `cron2queue prune` does and says."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation


def prune(operation: "Operation", ages: Mapping[str, float], format: str, *, most: int, dry_run: bool) -> None:
    """Delete, and say how many of what are gone. Ages are days; below zero keeps everything."""
    if dry_run:
        _count(operation, ages, format)
        return
    days = {f"{what}_days": None if age < 0 else age for what, age in ages.items()}
    with operation.store() as store:
        gone = store.prune(**days, most=most)
    if format == "json":
        typer.echo(json.dumps(gone))
        return
    typer.echo(f"{gone['jobs']} jobs, {gone['inbox']} messages and {gone['operations']} lines of the operators' log are gone")


def _count(operation: "Operation", ages: Mapping[str, float], format: str) -> None:
    from cron2queue.runtime.jobs import JobState

    states = (JobState.SUCCEEDED, JobState.CANCELLED, JobState.DEAD)
    with operation.inspection() as inspection:
        counts = inspection.older({state: ages[state] for state in states if ages[state] >= 0})
    if format == "json":
        typer.echo(json.dumps({"would_prune": {str(state): count.n for state, count in counts.items()}}))
        return
    typer.echo("would be deleted: " + ", ".join(f"{count} {state}" for state, count in counts.items()))
