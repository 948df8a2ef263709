"""C2Q110."""

import re
from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template, is_template_path
from cron2queue.crontab.lines import Assignment, CrontabFile
from cron2queue.expressions import regex

_PLAIN = regex(r"\$(?:[A-Za-z_]\w*|\(|\{(?:PATH|HOME|USER|LOGNAME|PWD|LD_LIBRARY_PATH|PYTHONPATH)\})|`")


class VariableNotExpanded(Rule):
    """An assignment with `$NAME`, which cron does not expand.

    Why it matters
        `PATH=$PATH:/opt/bin` looks right and is not: the value is taken as it is written, so that commands are searched in
        a folder named `$PATH` and in /opt/bin only. Everything in /usr/bin is then "not found".

    What to do
        Write the value out, or set the variable inside the command or a script.

    Not flagged
        Placeholders such as `${NAME}` that a template may fill, and a $ that is no variable. MAILTO under cronie, which
        expands it. Shell text that an entry has a shell read again: `sh -c "$STEPS"`, `eval "$STEPS"`.
    """

    code = "C2Q110"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("PATH=$PATH:/opt/bin\n0 1 * * * root a\n", "LOG=/var/log/$(hostname).log\n0 1 * * * root a\n")
    good = (
        "PATH=/usr/bin:/bin:/opt/bin\n0 1 * * * root a\n",
        "PRICE=5$\n0 1 * * * root a\n",
        'NICE="nice -n 19"\nSTEP="$NICE fetch {}"\n*/5 * * * * root list | xargs -I{} sh -c "$STEP"\n',
        "A='b $C'\n0 1 * * * root eval $A\n",
        Example("MAILTO=$USER\n0 1 * * * root a\n", dialect="cronie"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """PATH is worse than the others: it decides which programs are found."""
        for file in subject.files:
            if is_template_path(file.path):
                continue
            for line in file.assignments:
                if (
                    _PLAIN.search(line.value)
                    and not is_template(line.value)
                    and not self._expanded(file, line)
                    and not _is_script(file, line)
                ):
                    yield self._finding(file, line)

    def _expanded(self, file: CrontabFile, line: Assignment) -> bool:
        return file.dialect == "cronie" and line.name in ("MAILTO", "MAILFROM")

    def _finding(self, file: CrontabFile, line: Assignment) -> Finding:
        folders = [part for part in line.value.split(":") if "$" not in part]
        searched = (
            f"; programs are searched in {':'.join(folders) or 'no folder that exists'} only" if line.name == "PATH" else ""
        )
        return self.at_line(
            file,
            line,
            f"{line.name} is taken as it is written, nothing in it is expanded{searched}",
            f"write it out, beginning with {daemon(file.dialect).path}" if line.name == "PATH" else "write the value out",
            severity=Severity.ERROR if line.name == "PATH" else self.severity,
            evidence=f"{daemon(file.dialect).title} never expands variables in a crontab's assignments",
        )


def _is_script(file: CrontabFile, line: Assignment) -> bool:
    """An entry gives the value to a shell, which expands it."""
    read_again = re.compile(rf"(?:\s-\w*c|\beval)\s+[\"']?\$\{{?{re.escape(line.name)}\b")
    return any(line.name in entry.command and read_again.search(entry.command) for entry in file.entries)
