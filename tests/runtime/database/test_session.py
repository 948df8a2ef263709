"""Units of work under faults: lost lines, deadlocks, locks of others, forks. Real servers, real faults."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import SERVERS, Database, open_database
from runtime.severing import Severing

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import AttemptRecord, Done, NewJob, Settlement, WorkerInfo
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import DatabaseBusy, RetryTransaction, StatementFailed

COMMITS = {"mariadb": b"\x03COMMIT", "mysql": b"\x03COMMIT", "postgresql": b"COMMIT"}


class Line:
    """A store that speaks to its server through a line that can be cut."""

    def __init__(self, database: Database) -> None:
        address = database.address
        ports = {"mariadb": 3306, "mysql": 3306, "postgresql": 5432}
        self.proxy = Severing(
            address.host if address.host != "localhost" else "127.0.0.1", address.port or ports[database.name]
        )
        scheme, _, _ = database.url.partition("://")
        tls = "?sslmode=disable" if database.name == "postgresql" else ""
        user = f"{address.user}:{address.password}@" if address.password else f"{address.user}@"
        self.store = Store.open(f"{scheme}://{user}127.0.0.1:{self.proxy.port}/{address.database}{tls}", patience=20)
        self.word = COMMITS[database.name]

    def close(self) -> None:
        self.store.close()
        self.proxy.close()


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(request.param, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def line(server: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    from cron2queue.runtime.database.drivers.mysql import MysqlDriver

    arguments = MysqlDriver._arguments
    monkeypatch.setattr(MysqlDriver, "_arguments", lambda self: arguments(self) | {"ssl_disabled": True})
    opened = Line(server)
    try:
        opened.store.controls()
    except DatabaseUnavailable as error:
        opened.close()
        pytest.skip(f"the server does not listen on TCP for this user: {error.message}")
    yield opened
    opened.close()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_enqueue_whose_commit_was_cut_is_one_job_and_acknowledged(server: Database, line: Line, after: bool) -> None:
    for key in ("a", None):
        line.proxy.cut(b"INSERT INTO", after=after)  # one job is one statement, which commits by itself
        answer = line.store.enqueue(NewJob(kind="mail", key=key))
        assert not answer.duplicate
        assert server.value("SELECT COUNT(*) FROM {jobs} WHERE id = ?", (answer.id,)) == 1
    line.proxy.cut(line.word, after=after)
    answers = line.store.enqueue_many([NewJob(kind="mail", key="b"), NewJob(kind="mail")])
    assert [answer.duplicate for answer in answers] == [False, False]
    assert line.proxy.cuts == 3
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 4


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_enqueue_that_was_prepared_and_cut_is_one_job_and_acknowledged(server: Database, line: Line, after: bool) -> None:
    for _ in range(7):
        line.store.enqueue(NewJob(kind="mail"))
    line.proxy.cut(b"INSERT INTO" if server.name == "mysql" else b"prepared_", after=after)
    assert not line.store.enqueue(NewJob(kind="mail")).duplicate
    assert line.proxy.cuts == 1
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 8


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_claim_whose_commit_was_cut_loses_no_job_and_counts_one_attempt(server: Database, line: Line, after: bool) -> None:
    line.store.enqueue_many([NewJob(kind="mail") for _ in range(3)])
    line.proxy.cut(b"SKIP LOCKED" if server.name == "postgresql" else line.word, after=after)
    jobs = line.store.claim("default", kinds=("mail",), limit=3, worker="w")
    assert line.proxy.cuts == 1
    assert len(jobs) == 3
    assert server.rows("SELECT DISTINCT attempts, state FROM {jobs}") == [(1, "running")]
    assert line.store.settle([Settlement(job=job, outcome=Done()) for job in jobs]) == [True] * 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_settle_whose_commit_was_cut_says_the_truth(server: Database, line: Line, after: bool) -> None:
    line.store.enqueue_many([NewJob(kind="mail") for _ in range(3)])
    jobs = line.store.claim("default", kinds=("mail",), limit=3, worker="w")
    line.proxy.cut(line.word, after=after)
    assert line.store.settle([Settlement(job=job, outcome=Done()) for job in jobs]) == [True] * 3
    assert line.proxy.cuts == 1
    assert server.rows("SELECT state, COUNT(*) FROM {jobs} GROUP BY state") == [("succeeded", 3)]
    assert server.value("SELECT COUNT(*) FROM {attempts}") == 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_settle_with_the_next_claim_that_was_cut_says_the_truth_of_both(server: Database, line: Line, after: bool) -> None:
    line.store.enqueue_many([NewJob(kind="mail") for _ in range(7)])
    jobs = line.store.claim("default", kinds=("mail",), limit=3, worker="w")
    server.change("UPDATE {jobs} SET lease = 'other', worker = 'other' WHERE id = ?", (jobs[1].id,))
    ends = [Settlement(job=job, outcome=Done(), record=AttemptRecord(run_seconds=0.5)) for job in jobs]
    line.proxy.cut(b"SKIP LOCKED" if server.name == "postgresql" else line.word, after=after)
    held, more = line.store.settle_and_claim(ends, "default", kinds=("mail",), limit=3, worker="w")
    assert (held, len(more), line.proxy.cuts) == ([True, False, True], 3, 1)
    assert server.rows("SELECT state, COUNT(*) FROM {jobs} GROUP BY state ORDER BY 1") == [
        ("ready", 1), ("running", 4), ("succeeded", 2),
    ]  # fmt: skip
    assert server.value("SELECT COUNT(*) FROM {attempts}") == 2
    assert line.store.settle([Settlement(job=job, outcome=Done()) for job in more]) == [True] * 3


def test_a_worker_beats_on_after_its_line_was_cut(server: Database, line: Line) -> None:
    line.store.register_worker(WorkerInfo(token="w", host="h", pid=1, version="1", kinds=(), queues=()))
    line.proxy.cut(b"beat_counter", after=False)
    assert line.store.beat("w") == 1


def test_a_server_that_is_gone_is_told_with_its_exit_status(server: Database, line: Line) -> None:
    line.proxy.close()
    line.proxy.cut(b"SELECT", after=False)
    with pytest.raises(DatabaseUnavailable) as told:
        line.store.enqueue(NewJob(kind="mail"))
    assert told.value.exit_status == 69
    assert "root" not in str(told.value)


def test_a_deadlock_is_run_again_and_nobody_hears_of_it(server: Database) -> None:
    """Two units take two rows in opposite order, made to meet by a barrier."""
    store = server.store()
    ids = [answer.id for answer in store.enqueue_many([NewJob(kind="mail"), NewJob(kind="mail")])]
    meet, runs = threading.Barrier(2, timeout=30), [0, 0]

    def work(number: int) -> None:
        order = ids if number else ids[::-1]

        def unit(session: Session) -> None:
            runs[number] += 1
            session.run("UPDATE {jobs} SET priority = priority + 1 WHERE id = ?", (order[0],))
            if runs[number] == 1:
                meet.wait()
            session.run("UPDATE {jobs} SET priority = priority + 1 WHERE id = ?", (order[1],))

        store.sessions.unit(unit)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(runs) >= 3
    assert server.rows("SELECT DISTINCT priority FROM {jobs}") == [(102,)]


def test_a_lock_wait_that_ran_out_leaves_no_half_of_the_unit(server: Database) -> None:
    """MySQL and MariaDB undo the statement only: committing after it would store the first half."""
    holder, store = server.store(), server.store(patience=0.1)
    first, second = (answer.id for answer in holder.enqueue_many([NewJob(kind="mail"), NewJob(kind="mail")]))
    holding = holder.sessions.current()
    holder.driver.begin(holding.raw)
    holding.run("UPDATE {jobs} SET priority = 7 WHERE id = ?", (second,))

    def unit(session: Session) -> None:
        shorten = "SET innodb_lock_wait_timeout = 1" if session.driver.family == "mysql" else "SET LOCAL lock_timeout = '200ms'"
        session.run(shorten)
        session.run("UPDATE {jobs} SET priority = 1 WHERE id = ?", (first,))
        session.run("UPDATE {jobs} SET priority = 1 WHERE id = ?", (second,))

    with pytest.raises(DatabaseBusy) as busy:
        store.sessions.unit(unit)
    assert busy.value.exit_status == 75
    holder.driver.rollback(holding.raw)
    assert server.rows("SELECT DISTINCT priority FROM {jobs}") == [(100,)]


def test_a_client_that_is_stopped_within_a_transaction_gives_its_locks_back_after_a_minute(server: Database) -> None:
    store = server.store()
    asked = {
        "mariadb": "SELECT @@idle_transaction_timeout",
        "mysql": "SELECT @@wait_timeout",
        "postgresql": "SELECT EXTRACT(EPOCH FROM CAST(current_setting('idle_in_transaction_session_timeout') AS interval))",
    }
    assert int(store.sessions.read(lambda session: session.value(asked[server.name]))) == 60


def test_the_server_takes_locks_back_from_who_says_nothing_within_a_transaction(server: Database) -> None:
    """The same with a second for the minute: what was written is undone, and the next unit gets a new connection."""
    shorten = {
        "mariadb": "SET SESSION idle_transaction_timeout = 1",
        "mysql": "SET SESSION wait_timeout = 1",
        "postgresql": "SET SESSION idle_in_transaction_session_timeout = '1s'",
    }
    silent, other = server.store(), server.store()
    job = other.enqueue(NewJob(kind="mail"))
    session = silent.sessions.current()
    session.run(shorten[server.name])
    silent.sessions.begin(session)
    session.run("UPDATE {jobs} SET priority = 7 WHERE id = ?", (job.id,))
    change = "UPDATE {jobs} SET priority = priority + 1 WHERE id = ?"
    assert other.sessions.unit(lambda session: session.changed(change, (job.id,))) == 1  # waits for the lock, and gets it
    assert silent.sessions.unit(lambda session: session.changed(change, (job.id,))) == 1
    assert server.value("SELECT priority FROM {jobs}") == 102


def test_in_a_callers_transaction_a_deadlock_is_the_callers_to_run_again(server: Database) -> None:
    """The server has already rolled the caller's work back: only its owner knows what belonged to it."""
    store = server.store()
    first, second = (answer.id for answer in store.enqueue_many([NewJob(kind="mail"), NewJob(kind="mail")]))
    meet, told = threading.Barrier(2, timeout=30), []

    def work(mine: int, other: int) -> None:
        raw = server.connect()
        store.driver.begin(raw)
        cursor = store.driver.cursor(raw)
        cursor.execute(f"UPDATE c2q_jobs SET priority = 1 WHERE id = {mine}")
        meet.wait()
        try:
            store.inside(raw, lambda session, _: session.run("UPDATE {jobs} SET priority = 2 WHERE id = ?", (other,)))
        except RetryTransaction as error:
            told.append(error)
        raw.rollback()
        raw.close()

    threads = [threading.Thread(target=work, args=pair) for pair in ((first, second), (second, first))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(told) == 1


def test_an_error_that_running_again_does_not_change_is_told_once(database: Database) -> None:
    store, runs = database.store(), []

    def unit(session: Session) -> None:
        runs.append(1)
        session.run("INSERT INTO {queues} (name, locked) VALUES ('q', NULL)")

    with pytest.raises(StatementFailed):
        store.sessions.unit(unit)
    assert len(runs) == 1
    store.enqueue(NewJob(kind="mail"))


def test_an_error_of_our_own_rolls_back_and_comes_out_as_it_is(database: Database) -> None:
    store = database.store()

    def unit(session: Session) -> None:
        session.run("INSERT INTO {queues} (name, locked) VALUES ('q', 0)")
        raise KeyError("ours")

    with pytest.raises(KeyError):
        store.sessions.unit(unit)
    assert database.rows("SELECT name FROM {queues}") == []


def test_a_fork_gets_connections_of_its_own(database: Database) -> None:
    store = database.store()
    store.enqueue(NewJob(kind="mail", key="parent"))
    mine = store.sessions.current()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.enqueue(NewJob(kind="mail", key="child"))
            status = 0 if store.sessions.current() is not mine else 2
            store.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.enqueue(NewJob(kind="mail", key="parent again"))
    assert store.sessions.current() is mine
    assert database.value("SELECT COUNT(*) FROM {jobs}") == 3


def test_every_thread_has_a_connection_of_its_own(database: Database) -> None:
    store, seen, together = database.store(), [], threading.Barrier(3)

    def work() -> None:
        seen.append(store.sessions.current())
        together.wait()  # all are alive at one time

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(session.raw) for session in [*seen, store.sessions.current()]}) == 4


