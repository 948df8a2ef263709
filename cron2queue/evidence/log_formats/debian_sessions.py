"""Debian and Ubuntu cron at its default level: starts in syslog, PAM sessions in auth.log; also `-L 3` (ends by text)."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subject, Subjects
from cron2queue.text import to_text

_SESSION = re.compile(rb"\Apam_unix\(cron:session\): session (opened|closed) for user ([^ (]{1,64})")
_REPEATED = re.compile(rb"\Amessage repeated \d{1,9} times: \[ (.*)\]", re.DOTALL)
_REMEMBERED = 5_000


class DebianSessions(LogFormat):
    """`CRON[80]: (root) CMD (...)` by the grandchild, `CRON[79]: pam_unix(cron:session): session opened` by its parent.

    The session of a lone job gives its duration; in a herd only bounds. At `-L 3` END is logged by the parent, with the
    command but without the grandchild's number. No status at this level. Source: do_command.c of Debian cron 3.0pl1-162.
    """

    name = "debian"
    tags = (rb"CRON",)
    rank = 20
    jobs: ClassVar = {b"CMD": Op.START, b"END": Op.END}
    session = rb"pam_unix\(cron:session\): session (?:opened|closed) for user [^ (\n]"
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:01 web1 CRON[75]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)
Nov 30 11:06:01 web1 CRON[76]: (root) CMD (sleep 2; date # cron.d^Ijob )
Nov 30 11:06:03 web1 CRON[75]: pam_unix(cron:session): session closed for user root
Nov 30 11:07:01 web1 CRON[92]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)
Nov 30 11:07:01 web1 CRON[93]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)
Nov 30 11:07:01 web1 CRON[98]: (root) CMD (backup)
Nov 30 11:07:01 web1 CRON[99]: (root) CMD (poll)
Nov 30 11:07:03 web1 CRON[93]: pam_unix(cron:session): session closed for user root
Nov 30 11:09:01 web1 CRON[92]: pam_unix(cron:session): session closed for user root
""",
            runs=(
                Seen(user="root", command="sleep 2; date # cron.d^Ijob ", seconds=2, pairing="good"),
                Seen(user="root", command="backup", pairing="ambiguous"),
                Seen(user="root", command="poll", pairing="ambiguous"),
            ),
        ),
        Sample(
            lines="""\
2026-11-30T11:06:01.000000+01:00 web1 CRON[80]: (root) CMD (work)
2026-11-30T11:06:04.500000+01:00 web1 CRON[79]: (root) END (work)
""",
            runs=(Seen(user="root", command="work", seconds=3.5, pairing="good"),),
        ),
    )

    def __init__(self) -> None:
        self._subjects = Subjects()
        self._known: dict[bytes, tuple[Op, Subject]] = {}

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """The opening and closing of sessions, and repeated messages."""
        known = self._known.get(text)
        if known is not None:
            return Event(at, known[0], None, known[1], pid)
        session = _SESSION.match(text)
        if session is None:
            repeated = _REPEATED.match(text)
            return None if repeated is None else self.job(at, pid, repeated[1], self._subjects)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        op = Op.OPENED if session[1] == b"opened" else Op.CLOSED
        self._known[text] = (op, Subject(to_text(session[2]), ""))
        return Event(at, op, None, self._known[text][1], pid)
