"""`cron2queue show`: what the daemon understood of a crontab, and when it will start what."""

from typing import Annotated

import typer

from cron2queue.cli import options as given

CONTEXT_SETTINGS = {"auto_envvar_prefix": "CRON2QUEUE"}

Until = Annotated[str | None, typer.Option("--until", help="Show all starts from --at to before this, ISO 8601.")]
Count = Annotated[int | None, typer.Option("--count", "-n", min=0, max=1_000_000, help="Show so many starts of each entry.")]


def run(
    sources: given.Sources = None,
    dialect: given.Dialect = "auto",
    kind: given.KindOption = "auto",
    user: given.User = None,
    root: given.Root = None,
    timezone: given.Timezone = None,
    at: given.At = None,
    until: Until = None,
    count: Count = None,
    format: given.Format = "terminal",
    output: given.Output = None,
    color: given.Color = "auto",
    ascii: given.Ascii = False,
    width: given.Width = None,
) -> None:
    """What the parser understood: user, environment, command, standard input, the next starts.

    \b
    Examples:
      cron2queue show /etc/crontab -n 3
      crontab -l | cron2queue show - --kind user --at 2026-03-29
      cron2queue show crontab --format json --at 2026-01-01 --until 2027-01-01
    """
    request = locals()
    from cron2queue.cli.understood.showing import ShowRequest, perform

    raise typer.Exit(perform(ShowRequest(**request)))
