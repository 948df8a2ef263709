"""/etc/anacrontab: jobs by days since their last run, not by the clock. Source: anacrontab(5)."""

from cron2queue.crontab.lines import Assignment, Blank, Comment, CrontabFile, Effect, Entry, Kind, Line, Malformed
from cron2queue.crontab.schedule import Interval
from cron2queue.expressions import regex
from cron2queue.text import to_text

_DAY = 86_400
_PERIODS = {b"@daily": 1, b"@weekly": 7, b"@monthly": 30, b"@yearly": 365, b"@annually": 365}
_ASSIGNMENT = regex(rb"[ \t]*(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?P<value>[^\n]*+)\n?\Z")
_JOB = regex(rb"[ \t]*(?P<period>@?\w{1,20})[ \t]+(?P<delay>\d{1,9})[ \t]+(?P<id>\S{1,200})[ \t]+(?P<command>[^\n]+?)\n?\Z")
_REMEDY = "write: period in days, delay in minutes, a name for the job, the command"


def parse_anacrontab(data: bytes, *, path: str, dialect: str) -> CrontabFile:
    """Every job is an entry of root's; its period is an interval, since anacron has no time of day."""
    lines: list[Line] = []
    environment = {"SHELL": "/bin/sh", "LOGNAME": "root", "HOME": "/root"}
    for number, raw in enumerate(_physical_lines(data), start=1):
        line = _line(number, raw, dict(environment))
        if isinstance(line, Assignment):
            environment[line.name] = line.value
        lines.append(line)
    notes = ("anacron runs these once a period, some minutes after it was started: there is no time of day",)
    return CrontabFile(path=path, dialect=dialect, kind=Kind.SYSTEM, lines=tuple(lines), notes=notes, editable=False)


def _physical_lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _line(number: int, raw: bytes, environment: dict[str, str]) -> Line:
    content = raw.strip()
    if not content:
        return Blank(number=number, raw=raw)
    if content.startswith(b"#"):
        return Comment(number=number, raw=raw, text=to_text(content[1:]))
    assignment = _ASSIGNMENT.match(raw)
    if assignment:
        return Assignment(number=number, raw=raw, name=to_text(assignment["name"]), value=to_text(assignment["value"].strip()))
    job = _JOB.match(raw)
    days = _days(job["period"]) if job else 0
    if job is None or not days:
        return Malformed(number=number, raw=raw, column=1, message="bad job line", effect=Effect.LINE, remedy=_REMEDY)
    command = to_text(job["command"])
    return Entry(
        number=number, raw=raw, schedule=Interval(seconds=days * _DAY), schedule_text=to_text(job["period"]), user="root",
        command=command, stdin=None, environment=environment, command_text=command, command_column=job.start("command") + 1,
        fields=(to_text(job["period"]), to_text(job["delay"]), to_text(job["id"])),
    )  # fmt: skip


def _days(period: bytes) -> int:
    return _PERIODS.get(period.lower(), int(period) if period.isdigit() and len(period) < 6 else 0)
