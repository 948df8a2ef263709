"""Starts find their ends, and where they cannot, bounds are given and never a number."""

from pathlib import Path

from cron2queue.evidence.runs import Pairing, Run

from .looking import look, look_at


def cronie(*events: tuple[str, str, int, str]) -> str:
    """Lines of cronie: time, verb, process, command."""
    return "".join(f"Nov 30 {at} db1 CROND[{pid}]: (app) {verb} ({text})\n" for at, verb, pid, text in events)


def pam(verb: str, at: str, pid: int, user: str = "root") -> str:
    return f"Nov 30 {at} web1 CRON[{pid}]: pam_unix(cron:session): session {verb} for user {user}\n"


def cmd(at: str, pid: int, text: str, user: str = "root") -> str:
    return f"Nov 30 {at} web1 CRON[{pid}]: ({user}) CMD ({text})\n"


def by_command(runs: list[Run]) -> dict[str, Run]:
    return {run.command: run for run in runs}


def test_the_number_of_the_parent_tells_which_of_two_live_runs_ended(tmp_path: Path) -> None:
    _, runs = look_at(
        tmp_path,
        cronie(
            ("11:00:00", "CMD", 101, "long"),
            ("11:05:00", "CMD", 201, "long"),
            ("11:07:00", "CMDEND", 100, "long"),
            ("11:09:00", "CMDEND", 200, "long"),
        ),
    )
    assert [(run.seconds, run.pairing) for run in runs] == [(420, Pairing.GOOD), (240, Pairing.GOOD)]


def test_runs_so_far_apart_that_numbers_may_have_come_round_are_given_bounds(tmp_path: Path) -> None:
    _, runs = look_at(
        tmp_path,
        cronie(
            ("09:00:00", "CMD", 101, "long"),
            ("11:05:00", "CMD", 201, "long"),
            ("11:07:00", "CMDEND", 100, "long"),
        ),
    )
    assert (runs[0].at_least, runs[0].at_most, runs[0].pairing) == (120, 7620, Pairing.AMBIGUOUS)


def test_a_run_that_outlives_the_daemon_s_restart_keeps_its_end(tmp_path: Path) -> None:
    text = (
        cronie(("11:00:00", "CMD", 101, "long"))
        + "Nov 30 11:00:30 db1 crond[150]: (CRON) STARTUP (1.7.2)\n"
        + "Nov 30 11:00:30 db1 crond[150]: (CRON) INFO (@reboot jobs will be run at computer's startup.)\n"
        + cronie(("11:01:00", "CMD", 201, "long"), ("11:01:40", "CMDEND", 100, "long"), ("11:02:41", "CMDEND", 200, "long"))
    )
    assert [run.seconds for run in look_at(tmp_path, text)[1]] == [100, 101]


def test_a_run_that_a_reboot_under_cronie_ended_takes_no_end_and_is_no_rival_of_those_after_it(tmp_path: Path) -> None:
    text = (
        cronie(("11:00:00", "CMD", 321, "long"))
        + "Nov 30 11:00:30 db1 crond[150]: (CRON) STARTUP (1.7.2)\n"
        + "".join(
            cronie((f"{hour}:01:00", "CMD", pid + 5, "long"), (f"{hour}:01:40", "CMDEND", pid, "long"))
            for hour, pid in ((11, 319), (13, 310), (14, 200))
        )
    )
    assert [(run.seconds, run.open) for run in look_at(tmp_path, text)[1]] == [(None, True)] + [(40, False)] * 3


def test_an_end_far_from_every_live_start_is_that_of_a_start_which_the_log_lacks(tmp_path: Path) -> None:
    """The parent starts its child at once: no thousand processes begin between the two, also where the numbers begin anew."""
    for child, parent, seconds in ((9_000, 1_200, None), (2_000, 32_700, None), (302, 32_766, 240)):
        text = cronie(("11:00:00", "CMD", 77, "a"), ("11:05:00", "CMD", child, "b"), ("11:09:00", "CMDEND", parent, "b"))
        assert [run.seconds for run in look_at(tmp_path, text)[1]] == [None, seconds]


def test_the_end_of_a_run_whose_start_is_missing_is_not_taken_for_that_of_the_next(tmp_path: Path) -> None:
    """Its parent has a lower number than what was started in the minutes before the next, which began later."""
    text = cronie(
        ("11:00:00", "CMD", 101, "other"),
        ("11:05:00", "CMD", 113, "other"),  # CMD 111 of the job itself was lost
        ("11:10:00", "CMD", 121, "job"),
        ("11:11:00", "CMDEND", 110, "job"),
        ("11:12:00", "CMDEND", 120, "job"),
    )
    assert [run.seconds for run in look_at(tmp_path, text)[1] if run.command == "job"] == [120]


