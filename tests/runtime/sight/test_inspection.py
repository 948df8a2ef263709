"""Looking at the job table: right on every database, and bounded whatever lies in it."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from databases import Database
from scenes import KIND, accept, claim, finish, kill, register, shop

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.sight import dead as dead_sight
from cron2queue.runtime.sight import listing
from cron2queue.runtime.sight import queues as queue_sight
from cron2queue.runtime.sight.dead import folded
from cron2queue.runtime.sight.inspection import Inspection, JobFilter
from cron2queue.runtime.sight.views import Count
from cron2queue.runtime.trouble import SchemaMismatch


def look(database: Database) -> Inspection:
    return Inspection.open(database.url, prefix=database.prefix)


def test_a_status_tells_every_queue_kind_and_worker(database: Database) -> None:
    shop(database)
    status = look(database).status()
    (queue,) = status.queues
    assert {state: count.n for state, count in queue.counts.items()} == {
        "ready": 5, "scheduled": 1, "blocked": 0, "running": 1, "cancel_requested": 0, "dead": 2,
    }  # fmt: skip
    assert queue.oldest_ready_seconds is not None and 0 <= queue.oldest_ready_seconds < 60
    (kind,) = queue.kinds
    assert (kind.kind, kind.succeeded, kind.failed, kind.retried, kind.dead) == (KIND, 1, 3, 1, 2)
    assert kind.run_p50 == 1.0 and kind.wait_p95 is not None
    (worker,) = status.workers
    assert (worker.host, worker.pid, worker.alive, worker.holds) == ("web1", 4711, True, Count(n=1))
    (running,) = worker.running
    assert (running.kind, running.fraction, running.phase) == (KIND, 0.4, "uploading")
    assert [(group.kind, group.error, group.count) for group in status.dead] == [(KIND, "order # is unknown", 2)]


def test_failures_of_the_hour_count_though_the_job_runs_again(database: Database) -> None:
    store = database.store()
    ids = accept(store, 2)
    register(store)
    kill(store, 2)
    store.roll_up()
    store.requeue(ids, by="t")
    claim(store)
    ((kind,),) = [queue.kinds for queue in look(database).queues()]
    assert (kind.kind, kind.failed, kind.dead, kind.error_rate, kind.run_p50) == (KIND, 2, 2, 1.0, None)


def test_all_figures_are_plain_numbers_on_every_database(database: Database) -> None:
    store = shop(database)
    store.set_limit("queue", "default", by="t", concurrency=4, depth=100, age=900.0)
    (queue,) = look(database).queues()
    assert (queue.concurrency, queue.depth_limit, queue.age_limit) == (4, 100, 900.0)
    assert isinstance(queue.age_limit, float)
    assert isinstance(look(database).status().workers[0].running[0].fraction, float)


def test_a_planned_queue_is_shown_before_its_first_job(sqlite_database: Database) -> None:
    planned = {"mail": QueueSettings(name="mail", concurrency=2, age_limit=600.0)}
    (queue,) = look(sqlite_database).queues(planned=planned)
    assert (queue.queue, queue.concurrency, queue.age_limit, queue.count("ready")) == ("mail", 2, 600.0, Count())


def test_what_an_operator_set_goes_before_the_plan(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    store.set_limit("queue", "mail", by="t", concurrency=7)
    store.pause("mail", by="anna@web1")
    planned = {"mail": QueueSettings(name="mail", concurrency=2, age_limit=600.0)}
    (queue,) = look(sqlite_database).queues(planned=planned)
    assert (queue.concurrency, queue.age_limit, queue.paused, queue.paused_by) == (7, 600.0, True, "anna@web1")


def test_a_worker_that_has_stopped_beating_is_not_alive(database: Database) -> None:
    store = database.store()
    register(store)
    database.change("UPDATE {workers} SET beat_at = beat_at - 3600000000")
    (worker,) = look(database).workers()
    assert not worker.alive and worker.beat_age is not None and worker.beat_age > 3500


def test_a_kind_that_nobody_knows_is_told_and_one_without_any_worker_is_not(database: Database) -> None:
    store = database.store()
    register(store, kinds=["other"])
    accept(store, 3)
    accept(store, 2, queue="lonely")
    (unclaimed,) = look(database).status().unclaimed
    assert (unclaimed.queue, unclaimed.kind, unclaimed.jobs) == ("default", KIND, Count(n=3))


def test_what_is_due_and_made_ready_by_nobody_counts_as_waiting(database: Database) -> None:
    store = database.store()
    accept(store, 3, key=None)
    accept(store, 1, key=None, queue="mail")
    late = "UPDATE {jobs} SET state = 'scheduled', ready_at = NULL, due_at = {now} + ? WHERE queue = ?"
    database.change(late, (-600_000_000, "default"))
    database.change(late, (600_000_000, "mail"))
    default, mail = look(database).status().queues
    assert (default.due, default.count("ready"), mail.due) == (Count(n=3), Count(), Count())
    assert default.oldest_ready_seconds is not None and 590 < default.oldest_ready_seconds < 700
    assert mail.oldest_ready_seconds is None


def test_a_list_is_newest_first_and_goes_on_page_by_page(database: Database) -> None:
    ids = accept(database.store(), 5)
    first = look(database).jobs(JobFilter(limit=2))
    assert [job.id for job in first.jobs] == [ids[4], ids[3]] and first.more
    rest = look(database).jobs(JobFilter(limit=9, before_id=ids[3]))
    assert [job.id for job in rest.jobs] == [ids[2], ids[1], ids[0]] and not rest.more and not rest.partial


def test_a_list_says_that_older_jobs_were_not_looked_at_only_when_there_are_any(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LOOKED_AT", 2)
    ids = accept(database.store(), 5)
    assert look(database).jobs(JobFilter(kind=KIND, limit=9)).partial
    database.change(f"DELETE FROM {{jobs}} WHERE public_id IN ('{ids[0]}', '{ids[1]}', '{ids[2]}')")
    left = look(database).jobs(JobFilter(kind=KIND, limit=9))
    assert [job.id for job in left.jobs] == [ids[4], ids[3]] and not left.partial


def test_a_list_by_state_walks_every_queue_and_priority(database: Database) -> None:
    store = database.store()
    urgent = accept(store, 2, priority=1, queue="mail")
    usual = accept(store, 2, priority=100)
    found = look(database).jobs(JobFilter(states=(JobState.READY, JobState.DEAD), limit=10))
    assert {job.id for job in found.jobs} == {*urgent, *usual}
    page = look(database).jobs(JobFilter(states=(JobState.READY,), limit=1))
    assert page.more and page.jobs[0].id == usual[-1]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (JobFilter(queue="mail"), 1),
        (JobFilter(kind="report"), 1),
        (JobFilter(key="k1"), 2),
        (JobFilter(owner="bob"), 2),
        (JobFilter(states=(JobState.READY,), kind=KIND), 3),
        (JobFilter(error="100%"), 0),
        (JobFilter(created_since=datetime(2100, 1, 1, tzinfo=UTC)), 0),
    ],
    ids=str,
)
def test_a_list_is_filtered(sqlite_database: Database, wanted: JobFilter, count: int) -> None:
    store = sqlite_database.store()
    accept(store, 2, owner="bob")
    accept(store, 1, queue="mail", key="solo")
    accept(store, 1, kind="report", key="k1")
    assert len(look(sqlite_database).jobs(wanted).jobs) == count


def test_lists_and_items_go_through_the_same_owner_filter(database: Database) -> None:
    store = database.store()
    (annas,) = accept(store, 1, owner="anna", key="a")
    (bobs,) = accept(store, 1, owner="bob", key="b")
    inspection = look(database)
    assert [job.id for job in inspection.jobs(JobFilter(owner="anna")).jobs] == [annas]
    assert inspection.job(annas, owner="anna") is not None
    assert inspection.job(bobs, owner="anna") is None and inspection.job("f" * 32, owner="anna") is None
    assert inspection.ids(bobs[:8], owner="anna") == ()
    assert inspection.jobs(JobFilter(owner="anna", before_id=bobs)).jobs == ()


def test_owners_differ_by_case_and_trailing_blanks(database: Database) -> None:
    accept(database.store(), 1, owner="Anna")
    for other in ("anna", "Anna ", "Änna"):
        assert look(database).jobs(JobFilter(owner=other)).jobs == ()


def test_a_filter_that_cannot_fit_finds_nothing_and_breaks_nothing(database: Database) -> None:
    accept(database.store(), 1, owner="anna")
    inspection = look(database)
    for word in ("ü", "\udcff", "' OR 1=1 --" + "x" * 5000):
        for wanted in (
            JobFilter(queue=word), JobFilter(kind=word), JobFilter(key=word), JobFilter(owner=word), JobFilter(error=word),
            JobFilter(before_id=word), JobFilter(queue=word, states=(JobState.READY,)),
        ):  # fmt: skip
            assert inspection.jobs(wanted).jobs == ()
            assert inspection.dead(wanted).groups == ()
        assert inspection.job(word) is None and inspection.ids(word) == ()


def test_a_beginning_of_an_id_finds_the_job_if_it_is_long_enough(database: Database) -> None:
    (public_id,) = accept(database.store(), 1)
    assert look(database).ids(public_id[:6]) == (public_id,)
    assert look(database).ids(public_id) == (public_id,)
    assert look(database).ids(public_id[:5]) == ()
    assert look(database).ids("%") == look(database).ids("") == ()


def test_a_job_tells_its_whole_story(database: Database) -> None:
    store = shop(database)
    dead = look(database).jobs(JobFilter(states=(JobState.DEAD,))).jobs[0]
    store.requeue([dead.id], by="anna@web1")
    kill(database.store(), message="still unknown")
    job = look(database).job(dead.id)
    assert job is not None and job.state == "dead" and job.attempts == 1
    assert [(attempt.attempt, attempt.outcome, attempt.exit_status) for attempt in job.history] == [(1, "permanent", 65)] * 2
    assert job.history[0].output_tail.startswith("line one") and "KeyError" in job.history[0].diagnostic
    assert [(action.by, action.action) for action in job.actions] == [("anna@web1", "requeue")]


def test_the_dead_are_grouped_by_kind_and_error_without_its_numbers(database: Database) -> None:
    store = database.store()
    accept(store, 4)
    accept(store, 1, kind="report", key="r")
    for number in range(4):
        kill(store, message=f"cannot reach 10.0.0.{number}:5432\nat 0x7f{number}" if number else "disk full")
    kill(store, kind="report")
    view = look(database).dead(JobFilter())
    assert [(group.kind, group.error, group.count) for group in view.groups] == [
        (KIND, "cannot reach #.#.#.#:#", 3),
        ("report", "order # is unknown", 1),
        (KIND, "disk full", 1),
    ]
    assert (view.looked_at, view.total) == (5, Count(n=5))
    assert look(database).dead(JobFilter(kind="report")).total == Count(n=1)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("", ""),
        ("\n\n  first\nsecond", "first"),
        ("job 8b2c6d0b6f4a4a7e9d1f at 0xdeadbeef", "job # at #"),
        ("550e8400-e29b-41d4-a716-446655440000 gone", "# gone"),
        ("x" * 9999, "x" * 200),
    ],
)
def test_an_error_is_folded_to_what_jobs_share(message: str, error: str) -> None:
    assert folded(message) == error


def test_the_ids_of_the_dead_are_all_of_them_in_the_order_of_their_queue(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_sight, "BATCH", 2)
    store = database.store()
    late = accept(store, 2, priority=900)
    ids = accept(store, 7, key=None, payload={})
    others = accept(store, 1, queue="mail", key=None)
    kill(store, 5, message="even")
    kill(store, 4, message="odd")
    kill(store, queue="mail", message="odd")
    store.requeue([ids[6]], by="t")
    assert look(database).dead_ids(JobFilter()) == [*ids[:6], *late, *others]
    assert look(database).dead_ids(JobFilter(error="odd")) == [ids[5], *late, *others]
    assert look(database).dead_ids(JobFilter(error="odd", queue="default")) == [ids[5], *late]
    assert look(database).dead_ids(JobFilter(kind="other")) == look(database).dead_ids(JobFilter(kind="ü")) == []
    assert look(database).dead_ids(JobFilter(ended_since=datetime(2100, 1, 1, tzinfo=UTC))) == []


def test_counting_stops_at_the_cap_and_says_so(database: Database) -> None:
    accept(database.store(), 5)
    inspection = look(database)
    with inspection.source.engine.connect() as connection:
        counts = queue_sight.counts(connection, inspection.tables, "default", 3)
        assert counts["ready"] == Count(n=3, capped=True) and str(counts["ready"]) == ">3"
        exact = queue_sight.oldest_ready(connection, inspection.tables, "default", Count(n=5))
        heads = queue_sight.oldest_ready(connection, inspection.tables, "default", replace(counts["ready"], n=20_000))
    assert exact is not None and exact == heads


def test_a_limit_above_the_cap_is_seen_all_the_same(database: Database) -> None:
    accept(database.store(), 6)
    (below,) = look(database).status(planned={"default": QueueSettings(name="default", depth_limit=7)}, cap=3).queues
    (at,) = look(database).status(planned={"default": QueueSettings(name="default", depth_limit=6)}, cap=3).queues
    assert (below.over_depth, below.waiting) == (False, Count(n=6))
    assert (at.over_depth, at.waiting) == (True, Count(n=6))


def test_every_query_of_a_status_uses_an_index(sqlite_database: Database) -> None:
    """With ten million rows a single scan would be seconds: no step of any plan may be a scan of jobs or attempts."""
    from sqlalchemy import event

    shop(sqlite_database)
    inspection = look(sqlite_database)
    asked: list[tuple[str, object]] = []
    event.listen(inspection.source.engine, "before_cursor_execute", lambda c, cu, sql, p, ctx, many: asked.append((sql, p)))
    inspection.status()
    inspection.dead(JobFilter())
    inspection.dead_ids(JobFilter(kind=KIND))
    inspection.jobs(JobFilter(states=(JobState.DEAD,), kind=KIND))
    raw = sqlite_database.connect()
    plans = [(sql, row[3]) for sql, parameters in asked for row in raw.execute("EXPLAIN QUERY PLAN " + sql, parameters)]
    raw.close()
    assert len(plans) > 30
    assert [
        plan for plan in plans if plan[1].startswith(("SCAN c2q_jobs", "SCAN c2q_attempts")) and "USING" not in plan[1]
    ] == []


def test_a_look_writes_nothing(sqlite_database: Database) -> None:
    shop(sqlite_database)
    before = sqlite_database.value("SELECT total_changes()"), Path(sqlite_database.address.database).read_bytes()
    look(sqlite_database).status()
    look(sqlite_database).dead(JobFilter())
    assert Path(sqlite_database.address.database).read_bytes() == before[1]


def test_a_missing_sqlite_file_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="there is no SQLite file"):
        Inspection.open(f"sqlite:///{tmp_path}/none.db").status()
    assert list(tmp_path.iterdir()) == []


def test_missing_tables_are_told_as_an_old_schema(unmigrated_database: Database) -> None:
    unmigrated_database.store().migration_status()
    with pytest.raises(SchemaMismatch, match="not as this release needs them"):
        look(unmigrated_database).status()


def test_a_server_that_is_away_is_unavailable() -> None:
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        Inspection.open("mysql+pymysql://root@127.0.0.1:1/none").status()


def test_a_hot_lock_does_not_stop_a_look(database: Database) -> None:
    store = database.store()
    accept(store, 2)
    register(store)
    (job,) = claim(store)
    with store.transaction(job):
        assert look(database).status().queues[0].count("running").n == 1
    finish(store)
    assert look(database).status().queues[0].kinds[0].succeeded == 2
