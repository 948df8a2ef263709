"""OpenTelemetry: one trace from the producer over the job table to the handler, and nothing for those who have none."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database
from scenes import KIND, claim, register

from cron2queue.runtime import tracing
from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Done, NewJob, Settlement
from cron2queue.runtime.trouble import JobRefused
from cron2queue.runtime.worker.context import JobContext, StopSignal
from cron2queue.runtime.worker.reports import Tracker

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> None:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(made)


@pytest.fixture(autouse=True)
def empty_exporter() -> Iterator[None]:
    EXPORTER.clear()
    yield
    EXPORTER.clear()


def spans() -> dict[str, ReadableSpan]:
    return {span.name: span for span in EXPORTER.get_finished_spans()}


def test_producer_and_handler_are_one_trace_over_the_database(database: Database) -> None:
    store = database.store()
    register(store)
    with trace.get_tracer("shop").start_as_current_span("checkout"):
        store.enqueue(NewJob(kind=KIND, key="k", payload={"order": 4711}))
    (job,) = claim(store)
    with tracing.processing(job), trace.get_tracer("shop").start_as_current_span("smtp"):
        pass
    found = spans()
    send, process = found[f"send {KIND}"], found[f"process {KIND}"]
    assert send.parent is not None and send.parent.span_id == found["checkout"].context.span_id
    assert process.parent is not None and process.parent.span_id == send.context.span_id
    assert found["smtp"].parent is not None and found["smtp"].parent.span_id == process.context.span_id
    assert len({span.context.trace_id for span in found.values()}) == 1
    assert (send.kind, process.kind) == (trace.SpanKind.PRODUCER, trace.SpanKind.CONSUMER)


def test_what_a_handler_starts_stands_below_its_attempt(database: Database) -> None:
    """A further job below the span of its own enqueue, a command below that of the attempt."""
    store = database.store()
    register(store)
    store.enqueue(NewJob(kind=KIND))
    (first,) = claim(store)
    store.settle([Settlement(job=first, outcome=Done())])
    tracker = Tracker(on_progress=lambda fraction, phase: None)
    options = HandlerOptions(kind=KIND)
    context = JobContext(job=first, options=options, tracker=tracker, stop=StopSignal(), open_store=lambda: store)
    EXPORTER.clear()
    with tracing.processing(first):
        context.enqueue(KIND)
        command = context.environment()["TRACEPARENT"]
    send, attempt = spans()[f"send {KIND}"], spans()[f"process {KIND}"]
    (second,) = claim(store)
    assert send.parent is not None and send.parent.span_id == attempt.context.span_id
    assert command.split("-")[1:3] == [f"{attempt.context.trace_id:032x}", f"{attempt.context.span_id:016x}"]
    assert str(second.trace_context).split("-")[1:3] == [f"{send.context.trace_id:032x}", f"{send.context.span_id:016x}"]


def test_a_span_names_the_job_and_nothing_of_its_key_or_payload(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    register(store)
    accepted = store.enqueue(NewJob(kind=KIND, key="secret-key", payload={"card": "secret-card"}, owner="secret-owner"))
    (job,) = claim(store)
    with tracing.processing(job):
        pass
    attributes = dict(spans()[f"process {KIND}"].attributes or {})
    assert attributes["messaging.system"] == "cron2queue" and attributes["messaging.destination.name"] == "default"
    assert attributes["messaging.message.id"] == accepted.public_id and attributes["cron2queue.attempt"] == 1
    assert "secret" not in "".join(span.to_json() for span in spans().values())


def test_a_handler_that_fails_fails_its_span(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    register(store)
    store.enqueue(NewJob(kind=KIND))
    (job,) = claim(store)
    with pytest.raises(RuntimeError), tracing.processing(job):
        raise RuntimeError("no route")
    span = spans()[f"process {KIND}"]
    assert span.status.status_code is trace.StatusCode.ERROR and span.events[0].name == "exception"
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_context_that_the_producer_gave_itself_is_kept(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    register(store)
    given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    store.enqueue_many([NewJob(kind=KIND, key="a", trace_context=given), NewJob(kind="other", key="b")])
    (job,) = claim(store)
    assert job.trace_context == given
    with tracing.processing(job):
        pass
    assert f"{spans()[f'process {KIND}'].context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert "send" in spans()


def test_a_job_that_cannot_be_is_refused_as_without_a_trace(sqlite_database: Database) -> None:
    with pytest.raises(JobRefused):
        sqlite_database.store().enqueue_many([NewJob(kind=["mail"]), NewJob(kind=KIND)])  # type: ignore[arg-type]
    assert not spans()["send"].status.is_ok


def test_a_broken_context_begins_a_trace_of_its_own(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    register(store)
    store.enqueue(NewJob(kind=KIND, trace_context="not-a-traceparent"))
    (job,) = claim(store)
    with tracing.processing(job):
        pass
    assert spans()[f"process {KIND}"].parent is None


def test_a_producer_without_opentelemetry_does_not_load_it(tmp_path: Path, sqlite_database: Database) -> None:
    code = (
        "import json, sys\n"
        "from cron2queue.runtime.store import Store\n"
        "from cron2queue.runtime.jobs import NewJob\n"
        f"Store.open({sqlite_database.url!r}).enqueue(NewJob(kind='send-mail'))\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('opentelemetry')]))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), cwd=tmp_path)
    assert json.loads(ran.stdout) == []
    assert sqlite_database.value("SELECT trace_context FROM {jobs}") is None
