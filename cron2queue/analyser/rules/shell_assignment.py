"""C2Q112."""

from collections.abc import Iterator

from cron2queue.analyser.causes import SHELL_ASSIGNMENT, blast, lines_of_cause
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Rule, Subject


class ShellAssignment(Rule):
    """A line in the shell's language, such as `export NAME=value`, where cron knows `NAME=value` only.

    Why it matters
        A crontab is no shell script: `export`, `set`, `source` and text after a closing quote make the line a broken entry.
        Debian's cron drops the whole file for it.

    What to do
        Write `NAME=value` on a line of its own; anything else belongs into the command or a script.

    Not flagged
        The same words inside a command.
    """

    code = "C2Q112"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = ("export FOO=bar\n0 1 * * * root a\n", 'FOO="a" b\n0 1 * * * root a\n', "source /etc/profile\n0 1 * * * root a\n")
    good = ("FOO=bar\n0 1 * * * root export FOO=baz; a\n", 'FOO="a b"\n0 1 * * * root a\n')

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Lines that the daemon refused and that read like shell."""
        for file, line in lines_of_cause(subject, SHELL_ASSIGNMENT):
            word = line.raw.split()[0].decode("utf-8", "surrogateescape")
            what = "text after the closing quote" if "=" in word else f"{word} is the shell's, not cron's"
            yield self.at_line(
                file,
                line,
                f"{what} ({line.message}): {blast(file, line)}",
                "write NAME=value on a line of its own",
                column=line.column,
                evidence="a crontab knows assignments, entries and comments only",
            )
