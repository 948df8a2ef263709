"""`cron2queue audit`: read crontabs and their logs, and say what is broken, what to queue and what to leave alone."""

from typing import Any

import typer

from cron2queue.cli import options as given

CONTEXT_SETTINGS = {"auto_envvar_prefix": "CRON2QUEUE"}


def run(
    sources: given.Sources = None,
    dialect: given.Dialect = "auto",
    kind: given.KindOption = "auto",
    user: given.User = None,
    root: given.Root = None,
    logs: given.Logs = None,
    journal: given.Journal = None,
    observations: given.Observations = None,
    nothing_to_do: given.NothingToDo = None,
    timezone: given.Timezone = None,
    at: given.At = None,
    format: given.AuditFormat = "terminal",
    output: given.Output = None,
    also: given.Also = None,
    fail_on: given.FailOn = "error",
    select: given.Select = None,
    ignore: given.Ignore = None,
    baseline: given.Baseline = None,
    write_baseline: given.WriteBaseline = None,
    color: given.Color = "auto",
    ascii: given.Ascii = False,
    width: given.Width = None,
    why: given.Why = False,
    ask: given.Ask = False,
    quiet: given.Quiet = False,
    verbose: given.Verbose = False,
) -> None:
    """Read crontabs and their logs: what is broken, what to queue, what to guard, what to leave alone. Read only.

    \b
    Examples:
      cron2queue audit                    this machine's, as far as it may read
      ssh web1 cat /etc/crontab | cron2queue audit -
      cron2queue audit crontab --logs /var/log/syslog --also html=report.html
      cron2queue audit web1/etc/crontab web2/etc/crontab    hosts, by folder
    """
    raise typer.Exit(_perform(locals()))


def _perform(options: dict[str, Any]) -> int:
    from cron2queue.cli.auditing import Request, perform

    return perform(Request(**options))
