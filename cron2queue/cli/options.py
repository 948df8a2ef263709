"""Options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

Sources = Annotated[
    list[str] | None, typer.Argument(metavar="SOURCE", help="Crontab files or folders; - reads standard input.")
]
Dialect = Annotated[str, typer.Option("--dialect", help="debian, cronie, busybox, systemd-cron, freebsd, openbsd or auto.")]
KindOption = Annotated[str, typer.Option("--kind", help="system (with a user column), user, or auto.")]
User = Annotated[str | None, typer.Option("--user", help="Whose crontab it is, when the source does not tell.")]
Root = Annotated[Path | None, typer.Option("--root", help="Read a copied host tree under this folder.")]
Logs = Annotated[
    list[str] | None,
    typer.Option("--logs", help="Log file, folder or rotated set (.gz, .xz, .zst), or -; repeatable."),
]
Journal = Annotated[
    str | None, typer.Option("--journal", help="journalctl -o json output: a file, or 'live' to ask journalctl.")
]
NothingToDo = Annotated[
    list[str] | None,
    typer.Option("--nothing-to-do", metavar="REGEX", help="Output that says there was nothing to do; repeatable."),
]
Observations = Annotated[Path | None, typer.Option("--observations", help="What `cron2queue observe` recorded.")]
Timezone = Annotated[str | None, typer.Option("--timezone", "--tz", help="Zone of the cron daemon, e.g. Europe/Berlin.")]
At = Annotated[str | None, typer.Option("--at", help="The 'now' of the report, ISO 8601.")]
Format = Annotated[str, typer.Option("--format", "-f", help="Output format.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write here (atomically) instead of stdout.")]
Color = Annotated[str, typer.Option("--color", help="auto, always or never.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Draw with ASCII characters only.")]
Width = Annotated[int | None, typer.Option("--width", min=40, help="Columns of the report.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say less.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="CRON2QUEUE_DATABASE_URL",
        help="sqlite:///FILE, mysql+pymysql://, mariadb+pymysql:// or postgresql+psycopg:// URL.",
    ),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="The plan; cron2queue.toml in this folder if there is one.")]

AuditFormat = Annotated[
    str, typer.Option("--format", "-f", help="terminal, concise, json, markdown, html, sarif, github or junit.")
]
Also = Annotated[list[str] | None, typer.Option("--also", metavar="FORMAT=FILE", help="One more report; repeatable.")]
FailOn = Annotated[str, typer.Option("--fail-on", help="Exit with 1 at error, warning, note or never.")]
Select = Annotated[list[str] | None, typer.Option("--select", metavar="CODES", help="Only these rules: codes, C2Q4, names.")]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="CODES", help="Not these rules.")]
Baseline = Annotated[Path | None, typer.Option("--baseline", help="Findings known already; they do not count.")]
WriteBaseline = Annotated[Path | None, typer.Option("--write-baseline", help="Write today's findings as a baseline.")]
Why = Annotated[bool, typer.Option("--why", help="Print the signs behind each verdict.")]
Ask = Annotated[bool, typer.Option("--ask", help="Ask on the terminal what no crontab can tell.")]
