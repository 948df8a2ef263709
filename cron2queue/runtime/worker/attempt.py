"""One attempt in a child: call the handler, and put whatever comes of it into a report. Nothing escapes."""

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from cron2queue.runtime import tracing
from cron2queue.runtime.handlers import (
    Cancelled,
    CommandTarget,
    Handler,
    Permanent,
    ProgramTarget,
    PythonTarget,
    RetryLater,
    TimedOut,
)
from cron2queue.runtime.trouble import LeaseLost
from cron2queue.runtime.worker.capture import Capture
from cron2queue.runtime.worker.command import CommandFailed, run_old_command, run_program
from cron2queue.runtime.worker.context import InForce, JobContext, ShuttingDown, StopSignal
from cron2queue.runtime.worker.effects import DatabaseInterfered
from cron2queue.runtime.worker.execution import Execution
from cron2queue.runtime.worker.locked import AGAIN_SECONDS, NotLocked, RunsElsewhere, under_lock
from cron2queue.runtime.worker.output import storable
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import CouldNotStart
from cron2queue.runtime.worker.statuses import Ending, ProgramEnd, meaning
from cron2queue.runtime.worker.wire import encoded
from cron2queue.runtime.worker.work import Work

if TYPE_CHECKING:
    from cron2queue.runtime.store import Store

MAX_MESSAGE = 1000
MAX_DIAGNOSTIC = 8 * 1024
LONGEST_DELAY = 366 * 86400.0
_MOST_TEXT = 64 * 1024


@dataclass(slots=True, kw_only=True)
class Report:
    """How an attempt ended, as the child saw it. `message` is for the job's owner, `diagnostic` for operators only."""

    ending: Ending
    message: str = ""
    diagnostic: str = ""
    exit_status: int | None = None
    signal: int | None = None
    max_rss_bytes: int | None = None
    output: str = ""
    result: str | None = None
    delay: float | None = None
    pause_kind: float | None = None
    shortage: bool = False

    def said(self) -> dict[str, Any]:
        """Only what says something; nothing for a job that is simply done."""
        if self == _SIMPLY_DONE:
            return {}
        said = {name: value for name in _FIELDS if (value := getattr(self, name))}
        if self.exit_status == 0:
            said["exit_status"] = 0
        return said

    def encoded(self, number: int, seconds: float, said: dict[str, Any]) -> bytes:
        """The form that goes over the wire."""
        return encoded([self.ending, number, round(seconds, 6), said])


_SIMPLY_DONE = Report(ending=Ending.DONE)
_FIELDS = tuple(name for name in Report.__dataclass_fields__ if name != "ending")


def run_attempt(
    work: Work,
    handler: Handler,
    stop: StopSignal,
    tracker: Tracker,
    open_store: "Callable[[], Store]",
    capture: Capture | None,
    began: float,
) -> Report:
    """Run the handler to its end and report."""
    timeout = handler.options.timeout
    context = JobContext(
        job=work.job,
        options=handler.options,
        tracker=tracker,
        stop=stop,
        open_store=open_store,
        deadline=None if timeout is None else began + timeout,
    )
    if capture is not None:
        capture.begin()
    report = _attempt(handler, context)
    report.result = context.tracker.result
    report.message = storable(report.message or context.tracker.message, MAX_MESSAGE)
    printed = capture.end() if capture is not None else ""
    _add_execution(report, context.executions, printed)
    return report


def _add_execution(report: Report, executions: list[Execution], printed: str) -> None:
    report.output = printed
    if executions:
        last = executions[-1]
        report.output = "\n".join(part for part in (printed, *(each.output for each in executions[-8:])) if part)
        report.exit_status, report.signal = last.end.exit_status, last.end.signal
        report.max_rss_bytes = max((each.max_rss_bytes or 0 for each in executions), default=0) or None
        if last.stragglers and not report.diagnostic and last.stopped is None:
            report.diagnostic = f"{last.stragglers} of its processes outlived the program"


