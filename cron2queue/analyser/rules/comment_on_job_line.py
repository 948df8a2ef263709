"""C2Q114."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import ALL, EntryRule, Example, Subject, column_in_line
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry


class CommentOnJobLine(EntryRule):
    """A comment at the end of a job line is a part of the command for cron.

    Why it matters
        Cron knows comments only where a line begins with #. The shell drops the text, but until then it is a part of the
        command: a % in it cuts the command, it shows in logs and process lists, and a remark to cron2queue is not heard.

    What to do
        Put the comment on its own line above the entry.

    Not flagged
        BusyBox, which cuts the line at #, and a # inside a word or in quotes.
    """

    code = "C2Q114"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    dialects = ALL - {"busybox"}
    bad = (
        "0 1 * * * root /opt/a.sh # nightly\n",
        "0 1 * * * root /opt/a.sh # cron2queue: ignore[C2Q303] mail is wanted\n",
    )
    good = (
        "# nightly\n0 1 * * * root /opt/a.sh\n",
        "0 1 * * * root curl -s 'https://example.com/#top' > /tmp/x\n",
        Example("0 1 * * * root echo a#b\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Where the shell would see a comment."""
        if "#" not in entry.command:
            return
        at = read_command(entry.command).comment
        if at is None:
            return
        ours = "cron2queue:" in entry.command[at:].replace(" :", ":")
        yield self.at_entry(
            subject,
            file,
            entry,
            "a remark to cron2queue at the end of a job line is not heard: it is a part of the command"
            if ours
            else "the comment at the end is a part of the command for cron",
            "put it on its own line above the entry",
            severity=Severity.WARNING if ours else self.severity,
            evidence="crontab(5): comments stand on lines of their own",
            column=column_in_line(entry, at),
        )

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        return (
            f"{count(len(findings), 'job line')} with a comment at the end, which is a part of the command for cron",
            findings[0].remedy,
        )
