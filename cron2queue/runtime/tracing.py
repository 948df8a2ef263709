"""OpenTelemetry, where the application has it: a span for each enqueue and each attempt, joined by the job's trace context.

Nothing is imported here that the application has not imported itself, so a producer line that cron starts pays nothing. The
trace context travels in a column of its own, never in the payload, and on to commands as TRACEPARENT. Names and attributes
follow the semantic conventions for messaging.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from cron2queue.runtime.jobs import NewJob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cron2queue.runtime.jobs import Job

_SYSTEM = "cron2queue"
_W3C = "traceparent"
_NOTHING = nullcontext()


def active() -> bool:
    """Whether the application has loaded OpenTelemetry's API."""
    return "opentelemetry.trace" in sys.modules


def sending(jobs: Iterable[NewJob]) -> AbstractContextManager[Sequence[NewJob]]:
    """A producer's span around the enqueue of these jobs; they come out with its context, unless they carry one already."""
    jobs = tuple(jobs)
    return _sending(jobs) if jobs and active() else nullcontext(jobs)


@contextmanager
def _sending(jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
    from opentelemetry import trace

    attributes: dict[str, Any] = {"messaging.operation.type": "send", "messaging.batch.message_count": len(jobs)}
    alike = all(job.kind == jobs[0].kind for job in jobs)
    name = f"send {jobs[0].kind}" if alike else "send"
    with _span(name, trace.SpanKind.PRODUCER, jobs[0].queue, attributes):
        context = _present()
        yield [job if job.trace_context or context is None else job.but(trace_context=context) for job in jobs]


def processing(job: Job) -> AbstractContextManager[None]:
    """A consumer's span around one attempt, a child of the span that enqueued the job; its failure is the span's."""
    return _processing(job) if active() else _NOTHING


@contextmanager
def _processing(job: Job) -> Iterator[None]:
    from opentelemetry import context, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carried = {_W3C: job.trace_context} if job.trace_context else {}
    token = context.attach(TraceContextTextMapPropagator().extract(carried))
    attributes: dict[str, Any] = {
        "messaging.operation.type": "process",
        "messaging.message.id": job.public_id,
        "cron2queue.kind": job.kind,
        "cron2queue.attempt": job.attempt,
        "cron2queue.wait_seconds": job.waited_seconds,
    }
    try:
        with _span(f"process {job.kind}", trace.SpanKind.CONSUMER, job.queue, attributes):
            yield
    finally:
        context.detach(token)


def handed_on(job: Job) -> str | None:
    """The context for what a job starts: that of the span at work, and without OpenTelemetry the one that the job carries."""
    return (_present() if active() else None) or job.trace_context


def _span(name: str, kind: Any, queue: str, attributes: dict[str, Any]) -> AbstractContextManager[Any]:
    from opentelemetry import trace

    common = {"messaging.system": _SYSTEM, "messaging.destination.name": queue}
    return trace.get_tracer(_SYSTEM).start_as_current_span(name, kind=kind, attributes={**common, **attributes})


def _present() -> str | None:
    """The present trace context as W3C writes it; None while nothing is traced."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(_W3C)
