"""Plans: every verb goes by an index, and what is finished, due later or held back makes no claim dearer.

Nothing is timed here. Servers tell how many rows they read; SQLite counts the steps of its virtual machine.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from databases import NAMES, Database, open_database
from runtime.conformance.conftest import KINDS, mail

from cron2queue.runtime.backend import Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import TRANSITIONS, AttemptRecord, Crashed, Done, GiveUp, JobState, NewJob, RetryAt, Settlement
from cron2queue.runtime.limits import load
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs.claiming import claim

FINISHED = 20_000
_RANDOM = {"sqlite": "lower(hex(randomblob(16)))", "postgresql": "md5(random()::text || id::text)"}
_COPIED = (
    "queue, kind, payload, state, priority, run_at, due_at, attempts, max_attempts, crashes, runs, held_by, held_rank, "
    "created_at, ready_at, finished_at"
)


def multiply(database: Database, rows: int) -> None:
    """Double the table by hand until it has so many rows."""
    public_id = _RANDOM.get(database.name, "LEFT(SHA2(CONCAT(NOW(6), RAND(), id), 256), 32)")
    insert = f"INSERT INTO {{jobs}} (public_id, {_COPIED}) SELECT {public_id}, {_COPIED} FROM {{jobs}} ORDER BY id LIMIT ?"
    while (have := int(database.value("SELECT COUNT(*) FROM {jobs}"))) < rows:
        database.change(insert, (min(have, rows - have),))


def fill(database: Database) -> None:
    """Finished rows, future rows of better priority, and rows of one blocked key, all in the same queue."""
    store = database.store()
    store.enqueue_many([mail(priority=1) for _ in range(100)])
    multiply(database, FINISHED + 6000)
    finished = "UPDATE {jobs} SET state = 'succeeded', finished_at = {now} - id WHERE state = 'ready' AND id % 13 <> 0"
    database.change(finished if database.name == "sqlite" else finished.replace("id % 13", "MOD(id, 13)"))
    store.enqueue(mail(ordering_key="o", priority=0, run_at=datetime.now(UTC) + timedelta(hours=9)))
    store.enqueue(mail(ordering_key="o", priority=0))
    held = database.value("SELECT held_by FROM {jobs} WHERE held_by IS NOT NULL")
    half = "UPDATE {jobs} SET state = 'blocked', held_by = ?, held_rank = 0 WHERE state = 'ready' AND id % 2 = 0"
    database.change(half if database.name == "sqlite" else half.replace("id % 2", "MOD(id, 2)"), (held,))
    database.change("UPDATE {jobs} SET state = 'scheduled', due_at = {now} + 9000000000 WHERE state = 'ready'")
    store.enqueue_many([mail(priority=50) for _ in range(300)])
    for table in ("jobs", "attempts"):
        words = {"sqlite": "ANALYZE", "postgresql": f"VACUUM ANALYZE {{{table}}}"}
        statement = words.get(database.name, f"ANALYZE TABLE {{{table}}}")
        store.sessions.read(
            lambda session, statement=statement: (
                session.run(statement).fetchall() if "TABLE" in statement else session.run(statement)
            )
        )  # type: ignore[misc]


@pytest.fixture(scope="module", params=NAMES)
def crowded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A job table with much that is not runnable."""
    database = open_database(request.param, tmp_path_factory.mktemp("crowded"))
    fill(database)
    yield database
    database.empty()
    database.close()


def want(after: tuple[int, int] | None = None) -> Want:
    return Want(queue="default", kinds=KINDS, limit=10, worker="w", token="t", version=1, after=after)


