"""The job as its handler sees it."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cron2queue.runtime import tracing
from cron2queue.runtime.handlers import Cancelled, HandlerOptions, TimedOut
from cron2queue.runtime.jobs import AttemptRecord, Enqueued, Job, NewJob
from cron2queue.runtime.worker.effects import begin, told_apart
from cron2queue.runtime.worker.execution import Bounds, Execution, Stragglers
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.stops import SHUTDOWN, TIMEOUT
from cron2queue.text import safe_text

if TYPE_CHECKING:
    from cron2queue.runtime.store import Store

_current: ContextVar["JobContext | None"] = ContextVar("cron2queue_job", default=None)


def current_job() -> "JobContext | None":
    """The job that this thread is doing; None outside of a worker."""
    return _current.get()


class ShuttingDown(Cancelled):
    """Raised by `checkpoint()` when the worker has to stop: the job will be given back, and is not counted."""


@dataclass(slots=True)
class StopSignal:
    """Says that a job is to end, and why; `descriptor` is for those who wait in poll(2)."""

    reason: str | None = None
    _descriptor: int | None = None

    def set(self, reason: str) -> None:
        """The first reason stays."""
        if self.reason is None:
            self.reason = reason
        if self._descriptor is not None:
            os.eventfd_write(self._descriptor, 1)

    @property
    def descriptor(self) -> int:
        """Readable from the moment on when the signal is set."""
        if self._descriptor is None:
            self._descriptor = os.eventfd(1 if self.reason else 0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            if self.reason is not None:
                os.eventfd_write(self._descriptor, 1)
        return self._descriptor

    def close(self) -> None:
        """Give the descriptor back."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class NoTransaction(RuntimeError):
    """`once()` was called outside of `with job.transaction()`: its mark could not be kept together with the effect."""


@dataclass(slots=True, kw_only=True)
class JobContext:
    """What a handler is called with.

    `executions` holds what its commands did.
    """

    job: Job
    options: HandlerOptions
    tracker: Tracker
    stop: StopSignal
    open_store: "Callable[[], Store]"
    deadline: float | None = None  # CLOCK_MONOTONIC
    executions: list[Execution] = field(default_factory=list)
    _connection: Any = None

    @property
    def id(self) -> str:
        """The public id, which users see."""
        return self.job.public_id

    @property
    def kind(self) -> str:
        """Which kind of job it is."""
        return self.job.kind

    @property
    def queue(self) -> str:
        """The queue that it came from."""
        return self.job.queue

    @property
    def key(self) -> str | None:
        """The producer's key."""
        return self.job.key

    @property
    def attempt(self) -> int:
        """1 in the first run."""
        return self.job.attempt

    @property
    def max_attempts(self) -> int:
        """How many runs there may be, the first included."""
        return self.job.max_attempts

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt: hand it to foreign systems, so that they recognise a repetition."""
        return self.job.idempotency_key

    @property
    def payload_text(self) -> str:
        """The payload as JSON text, exactly as it is stored."""
        return self.job.payload_text

    @property
    def payload(self) -> Any:
        """The payload, decoded anew at each access."""
        return json.loads(self.job.payload_text)

    @property
    def cancel_requested(self) -> bool:
        """Whether the job is to end: cancelled, out of time, or the worker is stopping."""
        return self.stop.reason is not None

    def checkpoint(self) -> None:
        """A place where the handler can be stopped. Raises Cancelled (or TimedOut, ShuttingDown) when it is to end."""
        if self.stop.reason == TIMEOUT:
            raise TimedOut("its time was up")
        if self.stop.reason == SHUTDOWN:
            raise ShuttingDown("the worker is stopping")
        if self.stop.reason is not None:
            raise Cancelled("cancelled on request")

    def progress(self, phase: str = "", fraction: float | None = None) -> None:
        """Tell how far it is: a phase in words, a fraction from 0 to 1 that only grows within a phase."""
        self.tracker.progress(phase, fraction)

    def result(self, reference: str) -> None:
        """Say where the result is kept (a path, an URL, an id): a reference, not the result itself."""
        self.tracker.result = str(reference)[:1024]

    @contextmanager
    def transaction(self, *, result: str | None = None) -> Iterator[Any]:
        """A database connection whose changes are committed together with the job's completion, or not at all.

        `result` as in result(), which may also have been called before. Raises LeaseLost when the job belongs to
        another by now; then the changes are rolled back.
        """
        record = AttemptRecord(outcome_name="done", wait_seconds=self.job.waited_seconds)
        reference = result or self.tracker.result
        store = self.open_store()
        with ExitStack() as stack, told_apart(store.driver):
            self._connection = begin(lambda: store.transaction(self.job, result_ref=reference, record=record), store, stack)
            try:
                yield self._connection
            finally:
                self._connection = None
            stack.close()
        self.tracker.completed()

    def once(self, message_id: str) -> bool:
        """True the first time this kind meets the message; to be called within `transaction()`."""
        if self._connection is None:
            raise NoTransaction("once() belongs inside `with job.transaction()`")
        return self.open_store().once(self._connection, self.job.kind, message_id)

    def enqueue(self, kind: str, payload: Any = None, **fields: Any) -> Enqueued:
        """Make a further job; within `transaction()` it exists only if that commits. Fields as in NewJob."""
        if not tracing.active():  # else the span of this very enqueue is what the job is to carry
            fields = {"trace_context": self.job.trace_context, **fields}
        new = NewJob(kind=kind, payload=payload, **fields)
        return self.open_store().enqueue(new, connection=self._connection)

    def bounds(self, stragglers: Stragglers) -> Bounds:
        """What is left of the job's time, for a command that it runs."""
        left = None if self.deadline is None else max(0.001, self.deadline - time.monotonic())
        return Bounds(
            timeout=left,
            grace=self.options.grace,
            memory_bytes=self.options.memory_bytes,
            stop_fd=self.stop.descriptor,
            stragglers=stragglers,
        )

    def environment(self) -> dict[str, str]:
        """The C2Q_* variables of the exec contract."""
        job = self.job
        named = {
            "C2Q_JOB_ID": job.public_id,
            "C2Q_JOB_KIND": job.kind,
            "C2Q_JOB_KEY": job.key or "",
            "C2Q_QUEUE": job.queue,
            "C2Q_ATTEMPT": str(job.attempt),
            "C2Q_MAX_ATTEMPTS": str(job.max_attempts),
            "C2Q_IDEMPOTENCY_KEY": job.idempotency_key,
        }
        if self.deadline is not None:
            named["C2Q_DEADLINE"] = str(int(time.time() + self.deadline - time.monotonic()))
        if trace_context := tracing.handed_on(job):
            named["TRACEPARENT"] = trace_context
        return {name: safe_text(text) if "\0" in text else text for name, text in named.items()}


class InForce:
    """While the handler runs, `run_command` finds the job by itself."""

    __slots__ = ("_context", "_token")

    def __init__(self, context: JobContext) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._token = _current.set(self._context)

    def __exit__(self, *raised: object) -> None:
        _current.reset(self._token)
