"""Who lives, who is rescued from, who has to stop: by counters and monotonic clocks, whatever wall clocks say."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from presence import absent, need_program
from runtime.worker.fakewall import SOURCE
from workbench import Workbench

from cron2queue.runtime.jobs import WorkerInfo
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.fence import Fence, boot_seconds
from cron2queue.runtime.worker.notify import ServiceManager
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.upkeeper import Upkeeper, Watcher

# ---- watching others


def watched(*looks: tuple[float, dict[str, int]], lease: float = 30.0) -> list[list[tuple[str, int]]]:
    watcher = Watcher(lease=lease)
    return [watcher.observe(beats, at, but="me") for at, beats in looks]


def test_a_counter_that_stands_still_for_the_whole_lease_is_dead() -> None:
    looks = [(float(at), {"a": 7}) for at in range(0, 40, 5)]
    assert watched(*looks) == [[]] * 6 + [[("a", 7)]] * 2


def test_a_counter_that_moves_is_alive_however_long_it_takes() -> None:
    looks = [(float(at), {"a": at // 25}) for at in range(0, 200, 5)]
    assert watched(*looks) == [[]] * 40


def test_what_was_not_watched_proves_nothing() -> None:
    # This process itself was stopped between the second and the third look: it begins to watch anew.
    looks = [(0.0, {"a": 7}), (5.0, {"a": 7}), (500.0, {"a": 7}), (510.0, {"a": 7}), (520.0, {"a": 7}), (530.0, {"a": 7})]
    assert watched(*looks) == [[]] * 5 + [[("a", 7)]]


def test_nobody_rescues_from_itself() -> None:
    assert watched(*[(float(at), {"me": 1}) for at in range(0, 100, 5)]) == [[]] * 20


def test_one_that_is_gone_is_forgotten_and_one_that_comes_back_is_watched_anew() -> None:
    looks = [
        (0.0, {"a": 7}),
        (10.0, {"a": 7}),
        (20.0, {}),
        (25.0, {"a": 7}),
        (35.0, {"a": 7}),
        (45.0, {"a": 7}),
        (55.0, {"a": 7}),
    ]
    assert watched(*looks) == [[]] * 6 + [[("a", 7)]]


# ---- the own beat


class Signed:
    """A job table that has no row of this worker: rescued from, or retired while the beat was under way."""

    def __init__(self, retiring: list[Upkeeper]) -> None:
        self.registered, self.retiring = 0, retiring

    def beat(self, token: str, **figures: int) -> bool:
        for upkeeper in self.retiring:
            upkeeper.stop()
        return False

    def register_worker(self, info: object) -> None:
        self.registered += 1


@pytest.mark.parametrize(("ends", "registered"), [(False, 1), (True, 0)])
def test_a_worker_signs_on_again_after_a_rescue_and_not_when_it_has_just_signed_off(
    ends: bool, registered: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Upkeeper, "_look_for_restart_mark", lambda self: None)
    options, retiring = WorkerOptions(database="sqlite:///x.db"), list[Upkeeper]()
    control, store = Control(fence=Fence(options.timing.lease)), Signed(retiring)
    info: Any = SimpleNamespace(token="me")
    upkeeper = Upkeeper(options=options, store=cast("Any", store), info=info, control=control, random=Random(1))
    retiring.extend([upkeeper] if ends else [])
    upkeeper.beat()
    assert store.registered == registered
    assert ("taken for dead" in caplog.text) is not ends


# ---- the own fence


def test_the_fence_closes_when_no_beat_has_gone_through_and_opens_with_the_next() -> None:
    fence = Fence(limit=20.0, renewed_at=boot_seconds() - 21)
    assert fence.is_closed()
    fence.renew(boot_seconds())
    assert not fence.is_closed()


def test_a_beat_counts_from_its_beginning_and_never_backwards() -> None:
    now = boot_seconds()
    fence = Fence(limit=20.0, renewed_at=now)
    fence.renew(now - 100)
    assert fence.renewed_at == now


def test_a_worker_that_cannot_beat_ends_its_own_children_before_its_lease_is_over(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("slow", retry=[0])
    gate = sqlite_bench.gate("slow")
    sqlite_bench.handlers("""
@handler("slow")
def slow(job):
    note("ran", os.getpid())
    if job.attempt == 1 and len(open(os.path.dirname(__file__) + "/../ran").readlines()) == 1:
        arrive("slow")
        time.sleep(600)
