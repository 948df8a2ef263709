"""Hooks hear each thing once, at most so often, and again when they could not be reached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from databases import Database, open_database
from scenes import accept, claim, finish, kill, register

from cron2queue.runtime.alerts import AlertSettings, QueueAlerts, Threshold
from cron2queue.runtime.health import judge
from cron2queue.runtime.hooks.delivery import Delivery
from cron2queue.runtime.hooks.hook import ALARMS, Event, Hook, Occasion
from cron2queue.runtime.hooks.marks import Marks
from cron2queue.runtime.hooks.notification import MOST_FAILURES, Round
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.sight.views import MissedTick, StatusView
from cron2queue.runtime.trouble import QueueFull

DUE = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)


@dataclass
class Listener:
    """A hook that remembers, and fails when told to."""

    database: Database
    hooks: Sequence[Hook] = (Hook(name="page", command=("page",)),)
    fails: bool = False
    heard: list[Event] = field(default_factory=list)
    ahead: timedelta = timedelta(seconds=60)
    alerts: AlertSettings = AlertSettings()  # noqa: RUF009

    def tell(self, hook: Hook, event: Event) -> Delivery:
        if not self.fails:
            self.heard.append(event)
        return Delivery(hook=hook.name, problem="no route" if self.fails else "")

    def round(self, **fields: object) -> list[str]:
        """One round some time later; what was heard in it."""
        before = len(self.heard)
        with Inspection.open(self.database.url) as inspection:
            status: StatusView = inspection.status()
            status = replace(status, at=status.at + self.ahead, **fields)  # type: ignore[arg-type]
            self.ahead += timedelta(seconds=60)
            told = Round(inspection=inspection, marks=Marks(self.database.store()), hooks=self.hooks, tell=self.tell)
            self.deliveries = list(told.run(status, list(judge(status, self.alerts))))
        return [f"{event.occasion} {event.subject}: {event.text}" for event in self.heard[before:]]


NOBODY = "over-limit rare: 1 ready, and no worker is alive for this queue"


@pytest.fixture(params=("sqlite", "postgresql"))
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    """On a file and on a server; the marks, which decide who tells, are tested on every database below."""
    opened = open_database(request.param, tmp_path)
    register(opened.store())
    yield Listener(opened)
    opened.close()


def test_a_death_is_told_once_and_not_what_was_before_the_first_look(listener: Listener) -> None:
    store = listener.database.store()
    accept(store, 3)
    kill(store)
    assert listener.round() == []
    listener.database.change("UPDATE {jobs} SET finished_at = finished_at - 90000000 WHERE state = 'dead'")
    kill(store, message="disk full", output="the end of it")
    listener.database.change("UPDATE {jobs} SET finished_at = finished_at + 90000000 WHERE message = 'disk full'")
    assert listener.round() == ["dead send-mail: 1 job is dead: disk full"]
    assert listener.heard[0].output == "the end of it" and len(listener.heard[0].jobs) == 1
    assert listener.round() == []


def test_many_deaths_of_one_error_are_one_event(listener: Listener) -> None:
    store = listener.database.store()
    listener.round()
    accept(store, 7)
    kill(store, 7)
    listener.database.change("UPDATE {jobs} SET finished_at = finished_at + 90000000")
    assert listener.round() == ["dead send-mail: 7 jobs are dead: order 4711 is unknown"]
    assert (listener.heard[0].count, len(listener.heard[0].jobs)) == (7, 5)


def test_a_hook_that_could_not_be_told_is_told_the_next_time(listener: Listener) -> None:
    store = listener.database.store()
    listener.round()
    accept(store, 1)
    kill(store)
    listener.database.change("UPDATE {jobs} SET finished_at = finished_at + 90000000")
    listener.fails = True
    assert listener.round() == [] and listener.deliveries == [Delivery(hook="page", problem="no route")]
    listener.fails = False
    assert listener.round() == ["dead send-mail: 1 job is dead: order 4711 is unknown"]


def test_what_a_hook_did_not_hear_comes_however_long_it_was_away_and_does_not_count(listener: Listener) -> None:
    listener.hooks = (Hook(name="page", command=("page",), at_most_per_hour=2),)
    ticks = tuple(MissedTick(name=f"e{n}", schedule="@daily", due=DUE, missed=1, last_seen=None) for n in range(5))
    listener.fails = True
    for _ in range(5):
        assert listener.round(missed=ticks) == []
        assert len(listener.deliveries) == MOST_FAILURES
    listener.fails = False
    assert len(listener.round(missed=ticks[:2])) == 2
    assert [event.suppressed for event in listener.heard] == [0, 0]


def test_one_event_that_a_hook_cannot_bear_keeps_no_other_back(listener: Listener) -> None:
    ticks = tuple(MissedTick(name=f"e{n}", schedule="@daily", due=DUE, missed=1, last_seen=None) for n in range(5))
    tell = listener.tell
    listener.tell = lambda hook, event: Delivery(hook="page", problem="no") if event.subject == "e0" else tell(hook, event)  # type: ignore[method-assign]
    assert len(listener.round(missed=ticks)) == 4
    assert listener.round(missed=ticks) == [] and listener.deliveries == [Delivery(hook="page", problem="no")]


def test_refused_jobs_are_told_where_the_plan_calls_them_critical(listener: Listener) -> None:
    store = listener.database.store()
    store.set_limit("queue", "default", by="t", depth=1)
    with pytest.raises(QueueFull):
        accept(store, 2)
    store.close()
    assert listener.round() == []
    listener.alerts = AlertSettings(default=QueueAlerts(refused=Threshold(None, 1)))
    assert listener.round() == ["over-limit default: 2 jobs were refused in the last hour"]


def test_a_queue_over_its_limit_is_told_at_the_change_and_again_after_it_was_well(listener: Listener) -> None:
    store = listener.database.store()
    store.set_limit("queue", "default", by="t", depth=2)
    assert listener.round() == []
    accept(store, 2)
    assert listener.round() == ["over-limit default: 2 jobs wait, limit 2"]
    assert listener.round() == []
    finish(store, 2)
    assert listener.round() == []
    accept(store, 2)
    assert listener.round() == ["over-limit default: 2 jobs wait, limit 2"]


def test_what_is_well_again_is_told_again_also_when_nothing_is_seen_of_it_in_between(listener: Listener) -> None:
    """A kind that somebody knows now, and a queue of which no job is left, are in no look any more."""
    store = listener.database.store()
    accept(store, 1, kind="new-kind")
    accept(store, 1, queue="rare", key="a")
    news = ["over-limit new-kind: 1 ready in queue default, and no living worker knows the kind", NOBODY]
    assert sorted(listener.round()) == sorted(news)
    told = {event.subject: (event.queue, event.kind) for event in listener.heard}
    assert told == {"new-kind": ("default", "new-kind"), "rare": ("rare", None)}
    listener.database.change("DELETE FROM {jobs}")
    assert listener.round() == []
    accept(store, 1, kind="new-kind")
    accept(store, 1, queue="rare", key="a")
    assert sorted(listener.round()) == sorted(news)
    assert listener.round() == []


def test_of_two_hooks_each_keeps_its_own_marks_whatever_their_names(listener: Listener) -> None:
    listener.hooks = [Hook(name=name, command=("page",)) for name in ("a", "a:b", "ä" * 50)]
    accept(listener.database.store(), 1, queue="rare", key="a")
    assert listener.round() == [NOBODY] * 3
    assert listener.round() == []


def test_a_missed_tick_is_told_once_for_each_absence(listener: Listener) -> None:
    tick = MissedTick(name="backup", schedule="30 2 * * *", due=DUE, missed=1, last_seen=None)
    expected = "missed-tick backup: {} missed since 2026-11-{} 02:30 UTC (30 2 * * *)"
    assert listener.round(missed=(tick,)) == [expected.format(1, 30)]
    assert listener.round(missed=(replace(tick, missed=2),)) == []
    assert listener.round(missed=()) == []
    later = replace(tick, due=DUE.replace(day=29))
    assert listener.round(missed=(later,)) == [expected.format(1, 29)]


def test_of_two_hosts_that_look_at_the_same_time_one_tells(listener: Listener) -> None:
    tick = MissedTick(name="backup", schedule="@daily", due=DUE, missed=1, last_seen=None)
    other = Listener(listener.database)
    assert len(listener.round(missed=(tick,))) + len(other.round(missed=(tick,))) == 1


def test_a_hook_is_told_at_most_so_often_an_hour_and_then_how_much_it_missed(listener: Listener) -> None:
    listener.hooks = (Hook(name="page", command=("page",), at_most_per_hour=2),)
    ticks = tuple(MissedTick(name=f"e{n}", schedule="@daily", due=DUE, missed=1, last_seen=None) for n in range(5))
    assert len(listener.round(missed=ticks)) == 2
    listener.ahead += timedelta(hours=1)
    assert len(listener.round(missed=(replace(ticks[0], due=DUE.replace(day=29)),))) == 1
    assert listener.heard[-1].suppressed == 3


def test_a_hook_hears_only_what_it_asked_for(listener: Listener) -> None:
    listener.hooks = (Hook(name="page", command=("page",), on=ALARMS - {Occasion.MISSED_TICK}),)
    tick = MissedTick(name="backup", schedule="@daily", due=DUE, missed=1, last_seen=None)
    assert listener.round(missed=(tick,)) == []


def test_output_is_told_job_by_job_as_cron_mailed_it(listener: Listener) -> None:
    listener.hooks = (Hook(name="mail", mail=("root",), on=frozenset({Occasion.OUTPUT})),)
    store = listener.database.store()
    listener.round()
    accept(store, 2)
    kill(store, output="it broke\n")
    finish(store)
    listener.database.change("UPDATE {jobs} SET finished_at = finished_at + 90000000")
    assert listener.round() == ["output send-mail: dead, and it printed something"]
    assert listener.heard[0].output == "it broke\n"


def test_marks_are_moved_by_compare_and_swap(database: Database) -> None:
    first, second = Marks(database.store()), Marks(database.store())
    assert first.read("m") is None
    assert first.move("m", None, 1) and not second.move("m", None, 5)
    assert second.move("m", 1, 2) and not first.move("m", 1, 3)
    assert first.read("m") == 2


def test_a_worker_never_meets_a_hook(sqlite_database: Database, tmp_path: Path) -> None:
    """A hook that hangs delays its own round only: claims and settles go on beside it."""
    store = sqlite_database.store()
    register(store)
    accept(store, 2)
    marker = tmp_path / "begun"

    def tell(hook: Hook, event: Event) -> Delivery:
        marker.write_text(event.subject)
        (job,) = claim(store)
        assert job.kind == "send-mail"
        finish(store)
        return Delivery(hook=hook.name)

    tick = MissedTick(name="backup", schedule="@daily", due=DUE, missed=1, last_seen=None)
    with Inspection.open(sqlite_database.url) as inspection:
        status = replace(inspection.status(), missed=(tick,))
        hooks = (Hook(name="page", command=("page",)),)
        list(Round(inspection=inspection, marks=Marks(sqlite_database.store()), hooks=hooks, tell=tell).run(status, []))
    assert marker.read_text() == "backup"
