"""The reference of the command line: what each command's own --help says."""

from collections.abc import Iterator, Mapping

import typer
from typer.testing import CliRunner

from cron2queue.cli.app import COMMANDS, build_app


def _names(app: typer.Typer) -> Iterator[tuple[str, ...]]:
    """Every command in the order of the table, each group followed by its own commands."""
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    for name, _ in COMMANDS:
        yield (name,)
        members = groups[name].registered_commands if name in groups else []
        for command in members:
            yield name, str(command.name or command.callback.__name__.strip("_").replace("_", "-") if command.callback else "")


def _help(app: typer.Typer, words: tuple[str, ...]) -> str:
    ran = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"}).invoke(app, [*words, "--help"], prog_name="cron2queue")
    if ran.exit_code != 0:
        raise RuntimeError(f"`cron2queue {' '.join(words)} --help` ended with status {ran.exit_code}: {ran.output}")
    return "\n".join(line.rstrip() for line in ran.output.strip().splitlines())


def command_pages() -> Mapping[str, str]:
    """One page with all of them."""
    app = build_app()
    parts = ["# Commands", "", "Each command's own `--help`. The exit statuses stand on [their page](../exit-statuses.md)."]
    for words in _names(app):
        parts += ["", f"{'##' if len(words) == 1 else '###'} {' '.join(words)}", "", "```text", _help(app, words), "```"]
    return {"index.md": "\n".join(parts) + "\n"}
