"""From what a child reported, or how it died, to what is written into the job table."""

from random import Random
from typing import Any

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import (
    AttemptRecord,
    Cancelled,
    Crashed,
    Done,
    GiveUp,
    Job,
    Outcome,
    Released,
    RetryAt,
    Settlement,
)
from cron2queue.runtime.retries import policy_of
from cron2queue.runtime.worker.statuses import Ending, signal_name

_CRASHES = frozenset({Ending.CRASHED, Ending.SIGNAL, Ending.OUT_OF_MEMORY})
_SHORTAGE_MESSAGE = "this host was short of resources; it will be tried again"
_MESSAGES = {
    Ending.TIMEOUT: "it took longer than it may",
    Ending.CANCELLED: "cancelled on request",
    Ending.OUT_OF_MEMORY: "it took more memory than it may",
    Ending.COULD_NOT_START: "it could not be started",
    Ending.CRASHED: "its process ended unexpectedly",
    Ending.SIGNAL: "its process was ended by a signal",
    Ending.FAILED: "the handler failed",
}


def settlement_of(
    job: Job, options: HandlerOptions, ending: Ending, said: dict[str, Any], seconds: float | None, random: Random
) -> Settlement:
    """How one attempt is to be settled. `said` are the fields of the child's report."""
    outcome, delay = _outcome(job, options, ending, said, random)
    record = AttemptRecord(
        run_seconds=seconds,
        wait_seconds=job.waited_seconds,
        exit_status=said.get("exit_status"),
        signal=said.get("signal"),
        max_rss_bytes=said.get("max_rss_bytes"),
        output_tail=said.get("output", ""),
        outcome_name=str(ending),
    )
    return Settlement(job=job, outcome=outcome, retry_delay=delay, record=record)


def _outcome(
    job: Job, options: HandlerOptions, ending: Ending, said: dict[str, Any], random: Random
) -> tuple[Outcome, float | None]:
    words = {"message": _message(ending, said), "diagnostic": said.get("diagnostic", "")}
    if ending is Ending.DONE:
        return Done(result_ref=said.get("result"), **words), None
    if ending is Ending.CANCELLED:
        return Cancelled(**words), None
    if ending is Ending.PERMANENT:
        return GiveUp(reason="permanent", **words), None
    if ending is Ending.RELEASED or (ending is Ending.COULD_NOT_START and said.get("shortage")):
        delay = said.get("delay")
        return Released(**words, delay_seconds=delay or 0.0), delay
    return _failed(job, options, ending, said, random, words)


def _failed(
    job: Job, options: HandlerOptions, ending: Ending, said: dict[str, Any], random: Random, words: dict[str, str]
) -> tuple[Outcome, float | None]:
    asked = said.get("delay")
    delay = asked if asked is not None else policy_of(options.retry).delay(job.attempt, random)
    if ending in _CRASHES:
        # Never retried is never retried; otherwise the store counts the crash and knows the limit.
        if delay is None:
            return GiveUp(reason=str(ending), **words), None
        return Crashed(reason=_crash_reason(ending, said), **words), delay
    if delay is None:
        return GiveUp(reason="not retried", **words), None
    if options.max_attempts is not None and job.attempt >= options.max_attempts:
        return GiveUp(reason="attempts used up", **words), None
    return RetryAt(delay_seconds=asked, pause_kind_seconds=said.get("pause_kind"), **words), delay


def _message(ending: Ending, said: dict[str, Any]) -> str:
    if ending is Ending.COULD_NOT_START and said.get("shortage"):
        return _SHORTAGE_MESSAGE
    return str(said.get("message") or _MESSAGES.get(ending, ""))


def _crash_reason(ending: Ending, said: dict[str, Any]) -> str:
    number = said.get("signal")
    return f"{ending}: {signal_name(number)}" if number else str(ending)
