"""`cron2queue explain`: one rule's page from the handbook."""

from typing import Annotated

import typer


def run(code: Annotated[str, typer.Argument(metavar="CODE|all", help="A rule's code or name, or all for the list.")]) -> None:
    """Why a finding matters, what to do, what is not flagged, and examples.

    \b
    Examples:
      cron2queue explain C2Q301
      cron2queue explain unescaped-percent
      cron2queue explain all
    """
    from cron2queue.analyser.handbook import overview, page
    from cron2queue.analyser.registry import rule_named

    typer.echo(overview() if code.lower() == "all" else page(rule_named(code)), nl=False)
