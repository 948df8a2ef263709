"""Solaris and illumos cron: /var/cron/log, with start, end and status of each job."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import CUT_USER, Ending, Event, LocalTime, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_COMMAND = b">  CMD: "
_LONGEST_USER = 8
_JOB = re.compile(
    rb"\A([<>])  (\S{1,64}) (\d{1,9}) c \w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) "
    rb"(?:\S{1,10} )?(\d{4})(?: ts=(\d{1,3}))?(?: rc=(\d{1,3}))?"
)
_JOB_LINE = re.compile(rb"^[<>]  (?:CMD: |\S{1,64} \d{1,9} [a-z] )", re.MULTILINE)
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Solaris(LogFormat):
    """`>  CMD: ...`, then `>  user pid c date`, and at the end `<  user pid c date rc=N` (or `ts=` for a signal).

    Exact by process number, with status: an end without rc ended well. The user's name is cut after eight characters.
    Written after logit() in cron.c of illumos-gate.
    """

    name = "solaris"
    samples: ClassVar = (
        Sample(
            lines="""\
! *** cron started ***   pid = 410 Mon Nov 30 11:00:00 2026
>  CMD: /opt/app/poll
>  app 4711 c Mon Nov 30 11:06:00 2026
>  CMD: /opt/app/backup
>  root 4712 c Mon Nov 30 11:06:00 2026
<  app 4711 c Mon Nov 30 11:06:05 2026
<  root 4712 c Mon Nov 30 11:16:00 2026 rc=2
! rescheduling a cron job Mon Nov 30 11:16:30 2026
>  CMD: /opt/app/crash
>  applicat 4713 c Mon Nov 30 11:17:00 2026
<  applicat 4713 c Mon Nov 30 11:17:01 2026 ts=139
""",
            runs=(
                Seen(user="app", command="/opt/app/poll", seconds=5, exit_status=0, pairing="exact"),
                Seen(user="root", command="/opt/app/backup", seconds=600, exit_status=2, pairing="exact"),
                Seen(user="applicat", command="/opt/app/crash", seconds=1, signal=11, pairing="exact"),
            ),
        ),
    )

    def __init__(self) -> None:
        self._command = ""

    def claims(self, head: bytes) -> bool:
        """A file that begins with one of cron's three marks: older versions put two blanks behind each."""
        return head.startswith((_COMMAND, b"! ", b">  ", b"<  ")) and _JOB_LINE.search(head) is not None

    def read_line(self, line: bytes, local: LocalTime) -> Event | None:
        """A start or an end; the command stands on the line before its start."""
        if line.startswith(_COMMAND):
            self._command = to_text(line[len(_COMMAND) :])
            return None
        job = _JOB.match(line)
        if job is None or job[4] not in _MONTHS:
            return None
        day, hour, minute, second, year = (int(part) for part in job.group(5, 6, 7, 8, 9))
        at = local.of(year, _MONTHS.index(job[4]) + 1, day, hour, minute, second)
        user, pid = to_text(job[2]), int(job[3])
        if job[1] == b">":
            return Event(at, Op.START, ("pid", pid), _subject(user, self._command), pid)
        return Event(at, Op.END, ("pid", pid), Subject(user, ""), pid, detail=_ending(job[10], job[11]))


def _subject(user: str, command: str) -> Subject:
    return Subject(user, command, hint=CUT_USER if len(user) == _LONGEST_USER else None)


def _ending(low: bytes | None, high: bytes | None) -> Ending:
    """From both bytes of the status: the signal, with a mark for a core dump, and the exit status."""
    signal = int(low or 0) & 0x7F
    return Ending(signal=signal) if signal else Ending(exit_status=int(high or 0))
