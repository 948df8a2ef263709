"""Mail as cron sends it: the message on standard input of sendmail, the recipient on its command line.

Debian's cron calls `/usr/sbin/sendmail -FCronDaemon -i -B8BITMIME -oem RECIPIENT` (cron's do_command.c); a local MTA
set up for cron's mail therefore works unchanged.
"""

import os
import re
from collections.abc import Sequence
from email.message import EmailMessage

from cron2queue.errors import UsageError
from cron2queue.text import safe_text

SENDMAIL = ("/usr/sbin/sendmail", "-FCronDaemon", "-i", "-B8BITMIME", "-oem")
SUBJECT_LIMIT = 180
# A mailbox or a local user as cron's MAILTO takes it; what could be an option or a second header is refused.
_RECIPIENT = re.compile(r"[A-Za-z0-9._%+=/-]+(@[A-Za-z0-9.-]+)?")


def recipients(value: str) -> tuple[str, ...]:
    """The addresses of a MAILTO-like text, separated by commas. Raises UsageError for what no address can be."""
    found = tuple(each.strip() for each in value.split(",") if each.strip())
    for each in found:
        if not _RECIPIENT.fullmatch(each) or each.startswith("-"):
            raise UsageError(f"{each!r:.80} is no mail address", remedy="write addresses or user names with commas between")
    if not found:
        raise UsageError("no mail address given", remedy='write mail = "ops@example.org"')
    return found


def command(to: Sequence[str], sendmail: Sequence[str] = SENDMAIL) -> list[str]:
    """What to execute; no shell is involved."""
    return [*sendmail, *to]


def message(to: Sequence[str], subject: str, body: str) -> bytes:
    """The whole message: foreign text cannot add a header, every line of the body is safe to show."""
    mail = EmailMessage()
    mail["From"] = f"cron2queue <root@{_host()}>"
    mail["To"] = ", ".join(to)
    mail["Subject"] = safe_text(subject)[:SUBJECT_LIMIT]
    mail["Auto-Submitted"] = "auto-generated"
    mail["Precedence"] = "bulk"
    mail.set_content("\n".join(safe_text(line) for line in body.split("\n")) + "\n", charset="utf-8", cte="8bit")
    return mail.as_bytes()


def _host() -> str:
    name = re.sub(r"[^A-Za-z0-9.-]", "", os.uname().nodename)
    return name or "localhost"
