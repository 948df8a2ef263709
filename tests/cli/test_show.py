"""`cron2queue show`: the JSON contract, the screen, and the ways it ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cron_truth as truth
import pytest
from command_line import run

SHAPE = {
    "source": {"path", "dialect", "kind", "loaded", "why", "entries", "malformed", "counts", "notes"},
    "entry": {
        *("line", "schedule", "user", "command", "stdin", "environment"),
        *("description", "never_fires", "random", "fires", "nominal"),
    },
    "malformed": {"line", "column", "message", "effect", "remedy"},
}


def show(*arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cron2queue", "show", *arguments]
    return subprocess.run(command, input=text, capture_output=True, timeout=60)


def answer(*arguments: str, text: bytes) -> dict[str, Any]:
    done = show("-", "--format", "json", *arguments, text=text)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == 1
    assert set(found["sources"][0]) == SHAPE["source"]
    return dict(found["sources"][0])


BERLIN = ("--timezone", "Europe/Berlin", "--dialect", "debian")


def test_an_entry_is_told_as_the_daemon_understood_it() -> None:
    text = b"MAILTO=ops\n# x\n\n*/5 * * * * www-data php job%in%put\n"
    source = answer("--kind", "system", "--at", "2026-01-01", "-n", "2", *BERLIN, text=text)
    assert source["counts"] == {"lines": 4, "entries": 1, "assignments": 1, "comments": 1, "blank": 1, "malformed": 0}
    entry = source["entries"][0]
    assert set(entry) == SHAPE["entry"]
    assert (entry["line"], entry["user"], entry["command"], entry["stdin"]) == (4, "www-data", "php job", "in\nput\n")
    assert entry["environment"]["MAILTO"] == "ops"
    assert entry["description"] == "every 5 minutes"
    assert entry["fires"] == ["2026-01-01T00:00:00+01:00", "2026-01-01T00:05:00+01:00"]
    assert entry["nominal"] == ["2026-01-01T00:00", "2026-01-01T00:05"]


def test_fires_are_real_times_and_stand_for_wall_minutes() -> None:
    source = answer("--kind", "user", "--at", "2026-03-29", "--until", "2026-03-30", *BERLIN, text=b"30 2 * * * x\n")
    assert source["entries"][0]["fires"] == ["2026-03-29T03:00:00+02:00"]
    assert source["entries"][0]["nominal"] == ["2026-03-29T02:30"]


def test_a_file_that_the_daemon_ignores_starts_nothing() -> None:
    source = answer("--kind", "user", "--at", "2026-01-01", "-n", "3", *BERLIN, text=b"* * * * * x\n61 * * * * y\n")
    assert source["loaded"] is False
    assert source["why"] == "Syntax error, this crontab file will be ignored (line 2: bad minute)"
    assert source["entries"][0]["fires"] == []
    assert set(source["malformed"][0]) == SHAPE["malformed"]
    assert (source["malformed"][0]["message"], source["malformed"][0]["effect"]) == ("bad minute", "file")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"0 3 * * * x\n61 * * * * y\n",
            "cron ignores this file: Syntax error, this crontab file will be ignored (line 2: bad minute)",
        ),
        (b"0 3 * * * x\n{{ minute }} * * * * y\n", "a template, and no crontab yet: render it first"),
    ],
)
def test_what_cron_does_not_read_is_told_as_in_the_audit(text: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_bytes(text)
    options = (str(tmp_path / "jobs"), "--kind", "user", "--width", "200", *BERLIN)
    shown = show(*options).stdout.decode()
    audited = subprocess.run(
        [sys.executable, "-m", "cron2queue", "audit", *options], capture_output=True, text=True, timeout=60
    ).stdout
    assert said in {line.strip() for line in shown.splitlines()} & {line.strip() for line in audited.splitlines()}
    assert "IGNORED" not in shown
    assert ("cron ignores" in shown) is said.startswith("cron ignores")


def test_a_misread_line_is_told_and_runs() -> None:
    arguments = ("--dialect", "busybox", "--timezone", "UTC", "--at", "2026-01-01", "--until", "2027-01-01")
    source = answer(*arguments, text=b"0 3 * * 7 x\n")
    assert len(source["entries"][0]["fires"]) == 365
    assert [(bad["message"], bad["effect"]) for bad in source["malformed"]] == [("parse error at 7", "misread")]
    assert sum(count for name, count in source["counts"].items() if name != "lines") == source["counts"]["lines"] == 1


def test_two_hundred_thousand_fires_are_printed() -> None:
    arguments = ("--kind", "user", "--at", "2026-01-01", "--until", "2026-05-20", *BERLIN)
    source = answer(*arguments, text=b"* * * * * x\n")
    fires = source["entries"][0]["fires"]
    assert len(fires) == len(source["entries"][0]["nominal"]) == 139 * 1440 - 60
    assert fires[-1] == "2026-05-19T23:59:00+02:00"


@pytest.mark.parametrize("vector", truth.vectors()[::80], ids=lambda vector: vector["expr"])
def test_recorded_schedules_are_shown_with_their_recorded_fires(vector: dict[str, Any]) -> None:
    name = "berlin_2026-03-29_fwd"
    begin, end, _ = truth.window(name)
    arguments = ("--kind", "user", "--at", begin.isoformat(), "--until", end.isoformat(), *BERLIN)
    source = answer(*arguments, text=f"{vector['expr']} CMD\n".encode())
    recorded = truth.answer(vector.get("dst", {}).get(name, {}), "debian") or {"count": 0}
    assert sum(len(entry["fires"]) for entry in source["entries"]) == recorded["count"]


def test_secrets_are_masked_and_the_output_is_ascii() -> None:
    text = "DB_PASSWORD=hunter2hunter2\n* * * * * mysql -phunter2hunter2 \u202e \x1b[31m é\n".encode()
    for arguments in (("--format", "json"), ()):
        done = show("-", "--kind", "user", *arguments, text=text)
        assert b"hunter2" not in done.stdout
        assert b"\x1b" not in done.stdout
        assert "\u202e".encode() not in done.stdout


def test_the_screen_names_schedule_words_user_command_and_starts() -> None:
    arguments = ("--kind", "system", "--at", "2026-03-29", "-n", "1", *BERLIN)
    done = show("-", *arguments, text=b"30 2 * * * shop php x\n0 22-4 * * * root y\n")
    screen = done.stdout.decode()
    for part in (
        "Debian cron, system crontab: 2 lines (2 entries)",
        "30 2 * * *   at 02:30 every day",
        "shop: php x",
        "starts: Sun 2026-03-29 03:00 +0200 (for 02:30)",
        "never: no hour is left",
    ):
        assert part in screen


def test_a_script_that_run_parts_skips_is_no_dropped_line_and_one_is_one(tmp_path: Path) -> None:
    (tmp_path / "etc/cron.daily").mkdir(parents=True)
    (tmp_path / "etc/cron.daily/old.sh").write_text("#!/bin/sh\n", encoding="ascii")
    told = show("--root", str(tmp_path), "--dialect", "debian", "--width", "200").stdout.decode()
    assert "1 line (1 malformed)" in told
    assert "  old.sh: run-parts skips it" in told
    assert "line is dropped" not in told


def test_what_could_not_be_read_is_told_and_the_rest_shown(tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_bytes(b"* * * * * x\n")
    done = show(str(tmp_path / "nothing"), str(crontab), "--format", "json")
    assert done.returncode == 3
    assert b"it does not exist" in done.stderr
    assert b"remedy:" in done.stderr
    assert len(json.loads(done.stdout)["sources"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("-", "--dialect", "vixie"),
        ("-", "--kind", "both"),
        ("-", "--format", "xml"),
        ("-", "--timezone", "Mars/Olympus"),
        ("-", "--at", "yesterday"),
        ("-", "-n", "-1"),
    ],
)
def test_wrong_words_are_usage_errors_without_a_traceback(arguments: tuple[str, ...]) -> None:
    done = show(*arguments, text=b"* * * * * x\n")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def test_a_line_that_is_read_in_pieces_is_told_of_once() -> None:
    text = b"* * * x y * * * * * echo a\n- - - x 3\n0 1 * * * ok\n61 * * * * * b\n"
    done = show("-", "--kind", "user", "--dialect", "freebsd", "-n", "1", "--width", "200", text=text)
    told = [line.strip() for line in done.stdout.decode().splitlines() if line.strip().startswith(("line ", "the rest"))]
    dropped = "what stands up to there is dropped"
    reads_on = "the rest of the line is read as if a new line began there"
    assert told == [
        f"line 1, column 7: bad month: {dropped}", f"{reads_on}; 1 more piece of it dropped",
        f"line 2, column 1: bad minute: {dropped}", f"{reads_on}; 4 more pieces of it dropped",
        f"line 4, column 1: bad minute: {dropped}", reads_on,
    ]  # fmt: skip


def test_more_starts_than_can_be_held_are_refused_with_what_to_do() -> None:
    arguments = ("--kind", "user", "--dialect", "freebsd", "--at", "2026-01-01", "--until", "2027-01-01")
    done = show("-", *arguments, "--format", "json", text=b"@every_second x\n")
    assert done.returncode == 2
    assert b"line 1 starts more than 1,000,000 times" in done.stderr
    assert b"-n how many" in done.stderr


def test_a_report_can_be_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "show.json"
    done = show("-", "--format", "json", "-o", str(target), text=b"* * * * * x\n")
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads(target.read_text())["sources"][0]["path"] == "-"


def test_a_moment_that_is_none_is_told_with_its_option(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_bytes(b"0 3 * * * x\n")
    for option in ("--at", "--until"):
        ran = run("show", str(tmp_path / "crontab"), option, "2020")
        assert ran.status == 2 and ran.err.startswith(f"cron2queue: {option}: '2020' is no moment\n  remedy: ")