""")
    job = sqlite_bench.enqueue("slow")
    worker = sqlite_bench.start("--lease", "3")
    gate.arrived()
    session = sqlite_bench.store.sessions.current()
    session.raw.execute("BEGIN EXCLUSIVE")  # nobody can write: no beat goes through
    pid = int(sqlite_bench.lines("ran")[0])
    sqlite_bench.until(lambda: not Path(f"/proc/{pid}").exists())
    session.raw.execute("ROLLBACK")
    sqlite_bench.until(lambda: sqlite_bench.job(job)["state"] == "succeeded")
    assert (sqlite_bench.job(job)["attempts"], sqlite_bench.job(job)["crashes"]) == (1, 0)  # its own fault it was not
    worker.terminate()
    assert worker.wait(60) == 0


# ---- rescue


def test_a_stopped_worker_is_rescued_from_and_its_late_result_is_refused(bench: Workbench) -> None:
    bench.python("slow", retry=[0])
    gate = bench.gate("slow")
    bench.handlers("""
@handler("slow")
def slow(job):
    note("attempts", job.attempt)
    if job.attempt == 1:
        arrive("slow")
        wait("slow")
""")
    job = bench.enqueue("slow")
    zombie = bench.start("--lease", "1.2")
    gate.arrived()
    os.kill(zombie.pid, signal.SIGSTOP)
    second = bench.start("--lease", "1.2")
    bench.until(lambda: bench.job(job)["state"] == "succeeded")
    os.kill(zombie.pid, signal.SIGCONT)
    bench.until(lambda: "taken for dead" in bench.log(0) or "lease lost" in bench.log(0))
    assert [each["outcome"] for each in bench.attempts(job)][-1] == "done"
    assert (bench.job(job)["attempts"], bench.job(job)["crashes"], bench.job(job)["state"]) == (2, 1, "succeeded")
    for worker in (zombie, second):
        worker.terminate()
        assert worker.wait(60) == 0


def test_a_job_whose_claim_was_lost_on_the_way_is_given_back(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): note("ran")\n')
    job = sqlite_bench.enqueue("work")
    info = WorkerInfo(token="t1", host="h", pid=1, version="0", kinds=["work"], queues=["default"])
    sqlite_bench.store.register_worker(info)
    assert len(sqlite_bench.store.claim("default", kinds=["work"], limit=1, worker="t1")) == 1
    assert sqlite_bench.store.reconcile("t1", set()) == 1
    assert (sqlite_bench.job(job)["state"], sqlite_bench.job(job)["attempts"]) == ("ready", 0)
    sqlite_bench.store.retire_worker("t1")
    assert sqlite_bench.drain() == 0
    assert sqlite_bench.lines("ran") == ["x"]


# ---- wall clocks


def beats(bench: Workbench) -> dict[str, int]:
    return dict(bench.rows("SELECT token, beat_counter FROM {workers}"))


def test_jumps_of_the_wall_clock_steal_no_job_and_repeat_none(sqlite_bench: Workbench) -> None:
    """The clock of the worker, and with it SQLite's own, jumps by +1 h, -2 h and +1 year while jobs run."""
    folder = sqlite_bench.folder
    (folder / "fakewall.c").write_text(SOURCE)
    compiler = [need_program("cc", "gcc"), "-shared", "-fPIC", "-o", "fakewall.so", "fakewall.c", "-ldl"]
    subprocess.run(compiler, cwd=folder, capture_output=True, check=True)
    (folder / "shift").write_text("0")
    sqlite_bench.python("slow")
    gates = {name: sqlite_bench.gate(name) for name in ("a", "b", "c")}
    sqlite_bench.handlers('@handler("slow")\ndef slow(job): note("ran", job.key); arrive(job.key); wait(job.key)\n')
    jobs = [sqlite_bench.enqueue("slow", key=key) for key in gates]
    faked = {"LD_PRELOAD": str(folder / "fakewall.so"), "FAKEWALL_FILE": str(folder / "shift")}
    workers = [sqlite_bench.start("--lease", "2", environment=faked) for _ in range(2)]
    sqlite_bench.at_work(*workers)
    for (_, gate), shift in zip(gates.items(), ("3600", "-7200", "31536000"), strict=True):
        gate.arrived()
        (folder / "shift").write_text(shift)
        seen = dict(sqlite_bench.rows("SELECT token, beat_counter FROM {workers}"))
        sqlite_bench.until(
            lambda seen=seen: all(
                count >= seen.get(token, 0) + 4
                for token, count in sqlite_bench.rows("SELECT token, beat_counter FROM {workers}")
            )
        )
        gate.open()
    sqlite_bench.until(lambda: sqlite_bench.states() == {"succeeded": 3})
    assert sorted(sqlite_bench.lines("ran")) == ["a", "b", "c"]
    assert {(sqlite_bench.job(job)["attempts"], sqlite_bench.job(job)["crashes"]) for job in jobs} == {(1, 0)}
    sqlite_bench.stop(*workers)


