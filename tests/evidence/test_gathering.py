"""Runs become the evidence of entries: matched, counted, and with nothing claimed that was not seen."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cron2queue.crontab.lines import Kind, entry_ids
from cron2queue.evidence.book import EvidenceBook
from cron2queue.evidence.gathering import gather
from cron2queue.evidence.matching import leaves_work_behind, printed
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.statistics import Evidence

from .looking import LOGS, NOW, crontab, look, look_at

START = datetime(2026, 11, 20, tzinfo=UTC)


def stamp(at: datetime) -> str:
    return f"{at:%b} {at.day:2} {at:%H:%M:%S}"


def job(at: datetime, seconds: float, text: str, pid: int, *, user: str = "app", status: int = 0) -> list[tuple[datetime, str]]:
    """A run as Debian logs it with -L 15."""
    end = at + timedelta(seconds=seconds)
    lines = [(at, f"{stamp(at)} web1 CRON[{pid}]: ({user}) CMD ([{pid + 1}] {text})\n")]
    if status:
        lines.append(
            (end, f"{stamp(end)} web1 CRON[{pid}]: (CRON) error (grandchild #{pid + 1} failed with exit status {status})\n")
        )
    lines.append((end, f"{stamp(end)} web1 CRON[{pid}]: ({user}) END ([{pid + 1}] {text})\n"))
    return lines


def log(*jobs: list[tuple[datetime, str]]) -> str:
    lines = sorted((each for job in jobs for each in job), key=lambda each: each[0])
    return "".join(line for _, line in lines)


def single(book: EvidenceBook) -> Evidence:
    (found,) = book.by_entry.values()
    return found


def test_durations_failures_and_the_window_are_counted(tmp_path: Path) -> None:
    file = crontab("*/5 * * * * app job one\n")
    runs = [job(START + timedelta(minutes=5 * i), i, "job one", 100 + 2 * i, status=int(i == 3)) for i in range(21)]
    book, _ = look_at(tmp_path, log(*runs), files=[file])
    found = single(book)
    assert (found.starts, found.n, found.pairing) == (21, 21, Pairing.EXACT)
    assert (found.median_seconds, found.p95_seconds, found.max_seconds) == (10, 19, 20)
    assert (found.failures, found.statuses, found.failure_share) == (1, 21, 1 / 21)
    assert found.last_failure is not None
    assert found.last_failure.exit_status == 1
    assert book.window is not None
    assert book.window.start == START
    assert (book.matched, book.unmatched) == (21, 0)


def test_without_any_reported_failure_the_statuses_are_not_known(tmp_path: Path) -> None:
    file = crontab("*/5 * * * * app job one\n")
    found = single(look_at(tmp_path, log(job(START, 3, "job one", 100)), files=[file])[0])
    assert found.failures is None
    assert found.statuses == 0


def test_starts_that_met_a_live_predecessor_are_counted(tmp_path: Path) -> None:
    file = crontab("*/5 * * * * app job one\n")
    runs = [job(START + timedelta(minutes=5 * i), 372 if i % 4 == 0 else 20, "job one", 100 + 2 * i) for i in range(40)]
    found = single(look_at(tmp_path, log(*runs), files=[file])[0])
    assert found.met_predecessor == 10 / 40


def test_busybox_proves_that_an_entry_met_itself_without_any_duration(tmp_path: Path) -> None:
    text = "".join(
        f"Nov 30 11:{minute:02}:00 box crond[44]: {said} sleep 70\n"
        for minute, said in (
            (6, "USER root pid  72 cmd"),
            (7, "user root: process already running:"),
            (8, "USER root pid 75 cmd"),
        )
    )
    found = single(look_at(tmp_path, text, files=[crontab("* * * * * root sleep 70\n")])[0])
    assert found.met_predecessor == 1 / 3
    assert found.n == 0


def test_entries_that_meet_each_other_are_counted_and_those_that_do_not_are_known_not_to(tmp_path: Path) -> None:
    file = crontab("0 2 * * * app dump\n10 2 * * * app upload\n")
    ids = entry_ids([file])
    dump, upload = ids["/etc/crontab", 1], ids["/etc/crontab", 2]
    runs = []
    for day in range(10):
        at = START + timedelta(days=day, hours=2)
        runs += [
            job(at, 900 if day < 3 else 60, "dump", 100 + day * 10),
            job(at + timedelta(minutes=10), 5, "upload", 105 + day * 10),
        ]
    book, _ = look_at(tmp_path, log(*runs), files=[file])
    met = book.overlap(dump, upload)
    assert met is not None
    assert (met.met, met.starts) == (3, 10)
    other = book.overlap(upload, dump)
    assert other is not None
    assert (other.met, other.starts) == (0, 10)
    assert book.overlap(dump, "nothing known") is None


def test_a_log_of_another_host_or_of_long_ago_and_an_empty_one_are_named(tmp_path: Path) -> None:
    file = crontab("* * * * * app job one\n")
    old = datetime(2024, 3, 1, tzinfo=UTC)
    text = "".join(
        line.replace("Mar  1 ", "2024-03-01T", 1).replace(" web1", "Z web1", 1) for _, line in job(old, 3, "job one", 80)
    )
    (tmp_path / "empty").write_text("")
    book, _ = look(tmp_path / "empty", files=[file])
    assert [why.partition(":")[0] for why in book.skipped] == [str(tmp_path / "empty")]
    book, _ = look_at(tmp_path, text, files=[file])
    assert book.skipped == ("the last run was 1,005 days before this report, on 2024-03-01: much may have changed",)
    book, _ = look_at(tmp_path, log(job(START, 3, "other", 80)), files=[file])
    assert book.skipped == ("no run in the logs is of these crontabs: the logs may be of another host",)


def test_output_that_was_to_go_nowhere_is_not_said_to_be_none(tmp_path: Path) -> None:
    """As Debian's cron 3.0pl1-162 wrote it without a mail program: of an entry with an empty MAILTO it says nothing."""
    file = crontab('MAILTO=""\n* * * * * root to nobody\nMAILTO=root\n* * * * * root to root\n* * * * * app quiet\n')
    text = "".join(
        f"Nov 30 23:53:01 web1 CRON[{pid}]: {said}\n"
        for pid, said in (
            (42, "(root) CMD ([45] to root)"),
            (43, "(root) CMD ([46] to nobody)"),
            (44, "(app) CMD ([47] quiet)"),
            (42, "(CRON) info (No MTA installed, discarding output)"),
            (42, "(root) END ([45] to root)"),
            (43, "(root) END ([46] to nobody)"),
            (44, "(app) END ([47] quiet)"),
        )
    )
    book, _ = look_at(tmp_path, text, files=[file])
    ids = entry_ids([file])
    assert [book.by_entry[ids["/etc/crontab", line]].silent for line in (2, 4, 5)] == [None, 0.0, 1.0]


