"""The journal joins what syslog's text does not, and is believed only where it can be."""

import json
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from cron2queue.evidence.runs import Pairing, Run

from .looking import LOGS, crontab, look, look_at

DATA = LOGS.parent

BASE = 1796036761_000_000


def record(
    second: float, message: object, *, pid: int = 80, session: int | None = None, tag: str = "CRON", **more: object
) -> str:
    fields: dict[str, object] = {
        "__REALTIME_TIMESTAMP": str(BASE + int(second * 1e6)),
        "_HOSTNAME": "web1",
        "_PID": str(pid),
        "SYSLOG_IDENTIFIER": tag,
        "_BOOT_ID": "b1",
        "MESSAGE": message,
    } | more
    if session is not None:
        fields["_AUDIT_SESSION"] = str(session)
    return json.dumps(fields) + "\n"


def opened(second: float, pid: int, session: int) -> str:
    return record(second, "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)", pid=pid, session=session)


def closed(second: float, pid: int, session: int) -> str:
    return record(second, "pam_unix(cron:session): session closed for user root", pid=pid, session=session)


def cmd(second: float, pid: int, session: int, text: str) -> str:
    return record(second, f"(root) CMD ({text})", pid=pid, session=session)


def herd(first: int, second: int) -> str:
    return (
        opened(0, 70, first)
        + opened(0, 71, second)
        + cmd(0.1, 80, first, "slow")
        + cmd(0.1, 81, second, "quick")
        + closed(2.5, 71, second)
        + closed(60, 70, first)
    )


def test_audit_sessions_make_a_herd_exact(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, herd(5, 6))
    assert {(run.command, run.seconds, run.pairing) for run in runs} == {
        ("slow", 59.9, Pairing.EXACT),
        ("quick", 2.4, Pairing.EXACT),
    }


def test_one_session_for_all_is_not_believed(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, herd(5, 5))
    assert {run.pairing for run in runs} == {Pairing.AMBIGUOUS}
    assert all(run.seconds is None for run in runs)


def test_an_unset_session_is_not_believed(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, herd(4294967295, 4294967295))
    assert {run.pairing for run in runs} == {Pairing.AMBIGUOUS}


def test_a_message_that_is_a_list_of_bytes_is_read(tmp_path: Path) -> None:
    message = list(b"(root) CMD ([82] caf\xe9)")
    _, runs = look_at(tmp_path, record(0, message) + record(3, list(b"(root) END ([82] caf\xe9)")))
    assert [(run.command, run.seconds) for run in runs] == [("caf\udce9", 3)]


def test_a_closing_without_its_session_is_known_by_its_process(tmp_path: Path) -> None:
    closing = record(60, "pam_unix(cron:session): session closed for user root", pid=70)
    _, runs = look_at(tmp_path, opened(0, 70, 5) + cmd(0.1, 80, 5, "slow") + closing)
    assert [(run.seconds, run.pairing) for run in runs] == [(59.9, Pairing.EXACT)]


def test_a_command_without_its_session_belongs_to_the_one_that_is_left_over(tmp_path: Path) -> None:
    text = opened(0, 70, 5) + opened(0, 71, 6) + cmd(0.1, 80, 5, "slow") + record(0.1, "(root) CMD (quick)", pid=81)
    _, runs = look_at(tmp_path, text + closed(2.5, 71, 6) + closed(60, 70, 5))
    assert {(run.command, run.seconds, run.pairing) for run in runs} == {
        ("slow", 59.9, Pairing.EXACT),
        ("quick", 2.4, Pairing.GOOD),
    }


def test_sessions_of_cronie_are_known_by_the_names_of_its_services(tmp_path: Path) -> None:
    for service in ("crond", "cronie"):
        text = "".join(
            record(second, f"pam_unix({service}:session): session {verb} for user app", tag=tag, pid=70, session=5)
            if verb
            else record(second, "(app) CMD (slow)", tag=tag, pid=80, session=5)
            for second, tag, verb in ((0, "crond", "opened"), (0.5, "CROND", ""), (9.5, "CROND", "closed"))
        )
        assert [(run.seconds, run.pairing) for run in look_at(tmp_path, text)[1]] == [(9, Pairing.EXACT)]


def test_a_new_boot_cuts_what_ran(tmp_path: Path) -> None:
    text = record(0, "(root) CMD ([82] long)") + record(60, "(root) CMD ([84] x)", pid=83, _BOOT_ID="b2")
    _, runs = look_at(tmp_path, text)
    assert all(run.open for run in runs)


def test_what_is_not_json_or_too_deep_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    text = (
        record(0, "(root) CMD ([82] x)")
        + '{"cron": \n'
        + '{"cron":'
        + "[" * 50_000
        + "\n"
        + '["cron"]\n'
        + record(2, "(root) END ([82] x)")
    )
    book, runs = look_at(tmp_path, text)
    assert [run.seconds for run in runs] == [2]
    assert "3 journal records that are not JSON" in book.skipped


def test_fields_that_occur_twice_and_null_messages_do_no_harm(tmp_path: Path) -> None:
    text = record(0, "(root) CMD ([82] x)", _PID=["80", "81"]) + record(1, None) + record(2, "(root) END ([82] x)")
    assert [run.seconds for run in look_at(tmp_path, text)[1]] == [2]