def test_two_runs_of_which_an_end_and_a_start_are_missing_are_not_one(tmp_path: Path) -> None:
    minutes = [(f"11:{minute:02}", 100 + 10 * minute) for minute in range(60)]
    text = "".join(cronie((f"{at}:00", "CMD", pid + 1, "job"), (f"{at}:02", "CMDEND", pid, "job")) for at, pid in minutes)
    lines = text.splitlines(keepends=True)
    _, runs = look_at(tmp_path, "".join(lines[:41] + lines[43:]))
    assert [run.seconds for run in runs] == [2] * 20 + [None] + [2] * 38


def test_where_starts_are_missing_an_end_after_the_numbers_came_round_gives_a_limit_only(tmp_path: Path) -> None:
    """It may be that of a run whose start is missing, and whose parent has a number in the same place."""
    text = cronie(("09:00:00", "CMD", 20_000, "other"), ("09:05:00", "CMD", 20_101, "job"))
    orphan = cronie(("10:30:00", "CMDEND", 25_000, "other"))
    later = cronie(("11:00:00", "CMD", 500, "other"), ("11:05:00", "CMDEND", 20_100, "job"))
    (run,) = (each for each in look_at(tmp_path, text + later)[1] if each.command == "job")
    assert run.seconds == 7_200
    (run,) = (each for each in look_at(tmp_path, text + orphan + later)[1] if each.command == "job")
    assert (run.seconds, run.at_least, run.at_most, run.pairing) == (None, 0, 7_200, Pairing.AMBIGUOUS)


def test_a_long_run_among_many_short_ones_of_the_same_command_keeps_its_end(tmp_path: Path) -> None:
    """It is no less alive for the many that began and ended after it."""
    text = cronie(("09:00:00", "CMD", 101, "poll"))
    for number in range(1, 180):
        at, pid = f"{9 + number // 60:02}:{number % 60:02}", 101 + 2 * number
        text += cronie((f"{at}:00", "CMD", pid, "poll"), (f"{at}:01", "CMDEND", pid - 1, "poll"))
    text += cronie(("12:00:00", "CMDEND", 100, "poll"))
    runs = look_at(tmp_path, text)[1]
    assert runs[0].at_least is not None or runs[0].seconds == 10_800
    assert not any(run.open for run in runs)


def test_the_end_of_a_run_that_began_before_the_log_is_not_taken_for_that_of_the_next(tmp_path: Path) -> None:
    text = cronie(("11:01:00", "CMD", 5407, "long"), ("11:01:40", "CMDEND", 5154, "long"), ("11:02:41", "CMDEND", 5341, "long"))
    assert [run.seconds for run in look_at(tmp_path, text)[1]] == [101]


def test_an_end_is_not_counted_twice_where_a_second_log_closes_its_session_first(tmp_path: Path) -> None:
    """Of cronie, whose two logs have whole seconds: the second job's end must be its own."""
    secure = "".join(
        f"Nov 30 {at} db1 {tag}[{pid}]: pam_unix(crond:session): session {verb} for user app\n"
        for at, tag, pid, verb in (
            ("11:00:00", "crond", 100, "opened"),
            ("11:01:00", "crond", 200, "opened"),
            ("11:01:40", "CROND", 100, "closed"),
            ("11:02:41", "CROND", 200, "closed"),
        )
    )
    cron = (
        cronie(("11:00:00", "CMD", 101, "long"), ("11:01:00", "CMD", 201, "long"))
        + "Nov 30 11:01:40 db1 CROND[100]: (app) CMDOUT (done)\n"
        + cronie(("11:01:40", "CMDEND", 100, "long"), ("11:02:41", "CMDEND", 200, "long"))
    )
    (tmp_path / "a-secure").write_text(secure)
    (tmp_path / "cron").write_text(cron)
    assert [(run.seconds, run.output) for run in look(tmp_path)[1]] == [(100, True), (101, None)]


def test_a_process_number_can_settle_which_run_ended(tmp_path: Path) -> None:
    _, runs = look_at(
        tmp_path,
        cronie(
            ("11:00:00", "CMD", 101, "long"),
            ("11:05:00", "CMD", 201, "long"),
            ("11:07:00", "CMDEND", 200, "long"),
        ),
    )
    assert [run.seconds for run in runs] == [None, 120]
    assert runs[0].open