def test_identical_lines_share_their_evidence_and_say_so(tmp_path: Path) -> None:
    file = crontab("0 2 * * * app job one\n0 14 * * * app job one\n0 3 * * * app other\n")
    book, _ = look_at(tmp_path, log(job(START, 3, "job one", 100), job(START, 3, "other", 200)), files=[file])
    first, second = entry_ids([file])["/etc/crontab", 1], entry_ids([file])["/etc/crontab", 2]
    assert book.by_entry[first].shares_with == (second,)
    assert book.by_entry[second].shares_with == (first,)
    assert [found.shares_with for entry, found in book.by_entry.items() if entry not in (first, second)] == [()]


@pytest.mark.parametrize(
    ("written", "logged"),
    [
        (r"date +\%F > /srv/x", "date +%F > /srv/x"),
        ("cat%line one%line two", "cat"),
        ("printf 'a\tb'", "printf 'a^Ib'"),
        ('touch "/srv/é"', r'touch "/srv/\303\251"'),
        ('touch "/srv/é"', 'touch "/srv/é"'),
        ("sleep 2; date # x ", "sleep 2; date # x "),
    ],
)
def test_a_command_is_found_as_the_daemon_logs_it(tmp_path: Path, written: str, logged: str) -> None:
    book, _ = look_at(tmp_path, log(job(START, 3, logged, 100)), files=[crontab(f"0 0 * * * app {written}\n")])
    assert book.matched == 1


def test_a_command_that_syslog_cut_is_found_by_its_beginning(tmp_path: Path) -> None:
    long = "php /var/www/app/bin/console app:import --verbose " + "x" * 900
    text = f"Nov 30 11:00:01 web1 CRON[80]: (app) CMD ({long[:500]}\n"
    book, _ = look_at(tmp_path, text, files=[crontab(f"0 11 * * * app {long}\n0 12 * * * app php other\n")])
    assert book.matched == 1
    assert single(book).starts == 1


def test_another_users_run_is_not_taken(tmp_path: Path) -> None:
    book, _ = look_at(tmp_path, log(job(START, 3, "job one", 100, user="eve")), files=[crontab("0 0 * * * app job one\n")])
    assert (book.matched, book.unmatched) == (0, 1)
    assert book.unscheduled == (("eve", "job one", 1),)


def test_a_user_crontab_without_a_known_user_takes_any(tmp_path: Path) -> None:
    file = crontab("0 0 * * * job one\n", kind=Kind.USER, path="-")
    assert look_at(tmp_path, log(job(START, 3, "job one", 100)), files=[file])[0].matched == 1


