"""The systemd journal's own addition to cron's messages: the audit session, which joins what the text does not."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subject, Subjects
from cron2queue.text import to_text

_SESSION = re.compile(rb"\Apam_unix\((?:crond?|cronie):session\): session (opened|closed) for user ([^ (]{1,64})")
_JOB = re.compile(rb"\A\(([^ )]{1,64})\) CMD \((?!\[\d)(.*)", re.DOTALL)
_UNSET = frozenset({"", "4294967295"})
_MOST_OPEN = 10_000
_Key = tuple[str, str]


class JournalSessions(LogFormat):
    """`_AUDIT_SESSION` is set by pam_loginuid before the fork, so that the session's opening, CMD and closing share it.

    So pairs are exact even at Debian's default level. journald asks /proc for the field, so that it is missing where the
    process has ended by then: a closing is known by its process, and a command by the session that is left over. Where the
    kernel gives all jobs one session (containers), the field is not believed, and the messages are read as from syslog.
    The sample is what systemd 252 kept of Debian's cron 3.0pl1-162 at its default level, in part of the fields.
    """

    name = "journal"
    tags = (rb"CRON", rb"CROND", rb"crond")
    rank = 5
    samples: ClassVar = (
        Sample(
            lines="".join(
                f'{{"__REALTIME_TIMESTAMP":"179607{at}","_HOSTNAME":"web1","_PID":"{pid}","SYSLOG_IDENTIFIER":"CRON",'
                f'"_BOOT_ID":"ddff7c76b8574188b54ae46a2372fc65",{session}"MESSAGE":"{message}"}}\n'
                for at, pid, session, message in (
                    (
                        "0901786617",
                        1513,
                        '"_AUDIT_SESSION":"489",',
                        "pam_unix(cron:session): session opened for user app(uid=1000) by (uid=0)",
                    ),
                    (
                        "0901890236",
                        1506,
                        '"_AUDIT_SESSION":"496",',
                        "pam_unix(cron:session): session opened for user app(uid=1000) by (uid=0)",
                    ),
                    ("0901904416", 1527, '"_AUDIT_SESSION":"489",', "(app) CMD (sleep 5)"),
                    ("0901922047", 1537, '"_AUDIT_SESSION":"496",', "(app) CMD (sleep 100)"),
                    ("0906924284", 1513, '"_AUDIT_SESSION":"489",', "pam_unix(cron:session): session closed for user app"),
                    ("1001929695", 1506, "", "pam_unix(cron:session): session closed for user app"),
                )
            ),
            runs=(
                Seen(user="app", command="sleep 5", seconds=5.019868, pairing="exact"),
                Seen(user="app", command="sleep 100", seconds=100.007648, pairing="exact"),
            ),
        ),
    )

    def __init__(self) -> None:
        self._subjects = Subjects()
        self._open: dict[_Key, int] = {}
        """The parent of each session that is open."""
        self._parents: dict[tuple[str, int], _Key] = {}
        self._named: set[_Key] = set()
        """The open sessions whose command is known."""
        self._believed = True

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """A command or a session's end, where its audit session tells it apart."""
        if not fields or not self._believed:
            return None
        boot, number = fields.get("_BOOT_ID", ""), fields.get("_AUDIT_SESSION", "")
        session = _SESSION.match(text)
        if session is not None and session[1] == b"closed":
            return self._closed(at, pid, self._parents.pop((boot, pid), None), session[2])
        if number in _UNSET:
            return None
        key = (boot, number)
        if session is not None:
            return self._opened(at, pid, key, session[2])
        job = _JOB.match(text)
        if job is None or key not in self._open:
            return None
        self._named.add(key)
        return Event(at, Op.START, key, self._subjects.of(job[1], job[2]), self._open[key], child=pid)

    def _opened(self, at: float, pid: int, key: _Key, user: bytes) -> Event | None:
        if key in self._open:
            self._believed = False
            return None
        if len(self._open) >= _MOST_OPEN:
            self._open.clear()
            self._parents.clear()
            self._named.clear()
        self._open[key] = pid
        self._parents[key[0], pid] = key
        return Event(at, Op.OPENED, None, Subject(to_text(user), ""), pid)

    def _closed(self, at: float, pid: int, key: _Key | None, user: bytes) -> Event | None:
        if key is None:
            return None
        self._open.pop(key, None)
        named = key in self._named
        self._named.discard(key)
        return Event(at, Op.END if named else Op.CLOSED, key if named else None, Subject(to_text(user), ""), pid)