def test_lost_messages_make_no_wrong_pair(tmp_path: Path) -> None:
    def cronie(second: float, verb: str, pid: int) -> str:
        return record(second, f"(app) {verb} (poll)", pid=pid, tag="CROND")

    text = (
        cronie(0, "CMD", 101)
        + record(60, "Suppressed 40 messages from crond.service", tag="systemd-journald")
        + cronie(600, "CMD", 301)
        + cronie(602, "CMDEND", 300)
    )
    book, runs = look_at(tmp_path, text)
    assert [run.seconds for run in runs] == [None, 2]
    assert book.skipped == (DROPPED.format(40),)


def test_the_journal_is_preferred_to_the_syslog_of_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "journal.json").write_text(herd(5, 6))
    text = "".join(
        f"Nov 30 {at} web1 CRON[{pid}]: {said}\n"
        for at, pid, said in (
            ("11:06:01", 70, "pam_unix(cron:session): session opened for user root"),
            ("11:06:01", 71, "pam_unix(cron:session): session opened for user root"),
            ("11:06:01", 80, "(root) CMD (slow)"),
            ("11:06:01", 81, "(root) CMD (quick)"),
            ("11:06:03", 71, "pam_unix(cron:session): session closed for user root"),
        )
    )
    (tmp_path / "syslog").write_text(text)
    book, runs = look(tmp_path / "syslog", journal=tmp_path / "journal.json", files=[crontab("* * * * * root slow\n")])
    assert {(run.command, run.pairing) for run in runs} == {("slow", Pairing.EXACT), ("quick", Pairing.EXACT)}
    assert (book.runs, book.matched) == (2, 1)


def test_systemd_cron_is_matched_by_the_line_in_the_unit(tmp_path: Path) -> None:
    text = (
        'Nov 30 11:06:00 web1 systemd[1]: Starting cron-crontab-app-0.service - [Cron] "*/5 * * * * app poll --all"...\n'
        'Nov 30 11:06:09 web1 systemd[1]: Finished cron-crontab-app-0.service - [Cron] "*/5 * * * * app poll --all".\n'
    )
    book, _ = look_at(tmp_path, text, files=[crontab("*/5 *  * * * app poll --all\n")])
    (found,) = book.by_entry.values()
    assert (found.median_seconds, found.failures, found.statuses) == (9, 0, 1)


def test_journalctl_is_asked_when_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "records").write_text(record(0, "(root) CMD ([82] x)") + record(2, "(root) END ([82] x)"))
    program = tmp_path / "journalctl"
    program.write_text(f'#!/bin/sh\nfor word; do [ "$word" = SYSLOG_IDENTIFIER=CROND ] && exec cat {tmp_path}/records; done\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert [run.seconds for run in look(journal=Path("live"))[1]] == [2]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal in systemd's own form."""
    path = tmp_path / "cron.journal"
    path.write_bytes(lzma.decompress((DATA / "journal" / "cron.journal.xz").read_bytes()))
    return path


JOURNALCTL = shutil.which("journalctl")
needs_journalctl = pytest.mark.skipif(JOURNALCTL is None, reason="journalctl is not installed")
IN_THE_JOURNAL = [
    ("sleep 5", 5.0, None, None),
    ("sleep 1; kill -9 $$", 1.0, None, None),
    ("* * * * * root sleep 2; echo tabs", 2.0, 0, True),
    ("* * * * * root su app -c 'sleep 1; true'", 1.9, 0, None),
    (r"* * * * * root printf '\000\377\001bin\n'", 0.1, 0, True),
]
"""Command, seconds, status and output of what ran."""
DROPPED = "{} messages were kept out of the logs by a rate limit: starts and ends of jobs may be missing"


def in_the_journal(runs: list[Run]) -> list[tuple[str, float | None, int | None, bool | None]]:
    return [(run.command, run.seconds and round(run.seconds, 1), run.exit_status, run.output) for run in runs]


@needs_journalctl
def test_what_journalctl_prints_is_read(tmp_path: Path, journal: Path) -> None:
    printed = subprocess.run([str(JOURNALCTL), "--file", journal, "-o", "json", "--all"], capture_output=True, check=True)
    export = tmp_path / "export.json"
    export.write_bytes(printed.stdout)
    book, runs = look(journal=export)
    assert in_the_journal(runs) == IN_THE_JOURNAL
    assert [run.pairing for run in runs] == [Pairing.EXACT] * 5
    assert book.skipped == (DROPPED.format(51),)


@needs_journalctl
def test_journalctl_itself_is_asked_for_what_is_cron_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: Path) -> None:
    program = tmp_path / "bin" / "journalctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {JOURNALCTL} --file {journal} "$@" | tee {tmp_path}/said\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert in_the_journal(look(journal=Path("live"))[1]) == IN_THE_JOURNAL
    said = (tmp_path / "said").read_text()
    assert "Suppressed 51 messages" in said
    assert "Started session-c12.scope" not in said


def test_a_missing_journalctl_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    book, _ = look(journal=Path("live"))
    assert book.skipped == ("journalctl: No such file or directory",)


@pytest.mark.parametrize("stamp", ["99999999999999999999999", "-5", "x", "", 7, None, []])
def test_a_stamp_beyond_all_time_is_counted_as_unreadable(tmp_path: Path, stamp: object) -> None:
    text = record(0, "(root) CMD ([82] x)") + record(1, "(root) CMD ([84] y)", pid=83, __REALTIME_TIMESTAMP=stamp)
    _, runs = look_at(tmp_path, text)
    assert [run.command for run in runs if run.started.year == 2026] == ["x"]