@pytest.mark.parametrize("after", [None, (50, 3)], ids=["from the start", "behind a mark"])
def test_the_claim_reads_its_index_in_order_without_a_sort(crowded: Database, after: tuple[int, int] | None) -> None:
    store = crowded.store()
    plan = store.sessions.read(lambda session: store.backend.explain(session, want(after))).lower()
    assert "c2q_jobs_claim" in plan
    if after is not None:  # the entries before the mark are not even looked at
        assert re.search(
            {
                "sqlite": r"priority>\?",
                "mariadb": r" range .* 96 ",
                "mysql": r"3 < id",
                "postgresql": r"index cond:.*row\(priority, id\) >",
            }[crowded.name],
            plan,
        )
    for sorting in ("filesort", "sort", "temp b-tree", "temporary", "bitmap", "seq scan on c2q_jobs", "table scan"):
        assert sorting not in plan


def reads(session: Session) -> int:
    """Rows that this session has read so far, on MySQL and MariaDB."""
    names = ("key", "next", "prev", "first", "last", "rnd", "rnd_next")
    some = ", ".join(f"'Handler_read_{name}'" for name in names)
    return sum(int(row[1]) for row in session.rows(f"SHOW SESSION STATUS WHERE Variable_name IN ({some})"))


def cost(store: Store, work: Callable[[Session], Any]) -> int:
    """Rows, buffers or steps that a piece of work reads; rolled back."""
    session = store.sessions.current()
    family = store.driver.family
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    store.driver.begin(session.raw)
    try:
        before = reads(session) if family == "mysql" else 0
        if family == "sqlite":
            session.raw.set_progress_handler(count, 1)
        work(session)
        return reads(session) - before if family == "mysql" else steps[0]
    finally:
        if family == "sqlite":
            session.raw.set_progress_handler(None, 1)
        store.driver.rollback(session.raw)


@pytest.mark.parametrize("name", ["sqlite", "mariadb", "mysql"])
def test_a_claim_beside_much_that_is_not_runnable_reads_no_more_than_in_an_empty_table(
    name: str, tmp_path: Any, crowded: Database
) -> None:
    if crowded.name != name:
        return
    store = crowded.store()
    many = cost(store, lambda session: claim(session, store.backend, load(session), want()))
    if name == "sqlite":
        small = open_database(name, tmp_path)
        other = small.store()
        other.enqueue_many([mail(priority=50) for _ in range(300)])
        few = cost(other, lambda session: claim(session, other.backend, load(session), want()))
        small.close()
        assert many <= few * 1.1
    else:
        assert many <= 60


def test_a_claim_on_postgresql_reads_a_handful_of_pages(crowded: Database) -> None:
    if crowded.name != "postgresql":
        return
    store = crowded.store()
    query = "EXPLAIN (ANALYZE, BUFFERS) " + store.backend.candidate_query(want())
    parameters = store.backend.candidate_parameters(want())
    plan = "\n".join(row[0] for row in store.sessions.read(lambda session: session.rows(query, parameters)))
    pages = sum(int(number) for number in re.findall(r"Buffers: shared hit=(\d+)", plan)[:1])
    assert 0 < pages <= 40, plan


def one_of_everything(store: Store) -> None:
    """Each verb once, under limits and orders, so that each statement is executed."""
    kinds = ("report",)
    store.set_limit("kind", "report", by="x", concurrency=3, rate=1000, burst=100)
    store.set_limit("key", "*", by="x", concurrency=2)
    store.set_limit("queue", "default", by="x", depth=90_000, age=1e9)
    answers = store.enqueue_many(
        [NewJob(kind="report", key=f"plan {n}", ordering_key=f"o{n % 3}", limit_key=f"l{n}", priority=-5) for n in range(8)]
    )
    store.enqueue(NewJob(kind="report", key="plan 1"))
    jobs = store.claim("default", kinds=kinds, limit=5, worker="w")
    ends = [Done(), RetryAt(delay_seconds=1, pause_kind_seconds=0.001), GiveUp(reason="x"), Crashed(reason="x")]
    kept = AttemptRecord(run_seconds=0.5)
    store.settle([Settlement(job=job, outcome=end, record=kept) for job, end in zip(jobs, ends, strict=False)])
    store.settle_and_claim([], "default", kinds=kinds, limit=1, worker="w")
    store.progress(jobs[0], 0.5, "x")
    store.cancel_requested(jobs)
    store.move_due()
    store.beats()
    store.rescue("w", counter_seen=-1, by="x")
    store.reconcile("w", set())
    store.cancel(answers[-1].public_id, by="x", principal="nobody")
    store.cancel(answers[-1].public_id, by="x")
    store.requeue([answer.public_id for answer in answers], by="x")
    store.requeue(kind="report", by="x")
    store.resume_kind("report", by="x")
    store.prune(Retention(succeeded=3))