def test_an_entry_that_was_due_and_not_seen_is_named(tmp_path: Path) -> None:
    file = crontab("0 * * * * app job one\n30 3 * * * app gone\n0 0 1 1 * app rare\n@reboot app boot\n")
    runs = [job(START + timedelta(hours=hour), 3, "job one", 100 + hour) for hour in range(48)]
    book, _ = look_at(tmp_path, log(*runs), files=[file])
    assert book.never_seen == (entry_ids([file])["/etc/crontab", 2],)


EDITS = (
    ("cron[41]: (*system*) RELOAD (/etc/crontab)", "*system*", "app"),
    ("cron[41]: (*system*jobs) RELOAD (/etc/cron.d/jobs)", "*system*jobs", "app"),
    ("crond[41]: (*system*) RELOAD (/etc/cron.d/jobs)", "*system*", "app"),
    ("cron[41]: (app) RELOAD (crontabs/app)", "app", None),
    ("crontab[41]: (root) REPLACE (app)", "app", None),
)
"""What daemons say of an edit, whose crontab it was, and the user in its lines."""


@pytest.mark.parametrize(("said", "whose", "user"), EDITS)
def test_an_entry_added_at_the_end_of_the_window_is_not_missed(tmp_path: Path, said: str, whose: str, user: str | None) -> None:
    lines = [f"{schedule} {user or ''} {command}\n" for schedule, command in (("0 * * * *", "job one"), ("30 3 * * *", "new"))]
    file = crontab("".join(lines), kind=Kind.SYSTEM if user else Kind.USER)
    runs = [job(START + timedelta(hours=hour), 3, "job one" if hour > 5 else "old", 100 + hour) for hour in range(48)]
    edited = START + timedelta(hours=47, minutes=30)
    edit = [(edited, f"{stamp(edited)} web1 {said}\n")]
    book, _ = look_at(tmp_path, log(*runs, edit), files=[file])
    assert book.never_seen == book.unscheduled == ()
    assert book.changes == (f"2026-11-21 23:30:00 UTC: {whose}",)


def test_a_line_removed_in_the_window_is_not_unscheduled(tmp_path: Path) -> None:
    edit = [(START + timedelta(hours=5), f"{stamp(START + timedelta(hours=5))} web1 crontab[41]: (root) REPLACE (app)\n")]
    runs = [job(START + timedelta(hours=hour), 3, "old" if hour < 5 else "new", 100 + hour) for hour in range(10)]
    book, _ = look_at(tmp_path, log(*runs, edit), files=[crontab("0 * * * * app new\n")])
    assert book.unscheduled == ()
    assert book.unmatched == 5


def test_a_missing_rotated_file_is_seen_in_the_coverage(tmp_path: Path) -> None:
    early = [job(START + timedelta(hours=hour), 3, "job one", 100 + hour) for hour in range(24)]
    late = [job(START + timedelta(days=3, hours=hour), 3, "job one", 100 + hour) for hour in range(24)]
    (tmp_path / "syslog.2").write_text(log(*early))
    book, _ = look_at(tmp_path, log(*late), files=[crontab("0 * * * * app job one\n30 12 22 11 * app lost\n")])
    assert book.covered == 1.0
    both = gather([tmp_path], journal=None, observations=None, files=[], zone=UTC, at=NOW)
    assert 0.4 < both.covered < 0.6
    assert any("of the time from their first line to their last" in why for why in both.skipped)


def test_a_trend_is_told_when_it_is_clear_and_not_otherwise(tmp_path: Path) -> None:
    def look_with(seconds: list[float]) -> Evidence:
        runs = [job(START + timedelta(hours=4 * i), each, "job one", 100 + 2 * i) for i, each in enumerate(seconds)]
        return single(look_at(tmp_path, log(*runs), files=[crontab("0 * * * * app job one\n")])[0])

    slope = look_with([60 + 2 * i + (i % 3) for i in range(40)]).trend_seconds_per_day
    assert slope is not None
    assert 11 < slope < 13
    assert look_with([60 + (i * 7 % 5) for i in range(40)]).trend_seconds_per_day == 0
    assert look_with([60 + i for i in range(5)]).trend_seconds_per_day is None


def test_nothing_given_is_no_evidence() -> None:
    book = gather([], journal=None, observations=None, files=[], zone=UTC, at=NOW)
    assert not book.available
    assert book.how_to_get_evidence.startswith("no log, journal or recording was given")


