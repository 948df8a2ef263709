"""`cron2queue jobs`: list, show, cancel, retry."""

import re

import pytest
from command_line import run
from databases import Database
from scenes import KIND, accept, claim, fail, kill, register, shop

JOB_KEYS = {
    "id", "kind", "key", "queue", "state", "attempts", "max_attempts", "run_at", "created_at", "started_at", "finished_at",
    "progress", "owner", "message",
}  # fmt: skip
ATTEMPT_KEYS = {
    "attempt", "worker", "started_at", "ended_at", "outcome", "exit_status", "signal", "message", "diagnostic", "output_tail",
}  # fmt: skip
HOSTILE = "\x1b[2J\u202eevil [red]x[/] \x07"


def test_a_list_has_one_object_a_job_with_the_promised_keys(database: Database) -> None:
    shop(database)
    jobs = run("jobs", "list", "--database", database.url, "--format", "json").json
    assert len(jobs) == 10 and all(set(job) == JOB_KEYS for job in jobs)
    assert sorted({job["state"] for job in jobs}) == ["dead", "ready", "running", "scheduled", "succeeded"]
    running = next(job for job in jobs if job["state"] == "running")
    assert running["progress"] == {"fraction": 0.4, "phase": "uploading"} and running["owner"] == "anna"


def test_a_job_is_shown_with_its_history(database: Database) -> None:
    shop(database)
    dead = run("jobs", "list", "--database", database.url, "--state", "dead", "--format", "json").json[0]
    job = run("jobs", "show", dead["id"], "--database", database.url, "--format", "json").json
    assert job.keys() >= JOB_KEYS | {"history"}
    (attempt,) = job["history"]
    assert attempt.keys() >= ATTEMPT_KEYS
    assert (attempt["attempt"], attempt["worker"], attempt["outcome"], attempt["exit_status"]) == (1, "w1", "permanent", 65)
    assert attempt["output_tail"].startswith("line one") and "KeyError" in attempt["diagnostic"]


