"""C2Q210."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.fields import five_fields, reversed_ranges
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template_head, is_unrendered
from cron2queue.analyser.timing import calendar_of
from cron2queue.analyser.wording import listed
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.second_readers import second_readings
from cron2queue.expressions import regex

# Asking the libraries costs milliseconds an entry, so only entries with a known trap are taken to them, and not thousands.
MOST_ASKED = 100
_EQUAL_ENDS = regex(r"(?:^|,)(\d+)-\1(?:,|$)")
_EITHER = ("Kubernetes", "Laravel", "Symfony", "BullMQ")
_BOTH = ("systemd timers", "Celery", "Oban")


def _known_readers(entry: Entry) -> tuple[str, ...]:
    """Readers that join the two day fields otherwise than this daemon, by their documentation and source."""
    fields, calendar = five_fields(entry.schedule_text), calendar_of(entry)
    if fields is None or calendar is None or {fields[2], fields[4]} & {"*", "*/1"}:
        return ()
    return _BOTH if calendar.either_day else _EITHER


def _is_trap(entry: Entry) -> bool:
    """Schedules on which croniter or python-crontab are known to differ from a daemon."""
    fields = five_fields(entry.schedule_text)
    if fields is None:
        return False
    joined = _known_readers(entry) == _EITHER
    return joined or bool(reversed_ranges(entry.schedule_text)) or any(_EQUAL_ENDS.search(field) for field in fields)


class SecondReaders(Rule):
    """Other tools read the line differently, or would rewrite it when they save the file.

    Why it matters
        Dashboards, importers and libraries have rules of their own: croniter joins `*/2` and a weekday with "or", wraps
        ranges that run backwards, and takes `2-2` for every minute; systemd and Celery join two day fields with "and". After
        a migration the job runs on other days, and nobody notices for weeks.

    What to do
        Write the schedule so that everybody reads the same: one day field, no range backwards. `convert` compares the fires
        of each target with the daemon's own, and refuses where they differ.

    Not flagged
        Lines that these tools refuse loudly, and notations that all of them agree on.
    """

    code = "C2Q210"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "0 0 */2 * 1 root /opt/a.sh\n",
        "2-2 * * * * root /opt/a.sh\n",
        "0 22-4 * * * root /opt/night.sh\n",
        "0 3 1,15 * 5 root /opt/a.sh\n",
    )
    good = ("*/5 2,4 1-7 jan-mar * root /opt/a.sh\n", Example("0 3 * * 7 root /opt/a.sh\n"))

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """What is documented first, then what the installed libraries themselves answer."""
        asked = left = 0
        for file, entry in subject.entries:
            if is_template_head(entry.schedule_text) or is_unrendered(file, entry):
                continue
            readers, told = list(_known_readers(entry)), ""
            if _is_trap(entry):
                asked += 1
                if asked > MOST_ASKED:
                    left += 1
                else:
                    told = self._asked(entry, readers)
            if readers or told:
                yield self._finding(subject, file, entry, readers, told)
        if left:
            yield NotJudged(code=self.code, reason=f"{left:,} more entries were not shown to croniter and python-crontab")

    def _asked(self, entry: Entry, readers: list[str]) -> str:
        said = []
        for name, answer in second_readings(entry):
            if answer.startswith("differs: "):
                readers.insert(0, name)
                said.append(f"{name}: {answer.removeprefix('differs: ')}")
            elif answer.startswith("would rewrite as "):
                said.append(f"{name} {answer}")
        return "; ".join(said)

    def _finding(self, subject: Subject, file: CrontabFile, entry: Entry, readers: list[str], told: str) -> Finding:
        title = daemon(file.dialect).title
        message = (
            f"{listed(readers)} would start it at other times than {title}"
            if readers
            else f"another tool would change it: {told}"
        )
        return self.at_entry(
            subject,
            file,
            entry,
            message,
            "write it so that everybody reads the same: one day field, no range backwards",
            evidence=told if readers and told else "their documentation and source",
        )
