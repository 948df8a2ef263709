"""Load and spreading are exact: counted again here, minute by minute, from the fires themselves."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import AT, crontab, judged, most_starts, standing

from cron2queue.analyser.bitcount import add, at_least, counters, minutes_of, peak, smeared, take
from cron2queue.analyser.examples import subject_of
from cron2queue.analyser.load import burdens_of, load_of
from cron2queue.analyser.rule import Example
from cron2queue.analyser.spreading import Calendars, spread
from cron2queue.crontab.schedule import Calendar

SETS = st.lists(st.integers(min_value=0, max_value=(1 << 40) - 1), max_size=12)


@given(SETS)
def test_bit_counting_agrees_with_counting_one_by_one(sets: list[int]) -> None:
    planes, plain = counters(sets), Counter(minute for bits in sets for minute in minutes_of(bits))
    top, where = peak(planes, (1 << 40) - 1)
    assert top == max(plain.values(), default=0)
    if top:
        assert set(minutes_of(where)) == {minute for minute, count in plain.items() if count == top}
    for level in range(1, top + 2):
        assert set(minutes_of(at_least(planes, level))) == {minute for minute, count in plain.items() if count >= level}


@given(SETS, st.integers(min_value=0, max_value=(1 << 40) - 1))
def test_taking_undoes_adding(sets: list[int], bits: int) -> None:
    planes = counters(sets)
    before = [at_least(planes, level) for level in range(1, 14)]
    add(planes, bits)
    take(planes, bits)
    assert [at_least(planes, level) for level in range(1, 14)] == before


@given(st.integers(min_value=0, max_value=(1 << 40) - 1), st.integers(min_value=1, max_value=20))
def test_a_smeared_set_holds_each_start_and_the_minutes_after_it(bits: int, length: int) -> None:
    assert set(minutes_of(smeared(bits, length))) == {m + i for m in minutes_of(bits) for i in range(length)}


KINDS = (
    "",
    "# cron2queue: takes=90m\n",
    "# cron2queue: takes=10m mostly-empty=yes overlap-hurts=yes\n",
    "# cron2queue: takes=40m user-waits=yes lost-on-failure=yes\n",
)
HERDS = (
    "".join(f"0 * * * * root /opt/{name}.sh\n" for name in "abcde"),
    "".join(f"*/5 * * * * root /opt/{name}.sh\n" for name in "abcdef"),
    "".join(f"0,30 2 * * * root /opt/{name}.sh\n" for name in "abcd") + "0 2 * * 1 root /opt/x.sh\n@hourly root /opt/y.sh\n",
    "".join(f"@daily root /opt/{name}.sh\n" for name in "abcdefgh") + "* * * * * root /opt/z.sh\n",
    "".join(f"59 23 {day} * * root /opt/{name}.sh\n" for name in "abc" for day in ("1", "*", "1,15")),
)


@pytest.mark.parametrize("text", HERDS)
def test_the_proposed_minutes_lower_the_peak_when_they_are_written_into_the_crontab(text: str) -> None:
    subject = subject_of(text)
    proposal = spread(burdens_of(subject, subject.entries), target=3)
    assert proposal is not None
    lines = text.splitlines(keepends=True)
    for move in proposal.moves:
        entry = move.entry
        lines[entry.number - 1] = f"{move.schedule_text} {entry.user} {entry.command_text}\n"
    assert most_starts(text) == proposal.before
    assert most_starts("".join(lines)) == proposal.after < proposal.before


@pytest.mark.parametrize("text", HERDS)
def test_a_moved_entry_keeps_its_hours_days_and_intervals(text: str) -> None:
    subject = subject_of(text)
    proposal = spread(burdens_of(subject, subject.entries), target=3)
    assert proposal is not None
    for move in proposal.moves:
        (new,) = crontab(f"{move.schedule_text} root x\n").entries
        old = move.entry.schedule
        assert isinstance(new.schedule, Calendar)
        assert isinstance(old, Calendar)
        assert new.schedule.hours == old.hours
        assert new.schedule.shortest_gap == old.shortest_gap
        assert new.schedule.runs_per_day == old.runs_per_day
        assert new.schedule.minutes == old.minutes << move.shift if move.shift > 0 else old.minutes >> -move.shift


def test_members_of_a_chain_are_not_moved() -> None:
    chain = "0 2 * * * root /opt/export_orders.sh /srv/out/x\n30 2 * * * root /opt/upload.sh /srv/out/x\n"
    others = "".join(f"0 2 * * * root /opt/{name}.sh\n" for name in "abcd")
    (finding,) = standing(judged(chain + others), "C2Q501")
    assert "line 1:" not in finding.remedy
    assert "line 2:" not in finding.remedy


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(["0 * * * *", "*/5 * * * *", "0 2 * * *", "30 2 * * 1", "@daily", "0 2 1 * *", "* * * * *"]), max_size=9
    )
)
def test_every_proposal_is_true(schedules: list[str]) -> None:
    text = "".join(f"{schedule} root /opt/{at}.sh\n" for at, schedule in enumerate(schedules))
    subject = subject_of(text)
    ours = burdens_of(subject, subject.entries)
    assert Calendars(ours).peak()[0] == most_starts(text)
    proposal = spread(ours, target=3)
    if proposal is not None:
        lines = text.splitlines(keepends=True)
        for move in proposal.moves:
            lines[move.entry.number - 1] = f"{move.schedule_text} root {move.entry.command_text}\n"
        assert most_starts("".join(lines)) == proposal.after < proposal.before


def test_known_durations_count_for_all_their_minutes_and_unknown_ones_for_one() -> None:
    text = (
        "# cron2queue: takes=2h\n0 2 * * * root /opt/a.sh\n# cron2queue: takes=90m\n0 3 * * * root /opt/b.sh\n"
        "30 3 * * * root /opt/c.sh\n"
    )
    load = load_of(subject_of(text), {})
    assert load is not None
    assert (load.peak, load.unknown) == (3, 1)
    assert (load.peak_at.hour, load.peak_at.minute) == (3, 30)
    assert load.alive[3 * 4] == 2
    assert load.alive[4 * 4] == 1


def test_a_run_that_outlasts_its_interval_is_counted_with_its_copies_unless_a_lock_stops_them() -> None:
    loud = load_of(subject_of("# cron2queue: takes=20m\n*/5 * * * * root /opt/a.sh\n"), {})
    locked = load_of(subject_of("# cron2queue: takes=20m\n*/5 * * * * root flock -n /run/lock/x/l /opt/a.sh\n"), {})
    assert loud is not None
    assert locked is not None
    assert (loud.peak, locked.peak) == (4, 1)
    assert loud.planned_peak == 1


def test_runs_of_the_day_before_reach_over_midnight() -> None:
    load = load_of(subject_of("# cron2queue: takes=3h\n0 23 * * * root /opt/a.sh\n"), {})
    assert load is not None
    assert load.alive[0] == 1
    assert load.alive[2 * 4] == 0


def test_the_busiest_day_is_chosen() -> None:
    text = "0 2 * * * root /opt/a.sh\n0 2 15 * * root /opt/b.sh\n0 2 15 * * root /opt/c.sh\n"
    load = load_of(subject_of(text), {})
    assert load is not None
    assert (load.day.day, load.peak) == (15, 3)
    assert load.day > AT.date()


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Europe/Berlin"])
@pytest.mark.parametrize(
    "schedules", [["0 3 * * *"] * 3, ["*/30 20-23 * * 1"] * 2, ["10,40 1,22 1 * *", "0 5 * * 2", "0 * * * *"]]
)
def test_starts_by_the_clock_of_another_zone_are_counted_by_that_of_the_host(schedules: list[str], zone: str) -> None:
    text = f"CRON_TZ={zone}\n" + "".join(f"{schedule} root /opt/{at}.sh\n" for at, schedule in enumerate(schedules))
    subject = subject_of(Example(text, dialect="cronie"))
    load = load_of(subject, {})
    assert load is not None
    fires = Counter(start for lane in load.lanes for start in lane.starts)
    assert len(load.lanes) == load.unknown == len(schedules)
    assert load.peak == fires[load.peak_at] == max(fires.values())
    assert Calendars(burdens_of(subject, subject.entries)).peak()[0] == most_starts(text, dialect="cronie")


def test_an_entry_that_another_zone_parts_is_not_moved() -> None:
    text = "CRON_TZ=Asia/Kolkata\n" + "".join(f"0 3 * * 1 root /opt/{name}.sh\n" for name in "abcde")
    subject = subject_of(Example(text, dialect="cronie"))
    assert spread(burdens_of(subject, subject.entries), target=3) is None


@pytest.mark.parametrize(
    ("first", "wrong"),
    [
        ("0 2 * * * root tar czf /b/$(date +%F).tgz /etc\n", 1),
        ("0 2 * * * root [[ -f /x ]] && /opt/y.sh\n", 1),
        ("0 2 * * * root /opt/x.sh\n0 2 * * * root /opt/x.sh >> /var/log/x.log\n", 2),
        ("0 02 * * * root /opt/x.sh\n0 2 * * * root /opt/x.sh\n", 2),
    ],
    ids=["cut at %", "bash in sh", "the same again", "the same, written otherwise"],
)
def test_what_is_to_be_corrected_or_deleted_gets_no_new_minute(first: str, wrong: int) -> None:
    text = first + "".join(f"0 2 * * * root /opt/{name}.sh\n" for name in "abcde")
    (herd,) = [each for each in judged(text).findings if each.code == "C2Q501"]
    assert f"line {wrong}:" not in herd.remedy
    assert f"line {wrong + 1}:" in herd.remedy
    assert herd.message.startswith(f"{5 + wrong} entries")


@given(st.lists(st.tuples(st.integers(0, 59), st.integers(0, 3), st.sampled_from(KINDS)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_the_plan_never_looks_worse_than_today(lines: list[tuple[int, int, str]]) -> None:
    text = "".join(f"{kind}{minute} {hour} * * * root /opt/x{at}\n" for at, (minute, hour, kind) in enumerate(lines))
    load = judged(text).load
    assert load is not None
    assert load.planned_peak <= load.peak
