"""What `cron2queue migrate` does and says."""

import json
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation

_FAMILIES = ("sqlite", "mysql", "postgresql")


def _say(verb: str, steps: list[int], *, quiet: bool) -> None:
    if not quiet:
        typer.echo(f"{verb} step {', '.join(map(str, steps))}" if steps else "nothing to do")


def migrate_up(operation: "Operation", *, to: int | None, quiet: bool) -> None:
    """Apply, and say what was applied."""
    with operation.store() as store:
        _say("applied", store.migrate_up(to=to), quiet=quiet)


def migrate_down(operation: "Operation", *, to: int, force: bool, quiet: bool) -> None:
    """Take back, and say what was taken back."""
    with operation.store() as store:
        _say("took back", store.migrate_down(to=to, force=force), quiet=quiet)


def show_status(operation: "Operation", format: str) -> bool:
    """One line a step, or JSON; True if all are applied."""
    from cron2queue.runtime.database.instants import from_micros

    with operation.store() as store:
        states = store.migration_status()
    rows = [
        {
            "step": each.step.number,
            "name": each.step.name,
            "kind": each.step.kind,
            "state": each.state,
            "applied_at": None if each.applied_at is None else from_micros(each.applied_at).isoformat(),
        }
        for each in states
    ]
    if format == "json":
        typer.echo(json.dumps({"steps": rows}, indent=2))
    else:
        for row in rows:
            typer.echo(
                f"{row['step']:>4}  {row['name']:<24} {row['kind']:<8} {row['state']:<8} {row['applied_at'] or ''}".rstrip()
            )
    return all(row["state"] == "applied" for row in rows)


def show_sql(operation: "Operation", family: str | None, *, down: bool, after: int) -> None:
    """The script, for the family that was asked for, or that of the database."""
    from cron2queue.cli.operation import one_of
    from cron2queue.runtime.database.address import parse
    from cron2queue.runtime.migrations import script

    wanted = one_of(family, _FAMILIES, "--for") if family else parse(operation.url).family
    typer.echo(script(wanted, operation.prefix, direction="down" if down else "up", after=after), nl=False)
