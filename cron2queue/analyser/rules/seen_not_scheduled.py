"""C2Q409."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject

_NAMED = 3


class SeenNotScheduled(Rule):
    """The log holds runs of commands that no given crontab starts.

    Why it matters
        Somebody else's crontab starts them, or a line that has since been changed or deleted. Load, overlaps and the ways to
        start a job are told only for what was given; a job that runs from two places is found only with both.

    What to do
        Give the other crontabs too: `sudo cron2queue audit` reads all of this machine's; `crontab -l -u USER` prints one.

    Not flagged
        Runs from before the last change of their crontab, which the log tells.
    """

    code = "C2Q409"
    severity = Severity.NOTE
    confidence = Confidence.MEASURED
    bad = (
        Example(
            "0 2 * * * root /opt/backup.sh\n",
            evidence={1: {"n": 14}},
            unscheduled=(("deploy", "/opt/old_sync.sh", 288), ("root", "/opt/once.sh", 1)),
        ),
    )
    good = (Example("0 2 * * * root /opt/backup.sh\n", evidence={1: {"n": 14}}), "0 2 * * * root /opt/backup.sh\n")

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """One finding for the whole audit, the most frequent strangers first."""
        if not subject.book.available:
            yield NotJudged(code=self.code, reason="what else ran is not known: no log was read")
            return
        strangers = sorted(subject.book.unscheduled, key=lambda each: (-each[2], each[:2]))
        if not strangers or not subject.files:
            return
        named = "; ".join(f"{count} times ({user}) {command.strip()}" for user, command, count in strangers[:_NAMED])
        more = f"; and {len(strangers) - _NAMED} more" if len(strangers) > _NAMED else ""
        what = "1 command that ran is" if len(strangers) == 1 else f"{len(strangers)} commands that ran are"
        yield self.at(
            Place(path=subject.files[0].path),
            f"{what} in no crontab that was given: {named}{more}",
            "give the other crontabs too: sudo cron2queue audit, or crontab -l -u USER",
            evidence=f"seen in {', '.join(subject.book.sources[:3])}",
        )
