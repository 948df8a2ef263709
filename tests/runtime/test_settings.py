"""The plan as the runtime reads it."""

from pathlib import Path
from typing import Any

import pytest

from cron2queue.errors import InputError, UsageError
from cron2queue.runtime import settings as words
from cron2queue.runtime.plan_tables import did_you_mean
from cron2queue.runtime.settings import Missed, Overlap, Retry, Scope, read_settings, settings_from

HERE = Path("/srv/shop")


def job(**keys: Any) -> words.JobSettings:
    table = {"command": "true", **{key.replace("_", "-"): value for key, value in keys.items()}}
    return settings_from({"jobs": {"order-export": table}}, folder=HERE).jobs["order-export"]


def test_a_job_that_says_nothing_has_the_documented_defaults() -> None:
    read = job()
    assert (read.kind, read.queue, read.priority, read.max_attempts) == ("order-export", "default", 100, 8)
    assert (read.retry, read.overlap, read.scope, read.missed) == (
        Retry.EXPONENTIAL,
        Overlap.SKIP,
        Scope.HOST,
        Missed.SKIP,
    )
    assert (read.timeout, read.grace, read.handler, read.shell) == (None, 10.0, "command", "/bin/sh")


def test_what_is_written_is_told_apart_from_what_is_default() -> None:
    assert job(timeout=240).written == {"command", "timeout"}


def test_all_keys_of_a_job_are_read() -> None:
    read = job(
        kind="export",
        queue="shop",
        timeout=240,
        grace=5,
        max_attempts=3,
        retry=[10, 30.5],
        overlap="wait",
        scope="database",
        missed="all",
        missed_limit=4,
        environment={"LANG": "C"},
        memory_limit=2**28,
    )
    assert read.retry == (10.0, 30.5)
    assert (read.overlap, read.scope, read.missed, read.missed_limit) == ("wait", "database", "all", 4)
    assert dict(read.environment) == {"LANG": "C"}
    assert (read.timeout, read.grace, read.memory_limit) == (240.0, 5.0, 2**28)


