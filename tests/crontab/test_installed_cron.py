"""Debian's own crontab(1), where it is installed, takes and refuses what our reader says it does."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from presence import absent

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

CRONTAB = shutil.which("crontab")
FIELDS = [
    *["*", "0", "5", "59", "60", "7", "08", "31", "32", "007", "4294967301", "1.5", "x", "L", "?", "~", "0~5", '"5"', "{1}"],
    *["mon", "sun", "SAT", "jan", "Feb", "monday", "sat-sun", "sun-7", "1-mon", "*/5", "*/0", "*/61", "*5", "*-3", "5#3", "5;"],
    *["1-5", "5-1", "-5", "1-", "1-5/2", "5/10", "0-60", "1,2", "1,", "1-5-7", "1-31/40", "5-64/30", "50-64/20", "201-22/1"],
]
LINES = [
    *["FOO=bar", "FOO=", 'FOO=""', 'FOO="a" b', "FOO='a'", "A = b c", '"A B"=c', "=x", "export A=b", "# x", "", "  ", "0 = 5"],
    *["@daily x", "@daily", "@Daily x", "@reboot x", "@weekly * y", "@every_minute x", "@ x", "* * * * *", "* * * * * * x"],
    *["* * * * * a%b", "* * * * * a\r", "\r", "* * * * * " + "x" * 998, "* * * * * " + "x" * 999, "FOO=" + "y" * 2000],
]


def has_dry_run() -> bool:
    if CRONTAB is None:
        return False
    told = subprocess.run([CRONTAB, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return "-n" in told.stderr + told.stdout


@pytest.fixture(autouse=True)
def debians() -> None:
    if not has_dry_run():
        absent("Debian's crontab with -n")


def is_taken(data: bytes, path: Path) -> bool:
    path.write_bytes(data)
    assert CRONTAB
    return subprocess.run([CRONTAB, "-n", str(path)], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def some_crontabs() -> list[bytes]:
    chance = random.Random(20261130)
    made = [line + "\n" for line in LINES] + ["* * * * * x", "# x", "* * * * * x\n61 * * * * y\n", "* * * * * x\0y\n"]
    for _ in range(160):
        fields = [chance.choice(FIELDS) if chance.random() < 0.4 else "*" for _ in range(5)]
        made.append(chance.choice([" ", "\t", "  "]).join(fields) + " x\n")
    return [text.encode() for text in made]


def test_crontab_takes_what_we_say_that_debian_loads(tmp_path: Path) -> None:
    for data in some_crontabs():
        file = parse(data, path="x", dialect=dialect_named("debian"), kind=Kind.USER, user="root")
        assert is_taken(data, tmp_path / "crontab") == file.loaded, data
