"""supercronic, the cron of containers: each job's start, output lines and end, in logrus text or JSON."""

import json
import re
import sys
from datetime import datetime
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, LocalTime, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_COLOUR = re.compile("\x1b\\[[0-9;]{0,10}m")
_ON_TERMINAL = re.compile(r"[A-Z]{4}\[([^\]]{10,40})\] (.*?) (?=(?:channel|iteration)=)")
_FIELD = re.compile(r'(?<![a-z_.])([a-z_.]{1,40})=(?:"((?:[^"\\]|\\.){0,60000})"|([^ "]{0,2000}))')
_BEGINS = re.compile(rb"time=|\{\"level|(?:\x1b\[[0-9;]{0,10}m)?INFO")
_ESCAPE = re.compile(r"\\(?:([abfnrtv])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))")
_CONTROL = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_STATUS = re.compile(r"exit status (\d{1,3})")
_SIGNAL = re.compile(r"signal: ([a-z]{1,20})")
_SIGNALS = {
    "hangup": 1,
    "interrupt": 2,
    "quit": 3,
    "illegal": 4,
    "trace": 5,
    "aborted": 6,
    "bus": 7,
    "floating": 8,
    "killed": 9,
    "segmentation": 11,
    "broken": 13,
    "alarm": 14,
    "terminated": 15,
}
"""By the first word of what Go calls them."""


class Supercronic(LogFormat):
    """`msg=starting iteration=0 job.command="..." job.position=0` ... `msg="job succeeded"`; exact by position and iteration.

    Each line of output is a message with `channel=stdout` or `stderr`, so that silence is known. A job that is still
    running is not started again, unless with -overlapping. Written after cron/cron.go of supercronic 0.2 and the text format
    of logrus, which looks otherwise on a terminal (that of a container, too).
    """

    name = "supercronic"
    samples: ClassVar = (
        Sample(
            lines="""\
time="2026-11-30T11:06:00Z" level=info msg="read crontab: /etc/crontab"
time="2026-11-30T11:06:00Z" level=info msg=starting iteration=0 job.command="php \\"a b\\".php" job.position=0
time="2026-11-30T11:06:01Z" level=info msg="nothing to do" channel=stdout iteration=0 job.command="x" job.position=0
time="2026-11-30T11:06:02Z" level=info msg="job succeeded" iteration=0 job.command="x" job.position=0
{"iteration":1,"job.command":"poll","job.position":1,"level":"info","msg":"starting","time":"2026-11-30T11:07:00Z"}
{"iteration":1,"job.command":"poll","job.position":1,"msg":"error running command: exit status 3","time":"2026-11-30T11:07:09Z"}
""",
            runs=(
                Seen(user="", command='php "a b".php', seconds=2, exit_status=0, output=True, pairing="exact"),
                Seen(user="", command="poll", seconds=9, exit_status=3, output=False, pairing="exact"),
            ),
        ),
        Sample(
            lines="""\
\x1b[36mINFO\x1b[0m[2026-11-30T11:06:00Z] read crontab: /etc/crontab
\x1b[36mINFO\x1b[0m[2026-11-30T11:06:00Z] starting      \x1b[36miteration\x1b[0m=0 \x1b[36mjob.command\x1b[0m="poll all" \
\x1b[36mjob.position\x1b[0m=0 \x1b[36mjob.schedule\x1b[0m="* * * * *"
\x1b[36mINFO\x1b[0m[2026-11-30T11:06:01Z] starting msg=x \x1b[36mchannel\x1b[0m=stdout \x1b[36miteration\x1b[0m=0 \
\x1b[36mjob.command\x1b[0m="poll all" \x1b[36mjob.position\x1b[0m=0
\x1b[31mERRO\x1b[0m[2026-11-30T11:06:04Z] error running command: exit status 3 \x1b[31miteration\x1b[0m=0 \
\x1b[31mjob.command\x1b[0m="poll all" \x1b[31mjob.position\x1b[0m=0
""",
            runs=(Seen(user="", command="poll all", seconds=4, exit_status=3, output=True, pairing="exact"),),
        ),
    )

    def claims(self, head: bytes) -> bool:
        """A file whose first lines have supercronic's fields."""
        return b"job.position" in head or (b"read crontab" in head[:400] and _BEGINS.match(head) is not None)

    def read_line(self, line: bytes, local: LocalTime) -> Event | None:
        """A start, a line of output, a skipped start or an end."""
        fields = _fields(to_text(line))
        message, moment = fields.get("msg"), fields.get("time")
        if not message or not moment or "job.position" not in fields:
            return None
        at = datetime.fromisoformat(moment).timestamp()
        key = (fields["job.position"], fields.get("iteration", ""))
        subject = Subject("", fields.get("job.command", ""))
        pid = abs(hash(key)) or 1
        if "channel" in fields:
            return Event(at, Op.WROTE, key, subject, pid, detail=message)
        return _event(at, message, key, subject, pid)


def _event(at: float, message: str, key: tuple[str, str], subject: Subject, pid: int) -> Event | None:
    if message == "starting":
        return Event(at, Op.START, key, subject, pid)
    if message == "job succeeded":
        return Event(at, Op.END, key, subject, pid, detail=Ending(exit_status=0))
    if message.startswith("error running command"):
        return Event(at, Op.END, key, subject, pid, detail=_bad_ending(message))
    if message.startswith("job is still running") or "not starting" in message:
        return Event(at, Op.REFUSED, None, subject, pid)
    return None


def _bad_ending(message: str) -> Ending:
    status, signal = _STATUS.search(message), _SIGNAL.search(message)
    if signal is not None:
        return Ending(signal=_SIGNALS.get(signal[1]), exit_status=None if signal[1] in _SIGNALS else 1)
    return Ending(exit_status=int(status[1]) if status else 1)


def _fields(line: str) -> dict[str, str]:
    if not line.startswith("{"):
        return _on_terminal(line) or _named(line)
    try:
        read = json.loads(line)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}


def _on_terminal(line: str) -> dict[str, str]:
    """The fields of a line as a terminal is given it: level, time and message stand in front without their names."""
    bare = _COLOUR.sub("", line)
    head = _ON_TERMINAL.match(bare)
    return {} if head is None else {**_named(bare[head.end() :]), "time": head[1], "msg": head[2].rstrip(" ")}


def _named(text: str) -> dict[str, str]:
    return {name: _ESCAPE.sub(_unescaped, quoted) if quoted else bare for name, quoted, bare in _FIELD.findall(text)}


def _unescaped(found: re.Match[str]) -> str:
    """What an escape of a Go string stands for."""
    control, byte, short, long, itself = found.groups()
    if control or itself:
        return _CONTROL[control] if control else itself
    code = int(byte or short or long, 16)
    return chr(code) if code <= sys.maxunicode else "\ufffd"
