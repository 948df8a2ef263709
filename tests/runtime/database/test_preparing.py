"""Statements that come again and again: prepared where that pays, and the same to the last byte. Real servers, real faults."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from databases import Database, administrator, open_database
from servers import Server
from waits import asked

from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import QueueFull, StatementFailed

PREPARING = ("mariadb", "postgresql")
ODD = ("", "a'b\"c", "\\'; --", "%s ? {now} $1", "\0\x1a\n", "Ä😀 ", "\ud800", {"n": [1, None, True, 1.5]}, None, "x" * 200_000)
PREPARED = {
    # Prepared_stmt_count is that of all connections, whoever asks.
    "mariadb": "SELECT CAST(CAST(p.VARIABLE_VALUE - d.VARIABLE_VALUE AS SIGNED) AS CHAR) FROM "
    "information_schema.SESSION_STATUS p, information_schema.SESSION_STATUS d "
    "WHERE p.VARIABLE_NAME = 'COM_PREPARE_SQL' AND d.VARIABLE_NAME = 'COM_DEALLOC_SQL'",
    "postgresql": "SELECT name FROM pg_prepared_statements WHERE left(name, 9) = 'prepared_'",
}
KILL = {
    "mariadb": ("SELECT CONNECTION_ID()", "KILL {}"),
    "postgresql": ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})"),
}
OTHER = {"mariadb": "'SELECT 1'", "postgresql": "SELECT 1"}


class Interrupted(Exception):
    """What the handler of a signal raises."""


@pytest.fixture(params=PREPARING)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(request.param, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def store(server: Database) -> Store:
    """One that has prepared its INSERT."""
    opened = server.store()
    for _ in range(7):
        opened.enqueue(NewJob(kind="mail"))
    assert prepared(opened)
    return opened


def prepared(store: Store) -> list[Any]:
    """What the server has prepared for the store's connection."""
    return [row for row in store.sessions.read(lambda session: session.rows(PREPARED[_name(store)])) if row[-1] != "0"]


def names(store: Store) -> list[str]:
    """What the store's connection uses, by the names on the server."""
    known = store.sessions.current()._prepared
    return [] if known is None else list(known._names.values())


def _name(store: Store) -> str:
    return store.backend.name


def stored(server: Database) -> list[tuple[Any, ...]]:
    query = "SELECT id, public_id, job_key, payload, priority, state, run_at - created_at, ready_at - created_at FROM {jobs}"
    return server.rows(query + " ORDER BY id")


def test_whatever_stands_in_a_job_it_is_stored_the_same_before_and_after(database: Database) -> None:
    store = database.store()
    rounds = []
    for turn in range(9):  # keys are stored as they are, payloads as JSON
        jobs = [NewJob(kind="mail", payload=odd, priority=len(str(odd)[:50])) for odd in ODD]
        jobs += [NewJob(kind="mail", key=f"{turn}{odd}"[:300]) for odd in ODD if odd != "\ud800"]
        answers = [store.enqueue(job) for job in jobs]
        rows = {row[0]: row for row in stored(database)}
        assert [rows[answer.id][1] for answer in answers] == [answer.public_id for answer in answers]
        rounds.append([(None if row[2] is None else bytes(row[2])[1:], *row[3:]) for row in (rows[a.id] for a in answers)])
    assert all(each == rounds[0] for each in rounds)


def test_only_what_comes_again_is_prepared_and_costs_one_round_trip(server: Database) -> None:
    store = server.store()
    for _ in range(5):
        store.enqueue(NewJob(kind="mail"))
    assert not prepared(store)
    store.enqueue(NewJob(kind="mail"))
    assert len(prepared(store)) == 1
    assert asked(store, lambda: store.enqueue(NewJob(kind="letter", payload={"n": 1}))) == 1
    assert len(prepared(store)) == 1


def test_limits_that_have_changed_are_seen_by_what_is_prepared(server: Database, store: Store) -> None:
    server.store().set_limit("queue", "default", by="ops", depth=3)
    with pytest.raises(QueueFull):
        store.enqueue(NewJob(kind="mail"))
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 7


def test_the_same_public_id_again_is_the_same_job(server: Database, store: Store) -> None:
    first = store.enqueue(NewJob(kind="mail"))
    again = store.enqueue(NewJob(kind="mail", public_id=first.public_id))
    assert (again.id, again.duplicate) == (first.id, False)
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 8


def test_a_connection_that_is_killed_loses_no_job_and_doubles_none(server: Database, store: Store) -> None:
    own, kill = KILL[server.name]
    number = store.sessions.read(lambda session: session.value(own))
    with administrator(server.name) as cursor:
        cursor.execute(kill.format(int(number)))
    for _ in range(8):
        store.enqueue(NewJob(kind="mail"))
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 15
    assert prepared(store)


