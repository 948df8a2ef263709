"""C2Q119."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.foreign import foreign
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Effect


class NoCrontab(Rule):
    """The file is no crontab but something else: a manifest, a unit, a script.

    Why it matters
        A CronJob of Kubernetes, a workflow, a systemd timer or the script itself, put where a crontab belongs, starts nothing.
        The daemon refuses it line by line, and of the lines none is worth a correction.

    What to do
        Put the file where it belongs, and write a crontab line for what is to be started.

    Not flagged
        Crontabs with some lines of another kind among their entries: each of those is told by itself. Templates.
    """

    code = "C2Q119"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (
        'apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: "*/5 * * * *"\n',
        "on:\n  schedule:\n    - cron: '0 3 * * *'\njobs:\n  build:\n    runs-on: ubuntu-latest\n",
        "[Unit]\nDescription=Backup\n\n[Timer]\nOnCalendar=daily\n",
        "#!/bin/bash\nset -e\ncd /srv/shop\n./backup.sh\n",
        Example("<!DOCTYPE html>\n<html>\n<body>\nNot found\n</body>\n</html>\n", dialect="cronie"),
    )
    good = (
        "#!/bin/bash\n0 3 * * * root /opt/backup.sh\n",
        "services: all\n0 3 * * * root /opt/backup.sh\n0 4 * * * root /opt/report.sh\n",
        "61 * * * * root /opt/a.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """One finding for the file."""
        for file in subject.files:
            found = foreign(file)
            if found is not None:
                numbers = list(dict.fromkeys(line.number for line in file.malformed))
                yield self.at(
                    Place(path=file.path),
                    f"this is no crontab but {found.what}: {self._cost(file, len(numbers))}",
                    found.remedy,
                    evidence=f"{daemon(file.dialect).title} refuses line {numbers[0]}: {file.malformed[0].message}",
                    related=tuple(Place(path=file.path, line=number) for number in numbers),
                )

    def _cost(self, file: CrontabFile, refused: int) -> str:
        title = daemon(file.dialect).title
        if any(line.effect is Effect.FILE for line in file.malformed):
            return f"{title} ignores the whole file"
        return f"{title} cannot read {refused} of its {count(file.counts['lines'], 'line')}"