def test_progress_is_told_in_bytes_read(tmp_path: Path) -> None:
    path = tmp_path / "syslog"
    path.write_text(log(job(START, 3, "job one", 100)))
    told: list[tuple[int, int]] = []
    gather([path], journal=None, observations=None, files=[], zone=UTC, at=NOW, progress=lambda *each: told.append(each))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_command_is_printed_as_the_daemons_do() -> None:
    assert printed(" a\tb\x7f é ") == "a^Ib^? \\303\\251"


def test_a_host_that_was_off_did_not_miss_what_was_due_then(tmp_path: Path) -> None:
    file = crontab("0 * * * * app job one\n30 3 * * * app nightly\n")
    days = [job(START + timedelta(days=day, hours=hour), 3, "job one", 100) for day in range(5) for hour in range(8, 19)]
    assert look_at(tmp_path, log(*days), files=[file])[0].never_seen == ()


def test_a_log_of_another_host_accuses_nobody(tmp_path: Path) -> None:
    runs = [job(START + timedelta(hours=hour), 3, "somebody else's", 100 + hour) for hour in range(48)]
    book, _ = look_at(tmp_path, log(*runs), files=[crontab("0 * * * * app job one\n")])
    assert (book.matched, book.never_seen) == (0, ())
    assert book.unscheduled == (("app", "somebody else's", 48),)


def test_of_a_herd_with_mere_bounds_it_is_not_said_who_met_whom() -> None:
    file = crontab('* * * * * root python3 -c "import time; time.sleep(70)"\n* * * * * root sleep 3; echo hi\n')
    book, _ = look(LOGS / "debian-L1-herd.log", files=[file])
    long, short = entry_ids([file]).values()
    assert book.by_entry[long].met_predecessor is None
    assert book.by_entry[long].pairing is Pairing.AMBIGUOUS
    assert book.by_entry[long].median_seconds is None
    bounds = book.by_entry[long].bounds
    assert bounds is not None
    assert bounds.median_low <= 70
    assert book.overlap(short, long) is None


def test_of_the_same_herd_with_ends_everything_is_known() -> None:
    file = crontab('* * * * * root python3 -c "import time; time.sleep(70)"\n* * * * * root sleep 3; echo hi\n')
    book, _ = look(LOGS / "debian-L15-herd.log", files=[file])
    long, short = entry_ids([file]).values()
    assert book.by_entry[long].met_predecessor == 0.5
    assert book.by_entry[short].met_predecessor == 0
    assert book.by_entry[long].median_seconds == 70
    met = book.overlap(long, short)
    assert met is not None
    assert (met.met, met.starts) == (1, 2)


def test_starts_without_any_end_are_neither_open_nor_long(tmp_path: Path) -> None:
    text = "".join(f"Nov 30 {hour:02}:00:01 web1 CRON[{100 + hour}]: (app) CMD (job one)\n" for hour in range(24))
    book, runs = look_at(tmp_path, text, files=[crontab("0 * * * * app job one\n")])
    found = single(book)
    assert (found.starts, found.n, found.open, found.median_seconds, found.met_predecessor) == (24, 0, 0, None, None)
    assert not any(run.open for run in runs)
    assert "-L 15" in book.how_to_get_evidence


def test_a_log_without_jobs_does_not_widen_the_window(tmp_path: Path) -> None:
    (tmp_path / "dpkg.log").write_text("2026-01-01 10:00:00 startup\n2026-11-30 10:00:00 startup\n")
    (tmp_path / "syslog").write_text(log(job(START, 3, "job one", 100), job(START + timedelta(hours=1), 3, "job one", 200)))
    book, _ = look(tmp_path)
    assert book.window is not None
    assert book.window.start == START
    assert any("dpkg.log: no start of a job" in why for why in book.skipped)


def test_the_end_of_a_shell_is_not_the_end_of_what_it_put_into_the_background(tmp_path: Path) -> None:
    text = "/srv/long > /dev/null 2>&1 &"
    runs = [job(START + timedelta(hours=hour), 0, text, 100 + hour) for hour in range(30)]
    found = single(look_at(tmp_path, log(*runs), files=[crontab(f"0 * * * * app {text}\n")])[0])
    assert found.background
    assert (found.starts, found.n, found.median_seconds, found.met_predecessor, found.empty) == (30, 0, None, None, None)


@pytest.mark.parametrize(
    ("command", "behind"),
    [
        ("a &", True),
        ("(sleep 5; a) & ", True),
        ("(a &)", True),
        ("a 2>&1 & disown", True),
        ("a && b", False),
        ("a > x 2>&1", False),
        ("a & wait", False),
        ("a &> x", False),
        ("echo '&'", False),
        ("", False),
    ],
)
def test_it_is_known_which_commands_leave_work_behind(command: str, behind: bool) -> None:
    assert leaves_work_behind(command) is behind
