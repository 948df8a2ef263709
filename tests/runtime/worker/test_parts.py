"""The parts of a worker, each by itself: wire, pulse, lanes, settlements, process trees, hints."""

import marshal
import os
import signal
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.database import wakeups
from cron2queue.runtime.database.address import Address, parse
from cron2queue.runtime.database.wakeups import PLACES, Waker, listen, wakeup_names
from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Cancelled, Crashed, Done, GiveUp, Job, Lease, Released, RetryAt
from cron2queue.runtime.settings import Retry
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.commandline import queue_of
from cron2queue.runtime.worker.hints import hints_for, watch_writes
from cron2queue.runtime.worker.lanes import Mode, lanes_for
from cron2queue.runtime.worker.nursery import options_from_wire
from cron2queue.runtime.worker.options import Timing, WorkerOptions
from cron2queue.runtime.worker.settling import settlement_of
from cron2queue.runtime.worker.statuses import Ending
from cron2queue.runtime.worker.supervisor import completed
from cron2queue.runtime.worker.template import options_to_wire
from cron2queue.runtime.worker.wire import BlockingChannel, Channel, Inbox, Pulse, encoded, handed
from cron2queue.runtime.worker.work import Work

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


def job(**fields: object) -> Job:
    given = {
        "id": 7,
        "public_id": "p7",
        "queue": "default",
        "kind": "mail",
        "key": "Grüße \udcff",
        "payload_text": '{"a": "🎉"}',
        "attempt": 2,
        "max_attempts": 8,
        "crashes": 0,
        "lease": Lease(token="t-7", worker="w"),
        "ordering_key": None,
        "owner": "me",
        "trace_context": None,
    }
    return Job(**{**given, **fields})  # type: ignore[arg-type]


# ---- wire


def test_a_job_comes_over_the_wire_as_it_was() -> None:
    work = Work(number=3, job=job(limit_key="l", run=4, waited_seconds=0.5, key="\udcff\0é😀"))
    (received,) = Inbox(marshal.loads).feed(handed(work.to_wire()))
    assert Work.from_wire(received) == work
    assert isinstance(Work.from_wire(received).job.lease, Lease)


def test_options_come_over_the_wire_as_they_were() -> None:
    for retry in (Retry.NONE, Retry.EXPONENTIAL, (1.0, 2.5)):
        options = HandlerOptions(kind="x", retry=retry, timeout=3.5, waits_only=True)
        (received,) = Inbox().feed(encoded(options_to_wire(options)))
        assert options_from_wire(received) == options


def test_messages_come_out_whole_however_they_arrive() -> None:
    messages = [[n, "x" * n] for n in range(0, 3000, 37)]
    data = b"".join(encoded(each) for each in messages)
    for size in (1, 3, 4, 7, 1000, len(data)):
        inbox = Inbox()
        seen = [message for at in range(0, len(data), size) for message in inbox.feed(data[at : at + size])]
        assert seen == messages


def test_a_child_that_does_not_read_never_blocks_the_supervisor() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    assert not channel.send(handed("x" * 5_000_000))
    reader = BlockingChannel(theirs)
    received: list[object] = []
    pid = os.fork()
    if pid == 0:
        message = reader.receive()
        os._exit(0 if message == "x" * 5_000_000 else 1)
    theirs.close()
    while not channel.flush():
        received.append(channel)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    channel.close()
    assert received


def test_the_end_of_the_other_side_is_told_and_no_error() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    theirs.close()
    assert channel.receive() == []
    assert channel.closed
    assert channel.send(b"late")
    channel.close()


def test_the_pulse_tells_what_has_begun_and_what_is_done_after_the_child_has_died() -> None:
    page = Pulse.create()
    pulse = Pulse(page)
    pid = os.fork()
    if pid == 0:
        child = Pulse(page)
        for number in (1, 2, 3):
            child.begin(number, 100.0 + number)
            if number < 3:
                child.done(number, number / 10)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(page)
    assert (pulse.begun, pulse.began_at) == (3, 103.0)
    assert [pulse.done_in(number) for number in (1, 2, 3, 4)] == [0.1, 0.2, None, None]
    pulse.close()
    assert (pulse.begun, pulse.began_at) == (3, 103.0)


# ---- lanes


