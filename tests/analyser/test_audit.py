"""One look: suppression, folding, choice, baseline, several files, and hostile input."""

from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judged import ZONE, crontab, judged, standing

from cron2queue.analyser.finding import Severity
from cron2queue.crontab.dialect import dialects
from cron2queue.crontab.lines import CrontabFile, Effect, Kind, Malformed
from cron2queue.crontab.parser import parse
from cron2queue.errors import UsageError

PERCENT = "30 2 * * * root mysqldump shop > /backup/$(date +%F).sql\n"


def test_findings_come_worst_first_and_are_summed_up() -> None:
    result = judged(PERCENT + "0 0 31 2 * root /opt/a.sh\n0 3 1,15 * 5 root /opt/b.sh\n")
    ranks = [finding.severity.rank for finding in result.findings]
    assert ranks == sorted(ranks)
    counted = {severity: sum(f.severity is severity for f in result.findings) for severity in Severity}
    assert (result.summary.error, result.summary.warning, result.summary.note) == tuple(counted.values())


def test_every_entry_has_exactly_one_verdict() -> None:
    result = judged("0 1 * * * root /opt/a.sh\n0 1 * * * root /opt/a.sh\n@reboot root /opt/b.sh\n")
    assert sorted(verdict.entry_id for verdict in result.verdicts) == sorted(verdict.entry_id for verdict in result.verdicts)
    assert len({verdict.entry_id for verdict in result.verdicts}) == 3
    assert len({verdict.name for verdict in result.verdicts}) == 3


def test_an_ignore_above_the_entry_silences_its_finding_and_keeps_the_reason() -> None:
    result = judged("# cron2queue: ignore[C2Q301] read by a human until=2027-01-31\n" + PERCENT)
    (finding,) = [finding for finding in result.findings if finding.code == "C2Q301"]
    assert finding.suppressed is not None
    assert finding.suppressed.reason == "read by a human"
    assert result.summary.error == 0
    assert result.summary.suppressed == 1


def test_an_ignore_holds_for_its_own_line_only() -> None:
    result = judged("# cron2queue: ignore[C2Q301] once\n" + PERCENT + PERCENT.replace("shop", "blog"))
    assert [finding.place.line for finding in standing(result, "C2Q301")] == [3]


def test_an_ignore_for_the_file_silences_all_of_its_findings() -> None:
    result = judged("# cron2queue: ignore-file[C2Q301] known\n" + PERCENT + PERCENT.replace("shop", "blog"))
    assert standing(result, "C2Q301") == []
    assert standing(result, "C2Q116") == []


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("ignore[C2Q301]", "C2Q115"),
        ("ignore[C2Q301] old until=2026-01-01", "C2Q117"),
    ],
)
def test_an_ignore_without_reason_or_after_its_day_is_told_and_silences_nothing(comment: str, code: str) -> None:
    result = judged(f"# cron2queue: {comment}\n{PERCENT}")
    assert standing(result, "C2Q301")
    assert standing(result, code)


def test_an_ignore_that_nothing_needs_is_told_once_its_rule_was_asked() -> None:
    text = "# cron2queue: ignore[C2Q301] was needed once\n0 1 * * * root /opt/a.sh\n"
    assert standing(judged(text), "C2Q116")
    assert not standing(judged(text, select=("C2Q116",)), "C2Q116")


def test_a_silenced_finding_does_not_decide_the_verdict() -> None:
    loud, quiet = judged(PERCENT), judged("# cron2queue: ignore[C2Q301] meant\n" + PERCENT)
    assert loud.verdicts[0].decision == "FIX"
    assert quiet.verdicts[0].decision == "KEEP"


def test_low_findings_of_a_file_are_folded_into_one_count_that_adds_up() -> None:
    result = judged("".join(f"{at} 5 * * * www-data /opt/job{at}.sh\n" for at in range(12)))
    (finding,) = standing(result, "C2Q303")
    assert finding.message.startswith("12 entries")
    assert len(finding.folds) == 12
    assert len(finding.related) == 11
    assert finding.entry is None


def test_an_ignored_entry_is_not_in_the_folded_count() -> None:
    lines = [f"{at} 5 * * * www-data /opt/job{at}.sh\n" for at in range(3)]
    result = judged(lines[0] + "# cron2queue: ignore[C2Q303] mail is wanted\n" + lines[1] + lines[2])
    (finding,) = standing(result, "C2Q303")
    assert finding.message.startswith("2 entries")


