"""One program, run to its end: time, tree, output, memory."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cron2queue.runtime.prctl import become_subreaper
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.execution import Bounds, Execution, Stopped, Stragglers, execute
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import CouldNotStart, Program
from cron2queue.runtime.worker.statuses import ProgramEnd

QUICK = Bounds(timeout=0.3, grace=0.3)


@pytest.fixture(autouse=True)
def subreaper() -> Iterator[None]:
    """A child of a worker is one; and no test may leave a process behind."""
    become_subreaper()
    before = set(proctree.descendants(os.getpid()))
    yield
    left = [each for each in proctree.descendants(os.getpid()) if each not in before]
    for each in left:
        proctree.send(each, signal.SIGKILL)
    assert left == []


def run(script: str, bounds: Bounds | None = None, data: bytes = b"", tracker: Tracker | None = None) -> Execution:
    program = Program(argv=["/bin/sh", "-c", script], environment={"PATH": "/usr/bin:/bin"})
    return execute(program, data, bounds or Bounds(), tracker or Tracker(on_progress=lambda fraction, phase: None))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_output_of_both_streams_is_kept_in_order() -> None:
    assert run("echo one; echo two >&2; echo three").output == "one\ntwo\nthree"


def test_input_arrives_whole_even_when_it_is_larger_than_a_pipe() -> None:
    assert run("wc -c", data=b"x" * 1_000_000).output.strip() == "1000000"


def test_a_program_that_never_reads_its_input_is_not_waited_for() -> None:
    assert run("exit 3", data=b"x" * 1_000_000).end == ProgramEnd(exit_status=3)


def test_reports_on_descriptor_3_are_heard() -> None:
    told: list[tuple[float | None, str]] = []
    tracker = Tracker(on_progress=lambda fraction, phase: told.append((fraction, phase)))
    run("""echo '{"progress": 0.5, "phase": "rows"}' >&3; printf '{"result": "r1"}' >&3""", tracker=tracker)
    assert (told, tracker.result) == ([(0.5, "rows")], "r1")


def test_a_program_that_takes_too_long_is_asked_to_end() -> None:
    done = run("trap 'echo asked; exit 9' TERM; sleep 60 & wait", QUICK)
    assert (done.stopped, done.end, done.output) == (Stopped.TIMEOUT, ProgramEnd(exit_status=9), "asked")


def test_one_that_does_not_listen_is_killed_after_the_grace() -> None:
    done = run("trap '' TERM; while :; do sleep 1; done", QUICK)
    assert (done.stopped, done.end) == (Stopped.TIMEOUT, ProgramEnd(signal=9))


def test_a_daemonised_grandchild_is_killed_with_its_job(tmp_path: Path) -> None:
    script = f"""
    setsid sh -c 'trap "" TERM HUP; echo $$ > {tmp_path}/pid; exec >/dev/null 2>&1 </dev/null 3>&-; sleep 600' &
    while ! [ -s {tmp_path}/pid ]; do sleep 0.01; done
    sleep 600
    """
    done = run(script, QUICK)
    assert done.stopped is Stopped.TIMEOUT
    assert proctree.identity(int((tmp_path / "pid").read_text())) is None


def test_what_outlives_a_program_ends_with_it_and_is_reported() -> None:
    done = run("(setsid sleep 600 >/dev/null 2>&1 3>&- &); echo done")
    assert (done.end, done.output, done.stragglers) == (ProgramEnd(exit_status=0), "done", 1)


def test_a_grandchild_that_holds_the_output_does_not_hang_the_worker() -> None:
    done = run("sleep 600 & echo done")
    assert (done.end, done.output) == (ProgramEnd(exit_status=0), "done")


def test_as_cron_background_work_is_waited_for_while_it_holds_the_output() -> None:
    done = run("(sleep 0.2; echo later) & echo first", Bounds(stragglers=Stragglers.AS_CRON))
    assert (done.output, done.stragglers) == ("first\nlater", 0)


def test_as_cron_background_work_has_no_more_time_than_the_job() -> None:
    done = run("sleep 600 & echo first", Bounds(timeout=0.3, grace=0.2, stragglers=Stragglers.AS_CRON))
    assert (done.stopped, done.output) == (Stopped.TIMEOUT, "first")


def test_as_cron_a_true_daemon_stays_and_is_reported(tmp_path: Path) -> None:
    daemon_of = f"setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 600' >/dev/null 2>&1 3>&- &"
    script = f"{daemon_of} while ! [ -s {tmp_path}/pid ]; do :; done"
    done = run(script, Bounds(stragglers=Stragglers.AS_CRON))
    daemon = proctree.identity(int((tmp_path / "pid").read_text()))
    assert done.stragglers == 1
    assert daemon is not None
    second = run("true")  # the next job of this process does not touch it
    assert (second.stragglers, proctree.is_alive(daemon)) == (0, True)
    os.kill(daemon.pid, signal.SIGKILL)
    os.waitpid(daemon.pid, 0)


def test_a_stop_from_outside_ends_it() -> None:
    stop = os.eventfd(1)
    try:
        assert run("sleep 60", Bounds(grace=1, stop_fd=stop)).stopped is Stopped.ASKED
    finally:
        os.close(stop)


def test_a_flood_of_output_leaves_this_process_as_small_as_it_was() -> None:
    run("head -c 1000000 /dev/zero")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run("head -c 1000000000 /dev/zero")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert done.output_bytes == 1_000_000_000
    assert len(done.output) < 100_000
    assert grown < 20_000  # KiB


def test_a_program_over_its_memory_is_killed_and_told_apart_from_other_kills() -> None:
    done = run("exec python3 -c 'x = bytearray(90_000_000); import time; time.sleep(60)'", Bounds(memory_bytes=60_000_000))
    assert (done.stopped, done.end) == (Stopped.OUT_OF_MEMORY, ProgramEnd(signal=9))
    assert done.max_rss_bytes is not None
    assert done.max_rss_bytes > 60_000_000


def test_a_sudden_burst_beyond_all_bounds_is_refused_by_the_kernel_and_told_as_memory() -> None:
    done = run("exec python3 -c 'x = bytearray(8_000_000_000)'", Bounds(memory_bytes=60_000_000))
    assert (done.stopped, done.end.exit_status) == (Stopped.OUT_OF_MEMORY, 1)


def test_a_kill_from_elsewhere_is_no_memory_trouble() -> None:
    done = run("kill -KILL $$", Bounds(memory_bytes=200_000_000))
    assert (done.stopped, done.end) == (None, ProgramEnd(signal=9))


SMALL_PARENT = """
from cron2queue.runtime.worker.execution import Bounds, execute
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import Program
program = Program(argv=["/bin/sh", "-c", "exec python3 -c 'x = bytearray(150_000_000)'"], environment={"PATH": "/usr/bin:/bin"})
print(execute(program, b"", Bounds(), Tracker(on_progress=lambda fraction, phase: None)).max_rss_bytes)
"""


def test_the_largest_size_of_a_large_program_is_known() -> None:
    # From a process as small as a worker: a size below the parent's own cannot be told, and a long test run has grown.
    # The shell between them is there to fork: what a program is started from counts into its peak.
    command = ["/bin/sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, SMALL_PARENT]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 150_000_000 < int(ran.stdout) < 300_000_000


@pytest.mark.parametrize("path", ["/nonexistent/program", "/etc/passwd", "/tmp"])
def test_what_cannot_be_started_is_told_and_leaves_nothing_open(path: str) -> None:
    before = descriptors()
    with pytest.raises(CouldNotStart, match=path) as caught:
        execute(Program(argv=[path], environment={}), b"", Bounds(), Tracker(on_progress=lambda f, p: None))
    assert not caught.value.shortage
    assert descriptors() == before


def test_a_nul_in_the_environment_is_told_and_no_crash() -> None:
    with pytest.raises(CouldNotStart):
        execute(Program(argv=["/bin/true"], environment={"A": "\0"}), b"", Bounds(), Tracker(on_progress=lambda f, p: None))


def test_running_out_of_descriptors_is_a_shortage_of_this_host() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors() + 2, hard))
    try:
        with pytest.raises(CouldNotStart) as caught:
            run("true")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert caught.value.shortage


def test_a_program_starts_with_default_signals_and_its_own_session() -> None:
    done = run("grep -E 'SigIgn|SigBlk' /proc/self/status; cut -d ' ' -f 1,6 /proc/$$/stat")
    ignored, blocked, session = done.output.strip().split("\n")[-3:]
    internal = 0b11 << 31  # signals 32 and 33 belong to the C library itself
    assert (int(ignored.split()[1], 16) & ~internal, int(blocked.split()[1], 16) & ~internal) == (0, 0)
    assert len(set(session.split())) == 1


def test_no_descriptor_of_the_worker_is_inherited() -> None:
    with Path("/etc/hostname").open() as held:
        shown = run("for each in /proc/self/fd/*; do readlink $each; done").output
    assert held.closed
    assert "/etc/hostname" not in shown
    assert "pipe:" in shown


def test_the_folder_is_the_programs_and_not_this_processs(tmp_path: Path) -> None:
    here = Path.cwd()
    program = Program(argv=["/bin/pwd"], environment={}, folder=str(tmp_path))
    done = execute(program, b"", Bounds(), Tracker(on_progress=lambda f, p: None))
    assert (done.output, Path.cwd()) == (str(tmp_path), here)


def test_a_folder_that_is_missing_is_told() -> None:
    program = Program(argv=["/bin/pwd"], environment={}, folder="/nonexistent")
    with pytest.raises(CouldNotStart):
        execute(program, b"", Bounds(), Tracker(on_progress=lambda f, p: None))


def test_many_programs_leak_no_descriptor() -> None:
    run("true")
    before = descriptors()
    for _ in range(50):
        run("true")
    assert descriptors() == before
