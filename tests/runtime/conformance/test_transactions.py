"""Transactions: an enqueue in the caller's own, completion in the handler's own, and the inbox."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from databases import Database, open_database
from runtime.conformance.conftest import KINDS, Claimer, mail, settled
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.orm import Session as OrmSession

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Done
from cron2queue.runtime.limits import Controls
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import DatabaseBusy, JobRefused, LeaseLost, RetryTransaction
from cron2queue.runtime.verbs import enqueueing
from cron2queue.runtime.verbs.drafts import Draft


@pytest.fixture
def engine(table: Database) -> Any:
    made = create_engine(table.url)
    with made.begin() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)"))
        connection.execute(text("DELETE FROM orders"))
    yield made
    made.dispose()


def orders(table: Database) -> int:
    return int(table.value("SELECT COUNT(*) FROM orders"))


def jobs(table: Database) -> int:
    return int(table.value("SELECT COUNT(*) FROM {jobs}"))


def test_a_job_commits_with_the_business_row_of_a_sqlalchemy_connection(table: Database, store: Store, engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO orders VALUES (1)"))
        answer = store.enqueue(mail(key="order 1"), connection=connection)
        assert store.enqueue(mail(key="order 1"), connection=connection).id == answer.id
        connection.commit()
    assert (orders(table), jobs(table)) == (1, 1)


def test_a_job_rolls_back_with_the_business_row(table: Database, store: Store, engine: Engine, claim: Claimer) -> None:
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO orders VALUES (1)"))
        store.enqueue_many([mail(key="a"), mail(key="b", ordering_key="o")], connection=connection)
        connection.rollback()
    assert (orders(table), jobs(table)) == (0, 0)
    assert claim() == []


def test_an_enqueue_that_is_the_first_statement_of_a_connection_commits_as_well(
    table: Database, store: Store, engine: Engine
) -> None:
    with engine.connect() as connection:
        store.enqueue(mail(), connection=connection)
        connection.commit()
    with engine.begin() as connection:
        store.enqueue(mail(), connection=connection)
    assert jobs(table) == 2


def test_a_job_commits_with_a_sqlalchemy_session(table: Database, store: Store, engine: Engine) -> None:
    with OrmSession(engine) as session:
        session.execute(text("INSERT INTO orders VALUES (1)"))
        store.enqueue(mail(), connection=session)
        session.commit()
        store.enqueue(mail(), connection=session)
        session.rollback()
    with OrmSession(engine) as session:
        store.enqueue(mail(), connection=session)
        session.commit()
    assert (orders(table), jobs(table)) == (1, 2)


def test_a_job_commits_with_a_raw_driver_connection(table: Database, store: Store, engine: Engine) -> None:
    raw = engine.raw_connection().driver_connection
    assert raw is not None
    cursor = raw.cursor()
    cursor.execute("INSERT INTO orders VALUES (1)")
    store.enqueue(mail(key="k"), connection=raw)
    raw.rollback()
    assert (orders(table), jobs(table)) == (0, 0)
    cursor.execute("INSERT INTO orders VALUES (1)")
    store.enqueue(mail(key="k"), connection=raw)
    raw.commit()
    raw.close()
    assert (orders(table), jobs(table)) == (1, 1)


def test_a_connection_whose_owner_prefers_dictionaries_will_do(table: Database, store: Store, engine: Engine) -> None:
    raw: Any = table.connect()
    if table.name == "sqlite":
        raw.row_factory = lambda cursor, row: {column[0]: cell for column, cell in zip(cursor.description, row, strict=True)}
    elif table.name == "postgresql":
        from psycopg.rows import dict_row

        raw.row_factory = dict_row
    else:
        from pymysql.cursors import DictCursor

        raw.cursorclass = DictCursor
    answer = store.enqueue(mail(key="k"), connection=raw)
    assert store.enqueue(mail(key="k"), connection=raw).id == answer.id
    raw.commit()
    raw.close()
    assert jobs(table) == 1


@pytest.mark.parametrize("setting", ["standard_conforming_strings=off", "bytea_output=escape", "timezone='Asia/Kolkata'"])
def test_no_setting_of_the_callers_session_on_postgresql_changes_what_is_stored(tmp_path: Path, setting: str) -> None:
    table = open_database("postgresql", tmp_path)
    store, raw = table.store(), table.connect()
    raw.autocommit = False
    raw.execute(f"SET {setting}")
    keys = ["a", "\\x61", '"', "é"]
    store.enqueue_many([mail(key=key, payload=key) for key in keys], connection=raw)
    store.enqueue(mail(key="one"), connection=raw)
    raw.commit()
    raw.close()
    assert [bytes(row[0]).decode() for row in table.rows("SELECT job_key FROM {jobs} ORDER BY id")] == [*keys, "one"]
    assert all(store.enqueue(mail(key=key)).duplicate for key in [*keys, "one"])
    table.close()


def test_a_refused_job_leaves_the_callers_transaction_as_it_was(table: Database, store: Store, engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO orders VALUES (1)"))
        with pytest.raises(JobRefused):
            store.enqueue(mail(key="x" * 2000), connection=connection)
        store.enqueue(mail(key="x"), connection=connection)
        connection.commit()
    assert (orders(table), jobs(table)) == (1, 1)


def test_a_duplicate_that_came_after_the_callers_snapshot_is_seen(table: Database, store: Store, engine: Engine) -> None:
    """The default isolation of MySQL and MariaDB does not show it to a plain SELECT."""
    options = {} if table.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**options) as connection:
        connection.execute(text("SELECT COUNT(*) FROM orders")).scalar()
        winner = table.store().enqueue(mail(key="k"))
        if table.name == "postgresql":  # it cannot be seen there: the transaction must be run again
            with pytest.raises((RetryTransaction, DatabaseBusy)):
                store.enqueue(mail(key="k"), connection=connection)
            return
        answer = store.enqueue(mail(key="k"), connection=connection)
        assert (answer.duplicate, answer.id) == (True, winner.id)
        connection.commit()
    assert jobs(table) == 1


def test_effects_and_completion_are_one_transaction(table: Database, store: Store, engine: Engine, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    with store.transaction(job, result_ref="order 1") as raw:
        raw.cursor().execute("INSERT INTO orders VALUES (1)")
        assert table.value("SELECT state FROM {jobs}") == "running"
    assert orders(table) == 1
    assert table.rows("SELECT state, result_ref FROM {jobs}") == [("succeeded", "order 1")]
    assert table.rows("SELECT outcome FROM {attempts}") == [("done",)]
    assert settled(store, job, Done())


def test_an_error_in_a_handlers_transaction_undoes_its_effects_and_ends_nothing(
    table: Database, store: Store, engine: Engine, claim: Claimer
) -> None:
    store.enqueue(mail())
    (job,) = claim()
    with pytest.raises(RuntimeError, match="half way"), store.transaction(job) as raw:
        raw.cursor().execute("INSERT INTO orders VALUES (1)")
        raise RuntimeError("half way")
    assert orders(table) == 0
    assert table.value("SELECT state FROM {jobs}") == "running"
    assert settled(store, job, Done())


def test_effects_under_a_lost_lease_are_rolled_back(table: Database, store: Store, engine: Engine, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    store.rescue("w1", counter_seen=-1, by="w2")
    claim(worker="w2")
    with pytest.raises(LeaseLost), store.transaction(job) as raw:
        raw.cursor().execute("INSERT INTO orders VALUES (1)")
    assert orders(table) == 0
    assert table.rows("SELECT state, worker FROM {jobs}") == [("running", "w2")]


def test_jobs_that_a_handler_enqueues_in_its_transaction_come_and_go_with_it(
    table: Database, store: Store, engine: Engine, claim: Claimer
) -> None:
    store.enqueue(mail())
    (job,) = claim()
    with pytest.raises(RuntimeError), store.transaction(job) as raw:
        store.enqueue(mail(key="follow-up"), connection=raw)
        raise RuntimeError
    assert jobs(table) == 1
    with store.transaction(job) as raw:
        store.enqueue(mail(key="follow-up"), connection=raw)
    assert [each.key for each in claim()] == ["follow-up"]


def test_the_turn_is_passed_on_by_a_completion_in_a_transaction(store: Store, engine: Engine, claim: Claimer) -> None:
    store.enqueue_many([mail(key="a", ordering_key="o"), mail(key="b", ordering_key="o")])
    (job,) = claim()
    with store.transaction(job):
        pass
    assert [each.key for each in claim()] == ["b"]


def test_a_message_is_processed_once(table: Database, store: Store, engine: Engine) -> None:
    def consume(connection: Connection, message: str) -> bool:
        if first := store.once(connection, "billing", message):
            connection.execute(text("INSERT INTO orders SELECT COUNT(*) + 1 FROM orders"))
        return first

    with engine.begin() as connection:
        assert consume(connection, "m1")
    with engine.connect() as connection:
        assert consume(connection, "m2")
        connection.rollback()
    with engine.begin() as connection:
        assert [consume(connection, "m1"), consume(connection, "m2"), consume(connection, "m2")] == [False, True, False]
        assert store.once(connection, "shipping", "m1")
    assert orders(table) == 2


def test_messages_that_differ_in_any_byte_are_different_messages(store: Store, engine: Engine) -> None:
    messages = ["m", "M", "m ", "ö", "o\u0308", "m\0", "\udcff", "x" * 191 + "a", "x" * 191 + "b", "x" * 1024]
    with engine.begin() as connection:
        assert all(store.once(connection, "c", message) for message in messages)
        assert not any(store.once(connection, "c", message) for message in messages)
        assert store.once(connection, "C", "m")


def test_a_message_id_that_would_have_to_be_cut_is_refused(store: Store, engine: Engine) -> None:
    with engine.begin() as connection:
        for consumer, message in (("c", "x" * 1025), ("", "m"), ("c" * 129, "m"), ("c", "")):
            with pytest.raises(JobRefused):
                store.once(connection, consumer, message)


def test_old_messages_are_pruned(table: Database, store: Store, engine: Engine) -> None:
    with engine.begin() as connection:
        for number in range(3):
            store.once(connection, "c", str(number))
    table.change("UPDATE {inbox} SET processed_at = 1 WHERE message_id <> ?", (b"2",))
    assert store.prune()["inbox"] == 2
    with engine.begin() as connection:
        assert [store.once(connection, "c", str(number)) for number in range(3)] == [True, True, False]


def test_publish_is_part_of_the_callers_transaction(table: Database, store: Store, engine: Engine) -> None:
    store.subscribe("e", "mail")
    with engine.connect() as connection:
        assert len(store.publish("e", connection=connection)) == 1
        connection.rollback()
    assert jobs(table) == 0


def test_limits_that_change_between_two_parts_of_a_bulk_spoil_no_transaction_of_the_callers_own(
    table: Database, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first part is written by then, and is found when the bulk is gone through again."""
    operator, waits = table.store(), enqueueing.refuse_if_full
    monkeypatch.setattr(enqueueing, "CHUNK_ROWS", 3)

    def between(session: Session, controls: Controls, queue: str, drafts: Sequence[Draft]) -> None:
        if table.name != "sqlite" and not changed:  # there the file is locked by whoever writes
            changed.append(operator.set_limit("queue", "other", by="ops", depth=9))
        waits(session, controls, queue, drafts)

    changed: list[None] = []
    monkeypatch.setattr(enqueueing, "refuse_if_full", between)
    session = store.sessions.open()
    store.driver.begin(session.raw)
    answers = store.enqueue_many([mail(payload=n) for n in range(8)], connection=session.raw)
    store.driver.commit(session.raw)
    assert [answer.duplicate for answer in answers] == [False] * 8
    assert dict(table.rows("SELECT public_id, id FROM {jobs}")) == {answer.public_id: answer.id for answer in answers}


def test_a_handlers_transaction_waits_for_other_writers_as_a_unit_does(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one lock for all; on servers nothing is locked by a BEGIN."""
    store = sqlite_database.store()
    store.enqueue_many([mail(), mail()])
    first, second = store.claim("default", kinds=KINDS, limit=2, worker="w")
    holder = sqlite_database.connect()
    holder.execute("BEGIN IMMEDIATE")
    tries: list[Any] = []
    begin = type(store.driver).begin

    def trying(self: Any, raw: Any) -> None:
        tries.append(raw)
        if len(tries) == 3:
            holder.rollback()
        begin(self, raw)

    monkeypatch.setattr(type(store.driver), "begin", trying)
    with store.transaction(first) as raw:
        raw.execute("UPDATE c2q_jobs SET priority = 7 WHERE id = ?", (first.id,))
    assert len(tries) == 3
    assert sqlite_database.rows("SELECT state, priority FROM {jobs} WHERE id = ?", (first.id,)) == [("succeeded", 7)]
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusy), sqlite_database.store(patience=0.1).transaction(second):
        pass
    holder.close()
