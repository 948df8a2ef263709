"""`cron2queue audit` as people run it: a real process, real files, real pipes."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from cron2queue.cli.app import main
from cron2queue.text import safe_text

CRONTAB = """\
SHELL=/bin/sh
MAILTO=ops@example.com

# the shop
*/5 * * * * www-data php /var/www/shop/import_orders.php
30 2 * * * root mysqldump -phunTer2x9 shop | gzip > /backup/shop-$(date +%F).sql.gz
0 0 31 2 * www-data php /var/www/shop/yearly.php
0 4 * * * root /usr/local/bin/report >> /var/log/report.log 2>&1
"""
FIXED = ("--dialect", "debian", "--kind", "system", "--timezone", "Europe/Berlin", "--at", "2026-11-30T12:00")


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    path = tmp_path / "crontab"
    path.write_text(CRONTAB, encoding="utf-8")
    return path


def environment(**more: str) -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("CRON2QUEUE", "NO_COLOR", "FORCE_COLOR", "COLUMNS"))
    }
    return {**kept, "PYTHONUTF8": "1", **more}


def audit(*arguments: str | Path, stdin: str | bytes = b"", **more: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    command = [sys.executable, "-m", "cron2queue", "audit", *map(str, arguments)]
    ran = subprocess.run(command, input=data, capture_output=True, env=environment(**more), timeout=60)
    out, err = ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8")
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(command, ran.returncode, out, err)


def quickly(*arguments: str | Path, stdin: str | bytes = b"", **more: str) -> subprocess.CompletedProcess[str]:
    """The same main function with streams of its own, in this process: the same in all but the start of an interpreter."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    command = ["cron2queue", "audit", *map(str, arguments)]
    before = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(os, "environ", environment(**more))
        with pytest.raises(SystemExit) as ended:
            main()
    signal.signal(signal.SIGTERM, before)
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    assert "bug in cron2queue" not in texts[1], texts[1]
    return subprocess.CompletedProcess(command, int(ended.value.code or 0), *texts)


def test_a_crontab_is_audited_from_its_heading_to_the_next_command(crontab: Path) -> None:
    ran = audit(crontab, *FIXED)
    assert ran.returncode == 1
    headings = ["cron2queue audit", "FINDINGS", "EVIDENCE", "LOAD", "MIGRATION ORDER", "FAIL", "Next"]
    positions = [ran.stdout.index(heading) for heading in headings]
    assert positions == sorted(positions)
    words = " ".join(ran.stdout.split())
    assert "8 lines = 4 entries + 2 assignments + 1 comment + 1 blank" in words
    assert f"cron2queue convert {crontab} --dialect debian --kind system --timezone Europe/Berlin --into c2q" in words
    assert ran.stderr == ""


def test_the_next_command_looks_at_the_same_evidence(crontab: Path, tmp_path: Path) -> None:
    (tmp_path / "a log").write_text("", encoding="utf-8")
    words = " ".join(quickly(crontab, *FIXED, "--logs", tmp_path / "a log", "--width", "300").stdout.split())
    assert f"--logs '{tmp_path}/a log' --timezone Europe/Berlin --into c2q" in words
    piped = " ".join(quickly("-", *FIXED, "--width", "300", stdin=CRONTAB).stdout.split())
    assert "Next ... | cron2queue convert - --dialect debian" in piped
    many = " ".join(quickly(*[crontab] * 6, *FIXED, "--width", "300").stdout.split())
    assert "cron2queue convert SOURCE ... --dialect debian" in many


def test_standard_input_is_read_where_a_dash_is_given(crontab: Path) -> None:
    ran = quickly("-", *FIXED, "--format", "json", stdin=CRONTAB)
    document = json.loads(ran.stdout)
    assert [source["counts"]["entries"] for source in document["sources"]] == [4]
    assert ran.returncode == 1


