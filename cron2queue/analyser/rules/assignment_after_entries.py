"""C2Q118."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import Assignment, Entry


class AssignmentAfterEntries(Rule):
    """An assignment below the last entry, where it has no effect.

    Why it matters
        An assignment counts for the entries after it. MAILTO at the end of the file reaches nobody, and PATH at the end
        leaves the entries above with cron's short default.

    What to do
        Move it above the entries that it is for.

    Not flagged
        Assignments between entries, and files without entries.
    """

    code = "C2Q118"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("0 1 * * * root /opt/a.sh\nMAILTO=ops@example.com\n",)
    good = (
        "MAILTO=ops@example.com\n0 1 * * * root /opt/a.sh\n",
        Example("0 1 * * * root /opt/a.sh\nMAILTO=ops@example.com\n0 2 * * * root /opt/b.sh\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Only what stands after the last entry."""
        for file in subject.files:
            entries = file.entries
            if not entries:
                continue
            for line in reversed(file.lines):
                if isinstance(line, Entry):
                    break
                if isinstance(line, Assignment):
                    yield self.at_line(
                        file,
                        line,
                        f"{line.name} has no effect on the {count(len(entries), 'entry')} above it",
                        "move it above the entries that it is for",
                        evidence="crontab(5): an assignment counts for the entries after it",
                    )
