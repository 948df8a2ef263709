"""What all operators' commands have in common: the same trouble has the same words and the same status everywhere."""

import argparse
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import run, start
from databases import Database
from scenes import shop

from cron2queue.cli.operation import completed, moment, nearest, operation
from cron2queue.errors import UsageError
from cron2queue.runtime import producer
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.settings import from_folder
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker import commandline

SOME_ID = "8b2c6d0b6f4a4a7e9d1f2a3b4c5d6e7f"
LOOKS = [["status"], ["jobs", "list"], ["jobs", "show", SOME_ID], ["dead", "list"], ["queues", "list"], ["workers", "list"]]
ACTS = [
    ["jobs", "cancel", SOME_ID], ["jobs", "retry", SOME_ID], ["jobs", "release", SOME_ID],
    ["dead", "requeue", "--all"], ["queues", "pause", "q"], ["queues", "resume", "q"], ["queues", "limit", "q", "--depth", "3"],
    ["workers", "restart"], ["prune"],
]  # fmt: skip
EVERY = [*LOOKS, *ACTS, ["metrics"]]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_a_database_that_is_away_is_69_and_one_paragraph(command: list[str], tmp_path: Path) -> None:
    for url in ("mysql://shop:hunter2hunter2@127.0.0.1:1/x", f"sqlite:///{tmp_path}/no/such/jobs.db"):
        ran = run(*command, "--database", url, cwd=tmp_path)
        assert ran.status == 69 and "cron2queue: " in ran.err
        assert "Traceback" not in ran.err and "hunter2" not in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_missing_tables_are_told_with_the_remedy(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    ran = run(*command, "--database", f"sqlite:///{tmp_path}/empty.db", cwd=tmp_path)
    assert ran.status == 4 and "migrate up" in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize("command", [*LOOKS, *ACTS], ids=" ".join)
def test_an_unknown_format_is_refused(command: list[str], tmp_path: Path) -> None:
    ran = run(*command, "--format", "xml", cwd=tmp_path)
    assert ran.status == 2 and "--format 'xml' is not known" in ran.err


@pytest.mark.parametrize("command", LOOKS[:2] + LOOKS[3:], ids=" ".join)
def test_every_look_is_json_of_ascii_for_programs(sqlite_database: Database, command: list[str]) -> None:
    shop(sqlite_database).pause("default", by="ü\u202e\x1b")
    ran = run(*command, "--database", sqlite_database.url, "--format", "json")
    assert ran.status == 0 and ran.out.isascii() and json.loads(ran.out)


@pytest.mark.parametrize("command", [["jobs", "list"], ["metrics"]], ids=" ".join)
def test_a_closed_pipe_ends_quietly(sqlite_database: Database, command: list[str]) -> None:
    shop(sqlite_database)
    process = start(*command, "--database", sqlite_database.url)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(60) == 0
    process.stderr.close()


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_begins_with_examples_and_needs_no_database(command: list[str], tmp_path: Path) -> None:
    words = [word for word in command if word.isalpha() or word == "catch-up"][: 2 if len(command) > 1 else 1]
    ran = run(*words, "--help", cwd=tmp_path)
    assert ran.status == 0 and "Example" in ran.out and ran.out.index("Example") < ran.out.index("Options")


def test_an_environment_variable_names_the_database(sqlite_database: Database) -> None:
    shop(sqlite_database)
    ran = run("queues", "list", "--format", "json", CRON2QUEUE_DATABASE_URL=sqlite_database.url)
    assert [queue["queue"] for queue in ran.json["queues"]] == ["default"]


NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90m", "2026-11-30T12:30:00+00:00"),
        ("1.5h", "2026-11-30T12:30:00+00:00"),
        ("2d", "2026-11-28T14:00:00+00:00"),
        ("2026-11-30", "2026-11-30T00:00:00+00:00"),
        ("2026-11-30T14:00+02:00", "2026-11-30T14:00:00+02:00"),
    ],
)
def test_a_time_is_a_span_ago_or_iso_8601(text: str, at: str) -> None:
    found = moment(text, NOW)
    assert found is not None and found.isoformat() == at


