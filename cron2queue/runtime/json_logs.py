"""Logs as JSON, one object a line, for journald, Loki, Elasticsearch and their kin.

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())

What a record carries in `extra` (job, kind, queue, attempt, worker) becomes fields of its own. Secrets are masked,
and a message is cut after masking, so that a flood in one line stays one line.
"""

import json
import logging
import os
import traceback
from copy import copy
from datetime import UTC, datetime
from typing import Any

from cron2queue.redaction import redact
from cron2queue.text import safe_text

MESSAGE_LIMIT = 8192  # characters of one text
_BUILT_IN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PRIORITIES = ((logging.CRITICAL, "<2>"), (logging.ERROR, "<3>"), (logging.WARNING, "<4>"), (logging.INFO, "<6>"))


class JsonLines(logging.Formatter):
    """One JSON object a record: at (UTC), level, logger, message, then the extra fields, then the traceback.

    With `priorities`, each line begins with syslog's `<N>`, which journald takes for the priority and removes.
    """

    def __init__(self, *, priorities: bool = False) -> None:
        super().__init__()
        self._priorities = priorities

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of ASCII."""
        fields: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _clean(_message(record)),
        }
        fields.update((name, _plain(value)) for name, value in vars(record).items() if name not in _BUILT_IN | fields.keys())
        if record.exc_info and record.exc_info[1] is not None:
            fields["traceback"] = _clean("".join(traceback.format_exception(record.exc_info[1])))
        line = json.dumps(fields, ensure_ascii=True, allow_nan=False)
        return self._priority(record.levelno) + line

    def _priority(self, level: int) -> str:
        return next((mark for least, mark in _PRIORITIES if level >= least), "<7>") if self._priorities else ""


class PlainLines(logging.Formatter):
    """A line for people: the message, then the extra fields as name=value; nothing in it can steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """`cron2queue: message  name=value ...`, and the traceback below it."""
        lines = [f"cron2queue: {_with_fields(record)}"]
        if record.exc_info and record.exc_info[1] is not None:
            lines += _clean("".join(traceback.format_exception(record.exc_info[1]))).splitlines()
        return "\n".join(safe_text(line) for line in lines)


class WithFields(logging.Formatter):
    """Another program's formatter, which shows no extra fields: of our own records they stand behind the message."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """As the other formats it."""
        if record.name.startswith("cron2queue."):
            record = copy(record)
            record.msg, record.args = safe_text(_with_fields(record)), ()
        return self._inner.format(record)


def under_journald() -> bool:
    """Whether stderr goes to the journal (systemd sets JOURNAL_STREAM), where `priorities` make sense."""
    return "JOURNAL_STREAM" in os.environ


def _with_fields(record: logging.LogRecord) -> str:
    extra = [f"  {name}={_clean(str(value))}" for name, value in vars(record).items() if name not in _BUILT_IN]
    return _clean(_message(record)) + "".join(extra)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # the caller's arguments do not fit the caller's text; the log line matters more
        return f"{record.msg!r} % {record.args!r}"


def _clean(text: str) -> str:
    masked = redact(text)
    return masked if len(masked) <= MESSAGE_LIMIT else masked[: MESSAGE_LIMIT - 1] + "…"


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return _clean(str(value))
