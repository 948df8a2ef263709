"""C2Q106."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.host import FileFacts
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.dialect import FileFacts as DialectFacts
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Effect, Kind


class RefusedFile(Rule):
    """The daemon ignores the whole file for its owner, its mode, its links or its size.

    Why it matters
        A crontab that others may write is refused, as a guard against intruders; so is one that root does not own. The file
        looks right, and nothing of it runs.

    What to do
        `chown root:root FILE && chmod 644 FILE`, or what the message names.

    Not flagged
        Files whose properties are not known, because the audit was given a copy: that is said as not judged.
    """

    code = "C2Q106"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (
        Example("0 1 * * * root /opt/a.sh\n", host={"files": {"/etc/cron.d/shop": FileFacts(mode=0o664, owner="root")}}),
        Example("0 1 * * * root /opt/a.sh\n", host={"files": {"/etc/cron.d/shop": FileFacts(mode=0o644, owner="deploy")}}),
    )
    good = (
        Example("0 1 * * * root /opt/a.sh\n", host={"files": {"/etc/cron.d/shop": FileFacts(mode=0o644, owner="root")}}),
        "0 1 * * * root /opt/a.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """The daemon's own rule on the file's properties, and whatever else made the reader say that it is not loaded."""
        unknown = 0
        for file in subject.files:
            if not file.editable:
                continue
            facts = subject.host.files.get(file.path) if subject.host else None
            unknown += facts is None
            why = self._why(file, facts)
            if why and file.entries:
                title = daemon(file.dialect).title
                yield self.at(
                    Place(path=file.path),
                    f"{title} ignores this file, {count(len(file.entries), 'entry')} with it: {why}",
                    "chown root:root FILE && chmod 644 FILE" if facts else "correct what the message names",
                    evidence=f"the rules of {title} for crontab files",
                )
        if unknown:
            yield NotJudged(code=self.code, reason=f"owner and mode of {count(unknown, 'file')} are not known")

    def _why(self, file: CrontabFile, facts: FileFacts | None) -> str | None:
        dialect = dialect_named(file.dialect)
        if facts is not None and file.kind is Kind.SYSTEM:
            uid = 0 if facts.owner in ("root", None) else 1
            return dialect.refuses_system_file(DialectFacts(mode=0o100000 | facts.mode & 0o7777, uid=uid, links=facts.links))
        if file.loaded or any(line.effect is Effect.FILE for line in file.malformed):
            return None
        path = PurePosixPath(file.path)
        return None if path.parent.name == "cron.d" and dialect.ignores_name(path.name) else file.why
