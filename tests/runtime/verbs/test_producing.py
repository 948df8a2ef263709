"""What producers cost a database: statements and round trips, as the database itself, or the line to it, counts them."""

from typing import Any

import pytest
from databases import SERVERS, Database, open_database
from waits import asked, questions

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.innodb import InnodbBackend
from cron2queue.runtime.jobs import Forever, NewJob, Period, RetryAt, Settlement
from cron2queue.runtime.store import Store


def mail(**fields: Any) -> NewJob:
    return NewJob(kind="mail", **fields)


@pytest.fixture
def store(database: Database) -> Store:
    """One that has enqueued before: it knows the limits, and what the server is."""
    opened = database.store()
    for _ in range(6):  # psycopg prepares what it has sent five times
        opened.enqueue(mail())
    return opened


def test_a_new_job_costs_one_round_trip(store: Store) -> None:
    assert asked(store, lambda: store.enqueue(mail(payload={"n": 1}, owner="me", priority=5))) == 1


@pytest.mark.parametrize("name", [name for name in SERVERS if name != "postgresql"])
def test_a_process_that_enqueues_one_job_waits_eight_times(name: str, tmp_path: Any) -> None:
    """Three times to set its session, once to hear who answers, three times for pauses and limits; the last is the job."""
    database = open_database(name, tmp_path)
    store = database.store()
    store.enqueue(mail())
    assert questions(store.sessions.current().raw) - 1 == 8
    database.close()


def test_a_new_job_with_a_key_costs_a_look_more_where_a_refused_insert_would_leave_locks(
    database: Database, store: Store
) -> None:
    looks = 1 if database.address.family == "mysql" else 0
    assert asked(store, lambda: store.enqueue(mail(key="a"))) == 1 + looks
    assert asked(store, lambda: store.enqueue(mail(key="b", unique=Forever()))) == 1 + looks


def test_what_hangs_on_the_time_costs_a_look_more(store: Store) -> None:
    assert asked(store, lambda: store.enqueue(mail(key="c", unique=Period(seconds=60)))) == 2


def test_a_bulk_costs_as_much_however_many_it_is_of(database: Database, store: Store) -> None:
    waits = {"sqlite": 2, "postgresql": 1}.get(database.name, 3)  # on servers of MySQL's kind ids are asked for once more
    assert asked(store, lambda: store.enqueue_many([mail(payload={"n": n}) for n in range(900)])) == waits


def test_a_bulk_that_something_may_stand_in_the_way_of_is_one_transaction(database: Database, store: Store) -> None:
    store.enqueue_many([mail(key="x"), mail()])
    more = 1 if database.address.family == "mysql" else 0
    assert asked(store, lambda: store.enqueue_many([mail(key=f"{n}") for n in range(900)])) <= 4 + more


def test_in_a_transaction_of_the_callers_own_the_limits_are_read_once(database: Database, store: Store) -> None:
    session = store.sessions.open()
    store.driver.begin(session.raw)
    found = []
    run = Session.send
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "send", lambda self, sql, *rest: (found.append(sql), run(self, sql, *rest))[1])
        store.enqueue(mail(), connection=session.raw)
    store.driver.commit(session.raw)
    assert [sql for sql in found if "limits" in sql] == []
    assert database.value("SELECT COUNT(*) FROM {jobs}") == 7


def test_an_operator_who_moves_many_jobs_keeps_no_producer_waiting(database: Database, store: Store) -> None:
    """An INSERT on MySQL and MariaDB waits for whoever has written the count of changes and has not committed."""
    store.enqueue_many([mail() for _ in range(3)])
    (job,) = store.claim("default", kinds=("mail",), limit=1, worker="w")
    store.settle([Settlement(job=job, outcome=RetryAt(delay_seconds=1, pause_kind_seconds=3600))])
    assert store.claim("default", kinds=("mail",), limit=5, worker="w") == []  # they are put off until then
    written = []
    run = Session.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "run", lambda self, template, *rest: (written.append(template), run(self, template, *rest))[1])
        assert store.resume_kind("mail", by="ops")
    changes = [template.split("}")[0] for template in written if template.startswith("UPDATE")]
    assert changes == ["UPDATE {limits", "UPDATE {jobs", "UPDATE {controls"]


def test_a_unit_after_single_statements_is_one_transaction_again(database: Database, store: Store) -> None:
    def half(session: Session) -> None:
        session.run("UPDATE {jobs} SET priority = 1")
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        store.sessions.unit(half)
    assert database.value("SELECT COUNT(*) FROM {jobs} WHERE priority = 1") == 0
    store.enqueue(mail(priority=1))
    assert database.store().sessions.read(lambda session: session.value("SELECT COUNT(*) FROM {jobs} WHERE priority = 1")) == 1


@pytest.mark.parametrize("name", [name for name in SERVERS if name != "postgresql"])
@pytest.mark.parametrize("step", [1, 3])
def test_ids_of_a_bulk_are_those_of_its_rows_whatever_the_server_counts_by(name: str, step: int, tmp_path: Any) -> None:
    database = open_database(name, tmp_path)
    store = database.store()
    store.sessions.read(lambda session: session.run(f"SET SESSION auto_increment_increment = {step}"))
    answers = store.enqueue_many([mail(payload=n) for n in range(50)])
    assert [answer.id - answers[0].id for answer in answers] == [step * n for n in range(50)]
    found = dict(database.rows("SELECT public_id, id FROM {jobs}"))
    assert found == {answer.public_id: answer.id for answer in answers}
    backend = store.backend
    assert isinstance(backend, InnodbBackend)
    public_ids = [answer.public_id for answer in answers]
    elsewhere = store.sessions.read(lambda session: backend._ids(session, answers[0].id - 1, public_ids))  # as if with a gap
    assert elsewhere == [answer.id for answer in answers]
    database.close()