def test_the_screen_of_a_job_shows_every_attempt_its_output_and_who_did_what(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    url = sqlite_database.url
    public_id = run("jobs", "list", "--database", url, "--state", "dead", "--format", "json").json[0]["id"]
    store.requeue([public_id], by="anna@web1")
    ran = run("jobs", "show", public_id[:10], "--database", url)
    assert ran.status == 0
    for said in ("ATTEMPT 1", "permanent", "exit 65", "| line one", "| line \\x1b[31mtwo", "ACTIONS", "anna@web1", "requeue"):
        assert said in ran.out
    assert '"n"' not in ran.out and '"n"' in run("jobs", "show", public_id, "--payload", "--database", url).out


@pytest.mark.parametrize("width", [40, 71, 72, 100])
def test_lists_and_jobs_fit_the_terminal_and_always_show_the_id(sqlite_database: Database, width: int) -> None:
    store = sqlite_database.store()
    (public_id,) = accept(store, 1, key="x" * 300, owner="o" * 200)
    register(store)
    kill(store, message="word " * 100, output="y" * 500)
    for command in (("list",), ("show", public_id)):
        ran = run("jobs", *command, "--database", sqlite_database.url, "--width", str(width))
        assert max(len(line) for line in ran.out.splitlines()) <= width
        assert public_id in ran.out


def test_a_list_says_when_a_retry_comes_and_for_how_long_it_is_due(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    accept(store, 2)
    register(store)
    fail(store, delay=3600.0)
    fail(store, delay=0.0)
    sqlite_database.change("UPDATE {jobs} SET run_at = run_at - 600000000 WHERE run_at < {now} + 60000000")
    remarks = run("jobs", "list", "--database", sqlite_database.url, "--width", "160").out
    assert re.search(r"  in (59m\d+s|1h), after: 503 Server Error", remarks)
    assert re.search(r"  due for 10m(\d+s)?, after: 503 Server Error", remarks)


def test_filters_narrow_a_list(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    accept(store, 3, owner="anna")
    accept(store, 2, queue="mail", key=None, owner="bob")
    url = sqlite_database.url

    def count(*filters: str) -> int:
        return len(run("jobs", "list", *filters, "--database", url, "--format", "json").json)

    assert (count(), count("--queue", "mail"), count("--owner", "anna"), count("--key", "k1")) == (5, 2, 3, 1)
    assert (count("--kind", "other"), count("--state", "ready", "--state", "dead"), count("-n", "2")) == (0, 5, 2)
    assert (count("--since", "1h"), count("--since", "2030-01-01T00:00"), count("--queue", "ü")) == (5, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--state", "broken"], "--state 'broken' is not known"),
        (["list", "--since", "yesterday"], "'yesterday' is no time"),
        (["list", "--before", "f" * 32], "no job"),
        (["show", "f" * 32], "no job"),
        (["show", "abc"], "no job"),
        (["show", HOSTILE], "no job"),
        (["cancel", "f" * 32], "no job"),
        (["retry", "f" * 32], "no job"),
        (["list", "--format", "yaml"], "--format 'yaml' is not known"),
    ],
)
def test_what_cannot_be_is_one_paragraph(sqlite_database: Database, arguments: list[str], said: str) -> None:
    ran = run("jobs", *arguments, "--database", sqlite_database.url)
    assert ran.status == 2 and said in ran.err and ran.out == ""
    assert "\x1b" not in ran.err and "\u202e" not in ran.err


def test_a_list_goes_on_where_the_page_before_ended(sqlite_database: Database) -> None:
    ids = accept(sqlite_database.store(), 5)
    first = run("jobs", "list", "-n", "2", "--database", sqlite_database.url)
    found = re.search(r"--before (\w+)", first.out)
    assert found is not None and found[1] == ids[3]
    rest = run("jobs", "list", "--before", found[1], "--database", sqlite_database.url, "--format", "json").json
    assert [job["id"] for job in rest] == [ids[2], ids[1], ids[0]]


def test_a_beginning_that_fits_several_jobs_is_refused(sqlite_database: Database) -> None:
    first, second = accept(sqlite_database.store(), 2)
    sqlite_database.change("UPDATE {jobs} SET public_id = ? WHERE public_id = ?", ("abcdef" + "0" * 26, first))
    sqlite_database.change("UPDATE {jobs} SET public_id = ? WHERE public_id = ?", ("abcdef" + "1" * 26, second))
    ran = run("jobs", "show", "abcdef", "--database", sqlite_database.url)
    assert ran.status == 2 and "several jobs begin with 'abcdef'" in ran.err


def test_cancel_ends_what_waits_asks_what_runs_and_says_what_has_ended(database: Database) -> None:
    store = database.store()
    done, running, waiting = accept(store, 3)
    register(store)
    kill(store)
    claim(store)
    ran = run("jobs", "cancel", running, waiting, "--database", database.url, "--by", "anna")
    assert ran.status == 0 and f"{running}  asked to stop" in ran.out and f"{waiting}  cancelled" in ran.out
    again = run("jobs", "cancel", done, "--database", database.url, "--format", "json")
    assert again.status == 4 and again.json["cancelled"] == {done: "dead"}
    assert database.rows("SELECT done_by, verb FROM {operations}") == [("anna", "cancel")] * 2


def test_another_owners_job_is_not_found_by_any_verb(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    (bobs,) = accept(store, 1, owner="bob")
    for verb in ("show", "cancel", "retry", "release"):
        ran = run("jobs", verb, bobs, "--owner", "anna", "--database", sqlite_database.url)
        assert ran.status == 2 and "no job" in ran.err
    assert sqlite_database.value("SELECT state FROM {jobs}") == "ready"


def test_retry_revives_the_dead_and_nothing_else(database: Database) -> None:
    store = database.store()
    dead, waiting = accept(store, 2)
    register(store)
    kill(store)
    refused = run("jobs", "retry", dead, waiting, "--database", database.url)
    assert refused.status == 4 and f"{waiting} is ready" in refused.err
    ran = run("jobs", "retry", dead, "--database", database.url)
    assert ran.status == 0 and "1 job requeued" in ran.out
    assert database.rows("SELECT state, attempts FROM {jobs} WHERE public_id = ?", (dead,)) == [("ready", 0)]


def test_release_makes_a_waiting_retry_due_now_and_nothing_else(database: Database) -> None:
    store = database.store()
    failed, ready = accept(store, 2)
    register(store)
    fail(store, delay=3600.0)
    ran = run("jobs", "release", failed, "--by", "anna", "--database", database.url)
    assert ran.status == 0 and ran.out == "1 job due now\n"
    assert database.rows("SELECT state, attempts FROM {jobs} WHERE public_id = ?", (failed,)) == [("ready", 1)]
    assert database.rows("SELECT done_by, verb, target FROM {operations}") == [("anna", "release", failed)]
    refused = run("jobs", "release", ready, "--database", database.url)
    assert refused.status == 4 and f"{ready} is ready" in refused.err


def test_hostile_text_is_shown_as_text(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    (public_id,) = accept(store, 1, key=HOSTILE, owner=HOSTILE)
    register(store)
    kill(store, message=HOSTILE, output=HOSTILE + "\n\x1b]0;title\x07")
    for command in (("list",), ("show", public_id), ("show", public_id, "--format", "json")):
        out = run("jobs", *command, "--database", sqlite_database.url).out
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out) and "[red]x" in out


def test_the_actor_is_the_user_behind_sudo(sqlite_database: Database) -> None:
    (public_id,) = accept(sqlite_database.store(), 1)
    run("jobs", "cancel", public_id, "--database", sqlite_database.url, SUDO_USER="anna")
    assert str(sqlite_database.value("SELECT done_by FROM {operations}")).startswith("anna@")


def test_a_kind_is_listed_by_name(sqlite_database: Database) -> None:
    accept(sqlite_database.store(), 1)
    assert KIND in run("jobs", "list", "--kind", KIND, "--database", sqlite_database.url).out
