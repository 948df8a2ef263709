"""Parts of the store by themselves: addresses, prefixes, instants, the watermark, the meaning of errors."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from databases import Database

from cron2queue.errors import UsageError
from cron2queue.runtime.backend import Want
from cron2queue.runtime.database.address import parse
from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.instants import LAST, from_micros, seconds, to_micros
from cron2queue.runtime.database.prefix import checked_prefix
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.jobs import Job, Lease, NewJob
from cron2queue.runtime.store import Store
from cron2queue.runtime.tables import tables
from cron2queue.runtime.verbs.watermark import RESCAN_SECONDS, SLOW_SECONDS, SLOW_STREAK, Watermarks


def test_an_address_is_taken_apart_with_its_escapes() -> None:
    found = parse("mysql+pymysql://sh%40op:p%2Fw%3A@db.example:3307/sh%20op?unix_socket=%2Frun%2Fx.sock")
    assert (found.family, found.user, found.password, found.host, found.port) == ("mysql", "sh@op", "p/w:", "db.example", 3307)
    assert (found.database, found.options) == ("sh op", {"unix_socket": "/run/x.sock"})
    assert parse("postgresql://[::1]/x").host == "::1"
    assert parse("postgres://x@h/y").family == "postgresql"
    assert [parse(url).database for url in ("sqlite:///a.db", "sqlite:////a/b.db", "sqlite://", "sqlite:///:memory:")] == [
        "a.db", "/a/b.db", "", "",
    ]  # fmt: skip


def test_a_password_is_not_shown_with_its_address() -> None:
    shown = repr(parse("mysql://user:pa%20ss@host:3306/shop"))
    assert "pa ss" not in shown
    assert "host:3306/shop" in shown


@pytest.mark.parametrize("url", ["", "x", "jobs.db", "sqlite:jobs.db", "sqlite://jobs.db", "oracle://x/y", "mysql://h:port/x"])
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UsageError) as told:
        parse(url)
    assert told.value.remedy


def test_a_password_is_never_shown() -> None:
    found = parse("mysql://shop:hunter2@db/shop")
    assert "hunter2" not in repr(found) + found.shown


@pytest.mark.parametrize("prefix", ["", "C2Q_", "1a", "a-b", "a" * 32, 'a"; drop', "ä", "a b", "c2q_\n"])
def test_a_prefix_that_could_not_stand_in_a_name_is_refused(prefix: str) -> None:
    with pytest.raises(UsageError):
        checked_prefix(prefix)
    with pytest.raises(UsageError):
        Store.open("sqlite:///x.db", prefix=prefix)


def test_the_longest_prefix_gives_names_that_no_server_cuts() -> None:
    found = tables("p" * 31).metadata
    names = [name for table in found.tables.values() for name in (table.name, *(str(index.name) for index in table.indexes))]
    assert max(map(len, names)) <= 63


def test_instants_come_back_as_they_were_and_never_out_of_range() -> None:
    moment = datetime(2026, 3, 29, 1, 59, 59, 999_999, tzinfo=UTC)
    assert from_micros(to_micros(moment)) == moment
    assert from_micros(2**62).year == 9999
    assert from_micros(-(2**62)).year == 1
    assert to_micros(datetime.max.replace(microsecond=0, tzinfo=UTC)) == LAST
    with pytest.raises(TypeError):
        to_micros(datetime(2026, 1, 1))


@pytest.mark.parametrize(("value", "micros"), [(1.5, 1_500_000), (-3, 0), (float("nan"), 0), (0, 0)])
def test_seconds_are_never_negative_nor_endless(value: float, micros: int) -> None:
    assert seconds(value) == micros
    assert seconds(float("inf")) == seconds(1e300) < 2**62


def test_the_database_tells_the_time_in_microseconds_of_utc(database: Database) -> None:
    before = time.time_ns() // 1000
    found = int(database.value("SELECT {now}"))
    assert before - 2_000_000 < found < time.time_ns() // 1000 + 2_000_000


def test_a_clock_of_the_callers_own_replaces_the_databases(database: Database) -> None:
    now = [1_000_000_000_000_000]
    store = database.store(clock=lambda: now[0])
    store.enqueue(NewJob(kind="mail", run_at=from_micros(now[0]) + timedelta(hours=1)))
    assert store.claim("default", kinds=("mail",), limit=1, worker="w") == []
    now[0] += 3_600_000_000
    assert store.move_due() == 1
    assert len(store.claim("default", kinds=("mail",), limit=1, worker="w")) == 1


# ---- the watermark


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def want(limit: int = 2) -> Want:
    return Want(queue="q", kinds=("k",), limit=limit, worker="w", token="t")


def job(number: int) -> Job:
    return Job(
        id=number, public_id=str(number), queue="q", kind="k", key=None, payload_text="null", attempt=1, max_attempts=8,
        crashes=0, lease=Lease(token="t", worker="w"), priority=7,
    )  # fmt: skip


def claimed(marks: Watermarks, clock: Clock, numbers: list[int], lasts: float) -> tuple[int, int] | None:
    with marks.measured(want()) as claim:
        clock.now += lasts
        claim.jobs = [job(number) for number in numbers]
        return claim.want.after


def test_quick_claims_always_begin_at_the_start() -> None:
    clock = Clock()
    marks = Watermarks(clock)
    assert [claimed(marks, clock, [1, 2], SLOW_SECONDS / 9) for _ in range(3)] == [None, None, None]


def slowed(clock: Clock) -> Watermarks:
    """Marks after so many slow claims in a row that the next one has a mark."""
    marks = Watermarks(clock)
    for _ in range(SLOW_STREAK):
        assert claimed(marks, clock, [1, 2], SLOW_SECONDS * 2) is None
    return marks


def test_after_a_row_of_slow_claims_the_next_goes_on_behind_its_last_job() -> None:
    clock = Clock()
    marks = slowed(clock)
    assert claimed(marks, clock, [3, 4], 0) == (7, 2)
    assert claimed(marks, clock, [5, 6], 0) == (7, 4)


def test_a_single_slow_claim_changes_nothing() -> None:
    clock = Clock()
    marks = Watermarks(clock)
    assert [claimed(marks, clock, [1, 2], 1.0), claimed(marks, clock, [3, 4], 0), claimed(marks, clock, [5, 6], 1.0)] == [
        None
    ] * 3


def test_a_claim_that_the_mark_does_not_fill_sends_the_next_one_to_the_start() -> None:
    clock = Clock()
    marks = slowed(clock)
    assert claimed(marks, clock, [3], 0) == (7, 2)
    assert claimed(marks, clock, [], 0) is None


def test_from_time_to_time_a_claim_begins_at_the_start_whatever_the_mark() -> None:
    clock = Clock()
    marks = slowed(clock)
    clock.now += RESCAN_SECONDS
    assert claimed(marks, clock, [3, 4], SLOW_SECONDS * 2) is None
    assert claimed(marks, clock, [5, 6], 0) == (7, 4)


def test_what_is_given_back_is_looked_for_at_once() -> None:
    clock = Clock()
    marks = slowed(clock)
    marks.forget()
    assert claimed(marks, clock, [1, 2], 0) is None


def test_jobs_before_the_mark_are_found_when_nothing_is_left_behind_it(database: Database) -> None:
    """Every claim counts as slow here: the mark is always in force."""
    clock = Clock()
    store = database.store()
    store._watermarks = Watermarks(lambda: (setattr(clock, "now", clock.now + 0.01), clock.now)[1])  # type: ignore[func-returns-value]
    store.enqueue_many([NewJob(kind="mail", key=str(number)) for number in range(60)])
    other = database.store()
    (first,) = other.claim("default", kinds=("mail",), limit=1, worker="other")
    seen = [each.key for _ in range(28) for each in store.claim("default", kinds=("mail",), limit=2, worker="w")]
    assert len(seen) == 56
    other.release([first])
    seen += [each.key for each in store.claim("default", kinds=("mail",), limit=9, worker="w")]
    assert sorted(int(str(key)) for key in seen) == list(range(60))


# ---- the meaning of errors


def mysql_error(number: int) -> Exception:
    import pymysql

    return pymysql.err.OperationalError(number, "text")


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (1205, Failure.AGAIN), (1213, Failure.AGAIN), (1020, Failure.AGAIN), (2006, Failure.GONE), (2013, Failure.GONE),
        (0, Failure.GONE), (1062, Failure.DUPLICATE), (1040, Failure.REFUSING), (1290, Failure.REFUSING),
        (1114, Failure.REFUSING),
        (1064, Failure.OTHER), (1406, Failure.OTHER),
    ],
)  # fmt: skip
def test_errors_of_mysql_and_mariadb_have_their_meaning(number: int, meaning: Failure) -> None:
    driver = driver_for(parse("mysql://h/x"))
    assert driver.code_of(mysql_error(number)) is meaning
    assert driver.is_own(mysql_error(number))
    assert not driver.is_own(KeyError(number))


@pytest.mark.parametrize(
    ("state", "meaning"),
    [
        ("40001", Failure.AGAIN), ("40P01", Failure.AGAIN), ("55P03", Failure.AGAIN), ("23505", Failure.DUPLICATE),
        ("57P01", Failure.GONE), ("08006", Failure.GONE), ("53100", Failure.REFUSING), ("53300", Failure.REFUSING),
        ("25006", Failure.REFUSING), ("42601", Failure.OTHER), (None, Failure.GONE),
    ],
)  # fmt: skip
def test_errors_of_postgresql_have_their_meaning(state: str | None, meaning: Failure) -> None:
    import psycopg

    error: Any = psycopg.OperationalError("text") if state is None else psycopg.errors.lookup(state)("text")
    driver = driver_for(parse("postgresql://h/x"))
    assert driver.code_of(error) is meaning
    assert driver.is_own(error)
