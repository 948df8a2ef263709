"""C2Q504."""

from collections.abc import Iterator

from cron2queue.analyser.chains import chains_of
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.timing import known_duration
from cron2queue.durations import duration


class TimeCoupledChain(Rule):
    """A second job is timed to run after a first one, and only the clock keeps them in order.

    Why it matters
        "The export is done by two, so the upload can run at half past." On the day on which the export takes longer, half a
        file is uploaded; on the day on which it fails, yesterday's.

    What to do
        One line, `first && second`; or a job that enqueues the next when it has succeeded.

    Not flagged
        Pairs that nothing ties together but their times. What ties them is a file or folder that both name, or a subject that
        both are about.
    """

    code = "C2Q504"
    severity = Severity.NOTE
    confidence = Confidence.INFERRED
    _text = "0 2 * * * root /opt/export_orders.sh /srv/out/orders\n30 2 * * * root /opt/upload.sh /srv/out/orders\n"
    bad = (
        _text,
        Example(_text, evidence={1: {}, 2: {}}, overlaps=((1, 2, 3, 14),)),
        "# cron2queue: takes=45m\n" + _text,
        "0 * * * * root /opt/export_orders.sh /srv/out/orders\n10 * * * * root /opt/upload.sh /srv/out/orders\n",
    )
    good = (
        "0 2 * * * root /opt/export_orders.sh /srv/out && /opt/upload.sh /srv/out\n",
        "0 2 * * * root /opt/backup.sh\n30 2 * * * root /opt/report.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """With measured meetings it is a warning, and so where the first is known to take longer than the gap."""
        chains = chains_of(subject)
        wanted = {entry_id for chain in chains for entry_id in (chain.first, chain.then)}
        ids = ((subject.id_of(file, entry), file, entry) for file, entry in subject.entries) if wanted else ()
        places = {entry_id: (file, entry) for entry_id, file, entry in ids if entry_id in wanted}
        for chain in chains:
            (first_file, first), (file, then) = places[chain.first], places[chain.then]
            known = known_duration(subject, first_file, first)
            severity, sure, evidence = self.severity, self.confidence, chain.reason
            if chain.broken_share:
                severity, sure = Severity.WARNING, Confidence.MEASURED
                evidence = f"{chain.broken_share:.0%} of starts came while the first was running; {chain.reason}"
            elif known is not None and known.long > chain.gap_seconds:
                severity, sure = Severity.WARNING, known.confidence
                evidence = f"the first takes {known.words} ({known.source}); {chain.reason}"
            yield self.at_entry(
                subject,
                file,
                then,
                f"timed {duration(chain.gap_seconds)} after line {first.number}, with nothing but the clock between them",
                "one line with &&, or let the first enqueue the second",
                severity=severity,
                confidence=sure,
                evidence=evidence,
                related=(Place(path=first_file.path, line=first.number),),
            )
