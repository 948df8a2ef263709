"""The engines of Celery: files that their own tools take, schedules that are proved, and refusals that say what to do."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.generator.celery_schedule import BeatLine, beat_lines, fires_of
from cron2queue.generator.engine import CannotConvert
from cron2queue.runtime.celery.beat import ZonedCrontab

Convert = Callable[..., Any]
TEXT = "*/5 * * * * root bin/work --all\n0 12 1,15 * 5 www-data bin/nightly\n@reboot root bin/boot\n"
NAMES = {"work": "queue", "nightly": "queue", "boot": "queue"}


def schedule_of(fields: str) -> Any:
    return parse(f"{fields} root x\n".encode(), path="t", dialect=dialect_named("debian"), kind=Kind.SYSTEM).entries[0].schedule


@pytest.fixture(params=["celery", "celery-beat"])
def converted(request: pytest.FixtureRequest, convert: Convert, tmp_path: Path) -> tuple[str, Path]:
    prepared = convert(TEXT, decisions=NAMES, engine=request.param)
    assert prepared.draft.refused == {}
    return request.param, tmp_path / "out"


def test_the_application_is_made_of_the_plan(converted: tuple[str, Path]) -> None:
    name, folder = converted
    code = (
        "from celery_app import app\n"
        "print(sorted(t for t in app.tasks if t.startswith('c2q.')))\n"
        "print([q.name for q in app.conf.task_queues], app.conf.task_acks_late, app.conf.task_reject_on_worker_lost)\n"
        "print(sorted(app.conf.beat_schedule))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    tasks, settings, beat = ran.stdout.splitlines()
    assert tasks == "['c2q.boot', 'c2q.nightly', 'c2q.work']"
    assert "c2q.shop.default" in settings
    assert settings.endswith("True True")
    assert beat == ("['nightly-1', 'nightly-2', 'work-1']" if name == "celery-beat" else "[]")


def test_producers_stay_in_cron_or_move_to_beat(converted: tuple[str, Path]) -> None:
    name, folder = converted
    lines = [line for line in (folder / "crontab.new").read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) == (1 if name == "celery-beat" else 3)
    assert all("cron2queue.runtime enqueue" in line and "flock" in line and "timeout" in line for line in lines)


@pytest.mark.needs("systemd-analyze")
def test_units_pass_systemds_own_check(converted: tuple[str, Path]) -> None:
    folder = converted[1] / "units/systemd"
    worker = next(folder.glob("*@.service"))
    shutil.copyfile(worker, str(worker).replace("@.", "@default."))
    units = [str(each) for each in folder.glob("*.service") if "@." not in each.name]
    assert len(units) == (3 if converted[0] == "celery-beat" else 2)
    ran = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert [line for line in ran.stderr.splitlines() if "cron2queue-shop" in line] == []


def test_times_stand_above_the_longest_job(convert: Convert, tmp_path: Path) -> None:
    decisions = {"work": "queue"}
    convert("7 3 * * * root bin/work\n", decisions=decisions, engine="celery")
    convert(
        "7 3 * * * root bin/work\n",
        engine="celery",
        edit=lambda plan: "\n".join("timeout = 5000" if line.startswith("timeout") else line for line in plan.split("\n")),
    )
    broker = (tmp_path / "out/units/rabbitmq/cron2queue-shop.conf").read_text()
    assert int(broker.rpartition("= ")[2]) > 5010 * 1000
    unit = next((tmp_path / "out/units/systemd").glob("*@*.service.d/plan.conf")).read_text()
    assert "TimeoutStopSec=5040s" in unit


def test_a_job_without_a_time_limit_is_refused(convert: Convert) -> None:
    convert("7 3 * * * root bin/work\n", decisions={"work": "queue"}, engine="celery")
    again = convert(
        "7 3 * * * root bin/work\n",
        engine="celery",
        edit=lambda plan: "\n".join(line for line in plan.split("\n") if not line.startswith("timeout")),
    )
    assert "set its timeout" in again.draft.refused["work"]


def test_celery_and_sqlqueue_do_not_share_a_table(convert: Convert) -> None:
    convert(TEXT, decisions=NAMES, engine="celery")
    again = convert(TEXT, engine="celery", edit=lambda plan: plan + '\n[engines]\nnightly = "sqlqueue"\n')
    assert "nightly is for sqlqueue" in again.draft.refused["work"]
    assert "nightly" not in again.draft.refused


def test_beat_refuses_a_start_that_it_would_move(convert: Convert) -> None:
    prepared = convert("30 2 * * * root bin/nightly\n", decisions={"nightly": "queue"}, engine="celery-beat")
    assert "2027-03-28" in prepared.draft.refused["nightly"]


@pytest.mark.parametrize("fields", ["0 0 30 2 *", "0 0 31 4,6 *"])
def test_beat_refuses_what_never_fires(fields: str) -> None:
    with pytest.raises(CannotConvert, match="never fires"):
        beat_lines(schedule_of(fields), ZoneInfo("Europe/Berlin"), datetime(2027, 1, 1, tzinfo=UTC))


def celerys_own(line: BeatLine, start: datetime, end: datetime) -> Iterator[datetime]:
    """Ask Celery's crontab at each minute, as beat does."""
    from celery import Celery

    now = [start]
    own = ZonedCrontab(zone=line.zone, **dict(line.fields))
    own.app = Celery("t", set_as_current=False)
    own.nowfun = lambda: now[0]
    last = start
    while now[0] < end:
        if own.is_due(last)[0]:
            last = now[0]
            yield now[0]
        now[0] += timedelta(minutes=1)


