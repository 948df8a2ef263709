"""The list of metrics, the reference page of it, and the tally behind it."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cron2queue.runtime.distributions import COARSE, rung
from cron2queue.runtime.jobs import (
    AttemptRecord,
    Cancelled,
    Crashed,
    Done,
    GiveUp,
    Job,
    Lease,
    Outcome,
    Released,
    RetryAt,
    Settlement,
)
from cron2queue.runtime.metrics.collecting import METRICS, Facts, down, families
from cron2queue.runtime.metrics.endpoint import address_of, is_loopback
from cron2queue.runtime.metrics.exposition import render
from cron2queue.runtime.sight.views import StatusView, Total
from cron2queue.runtime.verbs.tally import MOST_SERIES, Tally, foreign_cause

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
LOW_CARDINALITY = {"queue", "kind", "state", "outcome", "entry", "host", "cause"}


def job(**fields: object) -> Job:
    values = {
        "id": 1, "public_id": "p", "queue": "default", "kind": "send", "key": None, "payload_text": "null", "attempt": 1,
        "max_attempts": 3, "crashes": 0, "lease": Lease(token="t", worker="w"), "ordering_key": None,
        "trace_context": None, "waited_seconds": 0.5,
    }  # fmt: skip
    return Job(**{**values, **fields})  # type: ignore[arg-type]


def counted(outcome: Outcome, *, held: bool = True, attempt: int = 1, **record: object) -> dict[str, int]:
    tally = Tally()
    settlement = Settlement(job=job(attempt=attempt), outcome=outcome, record=AttemptRecord(**record))  # type: ignore[arg-type]
    tally.settled([settlement], [held])
    return {f"{count.series}/{count.rung}" if count.rung else count.series: count.n for count in tally.take()}


def test_every_metric_has_a_name_a_help_and_labels_of_low_cardinality() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.name.startswith("cron2queue_") and metric.help.endswith(".")
        assert set(metric.labels) <= LOW_CARDINALITY
        assert metric.name.endswith("_total") == (metric.type == "counter")


def test_the_reference_page_is_the_list() -> None:
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(cron2queue_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    expected = [(metric.name, metric.type, ", ".join(metric.labels) or "-", metric.help) for metric in METRICS]
    assert [tuple(row) for row in rows] == expected


def test_examples_use_only_metrics_that_exist() -> None:
    known = {metric.name for metric in METRICS} | {f"{m.name}_bucket" for m in METRICS if m.type == "histogram"}
    for path in (ROOT / "examples/monitoring").glob("*"):
        used = set(re.findall(r"cron2queue_(?!plan|database\$)[a-z_]+", path.read_text(encoding="utf-8")))
        assert {name for name in used if name not in known} <= {"cron2queue_database"}, path


def test_an_empty_table_has_no_histogram_and_a_database_that_is_away_is_0() -> None:
    status = StatusView(at=NOW, database="d", queues=())
    assert render(families(status, Facts())).startswith("# HELP cron2queue_up")
    assert "cron2queue_wait_seconds" not in render(families(status, Facts()))
    assert render(down()).endswith("cron2queue_up 0\n")


def test_what_never_happened_to_a_kind_is_0_so_that_the_first_time_is_an_increase() -> None:
    totals = [Total("q", "k", "refused", 0, 3), Total("q", "other", "succeeded", 0, 1)]
    text = render(families(StatusView(at=NOW, database="d", queues=()), Facts(totals=totals)))
    for name in ("refused", "duplicates", "retried", "dead", "rescued", "lease_lost"):
        expected = 3 if name == "refused" else 0
        assert f'cron2queue_{name}_total{{queue="q",kind="k"}} {expected}\n' in text
        assert f'cron2queue_{name}_total{{queue="q",kind="other"}} 0\n' in text


def test_a_histogram_is_cumulative_and_ends_with_all() -> None:
    totals = [Total("q", "k", "run", rung(value), n) for value, n in ((0.01, 2), (3.0, 5), (10**7, 1))]
    text = render(
        families(StatusView(at=NOW, database="d", queues=()), Facts(totals=[*totals, Total("q", "k", "run_us", 0, 42_500_000)]))
    )
    counts = [int(n) for n in re.findall(r"cron2queue_run_seconds_bucket\{.*\} (\d+)", text)]
    assert len(counts) == len(COARSE) + 1 and counts == sorted(counts) and counts[-1] == 8
    assert 'le="+Inf"} 8\n' in text and "_sum" in text and "} 42.5\n" in text


@pytest.mark.parametrize(
    ("outcome", "attempt", "expected"),
    [
        (Done(), 1, "outcome:done succeeded"),
        (RetryAt(message="no"), 1, "outcome:retry failed retried"),
        (RetryAt(message="no"), 3, "outcome:retry failed dead"),
        (GiveUp(reason="permanent"), 1, "outcome:permanent failed dead"),
        (Crashed(reason="signal 9"), 1, "outcome:crashed failed retried"),
        (Cancelled(), 1, "outcome:cancelled"),
        (Released(), 1, "outcome:released"),
        (RetryAt(pause_kind_seconds=30.0), 1, "outcome:retry failed retried foreign:429"),
    ],
    ids=repr,
)
def test_each_end_of_an_attempt_is_counted_for_what_it_is(outcome: Outcome, attempt: int, expected: str) -> None:
    found = counted(outcome, attempt=attempt)
    assert {series for series in found if not series.startswith(("wait", "run"))} == set(expected.split())


def test_a_program_says_it_at_the_end_of_its_output() -> None:
    tail = "x" * 5000 + "\ncurl: (22) The requested URL returned error: 503\n"
    assert counted(GiveUp(reason="permanent"), output_tail=tail)["foreign:503"] == 1
    assert "foreign:503" not in counted(Done(), output_tail=tail)


def test_a_lost_lease_is_counted_as_that_and_nothing_else() -> None:
    assert counted(Done(), held=False) == {"lease_lost": 1}


def test_durations_are_counted_on_their_rung_with_their_sum() -> None:
    found = counted(Done(), run_seconds=2.0)
    assert found[f"run/{rung(2.0)}"] == 1 and found["run_us"] == 2_000_000
    assert found[f"wait/{rung(0.5)}"] == 1


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("503 Server Error: Service Unavailable for url: https://x", "503"),
        ("429 Client Error: Too Many Requests", "429"),
        ("HTTP Error 502: Bad Gateway", "502"),
        ("Client error: `GET https://x` resulted in a `429 Too Many Requests` response", "429"),
        ("The requested URL returned error: 504 Gateway Time-out", "504"),
        ("unexpected status code 503", "503"),
        ("HTTP/1.1 429", "429"),
        ("Read timed out. (read timeout=10)", "timeout"),
        ("cURL error 28: Operation timed out after 30001 milliseconds", "timeout"),
        ("connect ETIMEDOUT 10.0.0.1:443", "timeout"),
        ("order 503 is unknown", None),
        ("invoice 4290 and 5020", None),
        ("404 Client Error: Not Found", None),
        ("", None),
    ],
)
def test_foreign_troubles_are_told_from_the_words_of_http_clients(text: str, cause: str | None) -> None:
    assert foreign_cause(text) == cause


def test_a_flood_of_kinds_cannot_grow_the_worker() -> None:
    tally = Tally()
    for number in range(MOST_SERIES + 500):
        tally.count("q", f"kind-{number}", "rescued")
    assert len(tally.take()) == MOST_SERIES
    assert tally.take() == []


def test_what_could_not_be_written_is_counted_again() -> None:
    tally = Tally()
    tally.count("q", "k", "rescued", 2)
    taken = tally.take()
    tally.count("q", "k", "rescued")
    tally.give_back(taken)
    (count,) = tally.take()
    assert count.n == 3


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9467", ("127.0.0.1", 9467)),
        (":80", ("127.0.0.1", 80)),
        ("9467", ("127.0.0.1", 9467)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_an_address_is_loopback_unless_another_is_named(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address and is_loopback(address[0])


def test_an_open_address_is_told_from_a_closed_one() -> None:
    assert not is_loopback("0.0.0.0") and not is_loopback("::") and not is_loopback("web1")
