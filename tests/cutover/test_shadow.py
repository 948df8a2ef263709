"""Shadow mode compared: pairing by time, what only one side has and why, and nothing outside of what both sides cover."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.cutover.journal import Step
from cron2queue.cutover.shadow import Comparison, CronRun, ShadowJob, batched, compare, paired, shadow_times
from cron2queue.runtime.settings import Overlap

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)
HOUR = NOON + timedelta(hours=1)
SHADOW = "# cron2queue shadows the next line on 2026-12-01: job\n*/5 * * * * root /bin/old\n*/5 * * * * root /bin/new\n"
RECORDED = (
    "# cron2queue records and shadows the next line on 2026-12-01: job\n#*/5 * * * * root /bin/old\n"
    "*/5 * * * * root /bin/recorder /bin/old\n*/5 * * * * root /bin/new\n"
)
REPLACED = "# cron2queue replaced the next line on 2026-12-01: job\n#*/5 * * * * root /bin/old\n*/5 * * * * root /bin/new\n"


def at(minutes: float, seconds: float = 0) -> datetime:
    return NOON + timedelta(minutes=minutes, seconds=seconds)


def cron(*minutes: float, takes: float | None = None) -> list[CronRun]:
    ends = [None if takes is None else at(each, 1 + takes) for each in minutes]
    return [CronRun(started=at(each, 1), ended=end) for each, end in zip(minutes, ends, strict=True)]


def queue(*minutes: float, begins: float | None = 3) -> list[ShadowJob]:
    return [
        ShadowJob(
            due=at(each),
            started=None if begins is None else at(each, begins),
            finished=None if begins is None else at(each, begins + 1),
        )
        for each in minutes
    ]


def both(runs: list[CronRun], jobs: list[ShadowJob], overlap: Overlap = Overlap.SKIP, until: datetime = HOUR) -> Comparison:
    return compare("job", runs, jobs, since=NOON, until=until, gap=FIVE, overlap=overlap)


def test_each_start_meets_the_job_of_its_minute() -> None:
    found = both(cron(0, 5, 10), queue(0, 5, 10))
    assert found.alike
    assert (found.cron, found.queue, found.both, found.waiting) == (3, 3, 3, 0)
    assert found.late == (2.0, 2.0, 2.0)
    assert (found.late_median, found.late_most) == (2.0, 2.0)


def test_what_only_one_side_has_is_told_with_its_time() -> None:
    found = both(cron(0, 5, 10), queue(0, 10, 15))
    assert not found.alike
    assert found.only_cron == (at(5, 1),)
    assert found.only_queue == (at(15),)
    assert (found.cron, found.queue, found.both) == (3, 3, 2)


def test_a_start_that_the_overlap_rule_left_out_says_so_and_only_for_rules_that_leave_out() -> None:
    slow = [ShadowJob(due=at(0), started=at(0, 3), finished=at(7))]
    assert both(cron(0, 5), slow).left_out == 1
    assert both(cron(0, 5), slow, Overlap.QUEUE).left_out == 0
    assert both(cron(0, 5), queue(0)).left_out == 0


def test_a_job_that_no_worker_took_is_not_alike() -> None:
    found = both(cron(0, 5), [*queue(0), *queue(5, begins=None)])
    assert (found.waiting, found.alike) == (1, False)
    assert found.late == (2.0,)


def test_runs_as_long_as_crons_would_meet_each_other_in_the_queue() -> None:
    assert both(cron(0, 5, 10, 15, takes=400), queue(0, 5, 10, 15)).would_skip == 2
    assert both(cron(0, 5, 10, 15, takes=200), queue(0, 5, 10, 15)).would_skip == 0
    assert both(cron(0, 5, 10, 15), queue(0, 5, 10, 15)).would_skip is None
    assert both(cron(0, 5, takes=400), queue(0, 5), Overlap.PARALLEL).would_skip is None


def test_nothing_is_judged_outside_of_what_both_sides_cover() -> None:
    early_and_late = both(cron(-5, 0, 5), queue(-5, 0, 5, 10, 15), until=at(7))
    assert early_and_late.alike
    assert (early_and_late.cron, early_and_late.queue) == (2, 2)


def test_in_the_last_minute_the_other_side_is_not_missing_yet() -> None:
    assert both(cron(0, 5), queue(0), until=at(5, 1)).alike
    assert both(cron(0), queue(0, 5), until=at(5, 30)).alike
    assert not both(cron(0, 5), queue(0), until=at(7)).alike


def test_items_that_one_run_of_a_producer_made_are_one() -> None:
    items = [*queue(0), *queue(0.2), *queue(0.5, begins=None), *queue(5)]
    first, second = batched(items, FIVE)
    assert (first.due, first.started) == (at(0), None)
    assert (second.due, second.started) == (at(5), at(5, 3))


@given(
    st.lists(st.integers(0, 200), unique=True, max_size=30),
    st.lists(st.integers(0, 200), unique=True, max_size=30),
)
def test_every_start_and_every_job_is_in_one_pair_or_alone(ran: list[int], made: list[int]) -> None:
    runs, jobs = cron(*sorted(ran)), queue(*sorted(made))
    pairs, lone_runs, lone_jobs = paired(runs, jobs, timedelta(seconds=30))
    assert sorted(run.started for run in [*lone_runs, *(run for run, _ in pairs)]) == [run.started for run in runs]
    assert sorted(job.due for job in [*lone_jobs, *(job for _, job in pairs)]) == [job.due for job in jobs]
    assert {job.due for _, job in pairs} == {at(minute) for minute in set(ran) & set(made)}


def step(number: int, state: str, blocks: str, target: str = "/etc/crontab") -> Step:
    return Step(
        number=number,
        kind="apply",
        state=state,
        target=target,
        at=at(number).isoformat(),
        before="",
        after="",
        backup="",
        blocks={"job": blocks} if blocks else {},
    )


@pytest.mark.parametrize("block", [SHADOW, RECORDED])
def test_the_journal_tells_since_when_and_until_when_an_entry_stood_in_shadow(block: str) -> None:
    still = shadow_times([step(1, "done", block), step(2, "done", block)])
    assert (still["job"].since, still["job"].until) == (at(1), None)
    ended = shadow_times([step(1, "done", block), step(2, "done", REPLACED)])
    assert (ended["job"].since, ended["job"].until) == (at(1), at(2))
    again = shadow_times([step(1, "done", block), step(2, "done", ""), step(3, "done", block)])
    assert (again["job"].since, again["job"].until) == (at(3), None)


def test_steps_that_did_not_happen_and_other_crontabs_say_nothing() -> None:
    assert shadow_times([step(1, "void", SHADOW), step(2, "begun", SHADOW), step(3, "done", REPLACED)]) == {}
    assert shadow_times([step(1, "done", SHADOW), step(2, "done", "", "crontab of www")])["job"].until is None
