"""Every command that a page shows is one that there is, with options that it takes; so are the plans and the Python."""

import argparse
import ast
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cron2queue.cli.app import build_app
from cron2queue.runtime.alerts import alert_settings
from cron2queue.runtime.hooks.hook import hooks_from
from cron2queue.runtime.settings import settings_from
from cron2queue.runtime.worker.commandline import add_options

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs/reference/commands"
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*/README.md")))
    if GENERATED not in page.parents
]
APP: Any = get_command(build_app())


def _fences(page: Path, languages: str) -> list[str]:
    return re.findall(rf"^```(?:{languages})\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def _shown(page: Path) -> Iterator[str]:
    """What stands in code and begins with the name of the tool; what follows two blanks is a remark."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?\n(.*?)^```|^((?: {4}.*\n)+)", text, re.M | re.S)
    lines = [line for block in blocks for line in "".join(block).splitlines() if not re.match(r"[-+ ]*#", line)]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    lines += [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`#][^`]*)`(?!`)", prose)]
    for line in lines:
        for call in re.findall(r"(?:^|[ ;&|/])cron2queue (?=[a-z-])(.*)", line):
            yield re.split(r"  |[|;>&)]| #", call)[0].strip()


def _wrong(call: str) -> str | None:
    """What there is not: a command, or an option of it."""
    words = shlex.split(call.replace("'", "") if call.count("'") % 2 else call)
    command, options = APP, {"--help", "-h"}
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words.pop(0)
        if name.isupper():
            return None
        if name not in command.commands:
            return f"there is no command {name!r}"
        command = command.commands[name]
        options |= _worker() if name == "worker" else set()
    options |= {each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)}
    given = words[: words.index("--")] if "--" in words else words
    unknown = [word for word in given if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in options]
    return f"it has no option {unknown[0]}" if unknown else None


def _worker() -> set[str]:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return set(parser._option_string_actions)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_no_command_and_no_option_that_is_not_there(page: Path) -> None:
    assert [(call, why) for call in _shown(page) if (why := _wrong(call))] == []


def test_the_commands_of_the_pages_are_seen_and_wrong_ones_would_be() -> None:
    calls = {call for page in PAGES for call in _shown(page)}
    assert {call.split()[0] for call in calls if call} >= set(APP.commands) - {"lock", "migrate"}
    assert _wrong("audit --lags x") == "it has no option --lags"
    assert _wrong("jobs lst") == "there is no command 'lst'"
    assert _wrong("worker --drane") == "it has no option --drane"


def _with(language: str) -> list[Path]:
    return [page for page in PAGES if _fences(page, language)]


@pytest.mark.parametrize("page", _with("toml"), ids=lambda page: page.stem)
def test_the_parts_of_plans_on_a_page_make_one_that_is_taken(page: Path, tmp_path: Path) -> None:
    document = tomllib.loads("\n".join(_fences(page, "toml")))
    settings_from(document, folder=tmp_path)
    alert_settings(document)
    assert len(hooks_from(document, folder=tmp_path)) == len(document.get("hooks", {}))


@pytest.mark.parametrize("page", _with("python"), ids=lambda page: page.stem)
def test_the_python_of_a_page_can_be_read(page: Path) -> None:
    for block in _fences(page, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cron2queue"):
                module = importlib.import_module(node.module or "")
                assert [each.name for each in node.names if not hasattr(module, each.name)] == []
