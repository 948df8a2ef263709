"""What other tools make of an entry: asked for a finding, never for the truth."""

import subprocess
import sys

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.second_readers import second_readings


def readings(expression: str, dialect: str = "debian") -> dict[str, str]:
    return dict(second_readings(truth.read_line(expression, dialect).entries[0]))


def test_what_all_read_alike_is_the_same() -> None:
    assert readings("*/5 * * * *") == {"croniter": "same", "python-crontab": "same"}


@pytest.mark.parametrize(
    ("expression", "tool", "begins"),
    [
        ("0 0 */2 * 1", "croniter", "differs: "),
        ("0 22-4 * * *", "croniter", "differs: 2026-01-01 00:00 where the daemon never starts it"),
        ("5; * * * *", "croniter", "rejects"),
        ("0 0 30 2 *", "croniter", "same"),
        ("0 0 * * 1-7/2", "python-crontab", "would rewrite as "),
        ("0 0 1 * 0-6", "python-crontab", "would rewrite as @monthly"),
        ("0 22-4 * * *", "python-crontab", "rejects"),
        ("0 0 * * mon,3,fri", "python-crontab", "rejects"),
        ("@reboot", "croniter", "rejects"),
    ],
)
def test_where_a_tool_reads_otherwise_it_is_told(expression: str, tool: str, begins: str) -> None:
    assert readings(expression)[tool].startswith(begins)


def test_the_user_column_is_given_to_a_tool_that_knows_one() -> None:
    file = parse(b"*/5 * * * * www-data date\n", path="x", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    assert dict(second_readings(file.entries[0]))["python-crontab"] == "same"


def test_nothing_hostile_makes_a_second_reader_fail_or_print(capsys: pytest.CaptureFixture[str]) -> None:
    for vector in truth.vectors()[::7]:
        for entry in truth.read_line(vector["expr"], "debian").entries:
            assert len(second_readings(entry)) == 2
    long = truth.read_line(",".join(["5"] * 1000) + " * * * *", "debian").entries[0]
    assert dict(second_readings(long)) == {"croniter": "rejects", "python-crontab": "rejects"}
    assert capsys.readouterr() == ("", "")


def test_the_tools_are_not_loaded_before_they_are_asked() -> None:
    code = "import sys, cron2queue.crontab.second_readers; print(sorted({'croniter', 'crontab'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
