"""What can become of a job in a worker's hands, with real processes."""

import os
import signal

import pytest
from databases import SERVERS
from workbench import Workbench

# ---- cancel


def test_a_job_that_is_cancelled_before_it_begins_never_runs(bench: Workbench) -> None:
    bench.python("work")
    bench.handlers('@handler("work")\ndef work(job): note("ran", job.key)\n')
    first, second = bench.enqueue("work", key="a"), bench.enqueue("work", key="b")
    bench.store.cancel(first.public_id, by="test")
    bench.drain()
    assert (bench.job(first)["state"], bench.job(second)["state"], bench.lines("ran")) == ("cancelled", "succeeded", ["b"])


def test_a_running_job_is_cancelled_at_its_next_checkpoint(bench: Workbench) -> None:
    bench.python("work")
    gate = bench.gate("work")
    bench.handlers("""
@handler("work")
def work(job):
    arrive("work")
    while True:
        job.checkpoint()
        time.sleep(0.01)
""")
    job = bench.enqueue("work")
    worker = bench.start()
    gate.arrived()
    bench.store.cancel(job.public_id, by="test")
    bench.until(lambda: bench.job(job)["state"] == "cancelled")
    worker.terminate()
    assert worker.wait(60) == 0
    assert [each["outcome"] for each in bench.attempts(job)] == ["cancelled"]


