"""Handlers are found through the plan or the modules that it names, and through nothing else."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime import settings as words
from cron2queue.runtime.handlers import (
    CommandTarget,
    HandlerOptions,
    ProgramTarget,
    PythonTarget,
    Registry,
    annotated,
    handler,
)
from cron2queue.runtime.plan_tables import Misplaced
from cron2queue.runtime.settings import Retry, Settings, read_settings

PLAN = """
[jobs.export]
handler = "handlers/export.py"
timeout = 240
retry = [10, 30]
[jobs.old]
command = "echo old"
stdin = "text"
user = "www-data"
[jobs.old.environment]
LANG = "C"
[jobs.tool]
handler = "handlers/tool"
[jobs.kept]
decision = "keep"
command = "true"
[jobs.guarded]
decision = "guard"
command = "true"
"""
EXPORT = """
from cron2queue.runtime.handlers import handler

@handler("export", timeout=5, grace=3, queue="exports", memory_bytes=1 << 28)
@handler("export.again", short=True)
def export(job): pass
"""


@pytest.fixture(autouse=True)
def imports() -> Iterator[None]:
    """What a test imports is forgotten after it."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    sys.path[:] = path


def written(tmp_path: Path, plan: str = PLAN, export: str = EXPORT) -> Settings:
    (tmp_path / "handlers").mkdir(parents=True)
    (tmp_path / "handlers" / "export.py").write_text(export)
    (tmp_path / "handlers" / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "handlers" / "tool").chmod(0o755)
    (tmp_path / "cron2queue.toml").write_text(plan)
    return read_settings(tmp_path / "cron2queue.toml")


def test_each_queued_job_has_a_handler_of_its_own_sort(tmp_path: Path) -> None:
    registry = Registry.from_settings(written(tmp_path))
    assert set(registry.handlers) == {"export", "export.again", "old", "tool"}
    assert isinstance(registry.handlers["export"].target, PythonTarget)
    assert isinstance(registry.handlers["tool"].target, ProgramTarget)
    old = registry.handlers["old"].target
    assert isinstance(old, CommandTarget)
    assert (old.command, old.stdin, old.user, dict(old.environment)) == ("echo old", "text", "www-data", {"LANG": "C"})


def test_what_the_plan_writes_comes_before_what_the_decorator_says(tmp_path: Path) -> None:
    options = Registry.from_settings(written(tmp_path)).handlers["export"].options
    assert (options.timeout, options.retry) == (240, (10.0, 30.0))
    assert (options.grace, options.queue, options.memory_bytes) == (3, "exports", 1 << 28)


def test_the_plan_can_say_that_jobs_of_a_function_only_wait_and_of_nothing_else(tmp_path: Path) -> None:
    plan = PLAN.replace("[jobs.export]\n", "[jobs.export]\nwaits-only = true\n")
    assert plan != PLAN
    registry = Registry.from_settings(written(tmp_path, plan))
    assert registry.handlers["export"].options.waits_only
    for name in ("old", "tool"):
        (tmp_path / "cron2queue.toml").write_text(PLAN.replace(f"[jobs.{name}]\n", f"[jobs.{name}]\nwaits-only = true\n"))
        with pytest.raises(UsageError, match="is for Python handlers") as told:
            read_settings(tmp_path / "cron2queue.toml")
        line = int(str(told.value.place).rpartition(":")[2])
        assert (tmp_path / "cron2queue.toml").read_text().splitlines()[line - 1] == "waits-only = true"


def test_a_kind_that_only_the_module_knows_has_what_the_decorator_says(tmp_path: Path) -> None:
    options = Registry.from_settings(written(tmp_path)).handlers["export.again"].options
    assert options == HandlerOptions(kind="export.again", short=True)


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    def work(job: int) -> int:
        return job + 1

    assert handler("work")(work) is work
    assert work(1) == 2


def test_an_option_that_is_not_known_is_an_error_at_import() -> None:
    with pytest.raises(TypeError, match="timout"):
        handler("work", timout=3)


def test_a_job_whose_module_has_no_handler_for_it_is_told_with_the_nearest_kind(tmp_path: Path) -> None:
    settings = written(tmp_path, export=EXPORT.replace('"export"', '"exports"'))
    with pytest.raises(UsageError, match="no handler for the kind 'export'") as caught:
        Registry.from_settings(settings)
    assert caught.value.remedy == "did you mean 'exports'?"
    assert caught.value.place == str(tmp_path / "handlers" / "export.py")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import os\ndef broken(:", 2),
        ("\n\nraise RuntimeError('at import')", 3),
        ("import module_that_is_not_there", 1),
        ("import json\ndef deep():\n    json.loads('{')\ndeep()", 3),
    ],
)
def test_a_module_that_fails_is_an_error_that_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(UsageError, match="the handler module fails") as caught:
        Registry.from_settings(written(tmp_path, export=text))
    assert caught.value.place == f"{tmp_path / 'handlers' / 'export.py'}:{line}"


