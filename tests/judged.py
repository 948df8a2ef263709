"""One way to judge a text in tests."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from cron2queue.analyser.audit import Audit, audit
from cron2queue.analyser.finding import Finding
from cron2queue.analyser.load import DAYS_AHEAD
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.text import to_bytes

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")


def crontab(text: str | bytes, *, path: str = "/etc/crontab", dialect: str = "debian", kind: str = "system") -> CrontabFile:
    data = text if isinstance(text, bytes) else to_bytes(text)
    return parse(data, path=path, dialect=dialect_named(dialect), kind=Kind(kind))


def judged(*texts: str | bytes | CrontabFile, book: EvidenceBook | None = None, **options: Any) -> Audit:
    files = [text if isinstance(text, CrontabFile) else crontab(text) for text in texts]
    options = {"at": AT, "zone": ZONE, **options}
    return audit(files, book or EvidenceBook.empty("no log was given"), **options)


def most_starts(text: str, dialect: str = "debian") -> int:
    """The most starts in one minute over the days ahead, from the fires themselves."""
    first = datetime(2026, 12, 1, tzinfo=ZONE)
    starts: Counter[datetime] = Counter()
    for entry in crontab(text, dialect=dialect).entries:
        fires = entry.schedule.fires_between(first, first + timedelta(days=DAYS_AHEAD), ZONE)
        starts.update(fire.at for fire in fires)
    return max(starts.values(), default=0)


def standing(result: Audit, code: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.code == code and finding.suppressed is None]
