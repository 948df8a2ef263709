"""Audits to be shown: an ordinary one, an empty one, and one in which every piece of foreign text is hostile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from cron2queue.analyser.audit import Audit, Chain, Lane, Load, Summary
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity, Suppression
from cron2queue.analyser.verdicts import Answer, Decision, Sign, Signs, Verdict
from cron2queue.crontab.lines import Assignment, Blank, Comment, CrontabFile, Effect, Entry, Kind, Line, Malformed
from cron2queue.crontab.schedule import AtReboot, Calendar, Schedule
from cron2queue.evidence.book import EvidenceBook
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.statistics import Emptiness, Evidence, Window
from cron2queue.text import to_bytes

BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2026, 11, 30, 12, 0, tzinfo=BERLIN)
WINDOW = Window(start=datetime(2026, 11, 16, tzinfo=UTC), end=datetime(2026, 11, 30, tzinfo=UTC))
ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS = (1 << 24) - 1, (1 << 32) - 2, (1 << 13) - 2, (1 << 8) - 1


@dataclass(frozen=True)
class Job:
    """One line of the sample crontab with all that is said of it."""

    schedule: str
    user: str
    command: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    seconds: float | None
    decision: Decision
    because: str
    becomes: str
    overlap: str = ""
    order: int | None = None


_OFF = "switched off"
JOBS = (
    Job(
        "* * * * *",
        "www-data",
        "cd /var/www/shop && php bin/magento cron:run >/dev/null 2>&1",
        tuple(range(60)),
        tuple(range(24)),
        20,
        Decision.GUARD,
        "it has a scheduler of its own: wrap it, do not queue it",
        "stays, guarded",
        "skip",
    ),
    Job(
        "*/5 * * * *",
        "www-data",
        "php /var/www/shop/import_orders.php",
        tuple(range(0, 60, 5)),
        tuple(range(24)),
        372,
        Decision.QUEUE,
        "imports twice; a failed order is lost (23% of 4,032 starts met a live predecessor)",
        "queue orders",
        "skip",
        2,
    ),
    Job(
        "*/5 * * * *",
        "www-data",
        "php /var/www/shop/sync_stock.php --all",
        tuple(range(0, 60, 5)),
        tuple(range(24)),
        150,
        Decision.QUEUE,
        "same table as line 7",
        "queue orders",
        "merge",
        4,
    ),
    Job(
        "*/2 * * * *",
        "www-data",
        "php /var/www/shop/send_mails.php",
        tuple(range(0, 60, 2)),
        tuple(range(24)),
        5,
        Decision.QUEUE,
        "698 of 720 daily runs do nothing",
        "queue mail",
        "merge",
        3,
    ),
    Job(
        "0 * * * *",
        "www-data",
        "php /var/www/shop/export_feed.php",
        (0,),
        tuple(range(24)),
        540,
        Decision.QUEUE,
        "the hourly pile-up",
        "queue feeds",
        "skip",
        5,
    ),
    Job(
        "0 2 * * *",
        "root",
        "/opt/scripts/backup.sh",
        (0,),
        (2,),
        3000,
        Decision.SPLIT,
        "no timeout today",
        "queue backup",
        "skip",
        6,
    ),
    Job(
        "30 2 * * *",
        "root",
        "mysqldump shop | gzip > /backup/shop-$(date +%F).sql.gz",
        (30,),
        (2,),
        1500,
        Decision.FIX,
        "broken today, one line",
        "queue backup",
        "skip",
        1,
    ),
    Job(
        "0 3 1,15 * 5",
        "www-data",
        "php /var/www/shop/report.php",
        (0,),
        (3,),
        900,
        Decision.KEEP,
        "nightly, has run for years: leave it",
        "stays",
    ),
    Job("0 0 31 2 *", "www-data", "php /var/www/shop/yearly.php", (0,), (0,), None, Decision.DROP, "never fires", _OFF),
    Job(
        "15 */4 * * *",
        "deploy",
        "/opt/scripts/rotate_images.sh",
        (15,),
        tuple(range(0, 24, 4)),
        720,
        Decision.QUEUE,
        "long, and images pile up",
        "queue media",
        "skip",
        7,
    ),
    Job("0 5 * * 0", "root", "certbot renew -q", (0,), (5,), 60, Decision.ASK, "certbot may have a timer here", "not decided"),
    Job(
        "@reboot",
        "www-data",
        "node /var/www/shop/ws.js &",
        (),
        (),
        None,
        Decision.KEEP,
        "a service, not a job",
        "a systemd service",
    ),
)
HEAD = (
    ("SHELL=/bin/sh", lambda n, raw: Assignment(number=n, raw=raw, name="SHELL", value="/bin/sh")),
    ("PATH=/usr/bin:/bin", lambda n, raw: Assignment(number=n, raw=raw, name="PATH", value="/usr/bin:/bin")),
    ("MAILTO=ops@example.com", lambda n, raw: Assignment(number=n, raw=raw, name="MAILTO", value="ops@example.com")),
    ("", lambda n, raw: Blank(number=n, raw=raw)),
    ("# the shop", lambda n, raw: Comment(number=n, raw=raw, text=" the shop")),
)

Change = Callable[[str], str]


def _same(text: str) -> str:
    return text


def _bits(values: tuple[int, ...]) -> int:
    return sum(1 << value for value in values)


def _schedule(job: Job) -> Schedule:
    if job.schedule == "@reboot":
        return AtReboot()
    return Calendar(minutes=_bits(job.minutes), hours=_bits(job.hours), days=ALL_DAYS, months=ALL_MONTHS, weekdays=ALL_WEEKDAYS)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _entry(number: int, job: Job, change: Change) -> Entry:
    command = change(job.command)
    raw = f"{job.schedule} {change(job.user)} {command}"
    return Entry(
        number=number,
        raw=_encoded(raw + "\n"),
        schedule=_schedule(job),
        schedule_text=job.schedule,
        user=change(job.user),
        command=command,
        stdin=None,
        environment={"SHELL": "/bin/sh"},
        command_text=command,
        command_column=raw.index(command) + 1,
    )


def _file(path: str, change: Change) -> CrontabFile:
    lines: list[Line] = [make(n, _encoded(text + "\n")) for n, (text, make) in enumerate(HEAD, 1)]
    lines += [_entry(number, job, change) for number, job in enumerate(JOBS, len(lines) + 1)]
    bad = f"61 * * * * root {change('true')}"  # a placeholder further left would make it a template
    lines.append(
        Malformed(
            number=len(lines) + 1,
            raw=_encoded(bad + "\n"),
            column=1,
            message=change("bad minute"),
            effect=Effect.FILE,
            remedy="use 0-59",
        )
    )
    return CrontabFile(
        path=change(path),
        dialect="debian",
        kind=Kind.SYSTEM,
        lines=tuple(lines),
        loaded=False,
        why=change("bad minute"),
        notes=(change("dialect guessed: debian"),),
    )


def _name(job: Job, change: Change) -> str:
    word = job.command.removeprefix("cd /var/www/shop && ").split(" |")[0].split()
    return change(next((w.rsplit("/", 1)[-1] for w in word if "." in w or w in ("mysqldump", "certbot")), "magento cron:run"))


def _signs(job: Job, change: Change) -> Signs:
    unknown = Sign(answer=Answer.UNKNOWN, confidence=Confidence.INFERRED, reason=change("nothing in the text tells"))
    yes = Sign(
        answer=Answer.YES, confidence=Confidence.MEASURED, reason=change("97% of 10,080 runs wrote nothing and took under 1s")
    )
    no = Sign(answer=Answer.NO, confidence=Confidence.INFERRED, reason=change("it runs once a day"))
    return Signs(
        mostly_empty=yes if "mail" in job.command else no,
        overlap_hurts=yes if job.order else no,
        user_waits=unknown,
        lost_on_failure=unknown,
    )


def _evidence(job: Job, change: Change) -> Evidence | None:
    if job.seconds is None:
        return None
    runs = max(1, len(job.minutes) * len(job.hours)) * 14
    return Evidence(
        window=WINDOW,
        starts=runs,
        n=runs,
        pairing=Pairing.EXACT,
        median_seconds=job.seconds / 2,
        p95_seconds=job.seconds,
        max_seconds=job.seconds * 2,
        failures=3,
        statuses=runs,
        met_predecessor=0.23 if job.seconds == 372 else 0.0,
        silent=0.5,
        empty=Emptiness(share=0.97, n=runs, confidence="measured", reason="silent") if "mail" in job.command else None,
        source=change("journal"),
    )


def _finding(
    code: str, rule: str, severity: str, confidence: str, line: int | None, message: str, remedy: str, **more: object
) -> Finding:
    place = Place(path="/etc/crontab", line=line, column=more.pop("column", None))  # type: ignore[arg-type]
    return Finding(
        code=code,
        rule=rule,
        severity=Severity(severity),
        confidence=Confidence(confidence),
        place=place,
        message=message,
        remedy=remedy,
        **more,
    )


def _findings() -> list[Finding]:
    dump = "30 2 * * * root mysqldump shop | gzip > /backup/shop-$(date +%F).sql.gz"
    herd = "6 jobs start in the same minute at 02:00 and at 03:00"
    return [
        _finding(
            "C2Q101",
            "malformed-line",
            "error",
            "proven",
            18,
            "bad minute: cron ignores the whole file, all 12 entries of it",
            "use 0-59",
            raw=b"61 * * * * root true",
            column=1,
        ),
        _finding(
            "C2Q301",
            "unescaped-percent",
            "error",
            "proven",
            12,
            "unescaped % ends the command; the rest becomes its standard input",
            r"write \%   (convert does it)",
            raw=dump.encode(),
            column=dump.index("%") + 1,
            evidence="no dump has been written since the line was added",
        ),
        _finding(
            "C2Q401",
            "overlaps-itself",
            "error",
            "measured",
            7,
            "overlaps itself: p95 run 6m12s, started every 5m",
            "one at a time, skip while running",
            evidence="23% of 4,032 starts met a live predecessor, journal 14 d",
        ),
        *(
            _finding("C2Q501", "herd", "warning", "proven", n, herd, "spread them: 10 to minute 7")
            for n in (6, 7, 8, 9, 10, 11, 13)
        ),
        _finding(
            "C2Q202",
            "either-day",
            "warning",
            "proven",
            13,
            "fires on the 1st, on the 15th AND every Friday",
            "say which is meant",
            raw=b"0 3 1,15 * 5\twww-data\tphp /var/www/shop/report.php",
            column=5,
        ),
        _finding("C2Q304", "no-redirect", "note", "inferred", 11, "output goes to mail", "append it to a log"),
        _finding("C2Q304", "no-redirect", "note", "inferred", 15, "output goes to nobody", "append it to a log"),
        _finding(
            "C2Q502", "no-mailto", "note", "proven", None, "the whole file mails to one address", "see to it that it is read"
        ),
        replace(
            _finding("C2Q305", "runs-as-root", "note", "inferred", 11, "runs as root", "give it a user of its own"),
            suppressed=Suppression(reason="needs raw disks", until=date(2027, 3, 1)),
        ),
        replace(
            _finding("C2Q305", "runs-as-root", "warning", "inferred", 12, "runs as root", "give it a user of its own"),
            suppressed=Suppression(reason="in the baseline", baseline=True),
        ),
    ]


def _changed(finding: Finding, change: Change, ids: dict[int, str]) -> Finding:
    place = finding.place
    return replace(
        finding,
        message=change(finding.message),
        remedy=change(finding.remedy),
        evidence=change(finding.evidence),
        place=replace(place, path=change(place.path)),
        entry=ids.get(place.line or 0),
        raw=None if finding.source_line is None else to_bytes(change(finding.source_line)),
        suppressed=finding.suppressed and replace(finding.suppressed, reason=change(finding.suppressed.reason)),
    )


def _load(verdicts: list[Verdict]) -> Load:
    alive = tuple(7 if i in (8, 10) else 6 if i % 4 == 0 else 5 for i in range(96))
    midnight = datetime(2026, 12, 1, tzinfo=BERLIN)
    lanes = tuple(
        Lane(
            entry_id=verdict.entry_id,
            name=verdict.name,
            line=verdict.entry.number,
            seconds=job.seconds,
            starts=tuple(midnight + timedelta(hours=h, minutes=m) for h in job.hours for m in job.minutes),
        )
        for verdict, job in zip(sorted(verdicts, key=lambda v: v.entry.number), JOBS, strict=True)
    )
    return Load(
        day=midnight.date(),
        minutes=15,
        alive=alive,
        peak_at=midnight + timedelta(hours=2),
        peak=7,
        planned_peak=3,
        lanes=lanes,
        unknown=2,
    )


def _verdicts(file: CrontabFile, change: Change) -> list[Verdict]:
    verdicts = [
        Verdict(
            entry_id=entry.fingerprint,
            entry=entry,
            path=file.path,
            name=_name(job, change),
            decision=job.decision,
            signs=_signs(job, change),
            because=change(job.because),
            order=job.order,
            becomes=change(job.becomes),
            overlap=job.overlap,
            questions=(change("does certbot.timer run on this host?"),) if job.decision is Decision.ASK else (),
        )
        for job, entry in zip(JOBS, file.entries, strict=True)
    ]
    return sorted(verdicts, key=lambda verdict: (verdict.order is None, verdict.order or 0, verdict.entry.number))


def shop(change: Change = _same, path: str = "/etc/crontab") -> Audit:
    """A grown crontab with evidence; `change` is applied to every piece of foreign text."""
    file = _file(path, change)
    verdicts = _verdicts(file, change)
    ids = {verdict.entry.number: verdict.entry_id for verdict in verdicts}
    jobs = {entry.fingerprint: job for job, entry in zip(JOBS, file.entries, strict=True)}
    found = {key: _evidence(job, change) for key, job in jobs.items()}
    book = EvidenceBook(
        available=True,
        sources=(change("journal"),),
        window=WINDOW,
        runs=8123,
        matched=8001,
        unmatched=122,
        skipped=(change("/var/log/syslog.3.gz: not a gzip file"),),
        by_entry={key: e for key, e in found.items() if e},
        unscheduled=((change("root"), change("run-parts"), 4),),
    )
    findings = tuple(_changed(finding, change, ids) for finding in _findings())
    by_line = {verdict.entry.number: verdict.entry_id for verdict in verdicts}
    return Audit(
        at=AT,
        zone=BERLIN,
        files=(file,),
        book=book,
        findings=findings,
        not_judged=(NotJudged(code="C2Q405", reason=change("no run of it has a known status")),),
        verdicts=tuple(verdicts),
        load=_load(verdicts),
        chains=(Chain(first=by_line[11], then=by_line[12], gap_seconds=1800, broken_share=0.02),),
        summary=Summary(error=3, warning=8, note=3, suppressed=2, baseline=1, starts_per_day=2769.0),
    )


def without_evidence() -> Audit:
    """The same crontab, of which nothing was ever measured."""
    audit = shop()
    return replace(audit, book=EvidenceBook.empty("no log was given"), chains=(replace(audit.chains[0], broken_share=None),))


def nothing() -> Audit:
    """No file, no finding, no entry."""
    summary = Summary(error=0, warning=0, note=0, suppressed=0)
    return Audit(
        at=AT,
        zone=BERLIN,
        files=(),
        book=EvidenceBook.empty("no log was given"),
        findings=(),
        not_judged=(),
        verdicts=(),
        load=None,
        chains=(),
        summary=summary,
    )


def two_hosts() -> Audit:
    """Files of two hosts whose names end alike."""
    one, two = shop(path="web1/etc/crontab"), shop(path="web2/etc/crontab")
    return replace(
        one,
        files=(one.files[0], two.files[0]),
        findings=tuple(
            replace(f, place=replace(f.place, path=f"web{1 + i % 2}/etc/crontab")) for i, f in enumerate(one.findings)
        ),
    )


def loaded() -> Audit:
    """The shop without the bad line: cron reads the file."""
    audit = shop()
    file = replace(audit.files[0], lines=audit.files[0].lines[:-1], loaded=True, why=None)
    return replace(audit, files=(file,), findings=audit.findings[1:], summary=replace(audit.summary, error=2))
