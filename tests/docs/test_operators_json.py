"""The page on JSON names every command that prints it, and every key that is really printed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from databases import Database
from scenes import accept, shop
from typer.main import get_command

from cron2queue.cli.app import build_app

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/operators-json.md").read_text(encoding="utf-8")
OPERATORS = ("migrate", "status", "jobs", "dead", "queues", "workers", "check", "prune")
NAMED = frozenset(re.findall(r"`([a-z_0-9]+)`", PAGE))

PLAN = """format-version = 1
[project]
timezone = "UTC"
database = "{url}"
[jobs.often]
schedule = "* * * * *"
command = "true"
missed = "once"
"""

# What is typed, in one scene; {0} is a dead job, {1} a waiting one, {2} one that waits for its time.
TYPED = [
    "migrate status", "status", "jobs list", "jobs show {0} --payload", "jobs cancel {1}", "jobs release {2}", "jobs retry {0}",
    "jobs catch-up", "dead list", "dead requeue --all --dry-run", "dead requeue --all", "queues list", "queues show default",
    "queues pause default", "queues resume default", "queues limit default --depth 9", "workers list", "workers restart",
    "check", "prune --dry-run", "prune",
]  # fmt: skip


def commands() -> set[str]:
    """Every operator's command that has --format."""
    app: Any = get_command(build_app())
    found = set()
    for name in OPERATORS:
        command = app.commands[name]
        for each in command.commands.values() if hasattr(command, "commands") else [command]:
            if any("--format" in parameter.opts for parameter in each.params):
                found.add(name if each is command else f"{name} {each.name}")
    return found


def keys(value: Any) -> Iterator[str]:
    """All keys, but for ids of jobs, which are data."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not re.fullmatch("[0-9a-f]{32}", key):
                yield key
            yield from keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from keys(each)


def test_every_command_that_prints_json_is_tried_here_and_named_on_the_page() -> None:
    tried = {re.match(r"[a-z -]*[a-z]", each.split(" {")[0].split(" --")[0])[0] for each in TYPED}  # type: ignore[index]
    tried = {each.removesuffix(" default") for each in tried}
    assert commands() == tried
    assert [each for each in commands() if f"`{each}`" not in PAGE and f"## {each}" not in PAGE] == []


@pytest.fixture
def scene(sqlite_database: Database, tmp_path: Path) -> list[str]:
    """A shop with a worker, dead jobs and a tick that did not come; the plan's arguments."""
    store = shop(sqlite_database)
    store.pause_kind("send-mail", 900)
    accept(store, 1, key="other", kind="nobody-knows-it")
    sqlite_database.change("INSERT INTO {ticks} (entry, last_nominal) VALUES (?, {now} - 1800000000)", (b"often",))
    plan = tmp_path / "cron2queue.toml"
    plan.write_text(PLAN.format(url=sqlite_database.url))
    return ["--plan", str(plan), "--format", "json"]


def test_every_key_that_is_printed_is_named_on_the_page(scene: list[str], sqlite_database: Database) -> None:
    ids = [
        sqlite_database.value(f"SELECT public_id FROM {{jobs}} WHERE state = '{state}' LIMIT 1")
        for state in ("dead", "ready", "scheduled")
    ]
    printed: dict[str, set[str]] = {}
    for each in TYPED:
        ran = run(*each.format(*ids).split(), *scene)
        assert ran.err == "" and ran.out.isascii(), each
        printed[each] = set(keys(ran.json))
        assert printed[each], each
    unnamed = {each: found - NAMED for each, found in printed.items()}
    assert {each: found for each, found in unnamed.items() if found} == {}
    assert {"p50" in key for key in printed["status"]} and {"missed", "unclaimed_kinds", "beat_age_seconds"} <= printed[
        "status"
    ]