def test_the_password_in_the_crontab_is_in_no_format(crontab: Path) -> None:
    for name in ("terminal", "concise", "json", "markdown", "html", "sarif", "github", "junit"):
        ran = quickly(crontab, *FIXED, "--format", name, "--why", "--verbose")
        assert ran.stdout
        assert "hunT" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(("threshold", "status"), [("error", 1), ("warning", 1), ("note", 1), ("never", 0)])
def test_the_exit_status_follows_the_threshold(crontab: Path, threshold: str, status: int) -> None:
    assert quickly(crontab, *FIXED, "--fail-on", threshold, "--quiet").returncode == status


def test_a_crontab_with_nothing_at_or_above_the_threshold_is_ok(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    calm.write_text("0 4 * * * root /usr/local/bin/report >> /var/log/report.log 2>&1\n", encoding="utf-8")
    ran = quickly(calm, *FIXED)
    assert ran.returncode == 0
    assert "OK   nothing at or above --fail-on=error" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "jsn"], "did you mean json?"),
        (["--fail-on", "bad"], "error, warning, note, never"),
        (["--color", "blue"], "auto, always, never"),
        (["--timezone", "Europe/Berlni"], "did you mean Europe/Berlin?"),
        (["--at", "yesterday"], "is no moment"),
        (["--also", "json"], "FORMAT=FILE"),
        (["--also", "jsn=x"], "did you mean json?"),
        (["--select", "C2Q999"], "C2Q999"),
        (["--dialect", "debain"], "debian"),
        (["--baseline", "/nowhere/at/all"], "--write-baseline"),
        (["--ask"], "not a terminal"),
        (["--width", "3"], "40"),
        (["--output", "/nowhere/at/all"], "remedy: name a file in a folder that is there"),
    ],
)
def test_misuse_is_told_with_its_remedy_and_status_2(crontab: Path, arguments: list[str], said: str) -> None:
    fixed = [word for word in FIXED if word not in ("--dialect", "debian") or "--dialect" not in arguments]
    ran = quickly(crontab, *fixed, *arguments)
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.split())
    assert ran.stdout == ""


def test_what_cannot_be_read_is_named_and_the_rest_still_reported(crontab: Path, tmp_path: Path) -> None:
    ran = quickly(crontab, tmp_path / "missing", *FIXED)
    assert ran.returncode == 3
    assert "missing" in ran.stderr
    assert "NOT READ" in ran.stdout
    assert "exit status 3" in ran.stdout
    assert "C2Q" in ran.stdout


def test_several_files_are_one_report(crontab: Path, tmp_path: Path) -> None:
    second = tmp_path / "other" / "crontab"
    second.parent.mkdir()
    second.write_text("0 5 * * * root /usr/local/bin/late >/dev/null\n", encoding="utf-8")
    document = json.loads(quickly(crontab, second, *FIXED, "-f", "json").stdout)
    assert [source["path"] for source in document["sources"]] == [str(crontab), str(second)]
    assert len(document["entries"]) == 5


