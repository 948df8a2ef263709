"""The Prometheus text format, read back by a reader of our own and, where it is installed, by promtool."""

import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from cron2queue.runtime.metrics.exposition import Family, Sample, number, render, write_textfile

LINE = re.compile(
    r'[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"(,[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*")*\})? \S+'
)


def gauge(*samples: Sample, help: str = "Help.") -> Family:
    return Family(name="c2q_test", type="gauge", help=help, samples=samples)


def test_a_family_is_help_type_and_one_line_a_sample() -> None:
    text = render([gauge(Sample(labels={"queue": "mail"}, value=3), Sample(labels={}, value=0.5))])
    assert text == '# HELP c2q_test Help.\n# TYPE c2q_test gauge\nc2q_test{queue="mail"} 3\nc2q_test 0.5\n'


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "\x1b[31m", "\u202eevil", "{}", "\udcff", "x" * 5000])
def test_a_hostile_label_stays_one_line_of_the_format(name: str) -> None:
    line = render([gauge(Sample(labels={"queue": name}, value=1))]).splitlines()[2]
    assert LINE.fullmatch(line)
    assert len(line) < 1000


def test_names_that_are_shown_alike_are_one_series() -> None:
    text = render([gauge(Sample(labels={"q": "\x1b"}, value=1), Sample(labels={"q": "\\x1b"}, value=2))])
    assert text.count("c2q_test{") == 1
    assert text.endswith(" 3\n")


def test_help_is_escaped_and_a_family_without_samples_is_silent() -> None:
    assert render([gauge(help="a\\b\nc")]) == ""
    assert "# HELP c2q_test a\\\\b\\nc\n" in render([gauge(Sample(labels={}, value=1), help="a\\b\nc")])


def test_a_metric_name_must_be_one() -> None:
    with pytest.raises(ValueError, match="not a metric name"):
        Family(name="1 bad", type="gauge", help="", samples=())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (float("nan"), "NaN"),
        (float("inf"), "+Inf"),
        (-float("inf"), "-Inf"),
        (1e15, "1000000000000000"),
    ],
)
def test_numbers_are_as_prometheus_reads_them(value: float, text: str) -> None:
    assert number(value) == text


def test_a_textfile_is_put_in_place_whole_and_readable_by_the_collector(tmp_path: Path) -> None:
    target = tmp_path / "c2q.prom"
    target.write_text("old")
    write_textfile(target, "new 1\n")
    assert target.read_text() == "new 1\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["c2q.prom"]


def test_a_textfile_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "c2q.prom").mkdir()
    with pytest.raises(OSError):
        write_textfile(tmp_path / "c2q.prom", "new 1\n")
    assert [each.name for each in tmp_path.iterdir()] == ["c2q.prom"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_reads_the_format() -> None:
    text = render([gauge(Sample(labels={"queue": 'a"\\\nb'}, value=1.5))])
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