def is_served_by_its_ids(store: Store, statement: str, parameters: Any) -> bool:
    """A long list of ids costs PostgreSQL as much as all rows of this small table, and it takes either: can it take these?"""

    def plan(session: Session) -> list[str]:
        session.run("SET LOCAL enable_seqscan = off", ())
        return [row[0] for row in session.rows("EXPLAIN " + statement, parameters)]

    return "WHERE id IN (" in statement and any("Index Cond:" in step for step in store.sessions.unit(plan))


def scans(database: Database, statement: str, parameters: Any) -> list[str]:
    """The steps of a plan that read the jobs from one end to the other."""
    store = database.store()
    table = f"{database.prefix}jobs"
    prefix = {"sqlite": "EXPLAIN QUERY PLAN ", "mysql": "EXPLAIN FORMAT=TRADITIONAL "}.get(database.name, "EXPLAIN ")
    rows = store.sessions.read(lambda session: session.rows(prefix + statement, parameters))
    if database.name == "sqlite":
        return [row[-1] for row in rows if re.search(rf"SCAN ({table}|j)\b(?!.*USING)", row[-1])]
    if database.name == "postgresql":
        found = [row[0] for row in rows if re.search(rf"Seq Scan on {table}", row[0])]
        return [] if found and is_served_by_its_ids(store, statement, parameters) else found
    return [str(row) for row in rows if row[2] in (table, "j") and "ALL" in row[:5]]


def is_guarded(template: str) -> bool:
    """A state is written only where the row's lease or its old state is named, and only as the table of data allows."""
    change, _, where = template.partition(" WHERE ")
    if not template.startswith("UPDATE {jobs}") or not re.search(r"\bstate = ", change):
        return True
    claimed = "lease =" in change and where.startswith(("id IN (", "id BETWEEN"))  # its own rows, locked or in one statement
    if claimed or "lease" in where:
        return True
    new = [JobState(word) for word in re.findall(r"(?:state =|THEN|ELSE) '(\w+)'", change)]
    old = [JobState(word) for word in re.findall(r"'(\w+)'", where.partition("state ")[2])]
    return bool(new and old) and all((before, after) in TRANSITIONS for before in old for after in new)


def test_no_statement_of_any_verb_reads_the_whole_table_or_writes_a_state_unguarded(
    crowded: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    run = Session.run

    def recording(self: Session, template: str, parameters: Any = ()) -> Any:
        if "{jobs}" in template and template.startswith(("SELECT", "UPDATE", "DELETE", "WITH", "INSERT INTO {attempts}")):
            seen.setdefault(template, tuple(parameters))
        return run(self, template, parameters)

    monkeypatch.setattr(Session, "run", recording)
    store = crowded.store()
    one_of_everything(store)
    monkeypatch.setattr(Session, "run", run)
    assert len(seen) > 25
    assert [template for template in seen if not is_guarded(template)] == []
    found = {template: scans(crowded, template, parameters) for template, parameters in seen.items()}
    by_kind_alone = "SELECT id FROM {jobs} WHERE finished_at >= ? AND state = 'dead' AND kind = ?"  # an operator's search
    assert {template: plan for template, plan in found.items() if plan and not template.startswith(by_kind_alone)} == {}
