"""C2Q315."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import invocations
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.timing import shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.schedule import AtReboot
from cron2queue.expressions import regex

_SLEEP = regex(r"\bsleep\b")


class SleepSplay(EntryRule):
    """A `sleep` in the command does by hand what a schedule or a queue should.

    Why it matters
        `sleep $((RANDOM % 600))` spreads starts, and `sleep 30; job` makes a schedule of half minutes; both leave processes
        that only wait, are lost at a reboot, and make every measured duration wrong by the pause.

    What to do
        Fixed, spread minutes; for less than a minute a queue with a worker, or a systemd timer with RandomizedDelaySec.

    Not flagged
        A `sleep` after the job's own command, between its steps; a pause at @reboot, which waits for the machine.
    """

    code = "C2Q315"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "* * * * * www-data sleep 30; php /x/poll.php\n",
        "17 3 * * * root sleep $((RANDOM \\% 600)); /opt/report.sh\n",
        "0 */12 * * * root perl -e 'sleep int(rand(43200))' && certbot -q renew\n",
    )
    good = (
        "*/5 * * * * www-data php /x/poll.php\n",
        "@reboot root sleep 60; /opt/a.sh\n",
        Example("0 3 * * * root /opt/a.sh; sleep 10; /opt/b.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Only a pause before everything else."""
        if isinstance(entry.schedule, AtReboot) or not _SLEEP.search(entry.command):
            return
        for each in invocations(entry.command):
            if each.simple.substitution or each.program in ("test", "[", "cd"):
                continue
            pause = each.program == "sleep" or (each.program in ("perl", "python3") and "sleep" in " ".join(each.words[:2]))
            if pause:
                gap = shortest_gap(entry)
                half = gap is not None and gap <= 60 and each.words[:1] and each.words[0].isdigit()
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    "a schedule finer than a minute made by hand, with sleep"
                    if half
                    else "starts with a pause: a process that only waits, and durations that are wrong by it",
                    "a queue with a worker, or a timer" if half else "a fixed, spread minute",
                    evidence=f"{each.program} {' '.join(each.words[:2])}",
                )
            return
