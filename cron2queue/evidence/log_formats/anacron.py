"""anacron: start and end of each of its jobs, by name."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_JOB = re.compile(rb"\AJob [`']([^']{1,200})' (started|terminated)(?: \((?:exit status: (\d{1,3})|signal:? (\d{1,3}))\))?")


class Anacron(LogFormat):
    """``Job `cron.daily' started`` ... ``terminated (exit status: 1)``; a job runs once at a time, so pairs are exact.

    The command is not logged, only the job's name in /etc/anacrontab. Source: runjob.c of anacron 2.3.
    """

    name = "anacron"
    tags = (rb"anacron",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 07:35:01 nb anacron[1234]: Job `cron.daily' started
Nov 30 07:36:31 nb anacron[1234]: Job `cron.daily' terminated
Nov 30 07:40:01 nb anacron[1234]: Job `cron.weekly' started
Nov 30 07:40:02 nb anacron[1234]: Job `cron.weekly' terminated (exit status: 1) (mailing output)
""",
            runs=(
                Seen(user="root", command="cron.daily", seconds=90, exit_status=0, pairing="exact"),
                Seen(user="root", command="cron.weekly", seconds=1, exit_status=1, output=True, pairing="exact"),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A start or an end."""
        job = _JOB.match(text)
        if job is None:
            return None
        name = to_text(job[1])
        key = ("anacron", pid, name)
        subject = Subject("root", name, hint=f"anacron:{name}")
        if job[2] == b"started":
            return Event(at, Op.START, key, subject, pid)
        status = 0 if job[3] is None and job[4] is None else None
        ending = Ending(
            exit_status=int(job[3]) if job[3] else status,
            signal=int(job[4]) if job[4] else None,
            output=True if b"(mailing output)" in text else None,
        )
        return Event(at, Op.END, key, subject, pid, detail=ending)
