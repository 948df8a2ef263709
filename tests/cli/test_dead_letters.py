"""What the broker gave up, as the operators' commands tell of it; the relay's lines are written by the relay's own code."""

from datetime import UTC, datetime, timedelta

import pytest
from command_line import run
from databases import Database
from scenes import KIND, accept, register

from cron2queue.runtime.celery import letters
from cron2queue.runtime.verbs import given_up
from cron2queue.runtime.verbs.given_up import MOST_LINES, Letter

HOSTILE = "\x1b[2J<script>alert(1)</script> mysql://shop:hunter2secret@db/shop"


def give_up(database: Database, *lost: Letter) -> None:
    """As the relay does with what it takes."""
    store = database.store()
    recorded = store.sessions.unit(lambda session: given_up.record(session, "relay@h", lost))
    for (queue, kind, series), n in given_up.counts(recorded, ["default"], [KIND]).items():
        store.tally.count(queue, kind, series, n)
    store.roll_up()


def foreign(kind: str = HOSTILE, reason: str = "rejected", queue: str = "default") -> Letter:
    return Letter("", letters._told(kind), queue, letters._told(reason))


@pytest.fixture
def told(database: Database) -> str:
    """The id of a ready job whose message was given up three times, beside two foreign ones."""
    (job,) = accept(database.store(), 1)
    register(database.store())
    give_up(database, *[Letter(job, "", "default", "delivery_limit")] * 3, foreign(), foreign(queue="", reason="x" * 3_000))
    return job


def test_status_tells_of_the_last_hour_by_queue_and_reason(database: Database, told: str) -> None:
    ran = run("status", "--database", database.url)
    assert "DEAD LETTERS   given up by the broker in the last hour" in ran.out
    assert "3  default       delivery_limit" in ran.out and "1  none of ours  other" in ran.out
    record = run("status", "--database", database.url, "--format", "json").json
    assert [queue["queue"] for queue in record["queues"]] == ["default"]
    assert record["dead_letters"] == [
        {"queue": "default", "reason": "delivery_limit", "count": 3},
        {"queue": "-", "reason": "other", "count": 1},
        {"queue": "default", "reason": "rejected", "count": 1},
    ]
    page = run("status", "--database", database.url, "--format", "html").out
    assert ">Dead letters<" in page and "none of ours" in page


def test_nothing_given_up_is_not_spoken_of(database: Database) -> None:
    accept(database.store(), 1)
    words = ("--database", database.url)
    assert "LETTER" not in run("status", *words).out + run("dead", "list", *words).out
    assert "Dead letters" not in run("status", *words, "--format", "html").out
    assert run("status", *words, "--format", "json").json["dead_letters"] == []


def test_dead_list_groups_them_and_says_what_became_of_them(database: Database, told: str) -> None:
    ran = run("dead", "list", "--database", database.url, width=160)
    assert ran.out.startswith("nothing is dead\n\n5 DEAD LETTERS   given up by the broker since ")
    assert f"3  {KIND}" in ran.out and "3 goes out again" in ran.out and told in ran.out
    assert "nothing to requeue here" in ran.out
    assert "\x1b[2J" not in ran.out and "hunter2" not in ran.out
    record = run("dead", "list", "--database", database.url, "--format", "json").json["dead_letters"]
    first, *others = record["groups"]
    assert (record["total"], record["not_listed"], record["partial"]) == (5, 0, False)
    assert first.pop("last").startswith(f"{datetime.now(UTC):%Y-%m-%d}")
    assert first.pop("became") == [{"what": "goes out again", "count": 3}]
    assert first == {"kind": KIND, "reason": "delivery_limit", "count": 3, "example": told}
    assert [(each["count"], each["example"], each["became"][0]["what"]) for each in others] == [(1, None, "no job of ours")] * 2


@pytest.mark.parametrize(
    ("filter", "number"),
    [(("--kind", KIND), 3), (("--kind", "none"), 0), (("--queue", "default"), 4), (("--error", "delivery"), 3)],
)
def test_filters_hold_for_letters_too(database: Database, told: str, filter: tuple[str, ...], number: int) -> None:
    record = run("dead", "list", "--database", database.url, "--format", "json", *filter).json
    assert record["dead_letters"]["total"] == number


def test_the_last_day_is_shown_or_what_is_asked_for(database: Database, told: str) -> None:
    long_ago = timedelta(days=3) // timedelta(microseconds=1)
    database.change(f"UPDATE {{operations}} SET done_at = done_at - {long_ago}")
    words = ("dead", "list", "--database", database.url)
    assert run(*words).out == "nothing is dead\n"
    assert run(*words, "--since", "4d", "--format", "json").json["dead_letters"]["total"] == 5


def test_a_flood_is_a_screen_and_a_number(database: Database) -> None:
    give_up(database, *[foreign(f"sort {number}") for number in range(3 * MOST_LINES)])
    ran = run("dead", "list", "--database", database.url)
    assert f"{3 * MOST_LINES} DEAD LETTERS" in ran.out and "more, not listed" in ran.out
    assert len(ran.out.splitlines()) < 10 and "sort #" in ran.out


def test_a_jobs_story_holds_its_letters_and_a_queues_story_does_not(database: Database, told: str) -> None:
    ran = run("jobs", "show", told, "--database", database.url, width=140)
    assert "relay@h" in ran.out and "delivery_limit in queue default; goes out again, 3 times" in ran.out
    record = run("jobs", "show", told, "--database", database.url, "--format", "json").json
    assert [each["action"] for each in record["actions"]] == ["given-up"]
    run("queues", "pause", "default", "--database", database.url)
    record = run("queues", "show", "default", "--database", database.url, "--format", "json").json
    assert [each["action"] for each in record["actions"]] == ["pause"]


def test_metrics_count_them_by_queue_kind_and_cause(database: Database, told: str) -> None:
    out = run("metrics", "--database", database.url).out
    assert f'cron2queue_dead_letters_total{{queue="default",kind="{KIND}",cause="delivery_limit"}} 3' in out
    assert 'cron2queue_dead_letters_total{queue="-",kind="-",cause="other"} 1' in out
    assert 'queue="-"' not in out.replace("cron2queue_dead_letters_total{queue=", "")


def test_requeueing_leaves_letters_and_their_jobs_alone(database: Database, told: str) -> None:
    assert run("dead", "requeue", "--all", "--database", database.url).out.startswith("0 dead jobs requeued")
    assert database.rows("SELECT state FROM {jobs}") == [("ready",)]


def test_pruning_takes_them_with_the_operators_log(database: Database, told: str) -> None:
    database.change(f"UPDATE {{operations}} SET done_at = done_at - {366 * 86_400_000_000}")
    assert database.store().prune()["operations"] == 3
    assert database.rows("SELECT COUNT(*) FROM {operations}") == [(0,)]


def test_a_line_that_somebody_else_has_written_is_shown_as_far_as_it_goes(database: Database, told: str) -> None:
    for detail in ("no json", "[" * 5_000, "[]", '{"count": "many", "reason": 5, "became": {}}', '{"count": 1e400}'):
        database.change("UPDATE {operations} SET detail = ? WHERE job_id > 0", (detail,))
        assert run("dead", "list", "--database", database.url).status == 0
        assert run("jobs", "show", told, "--database", database.url).status == 0
        give_up(database, Letter(told, "", "default", "expired"))
