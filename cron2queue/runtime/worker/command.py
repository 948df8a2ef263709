"""Commands as handlers: the crontab's old command unchanged, and programs that keep the exec contract."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from cron2queue.runtime.handlers import Cancelled, CommandTarget, Permanent, ProgramTarget, RetryLater, TimedOut
from cron2queue.runtime.worker.execution import Bounds, Execution, Stopped, Stragglers, execute
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import Program, home_of
from cron2queue.runtime.worker.statuses import Ending, meaning
from cron2queue.text import to_bytes

if TYPE_CHECKING:
    from cron2queue.runtime.worker.context import JobContext

# What cron itself sets before the crontab's own assignments (crontab(5), "Several environment variables are set up").
CRON_SHELL = "/bin/sh"
CRON_PATH = "/usr/bin:/bin"
# The service manager's own channel to the worker; a program that inherited it could speak in the worker's name.
_NOT_INHERITED = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")


class CommandFailed(Exception):
    """A command ended otherwise than well; `execution` tells how, `ending` what that means."""

    def __init__(self, execution: Execution, ending: Ending) -> None:
        super().__init__(f"the command ended with {execution.end}")
        self.execution = execution
        self.ending = ending


class CommandGaveUp(CommandFailed, Permanent):
    """Its exit status says that no further try can help."""


class CommandAsksForRetry(CommandFailed, RetryLater):
    """Its exit status is 75, EX_TEMPFAIL."""

    def __init__(self, execution: Execution, ending: Ending) -> None:
        CommandFailed.__init__(self, execution, ending)
        self.seconds = None
        self.pause_kind = False


def run_command(
    command: str,
    *,
    shell: str = CRON_SHELL,
    environment: Mapping[str, str] = MappingProxyType({}),
    stdin: str | None = None,
    home: str | None = None,
    user: str | None = None,
    exit_statuses: Mapping[int, str] = MappingProxyType({}),
) -> Execution:
    """Run the old command as cron would: its shell, its environment, the user's home as folder, `stdin` as the % text.

    Within a job it keeps to the job's time, memory and cancel, and its output is kept with the attempt. Raises
    CommandGaveUp, CommandAsksForRetry or CommandFailed by exit status, TimedOut or Cancelled when it was stopped,
    CouldNotStart when it did not begin.
    """
    from cron2queue.runtime.worker.context import current_job

    job = current_job()
    program = Program(
        argv=[shell, "-c", command],
        environment={**cron_environment(environment, shell=shell, home=home, user=user), **(job.environment() if job else {})},
        folder=_folder(home or environment.get("HOME") or home_of(user)[1]),
        user=user,
    )
    return _run(program, to_bytes(stdin or ""), job, Stragglers.AS_CRON, exit_statuses)


def _folder(home: str) -> str:
    """A user without a home still has jobs: Debian's cron stays where it is and runs them, so the root must do."""
    return home if os.path.isdir(home) else "/"


def cron_environment(
    assigned: Mapping[str, str], *, shell: str = CRON_SHELL, home: str | None = None, user: str | None = None
) -> dict[str, str]:
    """The environment of a cron job: cron's own variables, then the crontab's assignments; nothing of the worker's."""
    name, home_folder = home_of(user)
    basis = {"SHELL": shell, "PATH": CRON_PATH, "HOME": home or home_folder, "LOGNAME": name}
    return {**basis, **assigned, "LOGNAME": name}


def run_old_command(target: CommandTarget, job: "JobContext") -> Execution:
    """The handler `command` of the plan."""
    return run_command(
        target.command,
        shell=target.shell,
        environment=target.environment,
        stdin=target.stdin,
        user=target.user,
        exit_statuses=target.exit_statuses,
    )


def run_program(target: ProgramTarget, job: "JobContext") -> Execution:
    """A program of any language: the payload as JSON on stdin, C2Q_* in its environment, reports on fd 3."""
    inherited = {name: text for name, text in os.environ.items() if name not in _NOT_INHERITED}
    program = Program(argv=[target.path], environment={**inherited, **target.environment, **job.environment()})
    return _run(program, job.payload_text.encode("utf-8", "surrogatepass"), job, Stragglers.KILL, target.exit_statuses)


def _run(
    program: Program, data: bytes, job: "JobContext | None", stragglers: Stragglers, table: Mapping[int, str]
) -> Execution:
    if job is None:
        bounds, tracker = Bounds(stragglers=stragglers), Tracker(on_progress=lambda fraction, phase: None)
    else:
        job.checkpoint()
        bounds, tracker = job.bounds(stragglers), job.tracker
    execution = execute(program, data, bounds, tracker)
    if job is not None:
        job.executions.append(execution)
    _raise_by(execution, {status: Ending(word) for status, word in table.items()}, job)
    return execution


def _raise_by(execution: Execution, table: Mapping[int, Ending], job: "JobContext | None") -> None:
    if execution.stopped is Stopped.TIMEOUT:
        raise TimedOut("its time was up")
    if execution.stopped is Stopped.ASKED and job is not None:
        job.checkpoint()
        raise Cancelled
    ending = Ending.OUT_OF_MEMORY if execution.stopped is Stopped.OUT_OF_MEMORY else meaning(execution.end, table)
    if ending is Ending.DONE:
        return
    if ending is Ending.PERMANENT:
        raise CommandGaveUp(execution, ending)
    if ending is Ending.RETRY:
        raise CommandAsksForRetry(execution, ending)
    raise CommandFailed(execution, ending)