@pytest.mark.parametrize(
    "fields",
    ["30 2 * * *", "*/30 * * * *", "15 */2 * * *", "15,45 1-3 * * *", "0 3 1,15 * 0", "0 12 * * 7", "0 3 31 10 1"],
)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
def test_the_model_of_beat_is_celery_itself_at_clock_changes(fields: str, zone: str) -> None:
    for day in (datetime(2027, 3, 13, 20), datetime(2027, 3, 27, 20), datetime(2027, 4, 3, 8), datetime(2027, 10, 30, 18)):
        start = day.replace(tzinfo=UTC)
        end = start + timedelta(hours=14)
        lines = beat_lines(schedule_of(fields), ZoneInfo(zone), start)
        theirs = sorted({at for line in lines for at in celerys_own(line, start - timedelta(minutes=1), end) if at >= start})
        assert [fire.at.astimezone(UTC) for fire in fires_of(lines, start, end)] == theirs


def test_generated_code_holds_no_foreign_text(converted: tuple[str, Path]) -> None:
    tree = ast.parse((converted[1] / "celery_app.py").read_text())
    assert "bin/work" not in ast.unparse(tree)
    assert "application" in ast.unparse(tree)


def test_the_review_says_what_is_to_be_started_and_where(converted: tuple[str, Path]) -> None:
    name, folder = converted
    review = (folder / "REVIEW.md").read_text()
    assert "CRON2QUEUE_BROKER_URL" in review
    assert "systemctl enable --now cron2queue-shop-relay" in review
    assert ("cron2queue-shop-beat" in review) is (name == "celery-beat")


def test_a_job_whose_work_is_lost_when_it_fails_is_marked_for_brokers_that_may_lose_it(
    convert: Convert, tmp_path: Path
) -> None:
    text = "# cron2queue: lost-on-failure=yes\n7 3 * * * root bin/work\n8 3 * * * root bin/other\n"
    convert(text, decisions={"work": "queue", "other": "queue"}, engine="celery")
    plan = (tmp_path / "out/cron2queue.toml").read_text()
    work, other = plan.partition("[jobs.work]")[2].partition("[jobs.other]")[::2]
    assert "must-not-be-lost = true" in work
    assert "must-not-be-lost" not in other


def test_beat_and_cron_share_one_application_and_one_set_of_units(convert: Convert, tmp_path: Path) -> None:
    """What beat cannot keep stays with cron's line: the workers are the same."""
    text = "*/5 * * * * root bin/work\n30 2 * * * root bin/nightly\n"
    convert(text, decisions={"work": "queue", "nightly": "queue"}, engine="celery-beat")

    def nightly_by_cron(plan: str) -> str:
        head, table, own = plan.partition("[jobs.nightly]")
        own = re.sub(r"^timeout = .*", "timeout = 5000", own, count=1, flags=re.MULTILINE)
        return f'{head}{table}{own}\n[engines]\nnightly = "celery"\n'

    prepared = convert(text, engine="celery-beat", edit=nightly_by_cron)
    assert prepared.draft.refused == {}
    folder = tmp_path / "out"
    application = (folder / "celery_app.py").read_text()
    assert "'work'" in application and "'nightly'" not in application
    lines = [line for line in (folder / "crontab.new").read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1 and "enqueue nightly" in lines[0]
    (drop_in,) = folder.glob("units/systemd/*@*.service.d/plan.conf")
    assert "TimeoutStopSec=5040s" in drop_in.read_text()
    programs = (folder / "units/supervisor/cron2queue-shop.conf").read_text()
    names = re.findall(r"^\[program:shop-(.*)\]$", programs, flags=re.MULTILINE)
    assert names[:2] == ["relay", "beat"] and len(names) == 3
    paths = [artifact.path for artifact in prepared.draft.artifacts]
    assert len(paths) == len(set(paths))
