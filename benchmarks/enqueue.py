"""Producers: one job a commit, in bulk, and the whole process that cron starts, against the bare driver.

    python benchmarks/enqueue.py [DATABASE ...] [--jobs N] [--rounds N]

Bare is one INSERT by hand into the same table, which commits by itself; the bare process is a script that does it once.
"""

import argparse
import resource
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database

from cron2queue.runtime.jobs import NewJob

_COLUMNS = (
    "public_id, queue, kind, payload, state, priority, run_at, attempts, max_attempts, crashes, runs, created_at, ready_at"
)
_REST = "'default', 'mail', 'null', 'ready', 100, 1, 0, 8, 0, 0, 1, 1"
_SCRIPTS = {
    "sqlite": (
        "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\nc.execute('PRAGMA synchronous=FULL')\n"
    ),
    "mysql": "import pymysql, sys, ast\nc = pymysql.connect(**ast.literal_eval(sys.argv[1]), autocommit=True).cursor()\n",
    "postgresql": "import psycopg, sys, ast\nc = psycopg.connect(**ast.literal_eval(sys.argv[1]), autocommit=True)\n",
}


def bare_singles(database: Database, count: int) -> float:
    raw: Any = database.connect()
    cursor = raw.cursor()
    mark = "?" if database.name == "sqlite" else "%s"
    statement = f"INSERT INTO c2q_jobs ({_COLUMNS}) VALUES ({mark}, {_REST})"
    if database.name in ("mysql", "mariadb"):
        raw.autocommit(True)
    began = time.perf_counter()
    for _ in range(count):
        cursor.execute(statement, (secrets.token_hex(16),))
    lasted = time.perf_counter() - began
    raw.close()
    return lasted


def our_singles(database: Database, count: int, *, keyed: bool = False) -> float:
    store = database.store()
    store.controls()
    began = time.perf_counter()
    for number in range(count):
        store.enqueue(NewJob(kind="mail", key=f"{began}/{number}" if keyed else None))
    return time.perf_counter() - began


def our_bulk(database: Database, count: int) -> float:
    store = database.store()
    store.controls()
    began = time.perf_counter()
    for start in range(0, count, 1000):
        store.enqueue_many([NewJob(kind="mail", payload={"n": number}) for number in range(start, start + 1000)])
    return time.perf_counter() - began


def process_cost(arguments: list[str], rounds: int) -> tuple[float, float]:
    """Median CPU and wall seconds of a whole process."""
    cpu, wall = [], []
    for _ in range(rounds):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
        wall.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(cpu), statistics.median(wall)


def bare_process(database: Database, folder: Path) -> list[str]:
    address = database.address
    target = address.database
    if address.family == "mysql":
        known = {"host": address.host, "port": address.port or 3306, "user": address.user, "database": address.database}
        target = repr(known | dict(address.options))
    elif address.family == "postgresql":
        target = repr({"host": address.host, "port": address.port, "user": address.user, "dbname": address.database})
    random = "import secrets\n"
    statement = f"c.execute(f\"INSERT INTO c2q_jobs ({_COLUMNS}) VALUES ('{{secrets.token_hex(16)}}', {_REST})\")\n"
    script = folder / "bare.py"
    script.write_text(random + _SCRIPTS[address.family] + statement)
    return [sys.executable, str(script), target]


def line(name: str, what: str, bare: float, own: float, unit: str) -> None:
    print(f"{name:<12}{what:<26}{bare:>12,.1f}{own:>12,.1f} {unit:<8}{own / bare:>6.2f}", flush=True)


def measure(database: Database, asked: argparse.Namespace, folder: Path) -> None:
    rates: dict[str, list[float]] = {"bare": [], "plain": [], "keyed": [], "bulk": []}
    for _ in range(asked.rounds):
        database.empty()
        rates["bare"].append(asked.jobs / bare_singles(database, asked.jobs))
        rates["plain"].append(asked.jobs / our_singles(database, asked.jobs))
        rates["keyed"].append(asked.jobs / our_singles(database, asked.jobs, keyed=True))
        rates["bulk"].append(10_000 / our_bulk(database, 10_000))
    middle = {name: statistics.median(found) for name, found in rates.items()}
    line(database.name, "one by one", middle["bare"], middle["plain"], "jobs/s")
    line(database.name, "one by one, with a key", middle["bare"], middle["keyed"], "jobs/s")
    line(database.name, "in bulks of 1,000", middle["bare"], middle["bulk"], "jobs/s")
    ours = [sys.executable, "-m", "cron2queue.runtime", "enqueue", "--kind", "mail", "--database", database.url, "-q"]
    for what, bare, own in zip(
        ("process, CPU", "process, wall"),
        process_cost(bare_process(database, folder), 15),
        process_cost(ours, 15),
        strict=True,
    ):
        line(database.name, what, bare * 1000, own * 1000, "ms")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("databases", nargs="*", default=list(NAMES), metavar="DATABASE")
    options.add_argument("--jobs", type=int, default=300)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    print(f"{'database':<12}{'what':<26}{'bare':>12}{'ours':>12} {'':<8}{'ratio':>6}")
    for name in asked.databases:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            database = open_database(name, Path(folder))
            measure(database, asked, Path(folder))
            database.empty()
            database.close()


if __name__ == "__main__":
    main()
