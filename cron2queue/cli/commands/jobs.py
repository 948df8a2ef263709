"""`cron2queue jobs`: list them, show one, cancel, retry."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.operators import Act, Look, acts, looks
from cron2queue.cli.options import Database, Format

_HELP = """Look at jobs, cancel them, give them another chance.

\b
Examples:
  cron2queue jobs list --state dead
  cron2queue jobs show 8b2c6d0b              every attempt and its output
  cron2queue jobs cancel 8b2c6d0b
"""

group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="The job's public id, or enough of its beginning.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Public ids, or enough of their beginnings.")]
Queue = Annotated[str | None, typer.Option("--queue", help="Only this queue.")]
Kind = Annotated[str | None, typer.Option("--kind", help="Only this kind.")]
Key = Annotated[str | None, typer.Option("--key", help="Only this key.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Only jobs of this owner.")]
States = Annotated[list[str] | None, typer.Option("--state", help="Only this state; repeatable.")]
Since = Annotated[str | None, typer.Option("--since", help="Created since: 90m, 2h, 3d or an ISO 8601 time.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many at most.")]
Before = Annotated[str | None, typer.Option("--before", help="Go on after this id of the page before.")]
Payload = Annotated[bool, typer.Option("--payload", help="Show the payload, which may hold people's data.")]


@group.command("list")
@looks
def list_(
    look: Look,
    queue: Queue = None,
    kind: Kind = None,
    key: Key = None,
    owner: Owner = None,
    state: States = None,
    since: Since = None,
    limit: Limit = 50,
    before: Before = None,
) -> None:
    """The newest jobs that fit.

    \b
    Examples:
      cron2queue jobs list --state dead --kind order-export
      cron2queue jobs list --since 2h --queue mail
      cron2queue jobs list --format json | jq -r '.[].id'
    """
    from cron2queue.cli.showing import jobs_filter, show_jobs

    wanted = jobs_filter(queue=queue, kind=kind, key=key, owner=owner, states=state, since=since, limit=limit, before=before)
    show_jobs(look, wanted)


@group.command()
@looks
def show(look: Look, id: Id, payload: Payload = False, owner: Owner = None) -> None:
    """One job: every attempt with times, worker, outcome and the end of its output, and who did what to it.

    \b
    Examples:
      cron2queue jobs show 8b2c6d0b6f4a4a7e9d1f2a3b4c5d6e7f
      cron2queue jobs show 8b2c6d0b --payload
    """
    from cron2queue.cli.showing import show_job

    show_job(look, id, owner=owner, payload=payload)


@group.command()
@acts
def cancel(act: Act, ids: Ids, owner: Owner = None) -> None:
    """Cancel: a job that has not begun ends at once, a running one is asked to stop.

    \b
    Example:
      cron2queue jobs cancel 8b2c6d0b
    """
    from cron2queue.cli.steering import cancel_jobs

    cancel_jobs(act, ids, owner=owner)


@group.command()
@acts
def retry(act: Act, ids: Ids, owner: Owner = None) -> None:
    """Another chance for dead jobs, now; their attempts start anew, their history stays.

    \b
    Example:
      cron2queue jobs retry 8b2c6d0b 9b2c6d0b
    """
    from cron2queue.cli.steering import retry_jobs

    retry_jobs(act, ids, owner=owner)


@group.command()
@acts
def release(act: Act, ids: Ids, owner: Owner = None) -> None:
    """Let jobs that wait for their time or their retry be due now.

    \b
    Example:
      cron2queue jobs release 8b2c6d0b
    """
    from cron2queue.cli.steering import release_jobs

    release_jobs(act, ids, owner=owner)


@group.command("catch-up")
def catch_up(database: Database = None, plan: NearestPlan = None, format: Format = "terminal") -> None:
    """Enqueue the ticks that were missed while cron, its host or the database was down, as each entry's plan wants it.

    \b
    Examples:
      @reboot sleep 60; cron2queue jobs catch-up --plan /srv/c2q/cron2queue.toml
      */10 * * * * cron2queue jobs catch-up --plan /srv/c2q/cron2queue.toml
    """
    from cron2queue.cli import catching_up
    from cron2queue.cli.operation import one_of, operation

    one_of(format, ("terminal", "json"), "--format")
    catching_up.catch_up(operation(database, plan), format)
