"""BusyBox crond: starts only, and that it skipped a start since the run before was alive."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import ENDLESS, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_START = re.compile(rb"\AUSER ([^ ]{1,64}) pid +(\d{1,9}) cmd (.*)", re.DOTALL)
_RUNNING = re.compile(rb"\Auser ([^ :]{1,64}): process already running: (.*)", re.DOTALL)
_MAY_BE_CUT = 200  # BusyBox's own syslogd reads 256 bytes of a message, with priority, time and tag


class BusyBox(LogFormat):
    """`crond[18]: USER app pid  77 cmd sleep 100`; `user app: process already running: sleep 100`.

    No ends, so no durations; but a skipped start proves that an entry met itself. What crond prints with -f and -d has no
    time stamps and cannot be used. The sample is what crond and syslogd of BusyBox 1.37.0 wrote.
    """

    name = "busybox"
    tags = (rb"crond",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 20:32:00 box cron.info crond[18]: USER app pid  77 cmd sleep 100
Nov 30 20:33:00 box cron.info crond[18]: user app: process already running: sleep 100
Nov 30 20:34:00 box cron.info crond[18]: USER app pid 223 cmd sleep 100
""",
            runs=(
                Seen(user="app", command="sleep 100", seconds=None),
                Seen(user="app", command="sleep 100", seconds=None),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A start, or a start that was skipped."""
        start = _START.match(text)
        if start is not None:
            subject = Subject(to_text(start[1]), to_text(start[3]), cut=len(text) >= _MAY_BE_CUT)
            return Event(at, Op.START, None, subject, int(start[2]), detail=ENDLESS)
        running = _RUNNING.match(text)
        if running is None:
            return None
        subject = Subject(to_text(running[1]), to_text(running[2]), cut=len(text) >= _MAY_BE_CUT)
        return Event(at, Op.REFUSED, None, subject, pid)
