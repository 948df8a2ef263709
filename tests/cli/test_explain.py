"""`cron2queue explain` shows a rule's page."""

from typer import Typer
from typer.testing import CliRunner

from cron2queue.analyser.handbook import page
from cron2queue.analyser.registry import rule_named
from cron2queue.cli.commands.explain import run
from cron2queue.errors import UsageError

app = Typer(rich_markup_mode=None)
app.command()(run)
runner = CliRunner()


def test_a_code_or_a_name_shows_the_page() -> None:
    for word in ("C2Q301", "c2q301", "unescaped-percent"):
        shown = runner.invoke(app, [word])
        assert shown.exit_code == 0
        assert shown.output == page(rule_named("C2Q301"))


def test_all_shows_the_list() -> None:
    shown = runner.invoke(app, ["all"])
    assert shown.exit_code == 0
    assert "C2Q201  error    never-fires" in shown.output


def test_an_unknown_code_is_a_usage_error() -> None:
    shown = runner.invoke(app, ["C2Q999"])
    assert isinstance(shown.exception, UsageError)


def test_help_begins_with_examples() -> None:
    shown = runner.invoke(app, ["--help"])
    assert shown.output.index("Examples:") < shown.output.index("Arguments")
