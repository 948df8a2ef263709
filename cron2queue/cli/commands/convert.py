"""`cron2queue convert`: write the migration into a folder."""

from pathlib import Path
from typing import Annotated

import typer

from cron2queue.cli import options

Into = Annotated[Path, typer.Option("--into", help="The folder to write; nothing outside it is touched.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="Convert this entry only; repeatable.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when the folder would change.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would be written.")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="Of the handlers: python, php, shell or node.")]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="What migrated entries become: sqlqueue, systemd, celery, celery-beat, guard.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key of [project], e.g. folder=/opt/c2q; repeatable.")
]
Shadow = Annotated[bool | None, typer.Option("--shadow/--no-shadow", help="Old lines keep running beside the producers.")]
Observe = Annotated[bool | None, typer.Option("--observe/--no-observe", help="Record the runs of entries that stay.")]
Spread = Annotated[bool, typer.Option("--spread", help="Move starts that pile up to other minutes.")]
Ask = Annotated[bool, typer.Option("--ask", help="Ask what only a person can know.")]


def run(
    sources: options.Sources = None,
    into: Into = Path("c2q"),
    dialect: options.Dialect = "auto",
    kind: options.KindOption = "auto",
    user: options.User = None,
    root: options.Root = None,
    logs: options.Logs = None,
    journal: options.Journal = None,
    observations: options.Observations = None,
    nothing_to_do: options.NothingToDo = None,
    timezone: options.Timezone = None,
    at: options.At = None,
    language: LanguageOption = None,
    engine: EngineOption = None,
    database: options.Database = None,
    settings: Settings = None,
    shadow: Shadow = None,
    observe: Observe = None,
    only: Only = None,
    spread: Spread = False,
    ask: Ask = False,
    check: Check = False,
    dry_run: DryRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the plan and all that follows from it into a folder; run again after any change, edits are kept.

    \b
    Examples:
      cron2queue convert /etc/crontab --into c2q
      cron2queue convert crontab --into web1 --language php --set folder=/opt/c2q
      cron2queue convert /etc/crontab --into c2q --engine systemd
      cron2queue convert /etc/crontab --into c2q --check
    """
    given = dict(locals())
    from cron2queue.cli.converting import perform, request_from

    raise typer.Exit(perform(request_from(given)))