def test_a_run_that_the_log_cuts_off_is_open_and_not_long(tmp_path: Path) -> None:
    _, (run,) = look_at(tmp_path, cronie(("11:00:00", "CMD", 101, "long"), ("23:00:00", "CMDEND", 1, "other")))
    assert run.open
    assert run.seconds is None


def test_an_end_without_its_start_is_no_run(tmp_path: Path) -> None:
    book, runs = look_at(tmp_path, cronie(("11:00:00", "CMDEND", 101, "long")))
    assert runs == []
    assert book.runs == 0


def test_a_reboot_cuts_what_ran(tmp_path: Path) -> None:
    text = (
        "Nov 30 11:00:01 web1 CRON[80]: (root) CMD ([82] long)\n"
        "Nov 30 11:03:00 web1 cron[41]: (CRON) INFO (Running @reboot jobs)\n"
        "Nov 30 11:05:01 web1 CRON[80]: (root) CMD ([82] long)\n"
        "Nov 30 11:05:04 web1 CRON[80]: (root) END ([82] long)\n"
    )
    _, (before, after) = look_at(tmp_path, text)
    assert before.open
    assert after.seconds == 3


def test_a_process_number_used_again_does_not_join_two_runs(tmp_path: Path) -> None:
    text = (
        "Nov 30 11:00:01 web1 CRON[80]: (root) CMD ([82] long)\n"
        "Nov 30 15:00:01 web1 CRON[80]: (root) CMD ([82] other)\n"
        "Nov 30 15:00:03 web1 CRON[80]: (root) END ([82] other)\n"
    )
    _, runs = look_at(tmp_path, text)
    found = by_command(runs)
    assert found["long"].open
    assert found["other"].seconds == 2


def test_a_start_before_a_restart_of_the_daemon_does_not_take_a_later_end(tmp_path: Path) -> None:
    text = (
        cronie(("11:00:00", "CMD", 101, "poll"))
        + "Nov 30 11:30:00 db1 crond[9]: (CRON) STARTUP (1.7.2)\n"
        + cronie(("12:00:00", "CMD", 301, "poll"), ("12:00:02", "CMDEND", 300, "poll"))
    )
    _, runs = look_at(tmp_path, text)
    assert [run.seconds for run in runs] == [None, 2]


def test_sessions_in_auth_log_give_the_durations_of_commands_in_syslog(tmp_path: Path) -> None:
    (tmp_path / "auth.log").write_text(
        pam("opened", "11:00:01", 75)
        + pam("closed", "11:00:05", 75)
        + pam("opened", "11:05:01", 85)
        + pam("closed", "11:05:01", 85)
    )
    (tmp_path / "syslog").write_text(cmd("11:00:01", 76, "poll") + cmd("11:05:01", 86, "poll"))
    _, runs = look(tmp_path)
    assert [(run.seconds, run.pairing) for run in runs] == [(4, Pairing.GOOD), (0, Pairing.GOOD)]


def test_users_are_paired_apart(tmp_path: Path) -> None:
    text = (
        pam("opened", "11:00:01", 75, "app")
        + pam("opened", "11:00:01", 76, "root")
        + cmd("11:00:01", 77, "a", "app")
        + cmd("11:00:01", 78, "r", "root")
        + pam("closed", "11:00:09", 75, "app")
        + pam("closed", "11:00:02", 76, "root")
    )
    found = by_command(look_at(tmp_path, text)[1])
    assert (found["a"].seconds, found["r"].seconds) == (8, 1)


def test_a_herd_that_ends_together_needs_no_bounds(tmp_path: Path) -> None:
    text = "".join(pam("opened", "11:00:01", pid) for pid in (70, 71, 72))
    text += "".join(cmd("11:00:01", pid, f"job{pid}") for pid in (80, 81, 82))
    text += "".join(pam("closed", "11:00:04", pid) for pid in (70, 71, 72))
    _, runs = look_at(tmp_path, text)
    assert {run.seconds for run in runs} == {3}
    assert {run.pairing for run in runs} == {Pairing.GOOD}


def test_ends_in_two_seconds_are_given_bounds_since_a_stamp_may_leave_out_another(tmp_path: Path) -> None:
    text = "".join(pam("opened", "11:00:01", pid) for pid in (70, 71))
    text += "".join(cmd("11:00:01", pid, f"job{pid}") for pid in (80, 81))
    text += pam("closed", "11:00:02", 70) + pam("closed", "11:00:03", 71)
    _, runs = look_at(tmp_path, text)
    assert [(run.at_least, run.at_most, run.pairing) for run in runs] == [(1, 2, Pairing.AMBIGUOUS)] * 2


