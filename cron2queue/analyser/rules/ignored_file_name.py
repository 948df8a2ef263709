"""C2Q105."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template_path
from cron2queue.analyser.wording import count
from cron2queue.crontab.dialect import dialect_named


class IgnoredFileName(Rule):
    """The daemon does not read a file of this name in cron.d.

    Why it matters
        Debian's cron reads names of letters, digits, hyphens and underscores only. /etc/cron.d/shop.cron lies there for
        years and never runs, without a message.

    What to do
        Rename the file.

    Not flagged
        Files in other folders, and templates that are renamed when they are installed.
    """

    code = "C2Q105"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (Example("0 1 * * * root /opt/a.sh\n", path="/etc/cron.d/shop.cron"),)
    good = (
        Example("0 1 * * * root /opt/a.sh\n", path="/etc/cron.d/shop"),
        Example("0 1 * * * root /opt/a.sh\n", path="files/shop.cron"),
        Example("0 1 * * * root /opt/a.sh\n", path="/etc/cron.d/shop.j2"),
        Example("# nothing\n", path="/etc/cron.d/.placeholder"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """By the name alone; an ignored file without entries does no harm."""
        for file in subject.files:
            path = PurePosixPath(file.path)
            if path.parent.name != "cron.d" or not file.entries or is_template_path(file.path):
                continue
            why = dialect_named(file.dialect).ignores_name(path.name)
            if why:
                title = daemon(file.dialect).title
                yield self.at(
                    Place(path=file.path),
                    f"{title} does not read a file of this name, {count(len(file.entries), 'entry')} in it: {why}",
                    f"rename it, for example to {_plain(path.name)}",
                    evidence=f"the rules of {title} for names in cron.d",
                )


def _plain(name: str) -> str:
    stem = name.strip(".#~").removesuffix(".cron").removesuffix(".crontab")
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "-" for letter in stem) or "jobs"
