"""Beat enqueues ticks into the job table, as cron's lines would, and without a broker."""

import json
from pathlib import Path

import pytest
from workbench import Workbench

from cron2queue.errors import UsageError
from cron2queue.runtime.celery.address import BROKER_VARIABLE
from cron2queue.runtime.celery.application import application
from cron2queue.runtime.celery.beat import TickScheduler

NOWHERE = {BROKER_VARIABLE: "amqp://guest:guest@127.0.0.1:1//"}
EVERY_MINUTE = {"minute": "*", "hour": "*", "day_of_month": "*", "month_of_year": "*", "day_of_week": "*", "zone": "UTC"}
PLAN = '[jobs.a]\nhandler = "command"\ncommand = "true"\ntimeout = 60\noverlap = "parallel"\nscope = "database"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cron2queue.toml").write_text(PLAN)
    return tmp_path


def scheduler(folder: Path, url: str) -> TickScheduler:
    app = application(
        folder / "cron2queue.toml",
        environment={**NOWHERE, "CRON2QUEUE_DATABASE_URL": url},
        beat={"a": [EVERY_MINUTE, EVERY_MINUTE]},
    )
    return TickScheduler(app)


def test_two_entries_of_one_minute_are_one_job(folder: Path) -> None:
    bench = Workbench(folder, f"sqlite:///{folder / 'jobs.db'}")
    beat = scheduler(folder, bench.url)
    for entry in list(beat.schedule.values()):
        beat.apply_entry(entry)
    keys = {row[0].decode() for row in bench.rows("SELECT job_key FROM {jobs}")}
    assert len(beat.schedule) == 2
    assert len(keys) in (1, 2)  # two only if the minute has changed in between
    assert all(key.startswith("a ") and key.endswith(":00Z") for key in keys)
    bench.close()


def test_an_entry_that_was_never_due_is_not_due_at_the_start(folder: Path) -> None:
    """Beat makes up for nothing by itself: the time that it was away is not its affair."""
    beat = scheduler(folder, f"sqlite:///{folder / 'jobs.db'}")
    due = [entry.is_due() for entry in beat.schedule.values()]
    assert all(0 < next_time <= 60 for _, next_time in due)


def test_a_database_that_is_away_costs_the_tick_and_not_beat(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    beat = scheduler(folder, "postgresql+psycopg://nobody@127.0.0.1:1/none")
    beat.apply_entry(next(iter(beat.schedule.values())))
    assert "a was not enqueued" in caplog.text


def test_a_job_that_the_plan_has_not_is_told(folder: Path) -> None:
    with pytest.raises(UsageError, match="no job 'b' for beat"):
        application(folder / "cron2queue.toml", environment=NOWHERE, beat=json.loads(json.dumps({"b": [EVERY_MINUTE]})))
