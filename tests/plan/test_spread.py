"""New minutes are those that the audit proposes, for lines that are in order, and never more starts in one minute."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import crontab, judged, most_starts, standing

from cron2queue.analyser.audit import Audit
from cron2queue.crontab.schedule import Calendar
from cron2queue.plan.builder import build
from cron2queue.plan.model import Hardening, Language, PlannedJob, Project, Userland
from cron2queue.plan.spread import spread

PROJECT = Project(
    name="shop",
    language=Language.PYTHON,
    database="sqlite:////x/jobs.db",
    prefix="c2q_",
    timezone="Europe/Berlin",
    engine="sqlqueue",
    userland=Userland.GNU,
    folder="/x",
    python="/usr/bin/python3",
    lock_folder="/run/lock/cron2queue",
    harden=Hardening.BASIC,
)
CHAIN = "0 2 * * * root /opt/export_orders.sh /srv/out/x\n30 2 * * * root /opt/upload.sh /srv/out/x\n"
HOURLY_CHAIN = "0 8-18 * * * root /opt/export_orders.sh /srv/out/x\n10 8-18 * * * root /opt/upload.sh /srv/out/x\n"
BROKEN = (
    "0 * * * * root /opt/report.sh --day=$(date +%F)\n",  # cut off at the percent sign
    "*/7 * * * * root /opt/every7.sh\n",  # no interval
    "0 0 31 2 * root /opt/never.sh\n",
    "* 2 * * * root /opt/hardly_meant.sh\n",
)
LINES = (
    *(CHAIN, HOURLY_CHAIN, *BROKEN),
    *("0 * * * * root /opt/h{}.sh\n", "*/5 * * * * root /opt/f{}.sh\n", "0 2 * * * root /opt/n{}.sh\n"),
    *("@hourly root /opt/o{}.sh\n", "@daily root /opt/d{}.sh\n", "0,30 8-17 * * 1-5 root /opt/w{}.sh\n"),
    *("0 8-18 1,15 * * root /opt/m{}.sh\n", "* * * * * root /opt/a{}.sh\n", "59 23 * * 5 root /opt/z{}.sh\n"),
    "*/10 3 * * * root /opt/s{}.sh\n",
)


def planned(text: str) -> tuple[Audit, tuple[PlannedJob, ...], list[PlannedJob]]:
    """The audit, the jobs as they are, and as they are spread."""
    audit = judged(text)
    jobs = build(audit, PROJECT, owners={}).plan.jobs
    return audit, jobs, spread(jobs, audit)


def rewritten(text: str, jobs: list[PlannedJob]) -> str:
    """The crontab with the schedules of the jobs."""
    lines = text.splitlines(keepends=True)
    for job in jobs:
        assert job.verdict is not None
        assert job.settings.line is not None
        entry = job.verdict.entry
        lines[job.settings.line - 1] = f"{job.settings.schedule} {entry.user} {entry.command_text}\n"
    return "".join(lines)


def moved(text: str) -> set[int]:
    """The lines that start at another time."""
    _, before, after = planned(text)
    return {new.settings.line or 0 for old, new in zip(before, after, strict=True) if new != old}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_what_is_spread_is_what_the_audit_proposes_and_lowers_the_peak(chosen: list[str]) -> None:
    text = "".join(line.format(at) if "{}" in line else line for at, line in enumerate(chosen))
    audit, before, after = planned(text)
    proposed = dict(move for finding in standing(audit, "C2Q501") for move in finding.moves)
    assert {new.settings.entry: new.settings.schedule for old, new in zip(before, after, strict=True) if new != old} == proposed
    new = rewritten(text, after)
    assert most_starts(new) < most_starts(text) if proposed else new == rewritten(text, list(before))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=4, max_size=14))
def test_hours_days_and_intervals_stay_as_they_are_written(chosen: list[str]) -> None:
    text = "".join(line.format(at) if "{}" in line else line for at, line in enumerate(chosen))
    for old, new in zip(crontab(text).entries, crontab(rewritten(text, planned(text)[2])).entries, strict=True):
        assert isinstance(old.schedule, Calendar)
        assert isinstance(new.schedule, Calendar)
        minutes = {"minutes": old.schedule.minutes, "minute_star": old.schedule.minute_star}
        assert replace(new.schedule, **minutes) == old.schedule
        assert new.schedule.wildcard == old.schedule.wildcard
        assert new.schedule.runs_per_day == old.schedule.runs_per_day
        assert new.schedule.never_fires or new.schedule.shortest_gap == old.schedule.shortest_gap


@pytest.mark.parametrize("broken", BROKEN)
def test_a_line_that_is_to_be_corrected_keeps_its_minutes(broken: str) -> None:
    text = broken + "".join(f"0 * * * * root /opt/{name}.sh\n" for name in "abcdef")
    found = moved(text)
    assert found
    assert 1 not in found


@pytest.mark.parametrize("chain", [CHAIN, HOURLY_CHAIN])
def test_what_is_timed_after_another_keeps_its_distance(chain: str) -> None:
    hours = "2" if chain == CHAIN else "8-18"
    found = moved(
        chain + "".join(f"{minute} {hours} * * * root /opt/{name}.sh\n" for name in "abcdef" for minute in (0, 10, 30))
    )
    assert found
    assert not found & {1, 2}


def test_a_herd_that_a_comment_accepts_stays_together() -> None:
    herd = "".join(f"0 * * * * root /opt/{name}.sh\n" for name in "abcdef")
    assert moved(herd)
    assert not moved("# cron2queue: ignore-file[C2Q501] the hour is all the machine has to do\n" + herd)


def test_a_nickname_that_cannot_be_written_as_five_fields_stays() -> None:
    file = crontab("".join(f"@quarterly root /opt/{name}.sh\n" for name in "abcdef"), dialect="systemd-cron")
    assert len(file.entries) == 6
    assert standing(judged(file), "C2Q501") == []


def test_no_entry_leaves_the_window_that_a_comment_declares() -> None:
    herd = "".join(f"0 1 * * * root /opt/{name}.sh\n" for name in "abcde")
    free = planned(herd)[2]
    assert sum(job.settings.schedule != "0 1 * * *" for job in free) > 1
    windows = ("# cron2queue: window=01:00-01:00\n", "# cron2queue: window=00:50-01:09\n", "# cron2queue: window=23:00-00:30\n")
    kept = planned("".join(f"{window}0 1 * * * root /opt/w{at}{at}.sh\n" for at, window in enumerate(windows * 2)) + herd)[2]
    minutes = [int(str(job.settings.schedule).split()[0]) for job in kept if "/opt/w" in str(job.settings.command)]
    assert minutes[0::3] == [0, 0]
    assert max(minutes[1::3]) <= 9
    assert minutes[2::3] == [0, 0]
    assert any(minutes[1::3]) or any(job.settings.schedule != "0 1 * * *" for job in kept)
