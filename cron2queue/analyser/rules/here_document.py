"""C2Q325."""

from collections.abc import Iterator

from cron2queue.analyser.commands import here_document
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.crontab.lines import CrontabFile, Entry


class HereDocument(EntryRule):
    """The command begins a here-document, whose text cannot stand in a crontab.

    Why it matters
        Cron gives the shell one line. The here-document ends with it, empty, and the command runs with no input; the lines that
        were to be its text are read as lines of the crontab, and Debian's cron then drops the whole file.

    What to do
        Put the command into a script. Short input can stand behind a percent sign, with one more for each new line.

    Not flagged
        Here-strings (`<<<`), shifts in arithmetic, and what stands in quotes.
    """

    code = "C2Q325"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (
        "0 3 * * * root mysql shop <<EOF\nDELETE FROM log;\nEOF\n",
        "0 3 * * * root cat <<-'END' | mail -s report shop@example.com\n",
        Example("0 3 * * * ftp -n host <<EOF\n", kind="user", path="/var/spool/cron/root", dialect="cronie"),
    )
    good = (
        "0 3 * * * root mysql shop%DELETE FROM log;\n",
        "SHELL=/bin/bash\n0 3 * * * root mysql shop <<< 'DELETE FROM log'\n",
        "0 3 * * * root echo $((1 << 4)) > /tmp/x\n",
        "SHELL=/bin/bash\n0 3 * * * root ((x<<1)) && /opt/a.sh > /tmp/x\n",
        "0 3 * * * root grep '<<EOF' /opt/*.sh > /tmp/x\n",
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first one."""
        first = here_document(entry.command)
        if first is not None:
            yield self.at_entry(
                subject,
                file,
                entry,
                f"the here-document {first.operator}{first.target} stays empty: cron gives the shell this line alone",
                "put the command into a script; or its input behind a %, and a % for each new line",
                column=column_in_line(entry, first.start),
                evidence="an entry is one line: cron joins no lines",
            )
