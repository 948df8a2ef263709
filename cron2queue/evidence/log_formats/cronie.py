"""cronie (RHEL, Fedora, SUSE, Arch): starts, ends since 1.5.6, and with -s the output itself."""

import re
from typing import ClassVar

from cron2queue.evidence.log_format import Event, Fields, LogFormat, Op, Sample, Seen, Subject
from cron2queue.text import to_text

_OUTPUT = re.compile(rb"\A\([^ )]{1,64}\) CMDOUT \((.*)", re.DOTALL)
_SESSION = re.compile(rb"\Apam_unix\((?:crond|cronie):session\): session (opened|closed) for user ([^ (]{1,64})")

_OUTPUT_TO_SYSLOG = b"(CRON) INFO (Syslog will be used instead of sendmail"


class Cronie(LogFormat):
    """`CROND[6219]: (app) CMD (...)` by the grandchild, `CROND[6148]: (app) CMDEND (...)` by its parent.

    The process numbers differ, so ends are found by user and text, and by the numbers: a child's comes after its parent's.
    CMDOUT is logged with `crond -s`, or when no mail program is there; then a run without it wrote nothing. No status. The
    sample is what cronie 1.7.2 wrote without a mail program. Its PAM service is crond, in Debian's package cronie.
    """

    name = "cronie"
    tags = (
        rb"CROND",
        rb"crond",
    )
    rank = 20
    jobs: ClassVar = {b"CMD": Op.START, b"CMDEND": Op.END}
    session = rb"pam_unix\((?:crond|cronie):session\): session (?:opened|closed) for user [^ (\n]"
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 21:07:01 db1 CROND[6189]: (app) CMD (sleep 5)
Nov 30 21:07:01 db1 CROND[6219]: (app) CMD (cat; sleep 1)
Nov 30 21:07:01 db1 CROND[6148]: (app) CMDOUT (line one)
Nov 30 21:07:01 db1 CROND[6148]: (app) CMDOUT (line two)
Nov 30 21:07:02 db1 CROND[6148]: (app) CMDEND (cat; sleep 1)
Nov 30 21:07:06 db1 CROND[6150]: (app) CMDEND (sleep 5)
""",
            runs=(
                Seen(user="app", command="sleep 5", seconds=5, output=False, pairing="good"),
                Seen(user="app", command="cat; sleep 1", seconds=1, output=True, pairing="good"),
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