def test_a_command_logged_after_a_session_closed_was_not_in_it(tmp_path: Path) -> None:
    text = (
        pam("opened", "11:00:01", 70)
        + pam("opened", "11:00:01", 71)
        + cmd("11:00:01", 80, "quick")
        + pam("closed", "11:00:01", 70)
        + cmd("11:00:01", 81, "slow")
        + pam("closed", "11:00:41", 71)
    )
    found = by_command(look_at(tmp_path, text)[1])
    assert found["slow"].seconds == 40
    assert found["quick"].seconds == 0


def test_a_quiet_session_beside_a_command_leaves_only_a_lower_bound(tmp_path: Path) -> None:
    text = pam("opened", "11:00:01", 70) + pam("opened", "11:00:01", 71) + cmd("11:00:01", 80, "one")
    text += pam("closed", "11:00:03", 70) + pam("closed", "11:09:01", 71)
    _, (run,) = look_at(tmp_path, text)
    assert run.seconds is None
    assert run.pairing is Pairing.AMBIGUOUS


def test_a_long_run_does_not_disturb_the_ones_after_it(tmp_path: Path) -> None:
    text = pam("opened", "11:00:01", 70) + cmd("11:00:01", 71, "long")
    for minute in range(1, 30):
        text += pam("opened", f"11:{minute:02}:01", 100 + 2 * minute) + cmd(f"11:{minute:02}:01", 101 + 2 * minute, "poll")
        text += pam("closed", f"11:{minute:02}:03", 100 + 2 * minute)
    text += pam("closed", "11:40:01", 70)
    _, runs = look_at(tmp_path, text)
    assert by_command(runs)["long"].seconds == 2400
    assert {run.seconds for run in runs if run.command == "poll"} == {2}
    assert len(runs) == 30


def test_a_message_in_two_logs_is_counted_once(tmp_path: Path) -> None:
    text = "Nov 30 11:00:01 web1 CRON[80]: (root) CMD ([82] job)\nNov 30 11:00:04 web1 CRON[80]: (root) END ([82] job)\n"
    (tmp_path / "syslog").write_text(text)
    (tmp_path / "cron.log").write_text(text)
    book, runs = look(tmp_path)
    assert (book.runs, [run.seconds for run in runs]) == (1, [3])
    assert any("counted once" in why for why in book.skipped)


def test_hosts_are_paired_apart(tmp_path: Path) -> None:
    text = (
        "Nov 30 11:00:01 web1 CRON[80]: (root) CMD ([82] job)\n"
        "Nov 30 11:00:01 web2 CRON[80]: (root) CMD ([82] job)\n"
        "Nov 30 11:00:04 web1 CRON[80]: (root) END ([82] job)\n"
        "Nov 30 11:00:09 web2 CRON[80]: (root) END ([82] job)\n"
    )
    book, runs = look_at(tmp_path, text)
    assert sorted(run.seconds or -1 for run in runs) == [3, 8]
    assert any("2 hosts (web1, web2)" in why for why in book.skipped)


def test_a_repeated_message_is_read(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, "Nov 30 11:00:01 web1 CRON[80]: message repeated 2 times: [ (root) CMD (job)]\n")
    assert [run.command for run in runs] == ["job"]


def test_what_was_started_by_a_daemon_that_logs_no_ends_is_not_open(tmp_path: Path) -> None:
    _, (run,) = look_at(tmp_path, "Nov 30 11:05:00 fbsd /usr/sbin/cron[812]: (root) CMD (/usr/libexec/atrun)\n")
    assert not run.open
    assert run.seconds is None


def test_a_clock_that_was_set_back_during_a_run_leaves_its_duration_unknown(tmp_path: Path) -> None:
    keyed = "Nov 30 11:00:01 web1 CRON[80]: (root) CMD ([82] job)\nNov 30 10:30:04 web1 CRON[80]: (root) END ([82] job)\n"
    by_text = cronie(("11:00:01", "CMD", 101, "job"), ("10:30:04", "CMDEND", 100, "job"))
    session = pam("opened", "11:00:01", 75) + cmd("11:00:01", 76, "job") + pam("closed", "10:30:04", 75)
    for text in (keyed, by_text, session):
        _, (run,) = look_at(tmp_path, text)
        assert run.seconds is None
        assert run.open
