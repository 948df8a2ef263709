"""`cron2queue queues`: list, pause, resume, limit."""

from pathlib import Path

import pytest
from command_line import run
from databases import Database
from scenes import accept, claim, register


def test_queues_are_listed_the_worst_first(database: Database) -> None:
    store = database.store()
    accept(store, 2, queue="calm")
    accept(store, 3, queue="late", key=None)
    store.set_limit("queue", "late", by="t", age=0.001)
    out = run("queues", "list", "--database", database.url).out.splitlines()
    assert out[1].split()[0] == "late" and out[2].split()[0] == "calm"
    queues = run("queues", "list", "--database", database.url, "--format", "json").json["queues"]
    assert {queue["queue"]: queue["ready"] for queue in queues} == {"calm": 2, "late": 3}


def test_pause_holds_claims_back_until_resume_and_both_are_recorded(database: Database) -> None:
    store = database.store()
    accept(store, 1)
    register(store)
    url = database.url
    assert "is paused" in run("queues", "pause", "default", "--by", "anna", "--database", url).out
    assert run("queues", "pause", "default", "--database", url, "--format", "json").json["changed"] is False
    assert claim(database.store()) == []
    assert " by anna" in run("queues", "list", "--database", url).out
    assert "goes on" in run("queues", "resume", "default", "--by", "bob", "--database", url).out
    assert "was not paused" in run("queues", "resume", "default", "--database", url).out
    assert len(claim(database.store())) == 1
    assert database.rows("SELECT done_by, verb, target FROM {operations} ORDER BY id") == [
        ("anna", "pause", "default"), ("bob", "resume", "default"),
    ]  # fmt: skip


@pytest.mark.parametrize("act", [["pause"], ["limit", "--depth", "5"]])
def test_a_queue_that_nobody_has_named_is_told_and_what_was_meant(sqlite_database: Database, act: list[str]) -> None:
    accept(sqlite_database.store(), 1, queue="critical")
    verb, *options = act
    known = run("queues", verb, "critical", *options, "--database", sqlite_database.url)
    slip = run("queues", verb, "critcal", *options, "--database", sqlite_database.url)
    assert (known.status, known.err, slip.status) == (0, "", 0)
    assert "has named the queue 'critcal'" in slip.err and "did you mean 'critical'?" in slip.err


def test_limits_are_set_shown_and_taken_away(database: Database) -> None:
    url = database.url
    ran = run("queues", "limit", "mail", "--concurrency", "4", "--depth", "100", "--age", "900", "--database", url)
    assert ran.out == "mail: concurrency 4, depth 100, age 900.0\n"
    (queue,) = run("queues", "list", "--database", url, "--format", "json").json["queues"]
    assert (queue["concurrency"], queue["depth_limit"], queue["limit_seconds"]) == (4, 100, 900.0)
    assert run("queues", "limit", "mail", "--depth", "0", "--database", url).out == "mail: depth unlimited\n"
    (queue,) = run("queues", "list", "--database", url, "--format", "json").json["queues"]
    assert (queue["concurrency"], queue["depth_limit"]) == (4, None)


@pytest.mark.parametrize(
    "arguments",
    [
        ["limit", "mail"],
        ["limit", "mail", "--depth", "-1"],
        ["pause", "ü"],
        ["resume", "\x1b[2J"],
        ["pause", "x" * 500],
        ["pause", ""],
        ["limit", "ü", "--depth", "5"],
    ],
)
def test_what_makes_no_sense_is_refused(sqlite_database: Database, arguments: list[str]) -> None:
    ran = run("queues", *arguments, "--database", sqlite_database.url)
    assert ran.status == 2 and ran.err != "" and ran.out == ""
    assert "\x1b" not in ran.err


def test_a_queue_tells_its_limits_and_who_did_what_to_it(database: Database, tmp_path: Path) -> None:
    store = database.store()
    accept(store, 2)
    accept(store, 1, queue="other")
    url = database.url
    run("queues", "limit", "default", "--concurrency", "4", "--depth", "20", "--age", "900", "--by", "anna", "--database", url)
    run("queues", "pause", "default", "--by", "bob\x1b[2J", "--database", url)
    run("queues", "pause", "other", "--by", "carl", "--database", url)
    store.requeue([], by="nobody")
    shown = run("queues", "show", "default", "--database", url, width=100).out
    assert "runs 4 at one time" in shown and "while fewer than 20 wait, and none longer than 15m" in shown
    assert "anna" in shown and "limit" in shown and "bob" in shown and "carl" not in shown and "\x1b" not in shown
    record = run("queues", "show", "default", "--database", url, "--format", "json").json
    assert (record["queue"], record["ready"], record["concurrency"], record["paused"]) == ("default", 2, 4, True)
    assert [(each["action"], each["target"]) for each in record["actions"]] == [("limit", "default"), ("pause", "default")]
    narrow = run("queues", "show", "default", "--database", url, "--width", "40").out
    assert max(map(len, narrow.splitlines())) <= 40
    plan = tmp_path / "cron2queue.toml"
    plan.write_text("[queues.mail]\nconcurrency = 2\n")
    none = run("queues", "show", "defautl", "--database", url)
    assert none.status == 2 and "has named the queue 'defautl'\n  remedy: did you mean 'default'?" in none.err
    assert "none: no operator" in run("queues", "show", "mail", "--database", url, "--plan", str(plan)).out