def test_each_queue_has_a_lane_for_each_way_of_running() -> None:
    kinds = [HandlerOptions(kind="a"), HandlerOptions(kind="b", short=True), HandlerOptions(kind="c", waits_only=True)]
    lanes = lanes_for({"q": 2, "r": 1}, kinds)
    assert [(lane.queue, lane.mode, lane.kinds, lane.width) for lane in lanes] == [
        ("q", Mode.SINGLE, ("a",), 2),
        ("q", Mode.GROUP, ("b",), 2),
        ("q", Mode.THREADS, ("c",), 2),
        ("r", Mode.SINGLE, ("a",), 1),
        ("r", Mode.GROUP, ("b",), 1),
        ("r", Mode.THREADS, ("c",), 1),
    ]
    assert [lane.number for lane in lanes] == list(range(6))


def test_an_empty_queue_is_looked_at_ever_less_often_and_never_in_step() -> None:
    (lane,) = lanes_for({"q": 1}, [HandlerOptions(kind="a")])
    timing, random, now, waits = Timing(poll=1.0, first_poll=0.05), Random(5), 100.0, []
    for _ in range(12):
        lane.looked(0, 1, now, timing, random)
        waits.append(lane.next_look - now)
    assert all(0.75 * 0.05 <= wait <= 1.25 for wait in waits)
    assert waits[-1] > 0.7
    assert len(set(waits)) == 12
    lane.looked(1, 1, now, timing, random)
    assert lane.next_look == 0.0


def test_the_command_line_leaves_queues_and_children_open_and_the_handlers_fill_them_in() -> None:
    kinds = [HandlerOptions(kind="a", queue="mail"), HandlerOptions(kind="b")]
    made = completed(WorkerOptions(database="sqlite:///x.db", widths={"mail": 3}), kinds)
    assert (dict(made.queues), made.children) == ({"mail": 3, "default": 1}, min(4, 2 * (os.cpu_count() or 1)))
    given = WorkerOptions(database="sqlite:///x.db", queues={"q": 5}, children=2)
    assert (completed(given, kinds).queues, completed(given, kinds).children) == ({"q": 5}, 2)


@pytest.mark.parametrize(("text", "read"), [("mail", ("mail", 1)), ("mail:4", ("mail", 4)), ("a:b:2", ("a:b", 2))])
def test_a_queue_may_be_given_a_width(text: str, read: tuple[str, int]) -> None:
    assert queue_of(text) == read


@pytest.mark.parametrize("text", ["mail:", "mail:0", "mail:-1", "mail:x", ":3", "mail:99999", "mail:٣"])
def test_a_width_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="NAME:N"):
        queue_of(text)


# ---- settlements


def settled(ending: Ending, said: dict[str, object] | None = None, **options: object) -> tuple[object, float | None]:
    kind = HandlerOptions(kind="mail", **options)  # type: ignore[arg-type]
    made = settlement_of(job(), kind, ending, said or {}, 1.5, Random(1))
    assert (made.record.outcome_name, made.record.run_seconds) == (str(ending), 1.5)
    return made.outcome, made.retry_delay


def test_done_hands_the_result_through() -> None:
    assert settled(Ending.DONE, {"result": "r/1"}) == (Done(result_ref="r/1"), None)


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.TIMEOUT, Ending.COULD_NOT_START, Ending.RETRY])
def test_a_failure_is_tried_again_by_policy_unless_the_kind_is_never_retried(ending: Ending) -> None:
    outcome, delay = settled(ending)
    assert isinstance(outcome, RetryAt)
    assert delay is not None
    assert 4 <= delay <= 4.8  # the second attempt has failed
    assert isinstance(settled(ending, retry=Retry.NONE)[0], GiveUp)


def test_a_handler_that_names_its_own_time_is_heard_even_where_there_is_no_policy() -> None:
    outcome, delay = settled(Ending.RETRY, {"delay": 90.0, "pause_kind": 90.0}, retry=Retry.NONE)
    assert (outcome, delay) == (RetryAt(delay_seconds=90.0, pause_kind_seconds=90.0), 90.0)


def test_the_handlers_own_number_of_attempts_may_be_lower_than_the_jobs() -> None:
    assert isinstance(settled(Ending.FAILED, max_attempts=2)[0], GiveUp)
    assert isinstance(settled(Ending.FAILED, max_attempts=3)[0], RetryAt)


