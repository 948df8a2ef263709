"""How fast schedules are evaluated and crontabs are read, against croniter and cronsim in the same run.

    python benchmarks/schedules.py [--rounds 3] [--fleet 2000]

Each figure is the median of interleaved rounds. The peers step through a tenth of the year and are scaled up.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from cron2queue.cli.sources import read
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.overlap import Period, run_overlap, start_overlap
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar

BERLIN = ZoneInfo("Europe/Berlin")
YEAR = (datetime(2026, 1, 1, tzinfo=BERLIN), datetime(2027, 1, 1, tzinfo=BERLIN))
EXPRESSION = "*/5 * * * *"
PER_YEAR = 105_120
TENTH = PER_YEAR // 10


def schedule(expression: str) -> Calendar:
    file = parse(f"{expression} x\n".encode(), path="x", dialect=dialect_named("debian"), kind=Kind.USER)
    found = file.entries[0].schedule
    assert isinstance(found, Calendar)
    return found


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def medians(rounds: int, actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            taken[name].append(timed(action))
    return {name: statistics.median(each) for name, each in taken.items()}


def peer_croniter() -> None:
    every = croniter(EXPRESSION, YEAR[0])
    for _ in range(TENTH):
        every.get_next(datetime)


def peer_cronsim() -> None:
    every = CronSim(EXPRESSION, YEAR[0])
    for _ in range(TENTH):
        next(every)


def random_schedules(count: int) -> list[Calendar]:
    chance = random.Random(1)

    def field(low: int, high: int) -> str:
        value, other = chance.randint(low, high), chance.randint(low, high)
        span = f"{min(value, other)}-{max(value, other)}"
        return chance.choice(["*", str(value), f"*/{chance.randint(2, 12)}", span, f"{value},{other}"])

    return [schedule(f"{field(0, 59)} {field(0, 23)} {field(1, 31)} {field(1, 12)} {field(0, 6)}") for _ in range(count)]


def fires(rounds: int) -> None:
    ours = schedule(EXPRESSION)
    found = medians(
        rounds,
        {
            "times": lambda: list(ours.times_between(*YEAR, BERLIN)),
            "fires": lambda: deque(ours.fires_between(*YEAR, BERLIN), maxlen=0),
            "minutes": lambda: ours.minutes_between(datetime(2026, 1, 1), datetime(2027, 1, 1)),
            "croniter": peer_croniter,
            "cronsim": peer_cronsim,
        },
    )
    print(
        f"all {PER_YEAR} fires of {EXPRESSION} in 2026, Europe/Berlin: their times, with the minutes they stand for, as minutes"
    )
    for peer, goals in (("croniter", (100, 100, 1000)), ("cronsim", (25, 25, 200))):
        whole = found[peer] * 10
        for what, goal in zip(("times", "fires", "minutes"), goals, strict=True):
            took, times = found[what], whole / found[what]
            print(f"  {what:8} {took * 1000:8.2f} ms   {peer} {whole:7.2f} s   {times:7.0f} times (goal {goal})")


def overlaps(rounds: int) -> None:
    all_of_them = random_schedules(1000)
    minutes = random.Random(2).choices([1, 2, 5, 20, 90, 300], k=len(all_of_them))
    period = Period(first=date(2026, 1, 1), days=365, zone=BERLIN)
    found = medians(
        rounds,
        {"starts": lambda: start_overlap(all_of_them, period), "durations": lambda: run_overlap(all_of_them, minutes, period)},
    )
    print("each pair of 1,000 schedules over a year, clock changes included")
    print(f"  starts {found['starts']:.2f} s (goal 0.5)   with durations {found['durations']:.2f} s (goal 2)")


def reading(rounds: int) -> None:
    command = "www-data /usr/bin/php /srv/console job"
    lines = [f"{n % 60} */{n % 23 + 1} * * 1-5 {command}:{n} >> /var/log/x 2>&1\n" for n in range(30_000)]
    data = "".join(lines).encode()
    known = [dialect_named(name) for name in ("debian", "cronie", "busybox", "systemd-cron")]
    found = medians(rounds, {each.name: partial(parse, data, path="x", dialect=each, kind=Kind.SYSTEM) for each in known})
    print(
        "reading, microseconds a line: " + "   ".join(f"{name} {took / len(lines) * 1e6:.0f}" for name, took in found.items())
    )


def fleet(count: int) -> None:
    chance = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        for host in range(count):
            body = "".join(f"{chance.randint(0, 59)} {chance.randint(0, 23)} * * * root job{n}\n" for n in range(30))
            (Path(folder) / f"host{host}").write_text(body, encoding="ascii")
        taken = timed(lambda: read([folder]))
    print(f"a fleet: {count} crontabs of 30 entries read in {taken:.1f} s, {count * 30 / taken:.0f} entries a second")


def command(rounds: int) -> None:
    body = b"*/5 * * * * root /usr/bin/true\n" * 30
    shown = [sys.executable, "-m", "cron2queue", "show", "-", "--format", "json"]
    bare = [sys.executable, "-c", "import typer, rich"]
    found = medians(
        rounds,
        {
            "show": lambda: subprocess.run(shown, input=body, capture_output=True, check=True),
            "bare": lambda: subprocess.run(bare, check=True),
        },
    )
    times = found["show"] / found["bare"]
    print(f"show of 30 lines, whole process: {found['show']:.2f} s, {times:.1f} times `import typer, rich`")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fleet", type=int, default=2000)
    options = parser.parse_args()
    print(f"{sys.version.split()[0]}, {datetime.now(UTC):%Y-%m-%d}")
    fires(options.rounds)
    overlaps(options.rounds)
    reading(options.rounds)
    fleet(options.fleet)
    command(options.rounds)


if __name__ == "__main__":
    main()