def test_what_is_no_longer_prepared_is_sent_as_it_is(server: Database, store: Store) -> None:
    """As behind a pooler, which gives each transaction another connection."""
    session = store.sessions.current()
    for name in names(store):
        session.run(f"DEALLOCATE PREPARE {name}")
    for _ in range(8):
        store.enqueue(NewJob(kind="mail"))
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 15
    assert not prepared(store)


def test_what_another_has_prepared_on_the_connection_is_sent_as_it_is(server: Database, store: Store) -> None:
    """As behind a pooler, which hands on what others have prepared: the same name is the same statement."""
    other = server.store()
    (name,) = names(store)
    other.sessions.current().run(f"PREPARE {name} {'FROM' if server.name == 'mariadb' else 'AS'} {OTHER[server.name]}")
    for _ in range(8):
        other.enqueue(NewJob(kind="mail"))
    assert names(other) == ([name] if server.name == "mariadb" else [])  # which replaces what has the name
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 15


def test_a_signal_is_heard_while_the_server_keeps_an_enqueue_waiting(server: Database, store: Store) -> None:
    waiting = {
        "mariadb": "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND id = {}",
        "postgresql": "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND pid = {}",
    }
    number = int(store.sessions.read(lambda session: session.value(KILL[server.name][0])))
    raw = server.connect()
    cursor = raw.cursor()
    if server.name == "postgresql":
        cursor.execute("BEGIN")
    cursor.execute("LOCK TABLES c2q_jobs WRITE" if server.name == "mariadb" else "LOCK TABLE c2q_jobs IN ACCESS EXCLUSIVE MODE")

    def interrupt() -> None:
        with administrator(server.name) as watch:
            while True:
                watch.execute(waiting[server.name].format(number))
                if watch.fetchone()[0]:
                    break
        os.kill(os.getpid(), signal.SIGUSR1)

    def heard(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, heard)
    watcher = threading.Thread(target=interrupt)
    try:
        watcher.start()
        with pytest.raises(Interrupted):
            store.enqueue(NewJob(kind="mail"))
    finally:
        signal.signal(signal.SIGUSR1, before)
        watcher.join()
        raw.close()
    known = store.enqueue(NewJob(kind="mail"))
    assert server.value("SELECT COUNT(*) FROM {jobs} WHERE id = ?", (known.id,)) == 1


def test_a_server_that_takes_no_more_is_sent_what_is_to_be_done() -> None:
    own = Server("mariadb")  # the bound is one of the whole server
    try:
        own.start()
        with closing(Store.open(own.create("full"))) as store:
            store.migrate_up()
            store.sessions.current().run("SET GLOBAL max_prepared_stmt_count = 0")
            jobs = {store.enqueue(NewJob(kind="mail")).id for _ in range(8)}
            assert len(jobs) == store.sessions.read(lambda session: session.value("SELECT COUNT(*) FROM {jobs}")) == 8
            assert not names(store)
    finally:
        own.remove()


def test_who_forbids_preparing_is_obeyed(tmp_path: Path) -> None:
    server = open_database("postgresql", tmp_path)
    store = server.store()
    store.sessions.current().raw.prepare_threshold = None
    for _ in range(8):
        store.enqueue(NewJob(kind="mail"))
    assert not prepared(store)
    server.close()


def test_what_the_server_refuses_is_told_as_by_any_statement(server: Database, store: Store) -> None:
    """A trigger of the application's own, which raises a state that no driver knows."""
    refuse = {
        "mariadb": "CREATE TRIGGER c2q_no BEFORE INSERT ON c2q_jobs FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not so'",
        "postgresql": "CREATE FUNCTION c2q_no() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'not so' USING ERRCODE = 'QQ001'; END $$; "
        "CREATE TRIGGER c2q_no BEFORE INSERT ON c2q_jobs FOR EACH ROW EXECUTE FUNCTION c2q_no()",
    }
    allow = {"mariadb": "DROP TRIGGER c2q_no", "postgresql": "DROP FUNCTION c2q_no CASCADE"}
    raw = server.connect()
    try:
        server_cursor = raw.cursor()
        server_cursor.execute(refuse[server.name])
        raw.commit()
        with pytest.raises(StatementFailed, match="not so"):
            store.enqueue(NewJob(kind="mail"))
    finally:
        server_cursor.execute(allow[server.name])
        raw.commit()
        raw.close()
    store.enqueue(NewJob(kind="mail"))
    assert server.value("SELECT COUNT(*) FROM {jobs}") == 8