def test_deaths_are_crashes_and_say_of_what() -> None:
    outcome, delay = settled(Ending.SIGNAL, {"signal": 11})
    assert isinstance(outcome, Crashed)
    assert outcome.reason == "signal: SIGSEGV"
    assert delay is not None
    assert isinstance(settled(Ending.OUT_OF_MEMORY)[0], Crashed)
    assert isinstance(settled(Ending.CRASHED, retry=Retry.NONE)[0], GiveUp)


def test_cancels_and_gifts_back_are_what_they_are() -> None:
    assert isinstance(settled(Ending.CANCELLED)[0], Cancelled)
    assert isinstance(settled(Ending.RELEASED)[0], Released)
    assert isinstance(settled(Ending.COULD_NOT_START, {"shortage": True})[0], Released)  # no attempt used


# ---- process trees


def test_a_pid_that_is_used_again_is_not_the_same_process() -> None:
    child = subprocess.Popen(["sleep", "600"])
    found = proctree.identity(child.pid)
    assert found is not None
    assert proctree.is_alive(found)
    assert not proctree.is_alive(found._replace(started=found.started + 1))
    assert not proctree.send(found._replace(started=found.started + 1), signal.SIGKILL)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not proctree.is_alive(found)  # a zombie is not alive
    child.wait()


