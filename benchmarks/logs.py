"""How fast logs are read, against grep and zcat on the same file, and in how much memory.

    python benchmarks/logs.py [--megabytes 400] [--rounds 3]

Each figure is the median of interleaved rounds; each look is a process of its own, so that its peak memory is known. CPU is
that of all processes of a look (or of the peer): on a machine that has other work, compare that.
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
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from cron2queue.evidence.helping import helpers

JOBS = tuple(f"/usr/bin/php /var/www/app{number}/bin/console app:job-{number} --quiet" for number in range(30))
NOISE = (
    "kernel: [{0}.123456] eth0: link becomes ready, queue length 1000, carrier on",
    "systemd[1]: Started session {0} of user deploy in the slice user.slice.",
    "sshd[{0}]: Accepted publickey for deploy from 10.0.0.7 port 51234 ssh2: RSA SHA256:abcdefgh",
    'nginx[812]: 10.1.2.3 - - "GET /api/orders/{0} HTTP/1.1" 200 512 "-" "curl/8.1"',
)
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
began, used = time.perf_counter(), time.process_time()
book = gather([Path(sys.argv[1])], journal=None, observations=None, files=[file], zone=UTC, at=datetime(2027, 1, 1, tzinfo=UTC))
seconds, used = time.perf_counter() - began, time.process_time() - used
own, helpers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(seconds, used + helpers.ru_utime + helpers.ru_stime, own.ru_maxrss / 1024, helpers.ru_maxrss / 1024, book.runs)
"""


class Took(NamedTuple):
    """What one round took: seconds, seconds of CPU, and the megabytes of all its processes, at most."""

    seconds: float
    cpu: float
    megabytes: float = 0.0
    runs: int = 0


def write_log(path: Path, *, megabytes: int, noise: int) -> None:
    """A syslog of herds that start each minute, with ends, statuses and PAM sessions; `noise` other lines beside each line."""
    chance = random.Random(1)
    minute, size, pid = datetime(2026, 1, 1, tzinfo=UTC), 0, 1000
    with path.open("w", encoding="ascii") as log:
        while size < megabytes * 1_000_000:
            minute += timedelta(minutes=1)
            herd: list[tuple[int, str]] = []
            for job in chance.sample(JOBS, chance.randint(1, 8)):
                pid = pid + 3 if pid < 4_000_000 else 1000
                said = f"CRON[{pid}]: (www-data) {{}} ([{pid + 1}] {job})"
                session = f"CRON[{pid}]: pam_unix(cron:session): session {{}} for user www-data"
                end = min(59, 1 + int(chance.expovariate(1 / 8)))
                herd += [(1, session.format("opened") + "(uid=33) by (uid=0)"), (1, said.format("CMD"))]
                herd += [(end, said.format("END")), (end, session.format("closed"))]
            for _ in range(len(herd) * noise):
                herd.append((chance.randrange(60), chance.choice(NOISE).format(chance.randrange(99_999))))
            herd.sort(key=itemgetter(0))
            head = f"{minute:%b} {minute.day:2} {minute:%H:%M}"
            size += log.write("".join(f"{head}:{second:02} web1 {text}\n" for second, text in herd))


def look(path: Path) -> Took:
    """One look, in a process of its own."""
    script = f"JOBS = {JOBS!r}\n{LOOK}"
    ran = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    seconds, cpu, memory, helper, runs = ran.stdout.split()
    return Took(float(seconds), float(cpu), float(memory) + helpers() * float(helper), int(runs))


def timed(command: str) -> Took:
    """A pipeline or program whose output goes to a pipe."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, check=False)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def compare(title: str, path: Path, peer: str, goal: float, rounds: int) -> None:
    """One row: both rates, their ratio and its goal, CPU, and the peak memory."""
    theirs, ours = zip(*((timed(peer), look(path)) for _ in range(rounds)), strict=True)
    mine, other = (statistics.median(each.seconds for each in all_of) for all_of in (ours, theirs))
    my_cpu, other_cpu = (statistics.median(each.cpu for each in all_of) for all_of in (ours, theirs))
    size, ratio = path.stat().st_size / 1e6, other / mine
    rates = f"{size / mine:8.0f} {size / other:8.0f} {ratio:7.2f} {goal:5.2f} {'yes' if ratio >= goal else 'no':>4}"
    memory = max(each.megabytes for each in ours)
    print(f"{title:26}{rates} {my_cpu:8.2f} {other_cpu:8.2f} {memory:6.0f} {ours[0].runs:9}", flush=True)


def overhead(rounds: int) -> None:
    """What observing one command costs: the recorder around true, against true alone and against a bare Python."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "o.db"
        recorder = f"{sys.executable} -m cron2queue.evidence.recorder --observations={database} -- true"
        for title, command in (("true", "true"), ("python -c pass", f"{sys.executable} -c pass"), ("observed true", recorder)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = statistics.median(timed(command).seconds for _ in range(rounds * 7))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / (rounds * 7)
            print(f"{title:34} {seconds * 1000:6.1f} ms   {cpu * 1000:6.1f} ms CPU")


def main() -> None:
    """Write the logs, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'':26}{'MB/s':>8} {'peer':>8} {'ratio':>7} {'goal':>5} {'met':>4} {'CPU s':>8} {'peer':>8} {'MB':>6} {'runs':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for title, noise in (("every line is cron's", 0), ("1 line in 3", 2), ("1 line in 20", 19)):
            path = Path(folder) / "syslog"
            write_log(path, megabytes=given.megabytes, noise=noise)
            compare(title, path, f"grep -c CRON {path}", 0.25, given.rounds)
            packed = Path(folder) / "syslog.gz"
            with packed.open("wb") as target:
                subprocess.run(["gzip", "-c", str(path)], check=True, stdout=target)
            compare(f"{title}, gz", packed, f"zcat {packed} | wc -l", 0.7, given.rounds)
    overhead(given.rounds)


if __name__ == "__main__":
    main()