def test_reports_go_to_files_as_well_and_stdout_stays_silent_with_output(crontab: Path, tmp_path: Path) -> None:
    ran = quickly(
        crontab, *FIXED, "-o", tmp_path / "r.txt", "--also", f"sarif={tmp_path}/r.sarif", "--also", f"html={tmp_path}/r.html",
        "--also", f"junit={tmp_path}/r.xml",
    )  # fmt: skip
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert "MIGRATION ORDER" in (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "\x1b" not in (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "r.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ElementTree.parse(tmp_path / "r.xml").getroot().tag == "testsuites"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crontab", "r.html", "r.sarif", "r.txt", "r.xml"]


def test_a_file_that_is_replaced_keeps_its_mode_and_is_never_half_written(crontab: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    report.write_text("old", encoding="utf-8")
    report.chmod(0o600)
    quickly(crontab, *FIXED, "-f", "json", "-o", report)
    assert report.stat().st_mode & 0o777 == 0o600
    assert json.loads(report.read_text(encoding="utf-8"))["schema"] == 1


def test_a_baseline_holds_back_what_is_known_and_only_that(crontab: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    assert quickly(crontab, *FIXED, "--write-baseline", baseline, "-q").returncode == 1
    assert "hunT" not in baseline.read_text(encoding="utf-8")
    again = quickly(crontab, *FIXED, "--baseline", baseline, "--fail-on", "note")
    assert again.returncode == 0
    assert "in the baseline" in again.stdout
    moved = tmp_path / "moved"
    moved.write_text("# one more line\n" + CRONTAB + "0 0 30 2 * root /usr/bin/new >/dev/null\n", encoding="utf-8")
    after = json.loads(quickly(moved, *FIXED, "--baseline", baseline, "-f", "json").stdout)
    standing = {
        finding["line"] for finding in after["findings"] if finding["suppressed"] is None and finding["severity"] == "error"
    }
    assert standing == {10}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2, "findings": []}', '{"schema": 1}', "\udcff", "[" * 100_000])
def test_a_file_that_is_no_baseline_is_refused(crontab: Path, tmp_path: Path, text: str) -> None:
    baseline = tmp_path / "b.json"
    baseline.write_bytes(text.encode("utf-8", "surrogateescape"))
    ran = quickly(crontab, *FIXED, "--baseline", baseline)
    assert ran.returncode == 2
    assert "--write-baseline" in ran.stderr or "schema" in ran.stderr


def test_rules_can_be_selected_and_ignored_by_code_and_family(crontab: Path) -> None:
    def codes(*arguments: str) -> set[str]:
        document = json.loads(quickly(crontab, *FIXED, "-f", "json", *arguments).stdout)
        return {finding["code"] for finding in document["findings"]}

    assert {code[:4] for code in codes("--select", "C2Q2")} == {"C2Q2"}
    assert codes("--select", "C2Q201,C2Q301") == {"C2Q201", "C2Q301"}
    assert "C2Q301" not in codes("--ignore", "C2Q301")
    assert codes() > codes("--ignore", "C2Q3")


def test_the_moment_and_the_zone_are_those_that_were_asked_for(crontab: Path) -> None:
    document = json.loads(quickly(crontab, *FIXED, "-f", "json").stdout)
    assert (document["at"], document["timezone"]) == ("2026-11-30T12:00:00+01:00", "Europe/Berlin")
    other = json.loads(
        quickly(crontab, "-f", "json", "--tz", "UTC", "--at", "2026-11-30T12:00:00+01:00", "--kind", "system").stdout
    )
    assert other["at"] == "2026-11-30T11:00:00+00:00"


def test_without_an_option_the_zone_is_that_of_the_nearest_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "cron2queue.toml").write_text(
        'format-version = 1\n[project]\nname = "x"\ntimezone = "Asia/Tokyo"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path / "below")
    plain = quickly("-", "-f", "json", "--kind", "system", stdin=CRONTAB)
    asked = quickly("-", "-f", "json", "--kind", "system", "--tz", "UTC", stdin=CRONTAB)
    assert [json.loads(ran.stdout)["timezone"] for ran in (plain, asked)] == ["Asia/Tokyo", "UTC"]


def test_standard_input_can_be_only_one_thing(crontab: Path) -> None:
    ran = quickly("-", *FIXED, "--logs", "-", stdin=CRONTAB)
    assert ran.returncode == 2
    assert "more than once" in ran.stderr


def test_colour_only_where_it_is_wanted(crontab: Path) -> None:
    assert "\x1b" not in quickly(crontab, *FIXED).stdout
    assert "\x1b[" in quickly(crontab, *FIXED, "--color", "always").stdout
    assert "\x1b[" in quickly(crontab, *FIXED, FORCE_COLOR="1").stdout
    assert "\x1b" not in quickly(crontab, *FIXED, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b[" in quickly(crontab, *FIXED, "--color", "always", NO_COLOR="1").stdout
    assert "\x1b" not in quickly(crontab, *FIXED, FORCE_COLOR="").stdout


def test_options_may_come_from_the_environment(crontab: Path) -> None:
    ran = quickly(crontab, *FIXED, CRON2QUEUE_FORMAT="json")
    assert json.loads(ran.stdout)["schema"] == 1


def test_an_output_that_is_not_utf_8_gets_ascii(crontab: Path) -> None:
    ran = audit(crontab, *FIXED, PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONCOERCECLOCALE="0")
    assert ran.stdout.isascii()
    assert "mysqldump -p<secret>" in ran.stdout
    assert audit(crontab, *FIXED, "--ascii").stdout.isascii()


def test_a_reader_that_goes_away_ends_it_quietly(crontab: Path) -> None:
    """The pipe's other end is closed before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cron2queue", "audit", str(crontab), *FIXED]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment(), timeout=60)
    os.close(writer)
    assert ran.stderr == b""
    assert ran.returncode in (0, 1)


def test_a_full_disk_is_told_and_is_no_bug(crontab: Path) -> None:
    command = [sys.executable, "-m", "cron2queue", "audit", str(crontab), *FIXED]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60)
    assert ran.returncode == 2
    said, remedy = ran.stderr.decode().splitlines()
    assert said == "cron2queue: standard output: cannot be written: No space left on device"
    assert remedy == "  remedy: free some space, or name another place with -o"


def test_on_a_terminal_it_is_coloured_and_as_wide_as_the_terminal(crontab: Path) -> None:
    text = on_terminal([sys.executable, "-m", "cron2queue", "audit", str(crontab), *FIXED], columns=72)
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(len(line) for line in plain.splitlines()) <= 72
    assert "LOAD" in plain


def test_questions_are_asked_on_a_terminal_and_the_answers_are_believed(tmp_path: Path) -> None:
    unclear = tmp_path / "crontab"
    unclear.write_text("0 * * * * www-data php /var/www/shop/export_feed.php >> /var/log/x 2>&1\n", encoding="utf-8")
    command = [sys.executable, "-m", "cron2queue", "audit", str(unclear), *FIXED, "--ask", "--why", "--color", "never"]
    text = on_terminal(command, columns=100, typed=b"y\ny\ny\ny\ny\ny\n")
    assert "[y/n" in text
    assert "declared" in text
    assert re.search(r"1 entry to (queue|split)", text)


def on_terminal(command: list[str], *, columns: int, typed: bytes = b"") -> str:
    """What the command writes when all three streams are a terminal of this width."""
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment(TERM="xterm"), close_fds=True)
    os.close(slave)
    os.write(master, typed)
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the child has closed the terminal
            break
        if not piece:
            break
        seen += piece
    child.wait(timeout=60)
    os.close(master)
    return seen.decode("utf-8").replace("\r\n", "\n")


HOSTILE = [
    b"\x00" * 50,
    b"\xff\xfe* * * * * x\n",
    b"* * * * * root \x1b]0;pwn\x07\x1b[2J\n",
    b"\r\r\r",
    b"[/] [red] * * * * *\n",
    b"%" * 5000,
    b"@" * 999,
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_no_bytes_make_it_crash_or_steer_the_terminal(data: bytes) -> None:
    ran = quickly("-", *FIXED, stdin=data)
    assert ran.returncode in (0, 1, 3)
    assert safe_text(ran.stdout.replace("\n", " ")) == ran.stdout.replace("\n", " ")


def test_without_a_source_the_crontabs_of_this_machine_are_audited(tmp_path: Path) -> None:
    """A copied tree stands for the machine, so that the test does not depend on where it runs."""
    (tmp_path / "etc/cron.d").mkdir(parents=True)
    (tmp_path / "etc/crontab").write_text("17 * * * * root cd / && run-parts --report /etc/cron.hourly\n", encoding="utf-8")
    (tmp_path / "etc/cron.d/php").write_text("09,39 * * * * root /usr/lib/php/sessionclean >/dev/null\n", encoding="utf-8")
    (tmp_path / "etc/timezone").write_text("Asia/Tokyo\n", encoding="ascii")
    document = json.loads(quickly("--root", tmp_path, "-f", "json", "--fail-on", "never").stdout)
    assert len(document["sources"]) == 2
    assert document["timezone"] == "Asia/Tokyo"