def test_a_process_with_a_name_full_of_parentheses_is_read_rightly(tmp_path: Path) -> None:
    script = tmp_path / ") R 1 1 ("
    script.write_text("#!/bin/sh\necho; read line\n")
    script.chmod(0o755)
    child = subprocess.Popen([str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    assert child.pid in [each.pid for each in proctree.descendants(os.getpid())]
    child.communicate()


# ---- hints


def _files(folder: Path, *names: str) -> list[Address]:
    for name in names:
        (folder / name).touch()
    return [parse(f"sqlite:///{folder}/{name}") for name in names]


def test_a_producer_wakes_every_worker_of_its_database_and_no_other(tmp_path: Path) -> None:
    mine, other = _files(tmp_path, "a.db", "b.db")
    ends = [listen(mine, "c2q_"), listen(mine, "c2q_"), listen(other, "c2q_"), listen(mine, "d_")]
    waker = Waker(mine, "c2q_")
    waker.wake()
    heard = []
    for end in ends:
        assert end is not None
        try:
            heard.append(end.recv(10))
        except BlockingIOError:
            heard.append(None)
        end.close()
    assert heard == [b"1", b"1", None, None]
    waker.wake()  # nobody listens any more: no error
    waker.close()


def test_a_producer_in_a_hurry_asks_anew_after_a_while_who_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (address,) = _files(tmp_path, "a.db")
    now = [100.0]
    monkeypatch.setattr(wakeups, "time", SimpleNamespace(monotonic=lambda: now[0]))
    first, waker = listen(address, "c2q_"), Waker(address, "c2q_")
    waker.wake()
    second = listen(address, "c2q_")
    assert first is not None
    assert second is not None
    waker.wake()
    assert [first.recv(10), first.recv(10)] == [b"1", b"1"]
    now[0] += 2 * wakeups.ANEW_SECONDS
    waker.wake()
    assert [first.recv(10), second.recv(10)] == [b"1", b"1"]
    for each in (first, second, waker):
        each.close()


def test_the_same_server_has_the_same_names_however_it_is_written() -> None:
    urls = ["mysql+pymysql://a:b@localhost/shop", "mariadb://c@127.0.0.1/shop"]
    assert len({tuple(wakeup_names(parse(url), "c2q_")) for url in urls}) == 1
    assert wakeup_names(parse(urls[0]), "c2q_") != wakeup_names(parse("mysql://x@localhost/shop2"), "c2q_")


def test_a_file_has_the_same_names_however_its_path_is_written_and_none_before_it_is_there(tmp_path: Path) -> None:
    missing = parse(f"sqlite:///{tmp_path}/a.db")
    assert wakeup_names(missing, "c2q_") == []
    assert listen(missing, "c2q_") is None
    (plain,) = _files(tmp_path, "a.db")
    (tmp_path / "link.db").symlink_to("a.db")
    for other in (f"{tmp_path}/./a.db", f"{tmp_path}/link.db"):
        assert wakeup_names(parse(f"sqlite:///{other}"), "c2q_") == wakeup_names(plain, "c2q_") != []


def test_a_listener_that_does_not_read_keeps_no_producer_waiting(tmp_path: Path) -> None:
    (address,) = _files(tmp_path, "a.db")
    deaf, worker = listen(address, "c2q_"), listen(address, "c2q_")
    assert deaf is not None
    assert worker is not None
    waker = Waker(address, "c2q_")
    for _ in range(5000):  # more than any queue of datagrams holds
        waker.wake()
    assert worker.recv(10) == b"1"
    for end in (deaf, worker, waker):
        end.close()


def test_a_producer_without_a_descriptor_left_enqueues_all_the_same(tmp_path: Path) -> None:
    import resource

    (address,) = _files(tmp_path, "a.db")
    waker = Waker(address, "c2q_")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        waker.wake()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    end = listen(address, "c2q_")
    assert end is not None
    waker.wake()
    assert end.recv(10) == b"1"
    for each in (end, waker):
        each.close()


def test_when_all_places_are_taken_a_worker_polls(tmp_path: Path) -> None:
    (address,) = _files(tmp_path, "a.db")
    ends = [listen(address, "c2q_") for _ in range(PLACES)]
    assert listen(address, "c2q_") is None
    for end in ends:
        assert end is not None
        end.close()


def test_a_write_to_a_file_is_noticed_and_a_missing_file_is_not_watched(tmp_path: Path) -> None:
    import select

    file = tmp_path / "a.db-wal"
    assert watch_writes(file) is None
    file.write_text("")
    descriptor = watch_writes(file)
    assert descriptor is not None
    assert select.select([descriptor], [], [], 0)[0] == []
    file.write_text("more")
    assert select.select([descriptor], [], [], 10)[0] == [descriptor]
    os.close(descriptor)


def test_a_worker_on_sqlite_listens_to_producers_and_to_the_file(tmp_path: Path) -> None:
    import select

    from cron2queue.runtime.jobs import NewJob
    from cron2queue.runtime.store import Store

    url = f"sqlite:///{tmp_path}/a.db"
    store, producer = Store.open(url), Store.open(url)
    store.migrate_up()
    store.close()  # the log is gone with its last connection
    assert not (tmp_path / "a.db-wal").exists()
    hints = hints_for(parse(url), "c2q_", store)
    assert [hint.early for hint in hints] == [False, True]
    for hint in hints:
        hint.drain()
    for _ in range(2):
        producer.enqueue(NewJob(kind="mail"))
        assert select.select([hints[0].descriptor], [], [], 0)[0] == [hints[0].descriptor]  # it is there when enqueue returns
        hints[0].drain()
        producer.close()
        file = hints[1]
        assert select.select([file.descriptor], [], [], 10)[0] == [file.descriptor]
        file.drain()
    for hint in hints:
        os.close(hint.descriptor)
    store.close()


def test_an_enqueue_in_a_callers_transaction_is_noticed_when_it_commits_and_not_before() -> None:
    import select

    from databases import administrator, need, open_database

    from cron2queue.runtime.jobs import NewJob
    from cron2queue.runtime.store import Store
    from cron2queue.runtime.worker.hints import HintLost, notifications

    need("postgresql")
    database = open_database("postgresql", Path("/nonexistent"))
    worker, producer = database.store(), database.store()
    hint = notifications(worker)
    assert hint is not None
    raw = database.connect()
    raw.execute("BEGIN")
    producer.enqueue(NewJob(kind="mail"), connection=raw)
    assert select.select([hint.descriptor], [], [], 0)[0] == []
    raw.execute("COMMIT")
    assert select.select([hint.descriptor], [], [], 10)[0] == [hint.descriptor]
    hint.drain()
    assert select.select([hint.descriptor], [], [], 0)[0] == []
    with administrator("postgresql") as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    with pytest.raises(HintLost):
        while select.select([hint.descriptor], [], [], 10)[0]:
            hint.drain()
    raw.close()
    database.close()
    assert notifications(Store.open("sqlite:///none.db")) is None