def test_findings_in_the_baseline_are_marked_and_do_not_count() -> None:
    text = PERCENT + "".join(f"{at} 5 * * * www-data /opt/job{at}.sh\n" for at in range(3))
    first = judged(text)
    known = {print_ for finding in first.findings for print_ in finding.folds or (finding.fingerprint,)}
    again = judged("# a new first line\n" + text, baseline=known)
    assert again.summary.error == again.summary.warning == again.summary.note == 0
    assert again.summary.baseline == again.summary.suppressed > 0


def test_a_new_finding_stands_beside_the_baseline() -> None:
    known = {finding.fingerprint for finding in judged(PERCENT).findings}
    again = judged(PERCENT + "0 0 31 2 * root /opt/a.sh\n", baseline=known)
    assert [finding.code for finding in again.findings if finding.severity is Severity.ERROR and not finding.suppressed] == [
        "C2Q201"
    ]


def test_fingerprints_stay_when_lines_move_and_differ_between_entries() -> None:
    first = {f.fingerprint for f in judged(PERCENT).findings if f.code == "C2Q301"}
    moved = {f.fingerprint for f in judged("# x\n\n" + PERCENT).findings if f.code == "C2Q301"}
    other = {f.fingerprint for f in judged(PERCENT.replace("shop", "blog")).findings if f.code == "C2Q301"}
    assert first == moved
    assert first.isdisjoint(other)


def test_rules_are_chosen_by_code_beginning_or_name() -> None:
    text = PERCENT + "0 0 31 2 * root /opt/a.sh\n"
    assert {f.code for f in judged(text, select=("C2Q2",)).findings} == {"C2Q201", "C2Q208"}
    assert {f.code for f in judged(text, select=("unescaped-percent",)).findings} == {"C2Q301"}
    assert "C2Q301" not in {f.code for f in judged(text, ignore=("C2Q3",)).findings}


def test_an_unknown_code_is_a_usage_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        judged(PERCENT, select=("unescaped-percents",))
    assert "unescaped-percent" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("dialect", "second", "one_timer"),
    [
        ("systemd-cron", "@daily root /opt/a.sh\n", True),
        ("systemd-cron", "0 0 * * * root /opt/a.sh\n", False),
        ("cronie", "@daily root /opt/a.sh\n", False),
    ],
)
def test_two_lines_that_may_be_one_timer_are_not_said_to_run_twice(dialect: str, second: str, one_timer: bool) -> None:
    (found,) = standing(judged(crontab("@daily root /opt/a.sh\n" + second, dialect=dialect)), "C2Q502")
    assert "run side by side" in found.message and ("one timer" in found.message) is one_timer


def test_files_of_several_hosts_are_judged_apart() -> None:
    line = "0 0 * * * root /opt/backup.sh > /dev/null\n"
    web1, web2 = crontab(line, path="web1/etc/crontab"), crontab(line, path="web2/etc/crontab")
    assert not standing(judged(web1, web2), "C2Q502")
    assert standing(judged(crontab(line, path="web1/etc/crontab"), crontab(line, path="web1/etc/cron.d/x")), "C2Q502")


def test_no_evidence_is_said_and_not_silently_passed_over() -> None:
    result = judged("*/5 * * * * www-data php /x/a.php\n")
    said = {each.code for each in result.not_judged}
    assert {"C2Q401", "C2Q403", "C2Q405", "C2Q406", "C2Q407", "C2Q408"} <= said
    assert standing(result, "C2Q507")


def test_nothing_at_all_is_judged_without_findings() -> None:
    for text in ("", "# only a comment\n", "\n\n"):
        result = judged(text)
        assert result.findings == ()
        assert result.verdicts == ()
        assert result.load is None


def test_answers_of_a_person_are_declared_and_change_the_verdict() -> None:
    text = "*/5 * * * * www-data /opt/thing.sh\n"
    before = judged(text).verdicts[0]
    assert before.decision == "ASK"
    from cron2queue.analyser.declarations import Declarations

    answers = {before.entry_id: Declarations(lost_on_failure=True, user_waits=True)}
    after = judged(text, answers=answers).verdicts[0]
    assert after.decision == "QUEUE"
    assert "declared" in after.because


