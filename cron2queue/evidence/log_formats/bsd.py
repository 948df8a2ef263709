"""FreeBSD, OpenBSD, macOS and old Vixie cron: starts only."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subjects

_JOB = re.compile(rb"\(([^ )]{1,64})\) CMD \((.*)", re.DOTALL)


class StartsOnly(LogFormat):
    """`/usr/sbin/cron[812]: (root) CMD (...)`: the end is never logged, so there are counts, and no durations.

    On macOS the same text comes from `log show --style syslog --predicate 'process == "cron"'`. OpenBSD's `-q` entries
    are not logged at all.
    """

    name = "bsd"
    tags = (
        rb"/usr/sbin/cron",
        rb"cron",
        rb"\(cron\)",
    )
    rank = 40
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:05:00 fbsd /usr/sbin/cron[812]: (root) CMD (/usr/libexec/atrun)
2026-11-30 11:06:00.123456+0000  mac cron[813]: (admin) CMD (/usr/local/bin/poll)
""",
            runs=(
                Seen(user="root", command="/usr/libexec/atrun", seconds=None),
                Seen(user="admin", command="/usr/local/bin/poll", seconds=None),
            ),
        ),
    )

    def __init__(self) -> None:
        self._subjects = Subjects()

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A start."""
        job = _JOB.match(text)
        if job is None:
            return None
        return Event(at, Op.START, None, self._subjects.of(job[1], job[2]), pid, detail="endless")