def test_threads_that_come_and_go_do_not_pile_up_connections(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    for _ in range(200):
        thread = threading.Thread(target=store.sessions.current)
        thread.start()
        thread.join()
    assert len(store.sessions._mine) < 20


def test_a_store_that_was_closed_can_be_used_again(database: Database) -> None:
    store = database.store()
    store.enqueue(NewJob(kind="mail"))
    store.close()
    store.enqueue(NewJob(kind="mail"))
    assert database.value("SELECT COUNT(*) FROM {jobs}") == 2


def test_writers_on_sqlite_wait_for_each_other_however_long_a_handler_writes(sqlite_database: Database) -> None:
    holder, store = sqlite_database.store(), sqlite_database.store()
    session = holder.sessions.current()
    holder.driver.begin(session.raw)
    session.run("UPDATE {controls} SET restart_mark = restart_mark + 1")
    released = threading.Timer(0.5, lambda: holder.driver.commit(session.raw))
    released.start()
    store.enqueue(NewJob(kind="mail"))
    released.join()
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 1


def test_sqlite_is_durable_and_strict(sqlite_database: Database) -> None:
    raw: Any = sqlite_database.connect()
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert raw.execute("PRAGMA synchronous").fetchone() == (2,)
    raw.close()
    with pytest.raises(StatementFailed, match="cannot store TEXT"):
        sqlite_database.change("UPDATE {controls} SET version = 'many'")


def test_a_missing_file_is_told_and_no_empty_queue_is_made_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "jobs.db"
    store = Store.open(f"sqlite:///{file}")
    with pytest.raises(DatabaseUnavailable, match="no file") as told:
        store.enqueue(NewJob(kind="mail"))
    assert "migrate up" in str(told.value.remedy)
    assert store.schema_version() == 0
    assert {state.state for state in store.migration_status()} == {"missing"}
    assert not file.exists()
    store.migrate_up()
    store.enqueue(NewJob(kind="mail"))
    store.close()


def test_a_file_that_was_deleted_or_replaced_is_noticed_before_the_next_job_is_lost_in_it(
    sqlite_database: Database, tmp_path: Path
) -> None:
    store, file = sqlite_database.store(), Path(sqlite_database.address.database)
    store.enqueue(NewJob(kind="mail", key="before"))
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    with pytest.raises(DatabaseUnavailable, match="no file"):
        store.enqueue(NewJob(kind="mail", key="into the void"))
    other = Store.open(sqlite_database.url)
    other.migrate_up()
    store.enqueue(NewJob(kind="mail", key="after"))
    (job,) = other.claim("default", kinds=("mail",), limit=9, worker="w")
    assert job.key == "after"
    other.close()
