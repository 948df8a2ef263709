"""C2Q320."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.invocations import invocations, main_invocation
from cron2queue.analyser.naming import script_and_arguments
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Entry


def _is_guarded(entry: Entry) -> bool:
    return any(each.program in ("test", "[", "[[", "if", "which", "type") for each in invocations(entry.command)) or any(
        wrapper.program == "command" for each in invocations(entry.command) for wrapper in each.wrappers
    )


class CommandNotFound(Rule):
    """The program or script that the line runs does not exist on this host.

    Why it matters
        Each start ends with "not found", in a mail that nobody reads.

    What to do
        Correct the path, or delete the line.

    Not flagged
        Lines that test for the program first, and audits that do not run on the host itself.
    """

    code = "C2Q320"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (Example("0 3 * * * root /opt/gone.sh\n", host={"paths": {"/opt/gone.sh": False}}),)
    good = (
        Example("0 3 * * * root /opt/here.sh\n", host={"paths": {"/opt/here.sh": True}}),
        Example("0 3 * * * root [ -x /opt/gone.sh ] && /opt/gone.sh\n", host={"paths": {"/opt/gone.sh": False}}),
        "0 3 * * * root /opt/gone.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Absolute paths only, as looked up on the host."""
        if subject.host is None or not subject.host.paths:
            if subject.entries:
                yield NotJudged(
                    code=self.code, reason="whether programs exist is not known: the audit does not run on the host"
                )
            return
        for file, entry in subject.entries:
            main = main_invocation(entry.command)
            if main is None or main.wrapped_by("ssh", "docker", "podman", "docker-compose", "chroot") or _is_guarded(entry):
                continue
            script, _ = script_and_arguments(main)
            missing = next((path for path in (main.path, script) if subject.host.paths.get(path) is False), None)
            if missing is not None:
                message = f"{missing} does not exist on this host: each start fails"
                yield self.at_entry(
                    subject, file, entry, message, "correct the path, or delete the line", evidence="looked up on the host"
                )
