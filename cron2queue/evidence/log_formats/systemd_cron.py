"""systemd-cron: each entry is a unit, and systemd logs its start, its result and its end."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_UNIT = rb"(cron-[^ /]{1,200}?\.service)"
_START = re.compile(rb"\AStarting (?:" + _UNIT + rb" - )?(?:\[Cron\] \"?(.*?)\"?(?:\.\.\.)?)?$", re.DOTALL)
_END = re.compile(
    rb"\A(Finished|Started|Stopped|Failed to start) (?:" + _UNIT + rb"(?: - )?)?(?:\[Cron\] \"?(.*?)\"?\.?)?$", re.DOTALL
)
_MOST_UNITS = 10_000
_OUTPUT = "stdout"
_TAB = b"#011"  # what rsyslog writes for it
_EXITED = re.compile(_UNIT + rb": Main process exited, code=(\w{1,10}), status=(\d{1,3})")


class SystemdCron(LogFormat):
    """`Starting cron-root-root-0.service - [Cron] "* * * * * poll"...` ... `Finished ...`: exact, with result.

    In the journal the invocation id joins them, and what the job writes names its unit. The command itself is the
    crontab's line in the unit's description. The samples are what systemd 257 wrote through rsyslog of units of systemd-cron
    2.5.1, and systemd 252 into its journal of units of systemd-cron 1.15.19, in part of the fields.
    """

    name = "systemd-cron"
    tags = (rb"systemd(?=\[\d{1,9}\]: (?:[A-Z][a-z]{1,10} (?:to start )?)?(?:cron-|\[Cron\]))",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 20:31:00 web1 systemd[1]: Starting cron-caps-root-1.service - [Cron] "* * * * * root exit 7"...
Nov 30 20:31:00 web1 systemd[1]: Starting cron-caps-root-12.service - [Cron] "* * * * * root#011sleep#0112;#011echo#011tabs"...
Nov 30 20:31:00 web1 systemd[1]: Starting cron-caps-root-2.service - [Cron] "* * * * * root sleep 1; kill -9 $$"...
Nov 30 20:31:00 web1 systemd[1]: cron-caps-root-1.service: Main process exited, code=exited, status=7/NOTRUNNING
Nov 30 20:31:00 web1 systemd[1]: cron-caps-root-1.service: Failed with result 'exit-code'.
Nov 30 20:31:00 web1 systemd[1]: Failed to start cron-caps-root-1.service - [Cron] "* * * * * root exit 7".
Nov 30 20:31:01 web1 systemd[1]: cron-caps-root-2.service: Main process exited, code=killed, status=9/KILL
Nov 30 20:31:01 web1 systemd[1]: cron-caps-root-2.service: Failed with result 'signal'.
Nov 30 20:31:01 web1 systemd[1]: Failed to start cron-caps-root-2.service - [Cron] "* * * * * root sleep 1; kill -9 $$".
Nov 30 20:31:02 web1 systemd[1]: cron-caps-root-12.service: Deactivated successfully.
Nov 30 20:31:02 web1 systemd[1]: Finished cron-caps-root-12.service - [Cron] "* * * * * root#011sleep#0112;#011echo#011tabs".
""",
            runs=(
                Seen(user="", command="* * * * * root exit 7", seconds=0, exit_status=7, pairing="exact"),
                Seen(user="", command="* * * * * root\tsleep\t2;\techo\ttabs", seconds=2, exit_status=0, pairing="exact"),
                Seen(user="", command="* * * * * root sleep 1; kill -9 $$", seconds=1, signal=9, pairing="exact"),
            ),
        ),
        Sample(
            lines="".join(
                f'{{"__REALTIME_TIMESTAMP":"17960702{at}","_HOSTNAME":"web1","_TRANSPORT":"{way}","_PID":"{pid}",'
                f'"SYSLOG_IDENTIFIER":"{name}",{unit},"MESSAGE":{message}}}\n'
                for at, way, pid, name, unit, message in (
                    (
                        81174866,
                        "journal",
                        1,
                        "systemd",
                        '"UNIT":"cron-caps-root-12.service","INVOCATION_ID":"43ed4039378a432b9048549cf772e8a9"',
                        r'"Starting cron-caps-root-12.service - [Cron] \"* * * * * root sleep 2; echo tabs\"..."',
                    ),
                    (
                        83188077,
                        "stdout",
                        118,
                        "sh",
                        (
                            '"_SYSTEMD_UNIT":"cron-caps-root-12.service",'
                            '"_SYSTEMD_INVOCATION_ID":"43ed4039378a432b9048549cf772e8a9"'
                        ),
                        '"tabs"',
                    ),
                    (
                        83190300,
                        "journal",
                        1,
                        "systemd",
                        '"UNIT":"cron-caps-root-12.service","INVOCATION_ID":"43ed4039378a432b9048549cf772e8a9"',
                        r'"Finished cron-caps-root-12.service - [Cron] \"* * * * * root sleep 2; echo tabs\"."',
                    ),
                )
            ),
            runs=(
                Seen(
                    user="",
                    command="* * * * * root sleep 2; echo tabs",
                    seconds=2.015434,
                    exit_status=0,
                    output=True,
                    pairing="exact",
                ),
            ),
        ),
    )

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], str] = {}
        """The invocation of each unit that has not ended, by boot."""

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A unit's start, its main process's end, its own end, or a line that it wrote."""
        writer = "" if "UNIT" in fields else fields.get("_SYSTEMD_UNIT", "")
        if writer.startswith("cron-"):
            return self._wrote(at, writer, text, fields)
        if not fields:
            text = text.replace(_TAB, b"\t")
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

    def _wrote(self, at: float, unit: str, text: bytes, fields: Fields) -> Event | None:
        if fields.get("_TRANSPORT", _OUTPUT) != _OUTPUT:
            return None  # it told syslog: cron would not have mailed that
        # journald asks for the invocation late: it may be missing, or that of the next run, which was due at once;
        # and a line may stand before the start of its run, since it came by another way
        key = self._running.get((fields.get("_BOOT_ID", ""), unit)) or fields.get("_SYSTEMD_INVOCATION_ID") or unit
        return Event(at, Op.WROTE, pid=_number(key), detail=to_text(text))

    def _start(self, at: float, unit: bytes | None, line: bytes | None, fields: Fields) -> Event | None:
        key = _key(unit or line, fields)
        if not key:
            return None
        if len(self._running) >= _MOST_UNITS:
            self._running.clear()
        self._running[fields.get("_BOOT_ID", ""), fields.get("UNIT", "")] = key
        shown = to_text(line or unit or b"")
        return Event(at, Op.START, key, Subject("", shown, hint=f"line:{shown}"), _number(key))

    def _end(self, at: float, verb: bytes, unit: bytes | None, fields: Fields) -> Event | None:
        key = _key(unit, fields)
        if not key or verb == b"Started":
            return None
        self._running.pop((fields.get("_BOOT_ID", ""), fields.get("UNIT", "")), None)
        ending = Ending(exit_status=0) if verb == b"Finished" else Ending()
        return Event(at, Op.END, key, None, _number(key), detail=ending)


def _key(unit: bytes | None, fields: Fields) -> str:
    """The invocation where the journal knows it, else the unit, of which one runs at a time."""
    return fields.get("INVOCATION_ID") or fields.get("UNIT") or to_text(unit or b"")


def _number(key: str) -> int:
    return abs(hash(key)) or 1
