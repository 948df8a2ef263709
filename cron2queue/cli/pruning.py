"""What `cron2queue prune` does and says."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation


def prune(operation: "Operation", ages: Mapping[str, float], format: str) -> None:
    """Delete, and say how many of what are gone. Ages are days; below zero keeps everything."""
    days = {f"{what}_days": None if age < 0 else age for what, age in ages.items()}
    with operation.store() as store:
        gone = store.prune(**days)  # type: ignore[arg-type]
    if format == "json":
        typer.echo(json.dumps(gone))
        return
    typer.echo(f"{gone['jobs']} jobs, {gone['inbox']} messages and {gone['operations']} lines of the operators' log are gone")
