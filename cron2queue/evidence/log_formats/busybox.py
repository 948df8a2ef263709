"""BusyBox crond: starts only, and that it skipped a start since the run before was alive."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import ENDLESS, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_START = re.compile(rb"\AUSER ([^ ]{1,64}) pid +(\d{1,9}) cmd (.*)", re.DOTALL)
_RUNNING = re.compile(rb"\Auser ([^ :]{1,64}): process already running: (.*)", re.DOTALL)


class BusyBox(LogFormat):
    """`crond[44]: USER root pid  72 cmd sleep 70`; `user root: process already running: sleep 70`.

    No ends, so no durations; but a skipped start proves that an entry met itself. Source: miscutils/crond.c of BusyBox
    1.37. What crond prints with -f and -d has no time stamps and cannot be used.
    """

    name = "busybox"
    tags = (rb"crond",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:00 box cron.err crond[44]: USER root pid  72 cmd sleep 70
Nov 30 11:07:00 box cron.err crond[44]: user root: process already running: sleep 70
Nov 30 11:08:00 box cron.err crond[44]: USER root pid  75 cmd sleep 70
""",
            runs=(
                Seen(user="root", command="sleep 70", seconds=None),
                Seen(user="root", command="sleep 70", seconds=None),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A start, or a start that was skipped."""
        start = _START.match(text)
        if start is not None:
            subject = Subject(to_text(start[1]), to_text(start[3]))
            return Event(at, Op.START, None, subject, int(start[2]), detail=ENDLESS)
        running = _RUNNING.match(text)
        if running is None:
            return None
        return Event(at, Op.REFUSED, None, Subject(to_text(running[1]), to_text(running[2])), pid)