def _attempt(handler: Handler, context: JobContext) -> Report:
    try:
        with InForce(context), tracing.processing(context.job), under_lock(handler.options):
            _call(handler, context)
    except BaseException as trouble:  # a handler may raise anything; its child goes on
        return _report_of(trouble)
    return Report(ending=Ending.DONE)


def _call(handler: Handler, context: JobContext) -> None:
    target = handler.target
    match target:
        case PythonTarget():
            target.function(context)
        case CommandTarget():
            run_old_command(target, context)
        case ProgramTarget():
            run_program(target, context)
        case _:
            assert_never(target)


def _report_of(trouble: BaseException) -> Report:
    match trouble:
        case RetryLater():
            delay = _seconds(trouble.seconds)
            return Report(
                ending=Ending.RETRY, message=_said(trouble), delay=delay, pause_kind=delay if trouble.pause_kind else None
            )
        case Permanent():
            return Report(ending=Ending.PERMANENT, message=_said(trouble))
        case CommandFailed():
            # How it was killed says nothing to the owner of a job that took too much memory.
            message = "" if trouble.ending is Ending.OUT_OF_MEMORY else _said(trouble)
            return Report(ending=trouble.ending, message=message)
        case ShuttingDown():
            return Report(ending=Ending.RELEASED)
        case TimedOut():
            return Report(ending=Ending.TIMEOUT, message=_said(trouble))
        case Cancelled():
            return Report(ending=Ending.CANCELLED, message=_said(trouble))
        case RunsElsewhere():
            return Report(ending=Ending.RELEASED, message=_said(trouble), delay=AGAIN_SECONDS)
        case NotLocked():
            return Report(ending=Ending.COULD_NOT_START, message="its lock could not be taken", diagnostic=_cut(_said(trouble)))
        case CouldNotStart():
            return Report(ending=Ending.COULD_NOT_START, diagnostic=_cut(_said(trouble)), shortage=trouble.shortage)
        case LeaseLost():
            return Report(ending=Ending.LOST_LEASE)
        case DatabaseInterfered():
            return Report(ending=Ending.RELEASED, diagnostic=_cut(_said(trouble)), shortage=True)
        case SystemExit():
            return _report_of_exit(trouble)
        case MemoryError():
            return Report(ending=Ending.OUT_OF_MEMORY, message="it ran out of memory", diagnostic=_traced(trouble))
        case _:
            return Report(ending=Ending.FAILED, message="the handler failed", diagnostic=_traced(trouble))


def _said(trouble: BaseException) -> str:
    """An exception's own words, even if they are huge or cannot be said."""
    try:
        return str(trouble)[:_MOST_TEXT]
    except Exception:
        return type(trouble).__name__


def _seconds(asked: object) -> float | None:
    """A delay as a handler asked for it; what is no sensible number leaves it to the policy."""
    if not isinstance(asked, int | float) or isinstance(asked, bool) or not 0 <= asked < math.inf:
        return None
    return min(float(asked), LONGEST_DELAY)


def _report_of_exit(trouble: SystemExit) -> Report:
    """`sys.exit(75)` in a Python handler means what it means in a program."""
    status = trouble.code if isinstance(trouble.code, int) else 0 if trouble.code is None else 1
    ending = meaning(ProgramEnd(exit_status=status & 0xFF))
    said = "" if isinstance(trouble.code, int | None) else str(trouble.code)
    return Report(ending=ending, exit_status=status & 0xFF, diagnostic=_cut(said))


def _cut(text: str) -> str:
    return storable(text, MAX_DIAGNOSTIC)


def _traced(trouble: BaseException) -> str:
    """The traceback; of a long one the end, which says most. Secrets are masked before the cut."""
    try:
        text = "".join(traceback.format_exception(trouble, limit=-20))
    except Exception:  # an exception whose own text cannot be made
        text = f"{type(trouble).__name__} (it cannot be shown)"
    masked = storable(text[-_MOST_TEXT:], _MOST_TEXT).encode("utf-8")
    return masked[-MAX_DIAGNOSTIC:].decode("utf-8", "ignore").strip("\n")
