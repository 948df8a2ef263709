"""How fast logs are read, against grep and zcat on the same file, and in how much memory.

    python benchmarks/logs.py [--megabytes 200] [--rounds 3]

Each figure is the median of interleaved rounds; each look is a process of its own, so that its peak memory is known.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

JOBS = tuple(f"/usr/bin/php /var/www/app{number}/bin/console app:job-{number} --quiet" for number in range(30))
LOOK = """
import resource, sys, time
from datetime import UTC, datetime
from pathlib import Path
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.gathering import gather
table = "".join(f"*/5 * * * * www-data {job}\\n" for job in JOBS)
file = parse(table.encode(), path="/etc/crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
began = time.perf_counter()
book = gather([Path(sys.argv[1])], journal=None, observations=None, files=[file], zone=UTC, at=datetime(2027, 1, 1, tzinfo=UTC))
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, book.runs)
"""


def write_log(path: Path, *, megabytes: int, share: float) -> None:
    """A syslog of which this share of the seconds holds a job's start and end."""
    chance = random.Random(1)
    at, size, pid = datetime(2026, 1, 1, tzinfo=UTC), 0, 1000
    with path.open("w", encoding="ascii") as log:
        while size < megabytes * 1_000_000:
            at += timedelta(seconds=1)
            stamp = f"{at:%b} {at.day:2} {at:%H:%M:%S} web1"
            line = f"{stamp} kernel: [{size}.1] something that is of no interest here, number {chance.random()}\n"
            if chance.random() < share:
                pid, job = pid + 3, chance.choice(JOBS)
                line = f"{stamp} CRON[{pid}]: (www-data) CMD ([{pid + 1}] {job})\n"
                line += f"{stamp} CRON[{pid}]: (www-data) END ([{pid + 1}] {job})\n"
            size += log.write(line)


def look(path: Path) -> tuple[float, float, int]:
    """Seconds, megabytes and runs of one look, in a process of its own."""
    script = f"JOBS = {JOBS!r}\n{LOOK}"
    ran = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    seconds, memory, runs = ran.stdout.split()
    return float(seconds), float(memory), int(runs)


def timed(*words: str) -> float:
    """Seconds of a pipeline or program whose output goes to a pipe."""
    began = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", " ".join(words)], stdout=subprocess.PIPE, check=False)
    return time.perf_counter() - began


def compare(title: str, path: Path, peer: str, rounds: int) -> None:
    """One line: both rates, their ratio, and the peak memory."""
    ours, theirs, memory, runs = [], [], 0.0, 0
    for _ in range(rounds):
        theirs.append(timed(peer))
        seconds, peak, runs = look(path)
        ours.append(seconds)
        memory = max(memory, peak)
    mine, other = statistics.median(ours), statistics.median(theirs)
    size = path.stat().st_size / 1e6
    rates = f"{size / mine:8.0f} MB/s   peer {size / other:8.0f} MB/s   ratio {other / mine:5.2f}"
    print(f"{title:34} {rates}   {memory:4.0f} MB   {runs} runs", flush=True)


def overhead(rounds: int) -> None:
    """What observing one command costs: the recorder around true, against true alone and against a bare Python."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "o.db"
        recorder = f"{sys.executable} -m cron2queue.evidence.recorder --observations={database} -- true"
        for title, command in (("true", "true"), ("python -c pass", f"{sys.executable} -c pass"), ("observed true", recorder)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = statistics.median(timed(command) for _ in range(rounds * 7))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / (rounds * 7)
            print(f"{title:34} {seconds * 1000:6.1f} ms   {cpu * 1000:6.1f} ms CPU")


def main() -> None:
    """Write the logs, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for share in (0.001, 0.01, 0.05, 1.0):
            path = Path(folder) / "syslog"
            write_log(path, megabytes=given.megabytes, share=share)
            compare(f"plain, jobs in {share:.1%} of seconds", path, f"grep -c CRON {path}", given.rounds)
            if share == 0.01:
                packed = Path(folder) / "syslog.gz"
                subprocess.run(["gzip", "-k", str(path)], check=True)
                compare("gz", packed, f"zcat {packed} | wc -l", given.rounds)
    overhead(given.rounds)


if __name__ == "__main__":
    main()
