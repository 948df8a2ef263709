"""C2Q107."""

from collections.abc import Iterator

from cron2queue.analyser.causes import UNKNOWN_USER, lines_of_cause, refused_user
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Kind


class UnknownUser(Rule):
    """The user that the line names does not exist on this host.

    Why it matters
        After a package is removed or a person leaves, the line stays. Debian's cron drops the whole file for it, with all
        other jobs in it; cronie complains each time the line is due, systemd-cron makes a unit of it that fails, and the
        others skip it.

    What to do
        Name an existing user, or delete the line.

    Not flagged
        Audits that do not run on the host itself: users of another machine are not known.
    """

    code = "C2Q107"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (Example("0 1 * * * olduser /opt/a.sh\n", host={"users": frozenset({"root", "www-data"})}),)
    good = (
        Example("0 1 * * * www-data /opt/a.sh\n", host={"users": frozenset({"root", "www-data"})}),
        "0 1 * * * olduser /opt/a.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Entries that were read without the host's users, and lines that were refused with them."""
        remedy = "name an existing user, or delete the line"
        for file, line in lines_of_cause(subject, UNKNOWN_USER):
            title = daemon(file.dialect).title
            message = f"there is no user {refused_user(line)} on this host: {title} {daemon(file.dialect).bad_line}"
            yield self.at_line(file, line, message, remedy, column=line.column, evidence="the host's users")
        users = subject.host.users if subject.host else None
        if users is None:
            if any(file.kind is Kind.SYSTEM for file in subject.files):
                yield NotJudged(code=self.code, reason="the host's users are not known, since the audit does not run on it")
            return
        for file, entry in subject.entries:
            if entry.user is not None and entry.user.partition(":")[0] not in users:
                reader = daemon(file.dialect)
                message = f"there is no user {entry.user} on this host: {reader.title} {reader.no_user or reader.bad_line}"
                yield self.at_entry(subject, file, entry, message, remedy, evidence="the host's users")