def test_two_handlers_for_one_kind_are_an_error(tmp_path: Path) -> None:
    twice = EXPORT + '\n@handler("export")\ndef other(job): pass\n'
    with pytest.raises(UsageError, match="two handlers for the kind 'export'"):
        Registry.from_settings(written(tmp_path, export=twice))
    plan = PLAN + '[jobs.second]\nkind = "old"\ncommand = "echo other"\n'
    (tmp_path / "second").mkdir()
    with pytest.raises(UsageError, match="a second handler for the kind 'old'"):
        Registry.from_settings(written(tmp_path / "second", plan=plan))


def test_a_module_that_is_missing_is_told(tmp_path: Path) -> None:
    settings = written(tmp_path)
    (tmp_path / "handlers" / "export.py").unlink()
    with pytest.raises(Misplaced, match=r"jobs.export.handler: there is no file .*export.py") as caught:
        Registry.from_settings(settings)
    assert (caught.value.table, caught.value.key) == ("jobs.export", "handler")


def test_a_program_that_cannot_be_executed_is_told_with_what_to_do(tmp_path: Path) -> None:
    settings = written(tmp_path)
    (tmp_path / "handlers" / "tool").chmod(0o644)
    with pytest.raises(UsageError, match="no executable file") as caught:
        Registry.from_settings(settings)
    assert caught.value.remedy is not None
    assert caught.value.remedy.startswith("chmod +x")


@pytest.mark.parametrize("name", ["handlers/" + "x" * 300, "handlers/" + "x" * 300 + ".py", "handlers/export.py/below"])
def test_a_handler_that_cannot_even_be_looked_at_is_told(name: str, tmp_path: Path) -> None:
    settings = written(tmp_path, f'[jobs.a]\nhandler = "{name}"\n')
    with pytest.raises(Misplaced, match="there is no file"):
        Registry.from_settings(settings)


def test_a_worker_serves_only_what_it_may_run_as_its_user(tmp_path: Path) -> None:
    settings = written(tmp_path)
    mine = Registry.from_settings(settings, user="app", is_root=False)
    assert "old" not in mine.handlers
    assert mine.skipped == {"old": "it is to run as www-data, and this worker runs as app"}
    assert "old" in Registry.from_settings(settings, user="www-data", is_root=False).handlers
    assert "old" in Registry.from_settings(settings, user="root", is_root=True).handlers


def test_root_runs_no_program_of_another_user_with_its_own_rights(tmp_path: Path) -> None:
    plan = '[jobs.tool]\nhandler = "handlers/tool"\nuser = "www-data"\n'
    settings = written(tmp_path, plan)
    refused = Registry.from_settings(settings, user="root", is_root=True)
    assert (dict(refused.handlers), list(refused.skipped)) == ({}, ["tool"])
    assert "tool" in Registry.from_settings(settings, user="www-data", is_root=False).handlers
    own = written(tmp_path / "own", plan.replace("www-data", "root"))
    assert "tool" in Registry.from_settings(own, user="root", is_root=True).handlers


def test_modules_by_name_are_imported_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "shop_jobs.py").write_text(EXPORT)
    (tmp_path / "cron2queue.toml").write_text('[project]\nhandlers = ["shop_jobs"]\n')
    registry = Registry.from_settings(read_settings(tmp_path / "cron2queue.toml"))
    assert set(registry.handlers) == {"export", "export.again"}


def test_a_handler_that_a_module_has_only_imported_is_not_registered_twice(tmp_path: Path) -> None:
    (tmp_path / "first_jobs.py").write_text(EXPORT)
    (tmp_path / "second_jobs.py").write_text("from first_jobs import export\n")
    sys.path.insert(0, str(tmp_path))
    import importlib

    assert set(annotated(importlib.import_module("second_jobs"))) == set()
    assert set(annotated(importlib.import_module("first_jobs"))) == {"export", "export.again"}


def test_the_vocabulary_of_options_matches_that_of_the_plan() -> None:
    assert HandlerOptions(kind="x").retry is Retry.EXPONENTIAL
    assert words.JobSettings(name="x", kind="x").grace == HandlerOptions(kind="x").grace


def test_nothing_is_imported_for_a_kind_that_stands_in_the_database(tmp_path: Path) -> None:
    registry = Registry.from_settings(written(tmp_path))
    before = set(sys.modules)
    for kind in ("os.system", "__import__", "handlers.export:export", "antigravity"):
        assert registry.handlers.get(kind) is None
    assert set(sys.modules) == before
    assert os.environ.get("HANDLED") is None
