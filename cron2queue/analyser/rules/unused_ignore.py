"""C2Q116."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, ReviewContext, Rule, Subject
from cron2queue.analyser.wording import listed


class UnusedIgnore(Rule):
    """An ignore comment that silences nothing.

    Why it matters
        The entry was corrected, or the code is wrong. Left behind, the comment would one day hide a new problem.

    What to do
        Delete the comment, or correct its code.

    Not flagged
        Ignores of rules that this audit did not ask (`--select`, `--ignore`), and those that are not heard at all (see
        `unheard-remark`) or expired (see `expired-ignore`).
    """

    code = "C2Q116"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "# cron2queue: ignore[C2Q301] was needed once\n0 1 * * * root /opt/a.sh\n",
        "# cron2queue: ignore[C2Q999] a slip of the finger\n0 1 * * * root /opt/a.sh\n",
    )
    good = (
        "# cron2queue: ignore[C2Q301]\n0 1 * * * root /opt/a.sh\n",
        Example("# just a comment\n0 1 * * * root /opt/a.sh\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Nothing, before all rules have spoken."""
        return iter(())

    def review(self, subject: Subject, context: ReviewContext) -> Iterator[Finding]:
        """Ignores whose rules were all asked and that silenced nothing."""
        from cron2queue.analyser.registry import all_rules

        known = frozenset(rule.code for rule in all_rules())
        today = subject.at.astimezone(subject.zone).date()
        for file, remark, _ in subject.said.remarks:
            ignore = remark.ignore
            if ignore is None or ignore.trouble is not None or ignore.expired(today):
                continue
            asked = "*" in context.asked or ignore.codes & known <= context.asked
            if asked and (ignore.path, ignore.line) not in context.used_ignores:
                line, strange = file.lines[ignore.line - 1], ignore.codes - known
                yield self.at(
                    Place(path=file.path, line=ignore.line),
                    f"the ignore of {', '.join(sorted(ignore.codes))} silences nothing"
                    + (
                        f": {listed(sorted(strange))} {'is no rule' if len(strange) == 1 else 'are no rules'}"
                        if strange
                        else ""
                    ),
                    "delete the comment, or correct its code",
                    raw=line.raw,
                    evidence="no finding of that code at that place",
                )
