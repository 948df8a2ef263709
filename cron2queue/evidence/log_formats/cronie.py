"""cronie (RHEL, Fedora, SUSE, Arch): starts, ends since 1.5.6, and with -s the output itself."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_OUTPUT = re.compile(rb"\A\([^ )]{1,64}\) CMDOUT \((.*)", re.DOTALL)
_SESSION = re.compile(rb"\Apam_unix\(crond:session\): session (opened|closed) for user ([^ (]{1,64})")

_OUTPUT_TO_SYSLOG = b"(CRON) INFO (Syslog will be used instead of sendmail"


class Cronie(LogFormat):
    """`CROND[97]: (root) CMD (...)` by the grandchild, `CROND[80]: (root) CMDEND (...)` by its parent.

    The process numbers differ, so ends are found by user and text: good while one such command is alive. CMDOUT is logged
    with `crond -s`, or when no mail program is there; then a run without it wrote nothing. No status. Source:
    do_command.c of cronie 1.7.2.
    """

    name = "cronie"
    tags = (
        rb"CROND",
        rb"crond",
    )
    rank = 20
    jobs: ClassVar = {b"CMD": Op.START, b"CMDEND": Op.END}
    session = rb"pam_unix\(crond:session\): session (?:opened|closed) for user [^ (\n]"
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:06:01 db1 CROND[97]: (root) CMD (sleep 2; date +%F)
Nov 30 11:06:01 db1 CROND[98]: (app) CMD (poll)
Nov 30 11:06:02 db1 CROND[79]: (app) CMDEND (poll)
Nov 30 11:06:03 db1 CROND[80]: (root) CMDOUT (2026-11-30)
Nov 30 11:06:03 db1 CROND[80]: (root) CMDEND (sleep 2; date +%F)
""",
            runs=(
                Seen(user="root", command="sleep 2; date +%F", seconds=2, output=True, pairing="good"),
                Seen(user="app", command="poll", seconds=1, output=False, pairing="good"),
            ),
        ),
    )

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """CMDOUT, that there will be any, and the PAM sessions of older versions."""
        output = _OUTPUT.match(text)
        if output is not None:
            return Event(at, Op.WROTE, pid=pid, detail=to_text(output[1].removesuffix(b")")))
        if text.startswith(_OUTPUT_TO_SYSLOG):
            return Event(at, Op.REPORTS, pid=pid, detail="output")
        return self._session(at, pid, text)

    def _session(self, at: float, pid: int, text: bytes) -> Event | None:
        session = _SESSION.match(text)
        if session is None:
            return None
        op = Op.OPENED if session[1] == b"opened" else Op.CLOSED
        return Event(at, op, None, Subject(to_text(session[2]), ""), pid)
