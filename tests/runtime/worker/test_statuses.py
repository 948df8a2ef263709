"""All 256 exit statuses and all signals come through unconfused, from programs that are really run."""

import signal

import pytest

from cron2queue.runtime.worker.execution import Bounds, Stopped, execute
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import Program
from cron2queue.runtime.worker.statuses import Ending, ProgramEnd, meaning, signal_name

IGNORED = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}


def run(script: str, bounds: Bounds | None = None) -> tuple[ProgramEnd, Stopped | None]:
    program = Program(argv=["/bin/sh", "-c", script], environment={"PATH": "/usr/bin:/bin"})
    done = execute(program, b"", bounds or Bounds(), Tracker(on_progress=lambda fraction, phase: None))
    return done.end, done.stopped


@pytest.mark.parametrize("tens", range(26))
def test_every_exit_status_comes_through_as_itself(tens: int) -> None:
    for status in range(tens * 10, min(tens * 10 + 10, 256)):
        assert run(f"exit {status}") == (ProgramEnd(exit_status=status), None)


@pytest.mark.parametrize("number", sorted(set(signal.Signals) - IGNORED - STOPPING), ids=signal_name)
def test_every_ending_signal_is_told_as_a_signal_and_never_as_a_status(number: int) -> None:
    assert run(f"kill -{int(number)} $$") == (ProgramEnd(signal=number), None)


@pytest.mark.parametrize("number", sorted(IGNORED), ids=signal_name)
def test_a_signal_that_ends_nothing_ends_nothing(number: int) -> None:
    assert run(f"kill -{int(number)} $$") == (ProgramEnd(exit_status=0), None)


@pytest.mark.parametrize("number", sorted(STOPPING), ids=signal_name)
def test_a_program_that_stops_itself_is_ended_when_its_time_is_up(number: int) -> None:
    end, stopped = run(f"kill -{int(number)} $$; sleep 60", Bounds(timeout=0.2, grace=0.2))
    assert stopped is Stopped.TIMEOUT
    assert end.signal in (signal.SIGTERM, signal.SIGKILL)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (0, Ending.DONE),
        (1, Ending.FAILED),
        (2, Ending.FAILED),
        (63, Ending.FAILED),
        (64, Ending.PERMANENT),
        (65, Ending.PERMANENT),
        (66, Ending.PERMANENT),
        (67, Ending.FAILED),
        (69, Ending.FAILED),
        (70, Ending.FAILED),
        (74, Ending.FAILED),
        (75, Ending.RETRY),
        (76, Ending.PERMANENT),
        (77, Ending.PERMANENT),
        (78, Ending.PERMANENT),
        (79, Ending.FAILED),
        (124, Ending.TIMEOUT),
        (125, Ending.FAILED),
        (126, Ending.COULD_NOT_START),
        (127, Ending.COULD_NOT_START),
        (128, Ending.FAILED),
        (134, Ending.SIGNAL),
        (137, Ending.SIGNAL),
        (139, Ending.SIGNAL),
        (143, Ending.FAILED),
        (255, Ending.FAILED),
    ],
)
def test_the_exec_contract_gives_each_status_its_meaning(status: int, expected: Ending) -> None:
    assert meaning(ProgramEnd(exit_status=status)) is expected


@pytest.mark.parametrize("status", range(256))
def test_every_status_has_exactly_one_meaning(status: int) -> None:
    assert isinstance(meaning(ProgramEnd(exit_status=status)), Ending)


def test_a_kinds_own_table_comes_before_the_contract() -> None:
    table = {3: Ending.DONE, 75: Ending.PERMANENT}
    assert meaning(ProgramEnd(exit_status=3), table) is Ending.DONE
    assert meaning(ProgramEnd(exit_status=75), table) is Ending.PERMANENT
    assert meaning(ProgramEnd(exit_status=4), table) is Ending.FAILED


def test_a_signal_is_not_looked_up_among_the_statuses() -> None:
    assert meaning(ProgramEnd(signal=9), {9: Ending.DONE, 137: Ending.DONE}) is Ending.SIGNAL


def test_status_137_and_signal_9_read_differently() -> None:
    assert str(ProgramEnd(exit_status=137)) == "exit status 137"
    assert str(ProgramEnd(signal=9)) == "signal 9 (SIGKILL)"


def test_real_time_signals_without_a_name_can_be_told() -> None:
    assert signal_name(40) == "signal 40"
