"""However many jobs there are, a look reads a bounded number of rows: counted by each database, with small caps.

Nothing is timed. The statements of a look are written down and executed once more where their cost can be counted.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from databases import NAMES, Database, open_database
from runtime.conformance.test_plans import multiply
from scenes import KIND, accept, register
from sqlalchemy import event

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.sight import dead, figures, jobs, letters, listing, overview, queues
from cron2queue.runtime.sight.inspection import Inspection, JobFilter
from cron2queue.runtime.verbs import given_up, upkeep
from cron2queue.runtime.verbs.given_up import Letter

ROWS = 40_000  # a quarter each: dead, succeeded, ready, due; spread over two queues
ENOUGH = 4_500  # rows: a scan of the table, of a queue, or of one state in one queue reads more
STEPS_PER_ROW = 10  # of SQLite's virtual machine

Statement = tuple[str, Any]


def fill(database: Database) -> None:
    """Jobs in every state that grows without end."""
    store = database.store()
    register(store, queues=("default", "mail"))
    accept(store, 50, key=None)
    accept(store, 50, key=None, queue="mail")
    multiply(database, ROWS)
    modulo = "id % 4" if database.name == "sqlite" else "MOD(id, 4)"
    ended = "finished_at = {now} - 9000000 * id, ready_at = NULL"
    database.change(f"UPDATE {{jobs}} SET state = 'dead', message = 'x', {ended} WHERE {modulo} = 0")
    database.change(f"UPDATE {{jobs}} SET state = 'succeeded', {ended} WHERE {modulo} = 1")
    late = "state = 'scheduled', ready_at = NULL, due_at = {now} - 1000 * id"
    database.change(f"UPDATE {{jobs}} SET {late} WHERE {modulo} = 3")
    database.change("UPDATE {jobs} SET owner = ? WHERE id <= 100", (b"anna",))
    record = "INSERT INTO {attempts} (job_id, run, number, lease, ended_at, outcome) SELECT id, 1, 1, 'l', finished_at, 'done' "
    database.change(record + "FROM {jobs} WHERE finished_at IS NOT NULL")
    log = "INSERT INTO {operations} (done_at, done_by, verb, target, detail) SELECT {now}, 'relay@h', 'given-up', 'default', ? "
    database.change(log + "FROM {jobs}", ('{"kind": "a", "reason": "expired", "became": "no job of ours", "count": 2}',))
    for table in ("jobs", "attempts", "operations"):
        analyze = {"sqlite": "ANALYZE", "postgresql": f"VACUUM ANALYZE {{{table}}}"}.get(
            database.name, f"ANALYZE TABLE {{{table}}}"
        )
        raw = database.connect()
        cursor = raw.cursor()
        cursor.execute(store.sessions.current().sql(analyze))
        if database.address.family == "mysql":
            cursor.fetchall()
        raw.close()


@pytest.fixture(scope="module", params=NAMES)
def crowded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_database(request.param, tmp_path_factory.mktemp("crowded"))
    fill(database)
    yield database
    database.empty()
    database.close()


@pytest.fixture(autouse=True)
def small_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (listing, "LOOKED_AT", 100), (overview, "DEAD_LOOKED_AT", 100), (figures, "SAMPLE", 100), (queues, "_HEADS", 50),
        (queues, "COUNT_CAP", 100), (figures, "DUE_LOOKED_AT", 100), (jobs, "MOST_ENDED", 50), (dead, "BATCH", 100),
        (letters, "LOOKED_AT", 100), (letters, "MOST_LINES", 50),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)


def statements(database: Database, look: Callable[[Inspection], object]) -> list[Statement]:
    """What a look executes."""
    inspection = Inspection.open(database.url, prefix=database.prefix)
    asked: list[Statement] = []
    event.listen(inspection.source.engine, "before_cursor_execute", lambda c, cu, sql, p, ctx, many: asked.append((sql, p)))
    look(inspection)
    return asked


def _steps(raw: Any, asked: list[Statement]) -> int:
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    raw.set_progress_handler(count, 1)
    for sql, parameters in asked:
        raw.execute(sql, parameters).fetchall()
    return steps[0] // STEPS_PER_ROW


def _handled(raw: Any, asked: list[Statement]) -> int:
    def handled() -> int:
        cursor.execute(
            "SHOW SESSION STATUS WHERE Variable_name REGEXP '^Handler_read_(key|next|prev|first|last|rnd|rnd_next)$'"
        )
        return sum(int(row[1]) for row in cursor.fetchall())

    cursor, read = raw.cursor(), 0
    for sql, parameters in asked:
        before, itself = handled(), handled()
        cursor.execute(sql, parameters)
        cursor.fetchall()
        read += max(0, handled() - itself - (itself - before))
    return read


def _explained(raw: Any, asked: list[Statement]) -> int:
    cursor, read = raw.cursor(), 0
    for sql, parameters in asked:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {sql}", parameters)
        loops = 1
        for (line,) in cursor.fetchall():
            if (found := re.search(r"Scan.*actual rows=([\d.]+) loops=(\d+)", line)) is not None:
                loops = int(found[2])
                read += int(float(found[1])) * loops
            elif (removed := re.search(r"Rows Removed by (?:Filter|Index Recheck): (\d+)", line)) is not None:
                read += int(removed[1]) * loops
    return read


def rows_read(database: Database, asked: list[Statement]) -> int:
    """How many rows or entries of an index the statements read, as the database itself counts them."""
    from cron2queue.runtime.sight.connection import source

    with source(database.url).engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        count = {"sqlite": _steps, "mysql": _handled, "postgresql": _explained}[database.address.family]
        return count(raw, asked)


LOOKS: dict[str, Callable[[Inspection], object]] = {
    "status": lambda look: look.status(cap=100, planned={"mail": QueueSettings(name="mail", age_limit=600.0)}),
    "workers": lambda look: look.workers(),
    "totals": lambda look: look.totals(),
    "jobs": lambda look: look.jobs(JobFilter()),
    "jobs of no kind": lambda look: look.jobs(JobFilter(kind="none")),
    "jobs of a queue": lambda look: look.jobs(JobFilter(queue="mail")),
    "jobs since": lambda look: look.jobs(JobFilter(created_since=datetime(2100, 1, 1, tzinfo=UTC))),
    "dead jobs": lambda look: look.jobs(JobFilter(states=(JobState.DEAD,))),
    "dead jobs of no kind": lambda look: look.jobs(JobFilter(states=(JobState.DEAD,), kind="none")),
    "jobs in every state": lambda look: look.jobs(JobFilter(states=tuple(JobState), error="none")),
    "jobs of an owner": lambda look: look.jobs(JobFilter(owner="anna", states=(JobState.READY,))),
    "dead since": lambda look: look.ended(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC), (JobState.DEAD,)),
    "letters": lambda look: look.letters(JobFilter()),
    "letters of no kind, of any time": lambda look: look.letters(
        JobFilter(kind="none", ended_since=datetime(2020, 1, 1, tzinfo=UTC))
    ),
    "the beginning of an id": lambda look: look.ids("0123456"),
    "older": lambda look: look.older(Retention(succeeded=None, dead=36_500)),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_reads_no_more_rows_when_there_are_more_jobs(crowded: Database, name: str) -> None:
    asked = statements(crowded, LOOKS[name])
    assert asked and rows_read(crowded, asked) < ENOUGH


@pytest.mark.parametrize("wanted", [JobFilter(), JobFilter(kind=KIND), JobFilter(error="none")], ids=str)
def test_requeueing_by_a_filter_reads_the_dead_and_nothing_else(crowded: Database, wanted: JobFilter) -> None:
    found: list[str] = []
    asked = statements(crowded, lambda look: found.extend(look.dead_ids(wanted)))
    assert len(found) == (0 if wanted.error else ROWS // 4)
    assert rows_read(crowded, asked) < 6 * ROWS / 4  # each twice in the index, twice in a table of the server's own, and itself


def test_a_line_of_the_log_is_written_without_reading_the_log(crowded: Database) -> None:
    asked: list[Statement] = []

    class Noted(Session):
        def run(self, template: str, parameters: Any = ()) -> Any:
            if template.startswith("SELECT"):
                asked.append((self.sql(template), tuple(parameters)))
            return super().run(template, parameters)

    own = crowded.store().sessions.current()
    session = Noted(own.driver, own.raw, own._compiler)
    own.driver.begin(own.raw)
    given_up.record(session, "relay@h", [Letter("0" * 32, "a", "default", "expired")] * 3)
    assert upkeep.prune_operations(session, 1) == 0
    own.driver.rollback(own.raw)
    assert len(asked) == 4 and rows_read(crowded, asked) < ENOUGH


def test_a_scan_would_be_noticed(crowded: Database) -> None:
    for of_what in ("", " WHERE state = 'dead' AND queue = 'mail'"):
        scan = f"SELECT SUM(attempts + priority + crashes), MAX(payload) FROM {crowded.prefix}jobs{of_what}"
        assert rows_read(crowded, [(scan, ())]) > ENOUGH
