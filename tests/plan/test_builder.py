"""What the builder chooses for an entry: queue, attempts, overlap, environment."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cron2queue.analyser.audit import audit
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.plan.builder import Built, build
from cron2queue.plan.model import Hardening, Language, PlannedJob, Project, Userland
from cron2queue.runtime.settings import Missed, Overlap, Retry

PROJECT: dict[str, Any] = {
    "name": "shop",
    "language": Language.PYTHON,
    "database": "sqlite:////x/jobs.db",
    "prefix": "c2q_",
    "timezone": "UTC",
    "engine": "sqlqueue",
    "userland": Userland.GNU,
    "folder": "/x",
    "python": "/usr/bin/python3",
    "lock_folder": "/run/lock/cron2queue",
    "harden": Hardening.BASIC,
}
BOTH = "user-waits=no lost-on-failure=yes overlap-hurts=yes"


def built(text: str, dialect: str = "debian") -> Built:
    file = parse(text.encode(), path="/etc/crontab", dialect=dialect_named(dialect), kind=Kind.SYSTEM)
    judged = audit([file], EvidenceBook.empty("no logs"), at=datetime(2026, 11, 30, tzinfo=UTC), zone=ZoneInfo("UTC"))
    return build(judged, Project(**PROJECT), owners={})


def job(line: str, signs: str = BOTH) -> PlannedJob:
    return built(f"# cron2queue: {signs}\n{line}\n").plan.jobs[0]


@pytest.mark.parametrize(
    ("command", "queue"),
    [
        ("bin/send-mails", "mail"),
        ("php bin/newsletter.php", "mail"),
        ("bin/import-stock", "imports"),
        ("bin/fetch_prices", "imports"),
        ("bin/resize-images", "media"),
        ("bin/make-pdf", "media"),
        ("bin/monthly-report", "reports"),
        ("bin/work", "critical"),
    ],
)
def test_queues_are_by_character(command: str, queue: str) -> None:
    assert job(f"*/10 * * * * www-data {command}").settings.queue == queue


def test_what_a_user_waits_for_is_critical_and_goes_first() -> None:
    waited = job("*/10 * * * * www-data bin/make-pdf", "user-waits=yes lost-on-failure=yes").settings
    other = job("*/10 * * * * www-data bin/make-pdf").settings
    assert (waited.queue, other.queue) == ("critical", "media")
    assert waited.priority < other.priority


def test_lost_work_is_tried_more_often() -> None:
    assert job("*/10 * * * * www-data bin/fetch").settings.max_attempts == 8
    lenient = job("*/10 * * * * www-data bin/fetch", "user-waits=no lost-on-failure=no overlap-hurts=yes mostly-empty=yes")
    assert lenient.settings.max_attempts < 8


def test_a_poller_that_finds_nothing_merges_its_ticks() -> None:
    poller = job("*/10 * * * * www-data bin/fetch", "mostly-empty=yes user-waits=yes lost-on-failure=no overlap-hurts=no")
    assert poller.settings.overlap in (Overlap.MERGE, Overlap.SKIP)
    assert poller.settings.retry != Retry.NONE


def test_a_rare_job_whose_work_would_be_lost_makes_up_for_a_missed_tick() -> None:
    assert job("0 3 * * * www-data bin/fetch").settings.missed is Missed.ONCE
    assert job("*/5 * * * * www-data bin/fetch").settings.missed is Missed.SKIP


def test_a_job_that_is_said_to_take_long_is_not_killed_early() -> None:
    assert job("0 * * * * www-data bin/work", f"{BOTH} takes=3h").settings.timeout == 6 * 3600


def test_only_declared_variables_reach_the_plan_and_only_those_above() -> None:
    made = built("A=1\nSHELL=/bin/bash\n5 * * * * www-data bin/work\nB=2\n5 * * * * www-data bin/other\n").plan.jobs
    assert [dict(each.settings.environment) for each in made] == [{"A": "1"}, {"A": "1", "B": "2"}]
    assert [each.settings.shell for each in made] == ["/bin/bash", "/bin/bash"]


def test_a_queue_is_never_refused_for_a_job_that_merely_runs() -> None:
    made = built(f"# cron2queue: {BOTH}\n0 3 * * * www-data bin/make-pdf\n").plan
    queue = made.queues[0]
    assert queue.age_limit is not None
    assert queue.age_limit >= 2 * (made.jobs[0].settings.timeout or 0)


def test_queues_start_small_and_say_why() -> None:
    made = built(
        "".join(f"# cron2queue: {BOTH}\n*/10 * * * * www-data bin/{word}\n" for word in ("fetch", "mail", "pdf", "report"))
    )
    assert {queue.concurrency for queue in made.plan.queues} <= {1, 2}
    assert all(made.whys[queue.name] for queue in made.plan.queues)


def test_mail_may_be_sent_twice_and_the_plan_says_so() -> None:
    assert any("send twice" in note for note in job("*/10 * * * * www-data bin/send-mails").notes)


def test_documents_and_pictures_have_a_memory_limit() -> None:
    assert job("*/10 * * * * www-data bin/make-pdf").settings.memory_limit == 2**30


def test_a_zone_of_its_own_is_the_schedule_s_only_where_the_daemon_heeds_it() -> None:
    text = "5 * * * * root a\nCRON_TZ=America/New_York\n5 3 * * * root b\n"
    assert [each.settings.zone for each in built(text, "cronie").plan.jobs] == [None, "America/New_York"]
    assert [each.settings.zone for each in built(text).plan.jobs] == [None, None]
