"""C2Q115."""

from collections.abc import Iterator

from cron2queue.analyser.comments import DECLARABLE, NO_TARGET, Ignore, Remark
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject


class UnheardRemark(Rule):
    """A comment that speaks to cron2queue and is not understood, gives no reason, or stands above no entry.

    Why it matters
        An ignore without a reason hides a problem from whoever comes next, so it is not heard. A misspelt declaration is
        taken for nothing, and the verdict is made without it.

    What to do
        `# cron2queue: ignore[C2Q303] mail is wanted here`, on its own line directly above the entry. Declarations:
        takes=20m, lost-on-failure=yes, user-waits=no, mostly-empty=no, overlap-hurts=yes, name=order-export,
        window=01:00-05:30 (no new minute is proposed outside it).

    Not flagged
        Comments that only mention cron2queue.
    """

    code = "C2Q115"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "# cron2queue: ignore[C2Q303]\n0 1 * * * root /opt/a.sh\n",
        "# cron2queue: takes=soon\n0 1 * * * root /opt/a.sh\n",
        "0 1 * * * root /opt/a.sh\n# cron2queue: takes=5m\n",
        "# cron2queue: window=1-5\n0 1 * * * root /opt/a.sh\n",
        "# cron2queue: takes=5m\nSHELL=/bin/bash\n0 1 * * * root /opt/a.sh\n",
    )
    good = (
        "# cron2queue: ignore[C2Q303] mail is wanted here\n0 1 * * * root /opt/a.sh\n",
        "# cron2queue: takes=20m lost-on-failure=yes\n0 1 * * * root /opt/a.sh\n",
        Example("# audited with cron2queue in May\n0 1 * * * root /opt/a.sh\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Every remark that has no effect, with the reason."""
        for file, remark, target in subject.said.remarks:
            trouble = self._trouble(remark, is_entry=target is not None and (file.path, target) in subject.ids)
            if trouble is not None:
                message, remedy = trouble
                line = file.lines[remark.line - 1] if remark.line <= len(file.lines) else None
                place = Place(path=file.path, line=remark.line)
                yield self.at(place, message, remedy, raw=line.raw if line else None, evidence="not heard")

    def _trouble(self, remark: Remark, *, is_entry: bool) -> tuple[str, str] | None:
        if remark.ignore is not None:
            return self._of_ignore(remark.ignore)
        if remark.unread:
            words = " ".join(remark.unread[:4])
            return f"not understood: {words}", f"declare one of {', '.join(f'{name}=' for name in DECLARABLE)}"
        if not is_entry:
            return "the declaration stands above no entry", "put it on the line above the entry"
        return None

    def _of_ignore(self, ignore: Ignore) -> tuple[str, str] | None:
        if ignore.trouble is not None:
            reason, _, remedy = ignore.trouble.partition("; ")
            return f"the ignore is not heard: {reason}", remedy
        if ignore.target == NO_TARGET:
            return "the ignore stands above no entry", "put it on the line above the entry, or write ignore-file[CODE]"
        return None
