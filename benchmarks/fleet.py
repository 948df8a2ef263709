"""How long the audit of a fleet takes, and in how much memory: 10,000 crontab files with 300,000 entries.

    python benchmarks/fleet.py [--files 10000] [--format terminal] [--profile]

Seconds are of processor time, of the process and its helpers; memory is the peak of one process. Every fourth file is a
host's crontab, the others lie in its cron.d and its spool; about half of the commands stand on one host alone.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ENTRIES = 30
SECONDS, MEGABYTES = 60, 500
PLACES = ("etc/crontab", "etc/cron.d/{app}", "etc/cron.d/{app}-backup", "var/spool/cron/crontabs/deploy")
SCHEDULES = (
    "*/5 * * * *", "* * * * *", "{m} * * * *", "{m} {h} * * *", "{m} {h} * * 0", "{m} {h} 1 * *", "*/{s} * * * *",
    "{m} */{s} * * *", "{m} {h} * * 1-5", "@daily", "{m},{n} * * * *", "0 {h}-23 * * *",
)  # fmt: skip
COMMANDS = (
    "cd /srv/{app} && /usr/bin/php bin/console app:{job} >> /var/log/{app}/{job}.log 2>&1",
    "/usr/bin/php /srv/{app}/bin/{job}.php --shop={number}",
    "/usr/bin/flock -n /run/lock/{app}-{job}.lock /srv/{app}/bin/{job} --quiet",
    "/usr/bin/flock -n /tmp/{app}.lock timeout 300 /usr/bin/php /srv/{app}/artisan {job}:run > /dev/null 2>&1",
    "test -x /usr/local/bin/{job} && /usr/local/bin/{job} --host web{number} | logger -t {job}",
    "mysqldump --defaults-file=/root/.my.cnf {app} | gzip > /srv/backup/{app}-{number}.sql.gz",
    "mysqldump -u{app} -pGeheim{number} {app} > /srv/backup/{app}.sql",
    "find /srv/{app}/tmp -type f -mtime +{small} -delete",
    "curl -fsS 'https://{app}.example/cron.php?key=8f3b2c9d1e{number}' > /dev/null",
    "sleep {small}; /srv/{app}/bin/{job}.sh",
    "rsync -a /srv/{app}/media/ backup{small}:/srv/{app}/media/",
    "/usr/bin/python3 /opt/{app}/{job}.py --since yesterday 2>&1 | mail -s '{job} of {app}' ops@{app}.example",
    "/srv/{app}/bin/{job} &",
    "pg_dump {app} > /srv/backup/{app}-$(date +%F).sql",
    "/opt/{app}/venv/bin/python -m {app}.{job} --tenant {number}",
)
JOBS = (
    "import-orders", "sync-stock", "send-mails", "export-feed", "update-prices", "check-payments", "clean-carts", "reindex",
    "report", "rotate-images", "warm-cache", "queue-work", "expire-sessions", "fetch-rates", "push-metrics", "renew-tokens",
)  # fmt: skip


def entry(chance: random.Random, app: str) -> tuple[str, str]:
    """A schedule and a command."""
    schedule = chance.choice(SCHEDULES).format(
        m=chance.randrange(60), n=chance.randrange(60), h=chance.randrange(24), s=chance.choice((2, 3, 7, 10, 15))
    )
    number = chance.randrange(1_000_000) if chance.random() < 0.6 else 1
    command = chance.choice(COMMANDS)
    return schedule, command.format(app=app, job=chance.choice(JOBS), number=number, small=chance.randrange(1, 40))


def write_fleet(folder: Path, files: int) -> list[str]:
    """Hosts of four files each, of thirty entries each, among comments and settings as people write them; their paths."""
    chance, paths = random.Random(1), []
    for number in range(files):
        place = PLACES[number % len(PLACES)]
        app = f"shop{chance.randrange(200)}"
        user = "" if "spool" in place else "www-data "
        lines = ["SHELL=/bin/sh", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "MAILTO=ops@example.com", ""]
        for place_in_file in range(ENTRIES):
            schedule, command = entry(chance, app)
            lines += [f"# {app}: since 2019, ask ops"] if place_in_file % 5 == 0 else []
            lines.append(f"{schedule} {user}{command.replace('%', chr(92) + '%')}")
        path = folder / f"host{number // len(PLACES)}" / place.format(app=app)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        paths.append(str(path))
    return paths


def measure(command: list[str]) -> tuple[float, float, float]:
    """Seconds of processor time, seconds that passed, and megabytes of one run."""
    began = time.perf_counter()
    ran = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    if ran.returncode:
        sys.exit(f"{command} ended with {ran.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024


def main() -> None:
    """Write the fleet, audit it, and say how that stands to the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--format", action="append")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    given = parser.parse_args()
    print(f"{sys.version.split()[0]}, {datetime.now(UTC):%Y-%m-%d}")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_fleet(Path(folder), given.files)
        for format in given.format or ["terminal", "concise", "json"]:
            profiled = ["-m", "cProfile", "-s", "tottime"] if given.profile else []
            words = [
                "-m",
                "cron2queue",
                "audit",
                *paths,
                "--format",
                format,
                "--fail-on",
                "never",
                "--at",
                "2026-11-29T06:00Z",
                "--timezone",
                "UTC",
            ]
            command = [sys.executable, *profiled, *words]
            if given.profile:
                subprocess.run(command, check=False)
                continue
            used, passed, memory = measure(command)
            entries = given.files * ENTRIES
            print(
                f"audit of {given.files:,} files, {entries:,} entries, {format:8} {used:7.1f} s of processor time, "
                f"{passed:.1f} s in all (goal {SECONDS}), {memory:,.0f} MB (goal {MEGABYTES})",
                flush=True,
            )


if __name__ == "__main__":
    main()
