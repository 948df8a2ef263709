"""The worker's log tells each attempt that did not succeed, and what follows from it."""

import logging
from datetime import UTC, datetime

import pytest

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
from cron2queue.runtime.worker.telling import tell

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def settlement(outcome: Outcome, *, attempt: int = 1) -> Settlement:
    job = Job(
        id=1, public_id="8b2c", queue="q", kind="export", key=None, payload_text="null", attempt=attempt, max_attempts=3,
        crashes=0, lease=Lease(token="t", worker="w"),
    )  # fmt: skip
    return Settlement(job=job, outcome=outcome, retry_delay=2.5, record=AttemptRecord(outcome_name="failed"))


@pytest.mark.parametrize(
    ("outcome", "attempt", "said", "level"),
    [
        (RetryAt(delay_seconds=None, message="status 1"), 1, "failed, again in 2.5 s", logging.INFO),
        (RetryAt(delay_seconds=None, message="status 1"), 3, "dead", logging.WARNING),
        (Crashed(reason="signal", message="killed"), 2, "failed, again in 2.5 s", logging.INFO),
        (GiveUp(reason="permanent", message="no such order"), 1, "dead", logging.WARNING),
        (Cancelled(message="asked"), 1, "cancelled", logging.INFO),
        (Released(message="stopping"), 1, "given back, no attempt used", logging.INFO),
    ],
)
def test_an_attempt_without_success_is_one_line(
    caplog: pytest.LogCaptureFixture, outcome: Outcome, attempt: int, said: str, level: int
) -> None:
    with caplog.at_level(logging.INFO, logger="cron2queue.worker"):
        tell(settlement(outcome, attempt=attempt))
    (record,) = caplog.records
    assert (record.message, record.levelno) == (said, level)
    facts = vars(record)
    assert (facts["kind"], facts["job"], facts["attempt"]) == ("export", "8b2c", f"{attempt}/3")
    assert facts["because"] == outcome.message


def test_success_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="cron2queue.worker"):
        tell(settlement(Done()))
    assert caplog.records == []