def test_a_handler_that_does_not_listen_is_ended_after_the_grace(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("deaf next", grace=0.2)
    gate = sqlite_bench.gate("deaf")
    sqlite_bench.handlers("""
@handler("deaf")
def deaf(job):
    arrive("deaf")
    time.sleep(600)
@handler("next")
def next(job): pass
""")
    job = sqlite_bench.enqueue("deaf")
    sqlite_bench.start()
    gate.arrived()
    sqlite_bench.store.cancel(job.public_id, by="test")
    sqlite_bench.until(lambda: sqlite_bench.job(job)["state"] == "cancelled")
    assert sqlite_bench.job(job)["message"] == "cancelled on request"
    after = sqlite_bench.enqueue("next")
    sqlite_bench.until(lambda: sqlite_bench.job(after)["state"] == "succeeded")


def test_where_force_is_not_allowed_a_cancel_waits_for_the_handler(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("deaf", grace=0.1, force_cancel=False)
    gate = sqlite_bench.gate("deaf")
    sqlite_bench.handlers("""
@handler("deaf")
def deaf(job):
    arrive("deaf")
    while not job.cancel_requested:
        time.sleep(0.01)
    note("asked")
    wait("deaf")
""")
    job = sqlite_bench.enqueue("deaf")
    sqlite_bench.start()
    gate.arrived()
    sqlite_bench.store.cancel(job.public_id, by="test")
    sqlite_bench.until(lambda: sqlite_bench.lines("asked"))
    gate.open()
    sqlite_bench.until(lambda: sqlite_bench.job(job)["state"] not in ("running", "cancel_requested"))
    assert sqlite_bench.job(job)["state"] == "succeeded"  # it was done before it could stop, and says so


def test_a_cancel_ends_a_command_and_its_tree(sqlite_bench: Workbench) -> None:
    script = f"#!/bin/sh\nsleep 600 & echo $! > {sqlite_bench.folder}/pid; echo x > {sqlite_bench.folder}/p.arrived; wait\n"
    sqlite_bench.write("handlers/p", script, mode=0o755)
    sqlite_bench.write("cron2queue.toml", '[jobs.p]\nhandler = "handlers/p"\ngrace = 0.5\n')
    gate = sqlite_bench.gate("p")
    job = sqlite_bench.enqueue("p")
    sqlite_bench.start()
    gate.arrived()
    sqlite_bench.store.cancel(job.public_id, by="test")
    sqlite_bench.until(lambda: sqlite_bench.job(job)["state"] == "cancelled")
    with pytest.raises(ProcessLookupError):
        os.kill(int(sqlite_bench.lines("pid")[0]), 0)


def test_cancels_in_a_race_with_the_end_leave_one_terminal_state_each(bench: Workbench) -> None:
    bench.python("work")
    bench.handlers('@handler("work")\ndef work(job): note("ran", job.id)\n')
    jobs = [bench.enqueue("work", key=str(number)) for number in range(150)]
    worker = bench.start("--queue", "default:2")
    bench.until(lambda: bench.rows("SELECT token FROM {workers}"))
    answers = [bench.store.cancel(job.public_id, by="test") for job in reversed(jobs)]
    bench.until(lambda: set(bench.states()) <= {"succeeded", "cancelled"})
    worker.terminate()
    assert worker.wait(60) == 0
    ended = [bench.job(job)["state"] for job in reversed(jobs)]
    assert len(set(bench.lines("ran"))) == len(bench.lines("ran"))
    never_ran = {job.public_id for job in jobs} - set(bench.lines("ran"))
    assert never_ran <= {job.public_id for job, state in zip(reversed(jobs), ended, strict=True) if state == "cancelled"}
    assert all(state == "cancelled" for state, answer in zip(ended, answers, strict=True) if answer == "cancelled")


# ---- progress, result, idempotency


def test_progress_and_result_are_seen_while_it_runs_and_after(bench: Workbench) -> None:
    bench.python("work")
    gate = bench.gate("work")
    bench.handlers("""
@handler("work")
def work(job):
    job.progress("rows", 0.25)
    time.sleep(0.06)
    job.progress("rows", 0.5)
    job.progress("rows", 0.1)
    arrive("work")
    wait("work")
    job.result("exports/7.csv")
""")
    job = bench.enqueue("work")
    bench.start()
    gate.arrived()
    bench.until(lambda: bench.job(job)["progress"] == 0.5)
    assert (bench.job(job)["phase"], bench.job(job)["state"]) == ("rows", "running")
    gate.open()
    bench.until(lambda: bench.job(job)["state"] == "succeeded")
    assert bench.job(job)["result_ref"] == "exports/7.csv"


# ---- transaction and once


def test_effects_and_completion_are_one_transaction(bench: Workbench) -> None:
    bench.python("pay", retry=[0])
    bench.handlers("""
@handler("pay")
def pay(job):
    with job.transaction() as connection:
        cursor = connection.cursor()
        cursor.execute(f"INSERT INTO paid (name) VALUES ('{job.key}')")
        if job.attempt == 1:
            raise ValueError("after the effect")
""")
    bench.store.sessions.unit(lambda session: session.run("DROP TABLE IF EXISTS paid"))
    bench.store.sessions.unit(lambda session: session.run("CREATE TABLE paid (name VARCHAR(20))"))
    jobs = [bench.enqueue("pay", key=str(number)) for number in range(5)]
    bench.drain()
    assert sorted(row[0] for row in bench.rows("SELECT name FROM paid")) == list("01234")
    assert {bench.job(job)["state"] for job in jobs} == {"succeeded"}
    assert [each["outcome"] for each in bench.attempts(jobs[0])] == ["failed", "done"]


def test_a_message_has_its_effect_once_however_often_it_comes(bench: Workbench) -> None:
    bench.python("pay")
    bench.handlers("""
@handler("pay")
def pay(job):
    with job.transaction() as connection:
        if job.once(job.payload["message"]):
            connection.cursor().execute("INSERT INTO paid (name) VALUES ('x')")
""")
    bench.store.sessions.unit(lambda session: session.run("DROP TABLE IF EXISTS paid"))
    bench.store.sessions.unit(lambda session: session.run("CREATE TABLE paid (name VARCHAR(20))"))
    for number in range(4):
        bench.enqueue("pay", {"message": "m1"}, key=str(number))
    bench.drain("--queue", "default:2")
    assert (bench.states(), len(bench.rows("SELECT name FROM paid"))) == ({"succeeded": 4}, 1)


def test_once_outside_of_a_transaction_is_refused(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("pay", retry="none")
    sqlite_bench.handlers('@handler("pay")\ndef pay(job): job.once("m1")\n')
    job = sqlite_bench.enqueue("pay")
    sqlite_bench.drain()
    assert "once() belongs inside" in sqlite_bench.attempts(job)[0]["diagnostic"]


def test_a_job_made_in_a_transaction_exists_only_if_that_commits(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("first second", retry="none")
    sqlite_bench.handlers("""
@handler("first")
def first(job):
    with job.transaction() as connection:
        job.enqueue("second", {"n": 1}, key=job.key)
        if job.key == "fails":
            raise ValueError("no")
@handler("second")
def second(job): note("second", job.key)
""")
    sqlite_bench.enqueue("first", key="works")
    sqlite_bench.enqueue("first", key="fails")
    sqlite_bench.drain()
    assert sqlite_bench.lines("second") == ["works"]


@pytest.mark.parametrize("database", SERVERS, indirect=True)
def test_a_connection_lost_is_not_the_jobs_fault_unless_it_was_silent_for_too_long(bench: Workbench) -> None:
    bench.python("pay", retry="none")
    bench.handlers("""
from cron2queue.runtime.worker import effects
@handler("pay")
def pay(job):
    if os.path.exists(os.path.dirname(__file__) + "/../ran"): effects._SILENCE_SECONDS = 0.0
    note("ran")
    with job.transaction() as connection:
        cursor = connection.cursor()
        cursor.execute(job.payload["who"])
        end = job.payload["end"] % cursor.fetchone()[0]
        job.open_store().sessions.read(lambda session: session.run(end))
        cursor.execute("SELECT 1")
""")
    postgresql = {"who": "SELECT pg_backend_pid()", "end": "SELECT pg_terminate_backend(%d, 5000)"}
    mysql = {"who": "SELECT CONNECTION_ID()", "end": "KILL %d"}
    job = bench.enqueue("pay", postgresql if bench.store.driver.family == "postgresql" else mysql)
    bench.drain()
    assert (bench.lines("ran"), bench.job(job)["attempts"], bench.job(job)["state"]) == (["x", "x"], 1, "dead")
    assert "do what takes long before job.transaction()" in bench.attempts(job)[-1]["diagnostic"]


# ---- outcomes of Python handlers


def test_what_a_python_handler_raises_decides(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work", retry=[0])
    sqlite_bench.handlers("""
@handler("work")
def work(job):
    what = job.payload
    if what == "permanent": raise Permanent("the order is unknown")
    if what == "later": raise RetryLater(0, message="not yet")
    if what == "cancelled": raise Cancelled("not needed any more")
    if what == "exit 75": sys.exit(75)
    if what == "exit 65": sys.exit(65)
    if what == "exit text": sys.exit("words")
    if what == "memory": raise MemoryError
    if what == "interrupt": raise KeyboardInterrupt
    if what == "unsayable": raise Unsayable
    if what == "huge": raise ValueError("x" * 10_000_000)
    if what == "surrogate": raise ValueError("bad \\udcff and nul \\0")
class Unsayable(Exception):
    def __str__(self): raise RuntimeError("I will not say")
""")
    expected = {
        "permanent": ("permanent", "dead", "the order is unknown"),
        "later": ("retry", "dead", "not yet"),
        "cancelled": ("cancelled", "cancelled", "not needed any more"),
        "exit 75": ("retry", "dead", ""),
        "exit 65": ("permanent", "dead", ""),
        "exit text": ("failed", "dead", "the handler failed"),
        "memory": ("out_of_memory", "dead", "it ran out of memory"),
        "interrupt": ("failed", "dead", "the handler failed"),
        "unsayable": ("failed", "dead", "the handler failed"),
        "huge": ("failed", "dead", "the handler failed"),
        "surrogate": ("failed", "dead", "the handler failed"),
        "nothing": ("done", "succeeded", ""),
    }
    jobs = {what: sqlite_bench.enqueue("work", what, max_attempts=1) for what in expected}
    assert sqlite_bench.drain() == 0
    seen = {
        what: (
            sqlite_bench.attempts(job)[0]["outcome"],
            sqlite_bench.job(job)["state"],
            sqlite_bench.attempts(job)[0]["message"] or "",
        )
        for what, job in jobs.items()
    }
    assert {what: end[:2] for what, end in seen.items()} == {what: end[:2] for what, end in expected.items()}
    assert {what: end[2] for what, end in seen.items() if expected[what][2]} == {
        what: end[2] for what, end in expected.items() if end[2]
    }
    assert len(sqlite_bench.attempts(jobs["huge"])[0]["diagnostic"]) <= 8192
    assert "bad \\xff and nul \\x00" in sqlite_bench.attempts(jobs["surrogate"])[0]["diagnostic"]


def test_what_a_python_handler_prints_is_kept_with_its_own_job(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers("""
@handler("work")
def work(job):
    print("printed by", job.key)
    os.system("echo shell of " + job.key)
    print("mysql://app:hunter2@db/x", file=sys.stderr)
    if job.key == "flood":
        for _ in range(3000): os.write(1, b"x" * 10_000)
""")
    jobs = {key: sqlite_bench.enqueue("work", key=key) for key in ("a", "flood", "b")}
    sqlite_bench.drain()
    printed = {key: sqlite_bench.attempts(job)[0]["output_tail"] for key, job in jobs.items()}
    assert "printed by a" in printed["a"]
    assert "shell of a" in printed["a"]
    assert "bytes left out" in printed["flood"]
    assert "xxx" not in printed["b"]
    assert "hunter2" not in "".join(printed.values())


def test_a_python_handler_that_takes_too_long_is_stopped(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("listens deaf busy", timeout=0.4, grace=0.3, retry="none")
    sqlite_bench.handlers("""
@handler("listens")
def listens(job):
    while True:
        time.sleep(0.01)
        job.checkpoint()
@handler("deaf")
def deaf(job): time.sleep(600)
@handler("busy")
def busy(job):
    import re
    re.match(r"(a+)+$", "a" * 40 + "b")  # holds the interpreter's lock in C code
""")
    jobs = {kind: sqlite_bench.enqueue(kind) for kind in ("listens", "deaf", "busy")}
    sqlite_bench.drain("--children", "2", "--queue", "default:2")
    assert {kind: sqlite_bench.attempts(job)[0]["outcome"] for kind, job in jobs.items()} == dict.fromkeys(jobs, "timeout")


def test_the_daemons_of_a_python_handler_end_with_it_when_its_time_is_up(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work", timeout=0.5, grace=0.2, retry="none")
    sqlite_bench.handlers("""
import subprocess
@handler("work")
def work(job):
    script = f"trap '' TERM HUP; echo $$ > {os.path.dirname(__file__)}/../daemon; exec sleep 600"
    subprocess.run(["setsid", "--fork", "sh", "-c", script])
    time.sleep(600)
""")
    job = sqlite_bench.enqueue("work")
    sqlite_bench.drain()
    assert sqlite_bench.attempts(job)[0]["outcome"] == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(int(sqlite_bench.lines("daemon")[0]), 0)


def test_a_python_handler_over_its_memory_is_ended(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work", memory_limit=80_000_000, retry="none")
    sqlite_bench.handlers('@handler("work")\ndef work(job):\n    kept = bytearray(150_000_000)\n    time.sleep(600)\n')
    job = sqlite_bench.enqueue("work")
    sqlite_bench.drain()
    assert sqlite_bench.attempts(job)[0]["outcome"] == "out_of_memory"


# ---- crashes and poison


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("os.kill(os.getpid(), 9)", "signal"),
        ("import ctypes; ctypes.string_at(0)", "signal"),
        ("os.abort()", "signal"),
        ("os._exit(3)", "crashed"),
        ("os._exit(0)", "crashed"),
    ],
)
def test_a_job_that_takes_its_child_down_three_times_is_dead_and_all_others_finish(
    sqlite_bench: Workbench, how: str, outcome: str
) -> None:
    sqlite_bench.python("poison fine", retry=[0])
    sqlite_bench.handlers(f'@handler("poison")\ndef poison(job): {how}\n@handler("fine")\ndef fine(job): note("fine")\n')
    poison = sqlite_bench.enqueue("poison", priority=1)
    for number in range(20):
        sqlite_bench.enqueue("fine", key=str(number))
    assert sqlite_bench.drain() == 0
    row = sqlite_bench.job(poison)
    assert (row["state"], row["crashes"], row["attempts"]) == ("dead", 3, 3)
    assert [each["outcome"] for each in sqlite_bench.attempts(poison)] == [outcome] * 3
    assert len(sqlite_bench.lines("fine")) == 20


def test_a_job_that_kills_its_worker_three_times_is_dead_and_all_others_finish(bench: Workbench) -> None:
    bench.python("poison fine", retry=[0])
    bench.handlers("""
@handler("poison")
def poison(job):
    os.kill(os.getppid(), 9)
    time.sleep(600)
@handler("fine")
def fine(job): note("fine")
""")
    poison = bench.enqueue("poison", priority=1)
    for number in range(5):
        bench.enqueue("fine", key=str(number))
    statuses = []
    while not statuses or statuses[-1] == -signal.SIGKILL:
        statuses.append(bench.drain("--lease", "0.9"))
    assert statuses == [-9, -9, -9, 0]
    assert (bench.job(poison)["state"], bench.job(poison)["crashes"]) == ("dead", 3)
    assert len(bench.lines("fine")) == 5


def test_what_a_dead_child_had_started_is_ended(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work", retry="none")
    sqlite_bench.handlers("""
import subprocess
@handler("work")
def work(job):
    started = subprocess.Popen(["sleep", "600"], start_new_session=True)
    note("pid", started.pid)
    os.kill(os.getpid(), 9)
""")
    sqlite_bench.enqueue("work")
    sqlite_bench.drain()
    with pytest.raises(ProcessLookupError):
        os.kill(int(sqlite_bench.lines("pid")[0]), 0)


# ---- kinds of kinds


def test_retry_after_pauses_the_whole_kind(bench: Workbench) -> None:
    bench.python("api other")
    bench.handlers("""
@handler("api")
def api(job):
    note("api", job.key)
    if job.key == "0" and job.attempt == 1: raise RetryLater(1.5, pause_kind=True, message="429")
@handler("other")
def other(job): note("api", "other")
""")
    for number in range(3):
        bench.enqueue("api", key=str(number))
    bench.enqueue("other", priority=200)
    bench.drain()
    assert bench.lines("api")[:2] == ["0", "other"]
    assert sorted(bench.lines("api")[2:]) == ["0", "1", "2"]


def test_kinds_that_only_wait_run_side_by_side_in_one_child(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("waits")
    sqlite_bench.handlers("""
import threading
meeting = threading.Barrier(6)
@handler("waits", waits_only=True)
def waits(job):
    meeting.wait(30)
    note("pids", os.getpid())
""")
    for number in range(6):
        sqlite_bench.enqueue("waits", key=str(number))
    assert sqlite_bench.drain("--queue", "default:6") == 0
    assert sqlite_bench.states() == {"succeeded": 6}
    assert len(set(sqlite_bench.lines("pids"))) == 1


def test_a_waiting_job_that_takes_too_long_does_not_cost_the_others_an_attempt(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("slow quick", timeout=0.6, grace=0.1, retry="none")
    sqlite_bench.handlers("""
@handler("slow", waits_only=True)
def slow(job): time.sleep(600)
@handler("quick", waits_only=True)
def quick(job):
    note("quick", job.attempt)
    if len(open(os.path.dirname(__file__) + "/../quick").readlines()) == 1: time.sleep(600)
""")
    slow = sqlite_bench.enqueue("slow")
    sqlite_bench.drain("--queue", "default:6")
    quick = sqlite_bench.enqueue("quick")
    sqlite_bench.drain("--queue", "default:6")
    assert sqlite_bench.attempts(slow)[0]["outcome"] == "timeout"
    assert sqlite_bench.attempts(quick)[0]["outcome"] == "timeout"


def test_short_kinds_go_to_a_child_in_groups_and_each_has_its_own_end(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("short", retry=[0], timeout=1, grace=0.2, max_attempts=3)
    sqlite_bench.handlers("""
@handler("short", short=True)
def short(job):
    note("order", job.payload)
    if job.payload == 7: raise Permanent("seven")
    if job.payload == 9 and job.attempt < 3: os.kill(os.getpid(), 9)
    if job.payload == 11: time.sleep(600)
""")
    jobs = [sqlite_bench.enqueue("short", number, max_attempts=4) for number in range(40)]
    assert sqlite_bench.drain() == 0
    ends = {number: [each["outcome"] for each in sqlite_bench.attempts(job)] for number, job in enumerate(jobs)}
    assert ends[7] == ["permanent"]
    assert (ends[9], ends[11]) == (["signal", "signal", "done"], ["timeout"] * 3)
    assert all(end == ["done"] for number, end in ends.items() if number not in (7, 9, 11))
    assert all(sqlite_bench.lines("order").count(str(number)) == 1 for number in range(40) if number not in (9, 11))
    assert all(sqlite_bench.job(job)["crashes"] == 0 for number, job in enumerate(jobs) if number != 9)


def test_a_kind_that_this_worker_does_not_know_stays_for_one_that_does(bench: Workbench) -> None:
    bench.python("known")
    bench.handlers('@handler("known")\ndef known(job): pass\n')
    unknown = bench.enqueue("os.system", "touch /tmp/never", priority=1)
    known = bench.enqueue("known")
    assert bench.drain() == 0
    assert (bench.job(unknown)["state"], bench.job(unknown)["attempts"]) == ("ready", 0)
    assert bench.job(known)["state"] == "succeeded"


# ---- children come and go


@pytest.mark.parametrize("limit", [["--recycle-jobs", "5"], ["--recycle-bytes", "1"], ["--recycle-seconds", "0.000001"]])
def test_children_are_replaced_by_number_size_and_age(sqlite_bench: Workbench, limit: list[str]) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): note("pids", os.getpid())\n')
    for number in range(130 if "--recycle-bytes" in limit else 15):
        sqlite_bench.enqueue("work", key=str(number))
    assert sqlite_bench.drain(*limit) == 0
    assert len(set(sqlite_bench.lines("pids"))) >= 3
    assert set(sqlite_bench.states()) == {"succeeded"}


def test_no_connection_crosses_a_fork_and_no_descriptor_of_the_supervisor_is_open_in_a_child(bench: Workbench) -> None:
    bench.python("work")
    bench.handlers("""
@handler("work")
def work(job):
    for each in os.listdir("/proc/self/fd"):
        try: note("open", os.readlink(f"/proc/self/fd/{each}"))
        except FileNotFoundError: pass
""")
    bench.enqueue("work")
    assert bench.drain() == 0
    opened = bench.lines("open")
    assert not [each for each in opened if each.endswith((".db", "-wal", "-shm"))]
    assert len([each for each in opened if each.startswith("socket:")]) == 2  # jobs and stops; no database


def test_payloads_larger_than_a_socket_takes_at_once_arrive_whole(sqlite_bench: Workbench) -> None:
    sqlite_bench.handlers("""
@handler("one")
def one(job): note("sizes", len(job.payload["text"]))
@handler("many", short=True)
def many(job): note("sizes", len(job.payload["text"]))
""")
    sqlite_bench.python("one many")
    for number in range(30):
        sqlite_bench.enqueue("one" if number < 3 else "many", {"text": "x" * 250_000}, key=str(number))
    assert sqlite_bench.drain() == 0
    assert sqlite_bench.lines("sizes") == ["250000"] * 30


def test_a_template_that_is_gone_is_started_anew(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers("""
@handler("work")
def work(job):
    note("ran", job.key)
    for entry in os.listdir("/proc"):  # end the template, and then this child
        try:
            line = open(f"/proc/{entry}/cmdline").read() if entry.isdigit() else ""
            parent = open(f"/proc/{entry}/stat").read().rpartition(")")[2].split()[1] if entry.isdigit() else ""
        except OSError:
            continue
        if "worker.template" in line and parent == str(os.getppid()) and job.key == "0" and entry != str(os.getpid()):
            os.kill(int(entry), 9)
    if job.key == "0" and job.attempt == 1: os.kill(os.getpid(), 9)
""")
    for number in range(4):
        sqlite_bench.enqueue("work", key=str(number))
    assert sqlite_bench.drain() == 0
    assert (sqlite_bench.states(), sorted(sqlite_bench.lines("ran"))) == ({"succeeded": 4}, ["0", "0", "1", "2", "3"])


def test_a_cancel_between_a_workers_death_and_its_rescue_is_the_end(bench: Workbench) -> None:
    bench.python("slow")
    gate = bench.gate("slow")
    bench.handlers('@handler("slow")\ndef slow(job): note("ran"); arrive("slow"); time.sleep(600)\n')
    job = bench.enqueue("slow")
    victim = bench.start()  # with the usual lease: on a busy host a short one is lost before this process has killed it
    gate.arrived()
    victim.kill()
    victim.wait()
    bench.store.cancel(job.public_id, by="test")
    assert bench.drain("--lease", "1.2") == 0
    assert (bench.job(job)["state"], bench.lines("ran")) == ("cancelled", ["x"])


def test_an_old_worker_leaves_new_kinds_and_a_new_worker_takes_old_rows(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("export")
    sqlite_bench.handlers('@handler("export")\ndef export(job): note("by", "old")\n')
    first = sqlite_bench.enqueue("export", {"version": 1})
    second = sqlite_bench.enqueue("export.v2", {"version": 2}, priority=1)
    assert sqlite_bench.drain() == 0
    assert (sqlite_bench.job(first)["state"], sqlite_bench.job(second)["state"]) == ("succeeded", "ready")
    old_row = sqlite_bench.enqueue("export", {"version": 1})
    sqlite_bench.write(
        "cron2queue.toml", '[jobs.export]\nhandler = "handlers/work.py"\n[jobs."export.v2"]\nhandler = "handlers/work.py"\n'
    )
    sqlite_bench.handlers('@handler("export")\n@handler("export.v2")\ndef export(job): note("by", "new")\n')
    assert sqlite_bench.drain() == 0
    assert {sqlite_bench.job(job)["state"] for job in (old_row, second)} == {"succeeded"}
    assert sqlite_bench.lines("by") == ["old", "new", "new"]


def test_a_short_job_that_kills_its_worker_takes_no_other_of_its_group_with_it(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("short")
    sqlite_bench.handlers("""
@handler("short", short=True)
def short(job):
    if job.key == "poison":
        os.kill(os.getppid(), 9)
        time.sleep(600)
    note("done", job.key)
""")
    jobs = [sqlite_bench.enqueue("short", key="poison" if number == 5 else str(number)) for number in range(60)]
    statuses = []
    while not statuses or statuses[-1] == -signal.SIGKILL:
        statuses.append(sqlite_bench.drain("--lease", "0.9"))
    assert statuses == [-9, -9, -9, 0]
    assert (sqlite_bench.job(jobs[5])["state"], sqlite_bench.job(jobs[5])["crashes"]) == ("dead", 3)
    others = [sqlite_bench.job(job) for number, job in enumerate(jobs) if number != 5]
    assert {(each["state"], each["crashes"] <= 1) for each in others} == {("succeeded", True)}
