"""C2Q103."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import ALL, Example, Rule, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import Entry, Line, Malformed


class CarriageReturns(Rule):
    """Lines end as on Windows, and cron takes the carriage return for a part of the command.

    Why it matters
        `/opt/backup.sh` becomes a program whose name ends in an invisible character, which does not exist; `> /dev/null`
        fills a file of that strange name. A blank line is a syntax error for the daemons of Vixie's family; Debian's cron
        drops the whole file for it.

    What to do
        `sed -i 's/\\r$//' FILE`, and have the editor or the repository keep Unix line ends.

    Not flagged
        systemd-cron, which strips them, and carriage returns in comments and assignments only.
    """

    code = "C2Q103"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = ALL - {"systemd-cron"}
    bad = ("0 1 * * * root /opt/a.sh\r\n", "SHELL=/bin/sh\r\n\r\n0 1 * * * root /opt/a.sh\r\n")
    good = (
        "0 1 * * * root /opt/a.sh\n",
        "# from Windows\r\n0 1 * * * root /opt/a.sh\n",
        Example("0 1 * * * root /opt/a.sh\r\n", dialect="systemd-cron"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """One finding a file, at the first such line."""
        for file in subject.files:
            if file.dialect not in self.dialects:
                continue
            hit = [line for line in file.lines if isinstance(line, Entry | Malformed) and line.raw.endswith((b"\r\n", b"\r"))]
            if not hit:
                continue
            entries = [line for line in hit if isinstance(line, Entry)]
            blank = [line for line in hit if isinstance(line, Malformed) and not line.raw.strip() and file.dialect != "busybox"]
            said = []
            if entries:
                said.append(f"{count(len(entries), 'command')} ending in a carriage return")
            if blank:
                said.append(f"{count(len(blank), 'blank line')} that {daemon(file.dialect).title} takes for a bad minute")
            if said:
                yield self.at_line(
                    file,
                    hit[0],
                    f"Windows line ends: {' and '.join(said)}",
                    "sed -i 's/\\r$//' FILE",
                    evidence=f"{daemon(file.dialect).title} keeps the carriage return as a part of the command",
                )

    def fix(self, line: Line) -> bytes | None:
        """The line without it."""
        return line.raw[:-2] + b"\n" if line.raw.endswith(b"\r\n") else None
