"""anacron: start and end of each of its jobs, by name."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Ending, Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_JOB = re.compile(
    rb"\AJob [`']([^']{1,200})' (?:(started)|terminated(?: \(exit status: (\d{1,3})\)| due to signal (\d{1,3})| (abnormally))?)"
)


class Anacron(LogFormat):
    """``Job `cron.daily' started`` ... ``terminated (exit status: 1)``; a job runs once at a time, so pairs are exact.

    The command is not logged, only the job's name in /etc/anacrontab. The sample is what Debian's anacron 2.3-36 wrote to
    the log's socket, with jobs that sleep, exit with 3, kill themselves and print a word.
    """

    name = "anacron"
    tags = (rb"anacron",)
    rank = 30
    samples: ClassVar = (
        Sample(
            lines="""\
<77>Nov 30 17:28:31 anacron[30502]: Anacron 2.3 started on 2026-11-30
<77>Nov 30 17:28:31 anacron[30502]: Will run job `good.daily' in 0 min.
<77>Nov 30 17:28:31 anacron[30502]: Jobs will be executed sequentially
<77>Nov 30 17:28:31 anacron[30502]: Job `good.daily' started
<77>Nov 30 17:28:32 anacron[30502]: Job `good.daily' terminated
<77>Nov 30 17:28:32 anacron[30502]: Job `bad.daily' started
<77>Nov 30 17:28:32 anacron[30502]: Job `bad.daily' terminated (exit status: 3)
<77>Nov 30 17:28:32 anacron[30502]: Job `killed.daily' started
<75>Nov 30 17:28:32 anacron[30502]: Job `killed.daily' terminated due to signal 9
<77>Nov 30 17:28:32 anacron[30502]: Job `says.daily' started
<77>Nov 30 17:28:32 anacron[30502]: Job `says.daily' terminated (mailing output)
<75>Nov 30 17:28:32 anacron[30502]: Can't find sendmail at /usr/sbin/sendmail, not mailing output
<77>Nov 30 17:28:32 anacron[30502]: Normal exit (4 jobs run)
""",
            runs=(
                Seen(user="root", command="good.daily", seconds=1, exit_status=0, pairing="exact"),
                Seen(user="root", command="bad.daily", seconds=0, exit_status=3, pairing="exact"),
                Seen(user="root", command="killed.daily", seconds=0, signal=9, pairing="exact"),
                Seen(user="root", command="says.daily", seconds=0, exit_status=0, output=True, pairing="exact"),
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
        if job[2]:
            return Event(at, Op.START, key, subject, pid)
        ending = Ending(
            exit_status=int(job[3]) if job[3] else 0 if job[4] is None and job[5] is None else None,
            signal=int(job[4]) if job[4] else None,
            output=b"(mailing output)" in text,
        )
        return Event(at, Op.END, key, subject, pid, detail=ending)