# ---- stops


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_idle_worker_stops_on_each_of_the_three_signals(sqlite_bench: Workbench, number: int) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): pass\n')
    worker = sqlite_bench.start()
    sqlite_bench.until(lambda: sqlite_bench.rows("SELECT token FROM {workers}"))
    worker.send_signal(number)
    assert worker.wait(60) == 0
    assert sqlite_bench.rows("SELECT token FROM {workers}") == []


def test_after_the_grace_a_running_job_is_given_back_without_an_attempt(bench: Workbench) -> None:
    bench.python("slow", grace=0.2)
    gate = bench.gate("slow")
    bench.handlers('@handler("slow")\ndef slow(job): arrive("slow"); time.sleep(600)\n')
    job = bench.enqueue("slow")
    worker = bench.start("--grace", "0.2")
    gate.arrived()
    worker.terminate()
    assert worker.wait(60) == 0
    assert (bench.job(job)["state"], bench.job(job)["attempts"], bench.job(job)["crashes"]) == ("ready", 0, 0)


def test_a_second_signal_is_quicker(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("slow")
    gate = sqlite_bench.gate("slow")
    sqlite_bench.handlers('@handler("slow")\ndef slow(job): arrive("slow"); time.sleep(600)\n')
    job = sqlite_bench.enqueue("slow")
    worker = sqlite_bench.start("--grace", "500")
    gate.arrived()
    worker.terminate()
    sqlite_bench.until(lambda: "stopping" in sqlite_bench.log())
    worker.terminate()
    assert worker.wait(60) == 0
    assert (sqlite_bench.job(job)["state"], sqlite_bench.job(job)["attempts"]) == ("ready", 0)


def test_a_handler_that_asks_at_a_checkpoint_leaves_in_order_when_the_worker_stops(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("slow")
    gate = sqlite_bench.gate("slow")
    sqlite_bench.handlers("""
@handler("slow")
def slow(job):
    arrive("slow")
    try:
        while True:
            time.sleep(0.01)
            job.checkpoint()
    finally:
        note("cleaned up")
""")
    job = sqlite_bench.enqueue("slow")
    worker = sqlite_bench.start("--grace", "0.1")
    gate.arrived()
    worker.terminate()
    assert worker.wait(60) == 0
    assert (sqlite_bench.lines("cleaned up"), sqlite_bench.job(job)["state"]) == (["x"], "ready")


def test_signals_at_any_moment_of_the_start_leave_nothing_behind(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): note("ran", job.key)\n')
    for number in range(40):
        sqlite_bench.enqueue("work", key=str(number))
    seed = int.from_bytes(os.urandom(4), "big")
    print("seed", seed)
    from random import Random

    random = Random(seed)
    for _ in range(6):
        worker = sqlite_bench.start()
        time.sleep(random.uniform(0, 0.6))  # the moment is random; no outcome depends on it
        worker.send_signal(random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
        status, said = worker.wait(60), sqlite_bench.log()
        too_early = status == 1 and "KeyboardInterrupt" in said and "cron2queue/" not in said  # Python itself was starting
        assert too_early or status in (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, 130)
    assert sqlite_bench.rows("SELECT id FROM {jobs} WHERE state = 'running'") == []
    assert sqlite_bench.drain() == 0
    assert sorted(map(int, sqlite_bench.lines("ran"))) == list(range(40))


def test_a_restart_mark_makes_a_worker_of_old_code_stop_after_its_job(bench: Workbench) -> None:
    bench.python("slow")
    gate = bench.gate("slow")
    bench.handlers('@handler("slow")\ndef slow(job): arrive("slow"); wait("slow")\n')
    job = bench.enqueue("slow")
    worker = bench.start("--lease", "1.2")
    gate.arrived()
    bench.until(lambda: bench.rows("SELECT token FROM {workers} WHERE beat_counter > 0"))
    bench.store.restart_workers(by="test")
    bench.until(lambda: "told to restart" in bench.log())
    gate.open()
    assert worker.wait(60) == 0
    assert bench.job(job)["state"] == "succeeded"


# ---- the service manager


def test_the_service_manager_hears_ready_watchdog_and_stopping(sqlite_bench: Workbench, tmp_path: Path) -> None:
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(60)
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): note("env", "NOTIFY_SOCKET" in os.environ)\n')
    worker = sqlite_bench.start(environment={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"})
    assert manager.recv(4096).decode().startswith("READY=1\nSTATUS=")
    assert manager.recv(4096) == b"WATCHDOG=1"
    worker.terminate()
    said = [manager.recv(4096).decode()]
    while said[-1] == "WATCHDOG=1":
        said.append(manager.recv(4096).decode())
    assert said[-1] == "STOPPING=1"
    assert worker.wait(60) == 0
    manager.close()


def test_a_manager_in_the_abstract_namespace_is_spoken_to_as_well() -> None:
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = f"cron2queue-test-{os.getpid()}"
    manager.bind("\0" + name)
    ServiceManager.from_environment({"NOTIFY_SOCKET": "@" + name}, 1).say("READY=1")
    assert manager.recv(100) == b"READY=1"
    manager.close()


@pytest.mark.parametrize(
    ("environment", "watchdog"),
    [
        ({}, None),
        ({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "30000000"}, 30.0),
        ({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, None),
        ({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"}, 30.0),
        ({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "30000000"}, None),
        ({"NOTIFY_SOCKET": "relative", "WATCHDOG_USEC": "30000000"}, None),
    ],
)
def test_the_watchdog_is_what_the_manager_asks_this_process_for(environment: dict[str, str], watchdog: float | None) -> None:
    assert ServiceManager.from_environment(environment, 42).watchdog == watchdog


def test_a_manager_that_is_gone_changes_nothing() -> None:
    ServiceManager(address="/nonexistent/socket").say("READY=1")
    assert ServiceManager().address is None


# ---- PID 1


def unshared(*command: str) -> list[str]:
    probe = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True)
    if probe.returncode:
        absent("no right to make a PID namespace")
    return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *command]


def test_a_worker_as_pid_1_works_reaps_and_stops_on_term(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("orphan")
    sqlite_bench.handlers("""
import subprocess
@handler("orphan")
def orphan(job):
    note("pid", os.getpid())
    subprocess.run(["sh", "-c", "(sh -c 'exit 3' &) ; exit 0"])
""")
    for number in range(5):
        sqlite_bench.enqueue("orphan", key=str(number))
    worker = [sys.executable, "-m", "cron2queue.runtime", "work", "--plan", "cron2queue.toml", "--database", sqlite_bench.url]
    zombies = "ps -eo stat= | grep -c '^Z'"
    script = f"""
    {" ".join(worker)} --drain; status=$?
    echo "status $status, zombies $({zombies})"
    """
    ran = subprocess.run(unshared("sh", "-c", script), cwd=sqlite_bench.folder, capture_output=True, text=True, timeout=60)
    assert "status 0, zombies 0" in ran.stdout
    alone = subprocess.run(unshared(*worker, "--drain"), cwd=sqlite_bench.folder, capture_output=True, text=True, timeout=60)
    assert (alone.returncode, sqlite_bench.states()) == (0, {"succeeded": 5})


def test_pid_1_passes_a_term_on_and_ends_with_the_workers_status(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("slow")
    gate = sqlite_bench.gate("slow")
    sqlite_bench.handlers('@handler("slow")\ndef slow(job): arrive("slow", str(os.getppid())); wait("slow")\n')
    job = sqlite_bench.enqueue("slow")
    worker = [sys.executable, "-m", "cron2queue.runtime", "work", "--plan", "cron2queue.toml", "--database", sqlite_bench.url]
    started = subprocess.Popen(unshared(*worker), cwd=sqlite_bench.folder, stderr=subprocess.PIPE, text=True)
    assert int(gate.arrived()) > 1  # the worker itself is not PID 1, a small init is
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    gate.open()
    started.communicate(timeout=60)
    assert started.returncode == 0
    assert sqlite_bench.job(job)["state"] == "succeeded"
