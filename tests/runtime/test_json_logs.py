"""Logs as JSON: one object a line, whatever is logged."""

import json
import logging
import sys
from typing import Any

import pytest

from cron2queue.runtime.json_logs import JsonLines, PlainLines, WithFields


def logged(message: str, *args: Any, level: int = logging.INFO, extra: dict[str, Any] | None = None) -> str:
    record = logging.getLogger("cron2queue.worker").makeRecord(
        "cron2queue.worker", level, __file__, 1, message, args, sys.exc_info() if sys.exc_info()[0] else None, extra=extra
    )
    return JsonLines().format(record)


def test_a_record_is_one_line_with_its_extra_fields() -> None:
    read = json.loads(logged("job %s is done", "8b2c", extra={"job": "8b2c", "attempt": 2, "wait": 0.25}))
    assert (read["level"], read["logger"], read["message"]) == ("info", "cron2queue.worker", "job 8b2c is done")
    assert (read["job"], read["attempt"], read["wait"]) == ("8b2c", 2, 0.25)
    assert read["at"].endswith("+00:00")


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[2J", "\udcff", "\u2028", "x" * 100_000])
def test_hostile_text_stays_on_one_short_line(text: str) -> None:
    line = logged("%s", text)
    assert line.isascii() and "\n" not in line and len(line) < 60_000
    assert json.loads(line)["message"][:3] == text[:3]


def test_a_secret_is_masked_in_message_extra_and_traceback() -> None:
    secret = "mysql://shop:hunter2hunter2@db/shop"
    try:
        raise RuntimeError(f"cannot reach {secret}")
    except RuntimeError:
        line = logged("lost %s", secret, extra={"database": secret})
    assert "hunter2" not in line
    assert "RuntimeError" in json.loads(line)["traceback"]


def test_arguments_that_do_not_fit_are_logged_as_they_are() -> None:
    assert "two %s %s" in json.loads(logged("two %s %s", 1))["message"]


def test_not_a_number_and_infinity_are_words() -> None:
    read = json.loads(logged("x", extra={"a": float("nan"), "b": float("inf")}))
    assert (read["a"], read["b"]) == ("nan", "inf")


def test_under_the_journal_a_line_begins_with_its_priority() -> None:
    record = logging.makeLogRecord({"name": "x", "levelno": logging.ERROR, "levelname": "ERROR", "msg": "bad"})
    assert JsonLines(priorities=True).format(record).startswith('<3>{"at"')


def test_the_plain_line_carries_the_same_fields_and_cannot_steer_a_terminal() -> None:
    record = logging.getLogger("cron2queue.worker").makeRecord(
        "cron2queue.worker",
        logging.INFO,
        __file__,
        1,
        "dead",
        (),
        None,
        extra={"kind": "a\x1b[2J\nb", "url": "mysql://u:pw1@h/d"},
    )
    line = PlainLines().format(record)
    assert line.startswith("cron2queue: dead  kind=a\\x1b[2J\\x0ab  url=mysql://u:")
    assert "pw1" not in line


def test_the_format_of_another_shows_the_fields_of_our_records_and_leaves_others_alone() -> None:
    shown = WithFields(logging.Formatter("[%(levelname)s] %(message)s"))
    facts = {"levelname": "WARNING", "msg": "dead %s", "args": ("now",), "job": "8b2c", "url": "mysql://u:pw1pw1@h/d\x1b["}
    ours = logging.makeLogRecord({"name": "cron2queue.worker", **facts})
    line = shown.format(ours)
    assert line.startswith("[WARNING] dead now  job=8b2c  url=mysql://u:") and line.endswith("@h/d\\x1b[")
    assert "pw1pw1" not in line
    assert ours.getMessage() == "dead now"
    assert shown.format(logging.makeLogRecord({"name": "celery.worker", **facts})) == "[WARNING] dead now"
