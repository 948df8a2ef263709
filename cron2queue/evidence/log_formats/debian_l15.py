"""Debian and Ubuntu cron with EXTRA_OPTS="-L 15" (or any level with 8): starts, ends and failures with process ids."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, Fields, LogFormat, Op, Sample, Seen

_BAD_END = re.compile(
    rb"\A\(CRON\) error \(grandchild #(\d{1,9}) (?:failed with exit status (\d{1,3})|terminated by signal (\d{1,3}))"
)


class DebianWithEnds(LogFormat):
    """`CRON[78]: (root) CMD ([82] exit 7)` ... `(root) END ([82] exit 7)`: one logger, one grandchild, so pairs are exact.

    A bad end is announced before END, by the same logger. Without a mail program, cron also says that there was output.
    Source: do_command.c of Debian cron 3.0pl1-162.
    """

    name = "debian -L 15"
    tags = (rb"CRON",)
    rank = 10
    jobs: ClassVar = {b"CMD": Op.START, b"END": Op.END}
    numbered = True
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:01 web1 CRON[78]: (root) CMD ([82] exit 7)
Nov 30 11:06:01 web1 CRON[78]: (CRON) error (grandchild #82 failed with exit status 7)
Nov 30 11:06:01 web1 CRON[79]: (www-data) CMD ([87] sleep 3; echo hi)
Nov 30 11:06:01 web1 CRON[77]: (root) CMD ([81] kill -9 $$)
Nov 30 11:06:01 web1 CRON[77]: (CRON) error (grandchild #81 terminated by signal 9)
Nov 30 11:06:01 web1 CRON[77]: (root) END ([81] kill -9 $$)
Nov 30 11:06:02 web1 CRON[78]: (root) END ([82] exit 7)
Nov 30 11:06:04 web1 CRON[79]: (CRON) info (No MTA installed, discarding output)
Nov 30 11:06:04 web1 CRON[79]: (www-data) END ([87] sleep 3; echo hi)
""",
            runs=(
                Seen(user="root", command="exit 7", seconds=1, exit_status=7, pairing="exact"),
                Seen(user="www-data", command="sleep 3; echo hi", seconds=3, output=True, pairing="exact"),
                Seen(user="root", command="kill -9 $$", seconds=0, signal=9, pairing="exact"),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """Failures, and that there was output, which was discarded or could not be mailed."""
        if text.startswith(b"(CRON) error (grandchild"):
            return self._bad_end(at, pid, text)
        if text.startswith(b"(CRON) info (No MTA installed") or b") MAIL (mailed " in text[:80]:
            return Event(at, Op.WROTE, pid=pid)
        return None

    def _bad_end(self, at: float, pid: int, text: bytes) -> Event | None:
        found = _BAD_END.match(text)
        if found is None:
            return None
        child, status, signal = (None if part is None else int(part) for part in found.groups())
        return Event(at, Op.FAILED, pid=pid, child=child or 0, detail=Ending(exit_status=status, signal=signal))
