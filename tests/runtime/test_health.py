"""Judging a status: levels, sentences, and the output of a monitoring plugin."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cron2queue.runtime.alerts import AlertSettings, QueueAlerts, Threshold
from cron2queue.runtime.health import Judgement, Level, Perf, judge, plugin_output, troubles, worst
from cron2queue.runtime.sight.views import Count, MissedTick, QueueView, StatusView, UnclaimedKind, WorkerView

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
DEFAULTS = AlertSettings()


def queue(**fields: Any) -> QueueView:
    counts = {state: Count(n=n) for state, n in fields.pop("counts", {}).items()}
    return QueueView(**{"queue": "mail", "counts": counts, **fields})


def worker(*, alive: bool = True) -> WorkerView:
    return WorkerView(
        worker="w",
        host="web1",
        pid=1,
        version="1",
        queues=("mail",),
        kinds=("k",),
        alive=alive,
        beat_age=1.0,
        rss_bytes=None,
        started_at=NOW,
    )


def bad(*queues: QueueView, alerts: AlertSettings = DEFAULTS, **fields: Any) -> dict[str, Level]:
    status = StatusView(at=NOW, database="d", queues=queues, **{"workers": (worker(),), **fields})
    return {judgement.check: judgement.level for judgement in troubles(judge(status, alerts))}


def test_an_idle_queue_with_a_worker_is_well() -> None:
    assert bad(queue()) == {}


@pytest.mark.parametrize(("age", "level"), [(449, None), (450, Level.WARNING), (900, Level.CRITICAL), (9e9, Level.CRITICAL)])
def test_the_oldest_age_warns_at_half_of_the_queues_limit(age: float, level: Level | None) -> None:
    assert bad(queue(oldest_ready_seconds=age, age_limit=900.0)).get("oldest-age") is level


def test_a_limit_of_the_plan_goes_before_the_queues_own() -> None:
    alerts = AlertSettings(default=QueueAlerts(oldest_age=Threshold(None, 10)))
    assert bad(queue(oldest_ready_seconds=11, age_limit=900.0), alerts=alerts) == {"oldest-age": Level.CRITICAL}


def test_depth_counts_everything_that_is_not_begun() -> None:
    counts = {"ready": 4, "scheduled": 3, "blocked": 3, "running": 50}
    assert bad(queue(counts=counts, depth_limit=10)) == {"depth": Level.CRITICAL}
    assert bad(queue(counts=counts, depth_limit=20)) == {"depth": Level.WARNING}


def test_ready_jobs_without_a_living_worker_are_critical_unless_the_queue_is_paused() -> None:
    waiting = queue(counts={"ready": 1})
    assert bad(waiting, workers=(worker(alive=False),)) == {"no-worker": Level.CRITICAL}
    assert bad(queue(counts={"ready": 1}, paused=True), workers=()) == {"paused": Level.WARNING}
    quiet = AlertSettings(queues={"mail": QueueAlerts(no_worker=False)})
    assert bad(waiting, workers=(), alerts=quiet) == {}


def test_jobs_that_are_due_and_jobs_of_a_stopped_worker_need_a_living_one_too() -> None:
    assert bad(queue(due=Count(n=1)), workers=()) == {"no-worker": Level.CRITICAL}
    assert bad(queue(due=Count(n=1), counts={"running": 1})) == {}
    for state in ("running", "cancel_requested"):
        left = queue(counts={state: 1}, paused=True)
        assert bad(left, workers=(worker(alive=False),)) == {"no-worker": Level.CRITICAL, "paused": Level.WARNING}
    both = StatusView(at=NOW, database="d", queues=(queue(due=Count(n=2), counts={"ready": 1, "running": 3}),))
    texts = [judgement.text for judgement in troubles(judge(both, DEFAULTS))]
    assert texts == ["1 ready, 2 due, 3 left by a worker that stopped, and no worker is alive for this queue"]


def test_dead_jobs_warn() -> None:
    assert bad(queue(counts={"dead": 1})) == {"dead": Level.WARNING}


def test_refused_jobs_warn_and_have_a_limit_of_their_own() -> None:
    assert bad(queue(refused=1)) == {"refused": Level.WARNING}
    assert bad(queue(duplicates=9)) == {}
    strict = AlertSettings(queues={"mail": QueueAlerts(refused=Threshold(None, 5))})
    assert bad(queue(refused=4), alerts=strict) == {} and bad(queue(refused=5), alerts=strict) == {"refused": Level.CRITICAL}


def test_missed_ticks_unclaimed_kinds_lost_leases_and_skew_are_told() -> None:
    tick = MissedTick(name="backup", schedule="@daily", due=NOW, missed=3, last_seen=None)
    kind = UnclaimedKind(queue="mail", kind="thumbs", jobs=Count(n=2))
    assert bad(queue(lease_lost=1), missed=(tick,), unclaimed=(kind,), clock_skew=-31.0) == {
        "missed-tick": Level.CRITICAL,
        "unclaimed-kind": Level.CRITICAL,
        "lease-lost": Level.WARNING,
        "clock-skew": Level.CRITICAL,
    }


def test_each_queue_has_its_own_limits_for_ticks_and_leases() -> None:
    tick = MissedTick(name="backup", schedule="@daily", due=NOW, missed=3, last_seen=None, queue="mail")
    patient = QueueAlerts(missed_tick=Threshold(5, 9), lease_lost=Threshold(2, 3))
    alerts = AlertSettings(queues={"mail": patient})
    assert bad(queue(lease_lost=1), missed=(tick,), alerts=alerts) == {}
    assert bad(queue(lease_lost=3), alerts=alerts) == {"lease-lost": Level.CRITICAL}
    assert bad(queue(queue="other", lease_lost=1), alerts=alerts) == {"lease-lost": Level.WARNING}


def test_the_worst_level_is_critical_then_warning_then_unknown() -> None:
    assert worst([Level.OK, Level.UNKNOWN]) is Level.UNKNOWN
    assert worst([Level.UNKNOWN, Level.WARNING]) is Level.WARNING
    assert worst([Level.WARNING, Level.CRITICAL, Level.UNKNOWN]) is Level.CRITICAL
    assert worst([]) is Level.OK


def judgement(**fields: Any) -> Judgement:
    return Judgement(**{"level": Level.OK, "check": "c", "subject": "s", "text": "t", **fields})


def test_plugin_output_is_one_line_with_performance_data() -> None:
    perf = Perf(label="mail_oldest", value=12.5, unit="s", threshold=Threshold(450, 900))
    said = plugin_output([judgement(level=Level.WARNING, subject="mail", text="waits", perf=(perf,)), judgement()])
    assert said == "CRON2QUEUE WARNING - mail: waits | 'mail_oldest'=12.5s;450;900;0"


def test_a_name_cannot_end_the_line_begin_performance_data_or_break_a_label() -> None:
    perf = Perf(label="a'b=c|d\n", value=1)
    said = plugin_output([judgement(level=Level.CRITICAL, subject="evil|\nx", text="\x1b[2J|", perf=(perf,))])
    assert "\n" not in said and "\x1b" not in said
    assert said.count("|") == 1
    assert said.endswith("| 'a''b_c\\x7cd\\x0a'=1;;;0")


def test_secrets_are_masked_in_the_line() -> None:
    said = plugin_output([judgement(level=Level.CRITICAL, text="mysql://shop:Geheim2019@db/shop does not answer")])
    assert "Geheim2019" not in said and "does not answer" in said


def test_large_figures_keep_all_their_digits() -> None:
    assert "'n'=12345678;" in plugin_output([judgement(perf=(Perf(label="n", value=12_345_678),))])


def test_verbose_adds_a_line_a_judgement_with_its_remedy() -> None:
    said = plugin_output([judgement(level=Level.WARNING, remedy="do that"), judgement()], verbose=True).split("\n")
    assert said[1:] == ["WARNING c s: t (do that)", "OK c s: t"]