def test_a_misspelt_key_is_refused_with_the_right_one() -> None:
    with pytest.raises(UsageError, match=r"unknown key 'timout' in \[jobs.order-export\]") as caught:
        job(timout=3)
    assert caught.value.remedy == "did you mean 'timeout'?"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timeout", 0),
        ("timeout", -1),
        ("timeout", True),
        ("timeout", "240"),
        ("timeout", float("nan")),
        ("timeout", float("inf")),
        ("grace", -1),
        ("max-attempts", 0),
        ("max-attempts", 1.5),
        ("max-attempts", 2**40),
        ("priority", "high"),
        ("retry", "sometimes"),
        ("retry", []),
        ("retry", [1, -1]),
        ("retry", {"a": 1}),
        ("overlap", "both"),
        ("overlap", 3),
        ("overlap", ["skip"]),
        ("scope", "galaxy"),
        ("missed", ""),
        ("environment", ["A=1"]),
        ("environment", {"A=B": "1"}),
        ("environment", {"A": 1}),
        ("command", "a\0b"),
        ("queue", ""),
        ("queue", "x" * 192),
        ("kind", 7),
        ("memory-limit", 10),
        ("exit-statuses", {"256": "done"}),
        ("exit-statuses", {"-1": "done"}),
        ("exit-statuses", {"three": "done"}),
        ("exit-statuses", {"3": "maybe"}),
        ("exit-statuses", "3"),
        ("short", 1),
        ("force-cancel", "no"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_key(key: str, value: object) -> None:
    with pytest.raises(UsageError, match=rf"jobs.order-export.{key} must be"):
        settings_from({"jobs": {"order-export": {"command": "true", key: value}}}, folder=HERE)


def test_a_queued_job_needs_something_to_run() -> None:
    with pytest.raises(UsageError, match="neither a command nor a handler"):
        settings_from({"jobs": {"x": {"decision": "queue"}}}, folder=HERE)


def test_a_kept_entry_needs_no_handler() -> None:
    assert settings_from({"jobs": {"x": {"decision": "keep"}}}, folder=HERE).jobs["x"].command is None


def test_a_kind_may_say_what_its_exit_statuses_mean() -> None:
    assert dict(job(exit_statuses={"3": "done", "7": "permanent"}).exit_statuses) == {3: "done", 7: "permanent"}


def test_modules_of_handlers_are_named_in_the_plan() -> None:
    assert settings_from({"project": {"handlers": ["shop.jobs"]}}, folder=HERE).project.handlers == ("shop.jobs",)
    with pytest.raises(UsageError, match=r"project\.handlers must be a list of module names"):
        settings_from({"project": {"handlers": "shop.jobs"}}, folder=HERE)


def test_queues_have_limits() -> None:
    read = settings_from({"queues": {"mail": {"concurrency": 4, "depth-limit": 10, "age-limit": 900}}}, folder=HERE)
    mail = read.queues["mail"]
    assert (mail.concurrency, mail.depth_limit, mail.age_limit) == (4, 10, 900.0)


def test_keys_of_the_project_that_only_the_generator_needs_are_left_to_it() -> None:
    read = settings_from({"project": {"name": "shop", **dict.fromkeys(words.GENERATOR_KEYS, "any")}}, folder=HERE)
    assert read.project.name == "shop"


def test_a_plan_of_a_newer_format_is_refused() -> None:
    with pytest.raises(UsageError, match="format-version 2"):
        settings_from({"format-version": 2}, folder=HERE)


@pytest.mark.parametrize("document", [{"jobs": []}, {"jobs": {"a": 1}}, {"queues": 3}, {"project": "shop"}])
def test_tables_that_are_no_tables_are_an_error_and_no_crash(document: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="table"):
        settings_from(document, folder=HERE)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    plan = tmp_path / "cron2queue.toml"
    plan.write_text("[jobs.a]\n[jobs\n")
    with pytest.raises(UsageError, match="not TOML") as caught:
        read_settings(plan)
    assert caught.value.place == f"{plan}:2:6"
    plan.write_text("a = 1\nb = [")
    with pytest.raises(UsageError, match="end of document") as caught:
        read_settings(plan)
    assert caught.value.place == str(plan)
    plan.write_text("a = " + "[" * 5000)
    with pytest.raises(UsageError, match="nested too deeply") as caught:
        read_settings(plan)
    assert caught.value.place == str(plan)


def test_a_file_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    plan = tmp_path / "cron2queue.toml"
    plan.write_bytes(b"a = 1\nb = '\xff'")
    with pytest.raises(UsageError, match="not UTF-8") as caught:
        read_settings(plan)
    assert caught.value.place == f"{plan}:2:6"


def test_a_file_that_is_missing_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")


def test_relative_paths_start_at_the_plan(tmp_path: Path) -> None:
    plan = tmp_path / "cron2queue.toml"
    plan.write_text('[jobs.x]\nhandler = "handlers/x.py"\n')
    assert read_settings(plan).folder == tmp_path


def test_defaults_are_known_by_the_key_as_it_is_written() -> None:
    assert words.defaults(words.JobSettings)["max-attempts"] == 8
    assert words.defaults(words.QueueSettings)["concurrency"] == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("format-version = 1\n\n[queues.mail]\nconcurency = 1\n", 4),
        ("[jobs.a]\ncommand = 'x'\n[jobs.b]\ncommand = 'x'\ntimeout = 'long'\n", 5),
        ("# nothing\n[jobs.a]\ndecision = 'queue'\n", 2),
        ("format-version = 1\n[project]\nname = 'a'\ndatabse = 'sqlite:///x.db'\n", 4),
        ("format-version = 1\n\n[hoks.pager]\ncommand = ['x']\n", 3),
        ("[project]\n[[queus]]\n", 2),
        ("formatversion = 1\n", 1),
        ("[project]\nname = 'a'\ndatabase = 'oracle://app:hunter2@db/x'\n", 3),
        ("[project]\nprefix = 'c2q;'\n", 2),
        ("[jobs.a]\ncommand = 'x'\ndecision = 'qeue'\n", 3),
        ("[project]\n\n[alert.queues]\nmail = 1\n", 3),
    ],
)
def test_a_mistake_in_the_plan_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "cron2queue.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path / "cron2queue.toml")
    assert caught.value.place == f"{tmp_path / 'cron2queue.toml'}:{line}"
    assert "hunter2" not in str(caught.value)


def test_a_word_that_is_not_known_gets_the_nearest_all_of_them_or_that_there_is_none() -> None:
    assert did_you_mean("timout", frozenset({"timeout", "grace"})) == "did you mean 'timeout'?"
    assert did_you_mean("zzz", frozenset({"timeout", "grace"})) == "known are grace, timeout"
    assert did_you_mean("zzz", frozenset()) == "the plan names none"


@pytest.mark.parametrize(
    ("document", "meant"),
    [
        ({"project": {"databse": "sqlite:///x.db"}}, "did you mean 'database'?"),
        ({"project": {"shdow": True}}, "did you mean 'shadow'?"),
        ({"project": {"handler": []}}, "did you mean 'handlers'?"),
        ({"hoks": {}}, "did you mean 'hooks'?"),
        ({"retension": {}}, "did you mean 'retention'?"),
    ],
)
def test_a_key_or_table_that_nobody_reads_is_refused_with_what_was_meant(document: dict[str, Any], meant: str) -> None:
    with pytest.raises(UsageError, match="unknown key") as caught:
        settings_from(document, folder=HERE)
    assert caught.value.remedy == meant


def test_a_misspelt_word_of_a_key_gets_the_nearest_one(tmp_path: Path) -> None:
    plan = tmp_path / "cron2queue.toml"
    for key, word, remedy in (
        ("decision", "qeue", "did you mean 'queue'?"),
        ("overlap", "skp", "did you mean 'skip'?"),
        ("scope", "zzz", "write one of host, database"),
    ):
        plan.write_text(f"[jobs.a]\ncommand = 'x'\n{key} = '{word}'\n")
        with pytest.raises(UsageError) as caught:
            read_settings(plan)
        assert (caught.value.remedy, caught.value.place) == (remedy, f"{plan}:3")
