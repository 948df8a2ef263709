"""systemd-cron: each entry is a unit, and systemd logs its start, its result and its end."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_UNIT = rb"(cron-[^ /]{1,200}?\.service)"
_START = re.compile(rb"\AStarting (?:" + _UNIT + rb" - )?(?:\[Cron\] \"?(.*?)\"?(?:\.\.\.)?)?$", re.DOTALL)
_END = re.compile(rb"\A(Finished|Started|Failed to start) (?:" + _UNIT + rb"(?: - )?)?(?:\[Cron\] \"?(.*?)\"?\.?)?$", re.DOTALL)
_EXITED = re.compile(_UNIT + rb": Main process exited, code=(\w{1,10}), status=(\d{1,3})")


class SystemdCron(LogFormat):
    """`Starting cron-root-root-0.service - [Cron] "* * * * * poll"...` ... `Finished ...`: exact, with result.

    In the journal the invocation id joins them, and every line that the job writes carries it. The command itself is
    the crontab's line in the unit's description. Source: systemd-cron 2.8, systemd 252.
    """

    name = "systemd-cron"
    tags = (rb"systemd(?=\[\d{1,9}\]: (?:[A-Z][a-z]{1,10} (?:to start )?)?(?:cron-|\[Cron\]))",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
2026-11-30T11:06:00.100000+00:00 web1 systemd[1]: Starting cron-root-root-0.service - [Cron] "* * * * * poll --all"...
2026-11-30T11:06:02.100000+00:00 web1 systemd[1]: cron-root-root-0.service: Deactivated successfully.
2026-11-30T11:06:02.100000+00:00 web1 systemd[1]: Finished cron-root-root-0.service - [Cron] "* * * * * poll --all".
2026-11-30T11:07:00.000000+00:00 web1 systemd[1]: Starting cron-root-root-0.service - [Cron] "* * * * * poll --all"...
2026-11-30T11:07:05.000000+00:00 web1 systemd[1]: cron-root-root-0.service: Main process exited, code=exited, status=7
2026-11-30T11:07:05.000000+00:00 web1 systemd[1]: cron-root-root-0.service: Failed with result 'exit-code'.
2026-11-30T11:07:05.000000+00:00 web1 systemd[1]: Failed to start cron-root-root-0.service - [Cron] "* * * * * poll --all".
""",
            runs=(
                Seen(user="", command="* * * * * poll --all", seconds=2, exit_status=0, pairing="exact"),
                Seen(user="", command="* * * * * poll --all", seconds=5, exit_status=7, pairing="exact"),
            ),
        ),
        Sample(
            lines="".join(
                f'{{"__REALTIME_TIMESTAMP":"{at}","_HOSTNAME":"web1","_PID":"{pid}","SYSLOG_IDENTIFIER":"{name}",{more},'
                f'"MESSAGE":{message}}}\n'
                for at, pid, name, more, message in (
                    (
                        1796036760000000,
                        1,
                        "systemd",
                        '"UNIT":"cron-root-root-0.service","INVOCATION_ID":"ab12"',
                        '"Starting [Cron] \\"* * * * * poll\\"..."',
                    ),
                    (
                        1796036761000000,
                        77,
                        "poll",
                        '"_SYSTEMD_UNIT":"cron-root-root-0.service","_SYSTEMD_INVOCATION_ID":"ab12"',
                        "[104,105]",
                    ),
                    (
                        1796036764000000,
                        1,
                        "systemd",
                        '"UNIT":"cron-root-root-0.service","INVOCATION_ID":"ab12"',
                        '"Finished [Cron] \\"* * * * * poll\\"."',
                    ),
                )
            ),
            runs=(Seen(user="", command="* * * * * poll", seconds=4, exit_status=0, output=True, pairing="exact"),),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A unit's start, its main process's end, its own end, or a line that it wrote."""
        if "_SYSTEMD_INVOCATION_ID" in fields and "UNIT" not in fields:
            return Event(at, Op.WROTE, pid=_number(fields["_SYSTEMD_INVOCATION_ID"]))
        start = _START.match(text)
        if start is not None:
            return self._start(at, start[1], start[2], fields)
        end = _END.match(text)
        if end is not None:
            return self._end(at, end[1], end[2] or end[3], fields)
        exited = _EXITED.match(text)
        if exited is None:
            return None
        status = int(exited[3])
        ending = Ending(exit_status=status) if exited[2] == b"exited" else Ending(signal=status)
        return Event(at, Op.FAILED, pid=_number(_key(exited[1], fields)), detail=ending)

    def _start(self, at: float, unit: bytes | None, line: bytes | None, fields: Fields) -> Event | None:
        key = _key(unit or line, fields)
        if not key:
            return None
        shown = to_text(line or unit or b"")
        return Event(at, Op.START, key, Subject("", shown, hint=f"line:{shown}"), _number(key))

    def _end(self, at: float, verb: bytes, unit: bytes | None, fields: Fields) -> Event | None:
        key = _key(unit, fields)
        if not key or verb == b"Started":
            return None
        ending = Ending(exit_status=0) if verb == b"Finished" else Ending()
        return Event(at, Op.END, key, None, _number(key), detail=ending)


def _key(unit: bytes | None, fields: Fields) -> str:
    """The invocation where the journal knows it, else the unit, of which one runs at a time."""
    return fields.get("INVOCATION_ID") or fields.get("UNIT") or to_text(unit or b"")


def _number(key: str) -> int:
    return abs(hash(key)) or 1
