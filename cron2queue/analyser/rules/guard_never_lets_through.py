"""C2Q321."""

from collections.abc import Iterator

from cron2queue.analyser.commands import SimpleCommand, read_command
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject

_TESTS = ("-x", "-e", "-f", "-d", "-r", "-s")


def _tested(command: SimpleCommand) -> tuple[str, bool] | None:
    """The path of a plain test and whether it wants the path to be there; None for anything more."""
    words = [word for word in command.texts if word != "]"]
    if not words or words[0] not in ("test", "[", "[["):
        return None
    wants, rest = True, words[1:]
    if rest[:1] == ["!"]:
        wants, rest = False, rest[1:]
    return (rest[1], wants) if len(rest) == 2 and rest[0] in _TESTS and rest[1].startswith("/") else None


class GuardNeverLetsThrough(Rule):
    """The test at the head of the line keeps the command from running on this host, always.

    Why it matters
        `[ -x /usr/bin/tool ] && tool` is a package's way to leave a line behind that does nothing. The entry starts, and
        ends at once; it is no job to migrate.

    What to do
        Nothing, if the package is gone for good: delete the line. On a host with systemd many packages have a timer instead.

    Not flagged
        Guards that let the command through, tests of more than one thing, and audits that do not run on the host itself.
    """

    code = "C2Q321"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        Example("0 3 * * * root [ -x /usr/bin/gone ] && /usr/bin/gone\n", host={"paths": {"/usr/bin/gone": False}}),
        Example("0 3 * * * root test -e /run/systemd/system || /sbin/scrub\n", host={"paths": {"/run/systemd/system": True}}),
    )
    good = (
        Example("0 3 * * * root [ -x /usr/bin/here ] && /usr/bin/here\n", host={"paths": {"/usr/bin/here": True}}),
        "0 3 * * * root [ -x /usr/bin/gone ] && /usr/bin/gone\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """The first test of the line, when `&&` or `||` follows it and nothing else does the work."""
        if subject.host is None:
            return
        for file, entry in subject.entries:
            commands = read_command(entry.command).top
            tested = _tested(commands[0]) if len(commands) > 1 else None
            if tested is None or commands[0].after not in ("&&", "||") or any(each.after == ";" for each in commands[:-1]):
                continue
            path, wants = tested
            there = subject.host.paths.get(path)
            if there is None:
                continue
            passes = there is wants
            if (commands[0].after == "&&") is not passes:
                state = "exists" if there else "does not exist"
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    f"never does anything here: {path} {state}",
                    "nothing; or delete the line if that will not change",
                    evidence="looked up on the host",
                )
