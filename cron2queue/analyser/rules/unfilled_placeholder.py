"""C2Q324."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.placeholders import placeholder
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry


class UnfilledPlaceholder(EntryRule):
    """The command holds a placeholder that nobody has filled in.

    Why it matters
        Cron fills in nothing. `{{ user }}` reaches the program as it stands, and `<user>` is a redirect to the shell: it reads
        a file named user, which is not there, or writes over the file that is named next.

    What to do
        Write what belongs there; where a tool should have done it, find out why it did not.

    Not flagged
        Files that are templates by their name or their schedules, Go templates such as `--format '{{.Names}}'`, and angle
        brackets in quotes or around what may be a file to read.
    """

    code = "C2Q324"
    severity = Severity.WARNING
    confidence = Confidence.INFERRED
    bad = (
        "0 3 * * * root mysqldump -u <user> -p<password> shop > /b/shop.sql\n",
        "0 3 * * * root cd {{ app_root }} && bin/run\n",
        "0 3 * * * root curl -s 'https://shop/?key=${{ secrets.KEY }}'\n",
        "0 3 * * * root /opt/<your-app>/bin/run\n",
        Example("0 3 * * * <%= path %>/bin/run\n", kind="user", path="/var/spool/cron/crontabs/shop"),
    )
    good = (
        "0 3 * * * root docker ps --format '{{.Names}}' > /tmp/names\n",
        "0 3 * * * root docker inspect -f '{{ json .State }}' shop > /tmp/state\n",
        "0 3 * * * root mysql shop <dump >/tmp/out\n",
        "0 3 * * * root grep -c '<user>' /srv/users.xml > /tmp/count\n",
        "0 3 * * * root sort <(cut -f1 /srv/a)\n",
        Example("0 3 * * * root cd {{ app_root }} && bin/run\n", path="templates/cron.j2"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first one."""
        span = placeholder(entry.command_text)
        if span is None or subject.is_template(file):
            return
        start, end = span
        told = entry.command_text[start:end]
        shell = f"; the shell reads a file named {told[1:].rstrip('>')}" if told[0] == "<" and told[1] != "%" else ""
        column = entry.command_column + start
        yield self.at_entry(
            subject,
            file,
            entry,
            f"{told} was never filled in{shell}",
            "write what belongs there",
            column=column,
            end_column=column + end - start,
            evidence="cron fills in nothing",
        )
