"""`cron2queue dead`: the dead jobs by kind and error, and another chance for them."""

from typing import Annotated

import typer

from cron2queue.cli.operators import Act, Look, acts, looks

_HELP = """The dead jobs, and another chance for them.

\b
Examples:
  cron2queue dead list                       by kind and error
  cron2queue dead requeue --kind order-export --spread 600
"""

group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Public ids, or enough of their beginnings.")]
Queue = Annotated[str | None, typer.Option("--queue", help="Only this queue.")]
Kind = Annotated[str | None, typer.Option("--kind", help="Only this kind.")]
Error = Annotated[str | None, typer.Option("--error", help="Only jobs whose message contains this.")]
Since = Annotated[str | None, typer.Option("--since", help="Dead since: 90m, 2h, 3d or an ISO 8601 time.")]
Spread = Annotated[
    float, typer.Option("--spread", min=0, max=604_800, help="Seconds over which the jobs come back, not all at once.")
]
All = Annotated[bool, typer.Option("--all", help="Every dead job; needed when no filter is given.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")]


@group.command("list")
@looks
def list_(look: Look, queue: Queue = None, kind: Kind = None, error: Error = None, since: Since = None) -> None:
    """The dead, grouped by kind and error, the largest group first.

    Under Celery also the messages that the broker gave up, of the last day or --since: by kind and reason, with what became
    of them.

    \b
    Examples:
      cron2queue dead list
      cron2queue dead list --kind order-export --since 2h
      cron2queue jobs list --state dead --kind order-export      one by one
    """
    from cron2queue.cli.showing import dead_filter, show_dead

    wanted = dead_filter(queue=queue, kind=kind, error=error, since=since)
    show_dead(look, wanted)


@group.command()
@acts
def requeue(
    act: Act,
    ids: Ids = None,
    queue: Queue = None,
    kind: Kind = None,
    error: Error = None,
    since: Since = None,
    spread: Spread = 0.0,
    all: All = False,
    dry_run: DryRun = False,
) -> None:
    """Give dead jobs another chance: their attempts start anew, their history stays, and it is recorded who did it.

    Messages that Celery's broker gave up need none: a job that is still ready is sent again by itself.

    \b
    Examples:
      cron2queue dead requeue 8b2c6d0b
      cron2queue dead requeue --error 'connection refused' --since 6h --spread 600
      cron2queue dead requeue --all --dry-run
    """
    from cron2queue.cli.showing import dead_filter
    from cron2queue.cli.steering import requeue_dead

    wanted = dead_filter(queue=queue, kind=kind, error=error, since=since)
    requeue_dead(act, ids or [], wanted, every=all, spread=spread, dry_run=dry_run)
