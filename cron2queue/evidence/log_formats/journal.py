"""The systemd journal's own addition to cron's messages: the audit session, which joins what the text does not."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subject, Subjects
from cron2queue.text import to_text

_SESSION = re.compile(rb"\Apam_unix\(crond?:session\): session (opened|closed) for user ([^ (]{1,64})")
_JOB = re.compile(rb"\A\(([^ )]{1,64})\) CMD \((?!\[\d)(.*)", re.DOTALL)
_UNSET = frozenset({"", "4294967295"})
_MOST_OPEN = 10_000


class JournalSessions(LogFormat):
    """`_AUDIT_SESSION` is set by pam_loginuid before the fork, so that the session's opening, CMD and closing share it.

    So pairs are exact even at Debian's default level. Where the kernel gives all jobs one session (containers), the field
    is not believed, and the messages are read as from syslog.
    """

    name = "journal"
    tags = (rb"CRON", rb"CROND")
    rank = 5
    samples: ClassVar = (
        Sample(
            lines="".join(
                f'{{"__REALTIME_TIMESTAMP":"{at}","_HOSTNAME":"web1","_PID":"{pid}","SYSLOG_IDENTIFIER":"CRON",'
                f'"_BOOT_ID":"b","_AUDIT_SESSION":"{session}","MESSAGE":"{message}"}}\n'
                for at, pid, session, message in (
                    (1796036761000000, 75, 3, "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)"),
                    (1796036761000000, 76, 4, "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)"),
                    (1796036761200000, 78, 4, "(root) CMD (poll)"),
                    (1796036761300000, 79, 3, "(root) CMD (backup)"),
                    (1796036761700000, 76, 4, "pam_unix(cron:session): session closed for user root"),
                    (1796036821300000, 75, 3, "pam_unix(cron:session): session closed for user root"),
                )
            ),
            runs=(
                Seen(user="root", command="poll", seconds=0.5, pairing="exact"),
                Seen(user="root", command="backup", seconds=60, pairing="exact"),
            ),
        ),
    )

    def __init__(self) -> None:
        self._subjects = Subjects()
        self._open: dict[tuple[str, str], None] = {}
        self._believed = True

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A command or a session's end, where its audit session tells it apart."""
        if not fields or not self._believed or fields.get("_AUDIT_SESSION", "") in _UNSET:
            return None
        key = (fields.get("_BOOT_ID", ""), fields["_AUDIT_SESSION"])
        session = _SESSION.match(text)
        if session is not None:
            return self._session(at, pid, key, session[1], session[2])
        job = _JOB.match(text)
        if job is None or key not in self._open:
            return None
        return Event(at, Op.START, key, self._subjects.of(job[1], job[2]), pid)

    def _session(self, at: float, pid: int, key: tuple[str, str], verb: bytes, user: bytes) -> Event | None:
        if verb == b"closed":
            known = key in self._open
            self._open.pop(key, None)
            return Event(at, Op.END, key, Subject(to_text(user), ""), pid) if known else None
        if key in self._open:
            self._believed = False
            return None
        if len(self._open) >= _MOST_OPEN:
            self._open.clear()
        self._open[key] = None
        return Event(at, Op.REPORTS, pid=pid, detail="sessions")