LINES = st.lists(
    st.sampled_from(
        [
            b"0 1 * * * root /opt/a.sh\n",
            b"*/5 * * * * www-data php a.php >> /tmp/x 2>&1 &\n",
            b"@reboot root x\n",
            b"FOO=bar\n",
            b"MAILTO=\n",
            b"# cron2queue: ignore[C2Q301] x until=2020-01-01\n",
            b"# cron2queue: takes=5m name=x\n",
            b"0 0 */2 * 1-5 root a $(date +%F) 'x\n",
            b"\xff\xfe\x00 \x1b[31m * * * root \xe2\x80\xae\n",
            b'0 22-4 * * * root flock -n /tmp/a -c "b \'c"\r\n',
            b"61 * * * * root x",
            b"{{ m }} * * * * root x\n",
        ]
    )
    | st.binary(max_size=60),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=LINES, dialect=st.sampled_from(sorted(dialects())), kind=st.sampled_from(list(Kind)))
def test_any_bytes_in_any_dialect_are_judged_without_trouble(lines: list[bytes], dialect: str, kind: Kind) -> None:
    from cron2queue.crontab.dialect import dialect_named

    file = parse(b"".join(lines), path="/etc/cron.d/x", dialect=dialect_named(dialect), kind=kind)
    result = judged(file)
    assert len(result.verdicts) == len(file.entries)
    for finding in result.findings:
        assert finding.message
        assert finding.remedy
        assert finding.place.line is None or 1 <= finding.place.line <= len(file.lines)
        assert finding.place.column is None or finding.place.column >= 1
    orders = [verdict.order for verdict in result.verdicts if verdict.order is not None]
    assert orders == list(range(1, len(orders) + 1))


def test_the_load_adds_up_over_its_columns() -> None:
    load = judged("0 * * * * root /opt/a.sh\n30 2 * * * root /opt/b.sh\n").load
    assert load is not None
    assert len(load.alive) * load.minutes == 24 * 60
    assert max(load.alive) == load.peak
    assert load.peak_at.tzinfo is ZONE
    assert all(one <= two for lane in load.lanes for one, two in pairwise(lane.starts))


def test_scripts_of_run_parts_folders_are_no_crontab_lines_and_no_herd() -> None:
    from dataclasses import replace

    text = "".join(f"25 6 * * * root /etc/cron.daily/{name}\n" for name in "abcdef")
    folder = replace(crontab(text, path="/etc/cron.daily"), editable=False)
    result = judged(folder)
    assert {finding.code for finding in result.findings} == {"C2Q507"}
    assert {verdict.decision.value for verdict in result.verdicts} == {"KEEP"}
    assert result.load is None


def test_a_script_that_run_parts_skips_is_no_line_that_cron_skips() -> None:
    reason = Malformed(number=1, raw=b"", column=1, message="a.sh: run-parts skips it", effect=Effect.LINE, remedy="rename it")
    folder = CrontabFile(path="/etc/cron.daily", dialect="debian", kind=Kind.SYSTEM, lines=(reason,), editable=False)
    (found,) = standing(judged(folder), "C2Q101")
    assert (found.severity, found.message, found.evidence) == (Severity.WARNING, reason.message, "the rules of run-parts")


def test_what_freebsd_makes_up_for_after_the_clock_went_forward_is_not_said_to_be_left_out() -> None:
    (found,) = standing(judged(crontab("30 2 * * * /opt/a.sh\n", dialect="freebsd", kind="user")), "C2Q208")
    assert found.severity is Severity.NOTE
    assert "runs 02:30 at 03:30 on 28 Mar 2027" in found.message


@pytest.mark.parametrize(
    ("schedule", "said"),
    [("30 2 * * *", "does not run it on 28 Mar 2027"), ("0,30 */2 * * *", "leaves out 02:00 and 1 more on 28 Mar 2027")],
)
def test_what_runs_at_other_hours_of_the_day_too_is_said_to_leave_out_its_times_only(schedule: str, said: str) -> None:
    (found,) = standing(judged(crontab(f"{schedule} /opt/a.sh\n", dialect="busybox", kind="user")), "C2Q208")
    assert said in found.message


def test_a_remedy_names_a_log_that_the_job_s_user_may_open() -> None:
    root, other = standing(judged("0 5 * * * root /opt/a.sh\n", "0 5 * * * bob /opt/b.sh\n"), "C2Q303")
    assert ">> /var/log/a.log" in root.remedy
    assert ">> /var/log/APP/b.log" in other.remedy
    (both,) = standing(judged("0 5 * * * root /opt/a.sh\n1 5 * * * bob /opt/b.sh\n"), "C2Q303")
    assert ">> /var/log/APP/NAME.log" in both.remedy


def test_errors_that_are_mailed_while_the_output_is_thrown_away_may_be_meant() -> None:
    (found,) = standing(judged("0 3 * * * root /opt/a.sh 2>&1 > /dev/null\n"), "C2Q305")
    assert found.severity is Severity.NOTE
    assert "/dev/null alone" in found.remedy


