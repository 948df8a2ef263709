"""What cron daemons and crontab(1) say of themselves: reboots, restarts, edited crontabs, lost messages."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen
from cron2queue.text import to_text

_SAID = re.compile(rb"\A\(([^ )]{1,64})\) ([A-Za-z][A-Za-z ]{1,30}?) ?(?:\(([^)]{0,300})\)|$)")
_EDITS = frozenset({b"REPLACE", b"RELOAD", b"DELETE"})


class Daemons(LogFormat):
    """`cron[41]: (CRON) INFO (Running @reboot jobs)`, `crond[9]: (CRON) STARTUP (1.7.2)`, `crontab[7]: (root) REPLACE (root)`.

    At a reboot everything ends unseen; after a restart of the daemon alone, jobs live on. Debian's cron says which it was;
    cronie says so only of a restart: `(CRON) INFO (@reboot jobs will be run at computer's startup.)`. A crontab that was
    edited in the window is told of, since earlier runs may belong to earlier lines.
    """

    name = "cron daemon"
    tags = (rb"cron", rb"crond", rb"crontab", rb"/usr/sbin/cron", rb"CRON", rb"CROND")
    rank = 70
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:01 web1 CRON[80]: (root) CMD ([82] long)
Nov 30 11:07:01 web1 cron[41]: (CRON) INFO (Running @reboot jobs)
Nov 30 11:08:01 web1 CRON[80]: (root) END ([82] long)
Nov 30 11:09:01 web1 crontab[90]: (root) REPLACE (www-data)
""",
            runs=(Seen(user="root", command="long", seconds=None),),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """Everything that is no job."""
        said = _SAID.match(text)
        if said is None:
            return None
        who, verb, what = said[1], said[2], said[3] or b""
        if verb in _EDITS:
            return Event(at, Op.CHANGED, pid=pid, detail=_whose(who, verb, what))
        if verb == b"STARTUP":
            return Event(at, Op.RESTARTED, pid=pid)
        if verb == b"INFO":
            return _info(at, pid, what)
        return None


def _whose(who: bytes, verb: bytes, what: bytes) -> str:
    """The user of the crontab: crontab(1) names it in the brackets, the daemon in front."""
    if verb == b"RELOAD" or not what:
        return to_text(who)
    return to_text(what)


def _info(at: float, pid: int, what: bytes) -> Event | None:
    if what.startswith(b"Running @reboot jobs"):
        return Event(at, Op.REBOOT, pid=pid)
    if what.startswith(b"pidfile"):
        return Event(at, Op.RESTARTED, pid=pid)
    if what.startswith((b"Skipping @reboot jobs", b"@reboot jobs will be run")):
        return Event(at, Op.STAYED, pid=pid)
    return None
