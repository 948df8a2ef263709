"""Writes the logs of the invented shop: what Debian's cron with EXTRA_OPTS="-L 15" would have logged in one week.

Run in this folder: `python make_logs.py`. The same seed gives the same bytes, so a test compares them.
"""

import gzip
import io
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Entry, Kind
from cron2queue.crontab.parser import parse

HERE = Path(__file__).resolve().parent
ZONE = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 11, 23, tzinfo=ZONE)
DAYS = 7
UNTIL = FIRST + timedelta(days=DAYS - 1, hours=6)  # the newest file has only begun

Line = tuple[datetime, str]


def seconds(entry: Entry, at: datetime, chance: random.Random) -> float:
    """How long this run takes; rush hours, slow growth and a few bad nights included."""
    command = entry.command
    day = (at - FIRST).days
    rush = 17 <= at.hour < 22
    models = {
        "cron:run": lambda: chance.uniform(3, 20),
        "import-orders": lambda: chance.uniform(260, 420) if rush else chance.uniform(20, 120),
        "sync_stock": lambda: chance.uniform(90, 170),
        "send-mails": lambda: chance.uniform(4, 60) if chance.random() < 0.03 else chance.uniform(0.02, 0.2),
        "export-feed": lambda: chance.uniform(380, 560),
        "update_prices": lambda: chance.uniform(30, 60),
        "check_payments": lambda: chance.uniform(8, 14) + 4 * day,
        "clean_carts": lambda: chance.uniform(2, 5),
        "report.php": lambda: chance.uniform(700, 900),
        "warm_cache": lambda: 30 + chance.uniform(4, 25),
        "erp.example": lambda: chance.uniform(1, 3),
        "export-articles": lambda: chance.uniform(600, 1500),
        "import-stock": lambda: chance.uniform(300, 900),
        "mail-differences": lambda: chance.uniform(10, 30),
        "files.sh": lambda: chance.uniform(2600, 3000),
        "mysqldump": lambda: chance.uniform(0.1, 0.4),
        "rotate-images": lambda: chance.uniform(400, 720),
        "reindex": lambda: chance.uniform(1000, 1300),
        "certbot": lambda: chance.uniform(20, 60),
    }
    return next((model() for word, model in models.items() if word in command), chance.uniform(0.05, 0.4))


def status(entry: Entry, chance: random.Random) -> int:
    """With which exit status it ends; 0 is success."""
    odds = {"import-orders": (0.02, 75), "erp.example": (0.4, 22), "export-feed": (0.04, 1), "mysqldump": (1.0, 2)}
    for word, (share, code) in odds.items():
        if word in entry.command and chance.random() < share:
            return code
    return 0


def run_lines(entry: Entry, at: datetime, pid: int, chance: random.Random) -> Iterator[Line]:
    """The start, the failure if there is one, and the end, as Debian cron words them at level 15."""
    shown = entry.command.replace("\t", "^I")
    started = at + timedelta(seconds=1, microseconds=chance.randrange(1000, 400_000))
    ended = started + timedelta(seconds=seconds(entry, at, chance))
    code = status(entry, chance)
    yield started, f"CRON[{pid}]: ({entry.user}) CMD ([{pid + 1}] {shown})"
    if code:
        yield ended, f"CRON[{pid}]: (CRON) error (grandchild #{pid + 1} failed with exit status {code})"
    yield ended, f"CRON[{pid}]: ({entry.user}) END ([{pid + 1}] {shown})"


def week() -> list[Line]:
    """All lines of the week in the order of their time."""
    chance = random.Random(2016)
    crontab = parse((HERE / "crontab").read_bytes(), path="crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    starts = sorted(
        (
            (fire.at, entry.number, entry)
            for entry in crontab.entries
            for fire in entry.schedule.fires_between(FIRST, UNTIL, ZONE)
        ),
        key=lambda each: each[:2],
    )
    lines: list[Line] = []
    pid = 700
    for at, _, entry in starts:
        pid = pid + 3 if pid < 32_000 else 700
        lines += run_lines(entry, at, pid, chance)
    return sorted(line for line in lines if line[0] < UNTIL)


def files() -> dict[str, bytes]:
    """The rotated set: the newest day as plain text, the older ones compressed, one file a day."""
    days: dict[int, list[str]] = {}
    for at, text in week():
        days.setdefault((at - FIRST).days, []).append(f"{at.isoformat(timespec='microseconds')} web1 {text}\n")
    made: dict[str, bytes] = {}
    for day, lines in days.items():
        age = DAYS - 1 - day
        data = "".join(lines).encode()
        made["cron.log" if age == 0 else f"cron.log.{age}.gz"] = data if age == 0 else _gzip(data)
    return made


def _gzip(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as compressed:
        compressed.write(data)
    return buffer.getvalue()


if __name__ == "__main__":
    (HERE / "logs").mkdir(exist_ok=True)
    for name, data in files().items():
        (HERE / "logs" / name).write_bytes(data)