def test_systemd_cron_tells_of_failures_whose_messages_are_thrown_away() -> None:
    text = "0 3 * * * root /opt/a.sh > /dev/null 2>&1\n"
    (debian,) = standing(judged(crontab(text)), "C2Q304")
    (systemd,) = standing(judged(crontab(text, dialect="systemd-cron")), "C2Q304")
    assert "stays invisible" in debian.message
    assert "gives no reason" in systemd.message


def test_a_line_that_the_daemon_reads_in_pieces_is_told_of_once() -> None:
    file = crontab('FOO="a" b\n0 24 * * * /opt/c\n0 1 * * * /opt/d\n', dialect="freebsd", kind="user")
    told = [(finding.code, finding.place.line) for finding in judged(file).findings if finding.code.startswith("C2Q1")]
    assert told == [("C2Q101", 2), ("C2Q112", 1)]


def test_a_fleet_has_each_command_read_a_few_times_only_however_many_rules_ask() -> None:
    from cron2queue.analyser.commands import read_command

    hosts, lines = 60, 30
    files = [
        crontab(
            "".join(
                f"{at} {host % 24} * * * root flock -n /run/lock/x/{host}-{at} php /x/a{host}.php {at}\n" for at in range(lines)
            ),
            path=f"web{host}/etc/crontab",
        )
        for host in range(hosts)
    ]
    read_command.cache_clear()
    result = judged(*files)
    assert len(result.verdicts) == hosts * lines
    assert read_command.cache_info().misses <= 3 * hosts * lines


def clock_words(text: str, dialect: str, zone: str) -> list[str]:
    result = judged(crontab(text, dialect=dialect, kind="user"), zone=ZoneInfo(zone))
    return [f"{each.place.line}: {each.message.partition(': ')[2]}" for each in result.findings if each.code == "C2Q208"]


def test_an_entry_of_another_zone_is_told_of_the_changes_of_its_own_clock() -> None:
    text = "CRON_TZ=America/New_York\n0 2 * * * /a\n30 1 * * * /b\n30 21 * * * /c\n0 8 * * * /d\n"
    assert clock_words(text, "cronie", "Europe/Berlin") == [
        "2: cronie does not run it on 14 Mar 2027",
        "3: cronie runs it 2 times instead of 1 on 7 Nov 2027",
        "4: cronie does not run it on 30 Oct 2027",
    ]


def test_a_change_is_dated_by_the_clock_on_the_wall_and_told_once() -> None:
    assert clock_words("30 2 * * * /a\n", "busybox", "Australia/Sydney") == [
        "1: BusyBox crond runs it 2 times instead of 1 on 4 Apr 2027; does not run it on 3 Oct 2027"
    ]
    assert clock_words("CRON_TZ=Europe/Berlin\n*/10 2 * * * /c\n", "cronie", "Europe/Berlin") == [
        "2: cronie does not run it on 28 Mar 2027; runs it 12 times instead of 6 on 31 Oct 2027"
    ]


def test_a_line_after_a_backslash_is_told_that_cron_joins_no_lines() -> None:
    for dialect in ("debian", "cronie"):
        result = judged(crontab("0 3 * * * root /opt/a \\\n  --long\n", dialect=dialect))
        (bad,) = [each for each in result.findings if each.code == "C2Q101"]
        assert (bad.place.line, bad.remedy.partition(":")[0]) == (2, "cron knows no continuation lines")


def test_a_herd_that_is_ignored_by_a_comment_is_silenced_and_the_comment_is_used() -> None:
    herd = "".join(f"0 * * * * root /opt/{name}.sh >> /var/log/{name}.log 2>&1\n" for name in "abcd")
    result = judged(f"# cron2queue: ignore-file[C2Q501] the machine is idle then\n{herd}")
    assert [each.suppressed is not None for each in result.findings if each.code == "C2Q501"] == [True]
    assert not any(each.code == "C2Q116" for each in result.findings)


@pytest.mark.parametrize(("last", "entries"), [("0 2 * * * root y", "2 entries"), ("A=b", "1 entry")])
def test_only_an_entry_is_counted_among_those_that_a_lost_end_costs(last: str, entries: str) -> None:
    found = [each.message for each in judged(f"0 1 * * * root x\n{last}").findings if each.code == "C2Q102"]
    assert len(found) == 1
    assert found[0].endswith(f", {entries} with it")
