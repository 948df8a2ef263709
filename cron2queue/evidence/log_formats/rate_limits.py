"""What loggers say of messages that they dropped, since there were too many at once: rsyslog, and journald of cron's unit."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen

_LOST = re.compile(
    rb"\Aim(?:journal|uxsock)(?:\[pid:? (\d{1,9})[^\]]{0,200}\])?(?: from <[^>]{1,200}>)?: (\d{1,9}) messages lost"
    rb"|\Aimuxsock lost (?P<old>\d{1,9}) messages from pid (?P<writer>\d{1,9}) due to rate-lim"
    rb"|\ASuppressed (?P<journal>\d{1,9}) messages from \S{0,200}cron"
)


class RateLimits(LogFormat):
    """`rsyslogd: imjournal: 236 messages lost due to rate-limiting`, `Suppressed 51 messages from crond.service`.

    imuxsock counts for each process apart, and names it: that matters where it is the parent of a job, of which cronie logs
    all output with -s. Written after ratelimit.c of rsyslog 8 and imuxsock.c of its versions before 7; journald after what
    systemd 252 wrote.
    """

    name = "rate limit"
    tags = (rb"(?:rsyslogd(?:-\d{1,4})?|systemd-journald?)(?=\S{0,12}: [^\n]{0,300}(?:rate-lim|cron))",)
    rank = 80
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:01 db1 CROND[6189]: (app) CMD (chatter)
Nov 30 11:06:01 db1 CROND[6188]: (app) CMDOUT (line)
Nov 30 11:06:02 db1 rsyslogd: imuxsock[pid 6188]: begin to drop messages due to rate-limiting
Nov 30 11:06:06 db1 rsyslogd: imuxsock[pid 6188]: 301 messages lost due to rate-limiting (200 allowed within 5 seconds)
Nov 30 11:07:06 db1 rsyslogd-2177: imuxsock lost 56 messages from pid 2918 due to rate-limiting
Nov 30 11:08:06 db1 rsyslogd: imjournal: 236 messages lost due to rate-limiting (20000 allowed within 600 seconds)
Nov 30 11:09:06 db1 systemd-journald[321]: Suppressed 51 messages from crond.service
Nov 30 11:10:01 db1 CROND[6289]: (app) CMD (sleep 1)
Nov 30 11:10:02 db1 CROND[6288]: (app) CMDEND (sleep 1)
""",
            runs=(
                Seen(user="app", command="chatter"),
                Seen(user="app", command="sleep 1", seconds=1, output=False, pairing="good"),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """That messages were lost: how many, and of which process, where that is told."""
        lost = _LOST.match(text)
        if lost is None:
            return None
        count = lost[2] or lost["old"] or lost["journal"]
        return Event(at, Op.LOST, pid=pid, child=int(lost[1] or lost["writer"] or 0), detail=int(count))