@pytest.mark.parametrize("text", ["", "m", "1y", "-1h", "yesterday", "1e999h", "99999999999w", "2026-13-01", "\x1b"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        moment(text, NOW)


def test_the_plan_is_the_nearest_one_upward(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "cron2queue.toml").touch()
    assert nearest(tmp_path / "a/b") == tmp_path / "cron2queue.toml"
    (tmp_path / "a/cron2queue.toml").touch()
    assert nearest(tmp_path / "a/b") == tmp_path / "a/cron2queue.toml"


@pytest.mark.parametrize("where", [".", "sub", "elsewhere"])
def test_a_relative_file_of_a_plan_lies_beside_it_from_wherever_it_is_asked_for(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "c2q/cron2queue.toml"
    for folder in ("c2q/sub", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    plan.write_text('[project]\ndatabase = "sqlite:///./jobs.db"\n[jobs.a]\ncommand = "true"\n')
    (tmp_path / "elsewhere/jobs.db").touch()
    monkeypatch.chdir(tmp_path / "c2q" / where if where != "elsewhere" else tmp_path / where)
    assert operation(None, plan).url == f"sqlite:///{tmp_path}/c2q/jobs.db"
    enqueue = producer.options_of(["a", "--plan", str(plan)])
    assert producer.wish_of(enqueue, environment={}, now=NOW).url == f"sqlite:///{tmp_path}/c2q/jobs.db"
    words = argparse.ArgumentParser()
    commandline.add_options(words)
    work = words.parse_args(["--plan", str(plan)])
    assert commandline.options_of(work, {}).database == f"sqlite:///{tmp_path}/c2q/jobs.db"


@pytest.mark.parametrize("url", ["sqlite:////srv/jobs.db", "sqlite:///:memory:", "sqlite://", "mysql+pymysql://db/x"])
def test_a_database_that_lies_in_no_folder_is_taken_as_it_is_written(url: str, tmp_path: Path) -> None:
    assert from_folder(url, tmp_path) == url


def test_a_command_that_is_named_leads_where_this_one_led(sqlite_database: Database, tmp_path: Path) -> None:
    url = sqlite_database.url
    (tmp_path / "my plan.toml").write_text(f'[project]\ndatabase = "{url}"\n')
    assert "`cron2queue worker` starts one" in run("workers", "list", cwd=tmp_path, CRON2QUEUE_DATABASE_URL=url).out
    typed = run("workers", "list", "--plan", "my plan.toml", width=200, cwd=tmp_path).out
    assert "`cron2queue worker --plan 'my plan.toml'` starts one" in typed
    typed = run("queues", "list", "--database", url, width=200, cwd=tmp_path).out
    assert f"`cron2queue enqueue --database {url}` makes the first job" in typed
    with closing(Store.open(url)) as store:
        store.enqueue(NewJob(kind="mail", queue="mail"))
    alert = run("status", "--database", url, "--format", "json", cwd=tmp_path).json["alerts"][0]
    assert alert["remedy"] == f"start one: cron2queue worker --queue mail --database {url}"


def test_a_password_is_not_repeated_and_only_commands_are_completed() -> None:
    assert operation("mysql+pymysql://app:hunter2@db/shop", None).options == ""
    assert completed("`cron2queue worker` starts one", " --plan x") == "`cron2queue worker --plan x` starts one"
    both = "cron2queue jobs show 7; cron2queue dead requeue --kind k"
    assert completed(both, " -q") == "cron2queue jobs show 7 -q; cron2queue dead requeue --kind k -q"
    assert completed("look at its output", " --plan x") == "look at its output"


def test_what_a_server_says_in_several_lines_is_one_paragraph(tmp_path: Path) -> None:
    for url in ("postgresql+psycopg://app@127.0.0.1:1/shop", "mysql+pymysql://app@127.0.0.1:1/shop"):
        for command in (["status"], ["migrate", "status"], ["enqueue", "--kind", "k"]):
            ran = run(*command, "--database", url, cwd=tmp_path)
            assert (ran.status, len(ran.err.splitlines())) == (69, 2), ran.err
