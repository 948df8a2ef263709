"""C2Q317."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import Invocation, invocations
from cron2queue.analyser.naming import interpreter
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry

_FETCH = ("curl", "wget", "fetch", "lynx", "lwp-request", "GET")


def _takes_program_from_stdin(each: Invocation) -> bool:
    """It is given no script: nothing but options, or a -s or - that says so."""
    if interpreter(each) is None:
        return False
    first = next((word for word in each.words if word in ("-s", "-") or not word.startswith("-")), "-")
    return first in ("-s", "-")


class DownloadAndRun(EntryRule):
    """A program is fetched from the network and run at once.

    Why it matters
        Whoever controls the server, its name or the way there runs what they like on this host, at each start, with nobody
        looking. A page of an error or half a file is run as well.

    What to do
        Fetch it once, look at it, keep it beside the other scripts; or check a signature before it runs.

    Not flagged
        Fetching a page to start something on the server, as web cron does.
    """

    code = "C2Q317"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "0 3 * * * root curl -s https://example.com/update.sh | bash\n",
        "0 3 * * * root wget -q -O - https://example.com/update.php | php\n",
        '0 3 * * * root sh -c "$(curl -fsSL https://example.com/x.sh)"\n',
        "0 3 * * * root curl -sSL https://example.com/install.sh | bash -s -- stable\n",
    )
    good = (
        "*/5 * * * * www-data curl -s https://example.com/cron.php > /dev/null\n",
        "0 3 * * * root curl -s https://example.com/list | php /x/import.php\n",
        Example("0 3 * * * root curl -s https://example.com/list | grep -v x > /tmp/list\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """A pipe from the fetcher into an interpreter, or its output as the text of a shell."""
        if not any(name in entry.command for name in _FETCH):
            return
        every = invocations(entry.command)
        fetched = [each for each in every if each.program in _FETCH]
        if not fetched:
            return
        piped = any(_takes_program_from_stdin(each) and _behind(every, each, fetched) for each in every)
        if piped or _as_text(entry.command):
            yield self.at_entry(
                subject,
                file,
                entry,
                "a program is fetched from the network and run at once, unseen",
                "fetch it once, look at it, and run the copy",
                evidence="the fetched text goes straight to an interpreter",
            )


def _behind(every: tuple[Invocation, ...], each: Invocation, fetched: list[Invocation]) -> bool:
    if each.simple.before not in ("|", "|&"):
        return False
    before = [other for other in every if other.simple.start < each.simple.start and other.simple is not each.simple]
    return bool(before) and any(before[-1] is other or other.simple.after in ("|", "|&") for other in fetched)


def _as_text(command: str) -> bool:
    """`sh -c "$(curl …)"`, `bash <(curl …)`, `eval "$(curl …)"`."""
    for shell in ("sh -c", "bash -c", "eval"):
        rest = command.partition(shell)[2].lstrip().lstrip("\"'")
        if rest.startswith(("$(curl", "$(wget", "`curl", "`wget")):
            return True
    return "<(curl" in command or "<(wget" in command
