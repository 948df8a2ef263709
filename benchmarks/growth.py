"""Claims beside many rows that are not runnable, and under an old open snapshot (as of a backup).

    python benchmarks/growth.py [DATABASE ...] [--rows N] [--claims N]

`beside`: N finished, N ready and N/10 scheduled rows in the same queue, against 10,000 ready ones alone; p50 and p99.
`snapshot`: 20,000 jobs consumed while a transaction that read before stays open; the first against the last claims.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database

from cron2queue.runtime.jobs import Done, NewJob, Settlement

_RANDOM = {"sqlite": "lower(hex(randomblob(16)))", "postgresql": "md5(random()::text || id::text)"}
_COPIED = (
    "queue, kind, payload, state, priority, run_at, due_at, attempts, max_attempts, crashes, runs, created_at, ready_at, "
    "finished_at"
)


def ready(database: Database, count: int) -> None:
    store = database.store()
    for _ in range(0, count, 2000):
        store.enqueue_many([NewJob(kind="mail") for _ in range(min(2000, count))])


def double(database: Database, condition: str, rows: int) -> None:
    public_id = _RANDOM.get(database.name, "LEFT(SHA2(CONCAT(NOW(6), RAND(), id), 256), 32)")
    insert = (
        f"INSERT INTO {{jobs}} (public_id, {_COPIED}) SELECT {public_id}, {_COPIED} FROM {{jobs}} WHERE {condition} LIMIT ?"
    )
    have = int(database.value(f"SELECT COUNT(*) FROM {{jobs}} WHERE {condition}"))
    while have < rows:
        have += database.change(insert, (min(have, rows - have, 50_000),))


def crowd(database: Database, rows: int) -> None:
    ready(database, 2000)
    database.change("UPDATE {jobs} SET state = 'succeeded', finished_at = 1, ready_at = NULL")
    double(database, "state = 'succeeded'", rows)
    ready(database, 2000)
    database.change("UPDATE {jobs} SET state = 'scheduled', due_at = 9000000000000000 WHERE state = 'ready'")
    double(database, "state = 'scheduled'", rows // 10)
    ready(database, 10_000)
    double(database, "state = 'ready'", rows)


def claims(database: Database, count: int) -> list[float]:
    store = database.store()
    store.controls()
    lasted, ends = [], []
    for _ in range(count):
        began = time.perf_counter()
        jobs = store.claim("default", kinds=("mail",), limit=10, worker="w")
        lasted.append((time.perf_counter() - began) * 1000)
        ends = [Settlement(job=job, outcome=Done()) for job in jobs]
        store.settle(ends)
    return lasted


def p99(lasted: list[float]) -> float:
    return sorted(lasted)[int(len(lasted) * 0.99)]


def told(lasted: list[float]) -> str:
    return f"p50 {statistics.median(lasted):7.2f} ms  p99 {p99(lasted):7.2f} ms"


def emptied(database: Database) -> None:
    """Two million rows are not deleted one by one within any time-out."""
    delete = "DELETE FROM" if database.name == "sqlite" else "TRUNCATE TABLE"
    for table in ("{jobs}", "{attempts}"):
        database.change(f"{delete} {table}")


def fresh(name: str, folder: str, count: int = 10_000) -> Database:
    database = open_database(name, Path(folder))
    ready(database, count)
    return database


def beside(name: str, folder: str, asked: argparse.Namespace) -> None:
    database = fresh(name, folder)
    small = claims(database, asked.claims)
    emptied(database)
    crowd(database, asked.rows)
    large = claims(database, asked.claims)
    ratios = f"{statistics.median(large) / statistics.median(small):.2f} and {p99(large) / p99(small):.2f}"
    print(f"{name:<11} alone   {told(small)}\n{name:<11} beside  {told(large)}   ratios {ratios}", flush=True)
    emptied(database)
    database.close()


def snapshot(name: str, folder: str, asked: argparse.Namespace) -> None:
    database = fresh(name, folder, 22_000)
    raw: Any = database.connect()
    cursor = raw.cursor()
    if name in ("mysql", "mariadb"):
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ" if name == "postgresql" else "BEGIN")
    cursor.execute("SELECT COUNT(*) FROM c2q_jobs")
    cursor.fetchall()
    lasted = claims(database, 2000)
    tenth = len(lasted) // 10
    first, last = statistics.median(lasted[:tenth]), statistics.median(lasted[-tenth:])
    print(f"{name:<11} under an old snapshot: first {first:.2f} ms, last {last:.2f} ms, ratio {last / first:.2f}", flush=True)
    raw.rollback()
    raw.close()
    emptied(database)
    database.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("databases", nargs="*", default=list(NAMES), metavar="DATABASE")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--claims", type=int, default=300)
    asked = options.parse_args()
    for name in asked.databases:
        for measure in (snapshot, beside):
            with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                measure(name, folder, asked)


if __name__ == "__main__":
    main()
