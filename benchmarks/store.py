"""Claim and settle against the bare loop of the same database: same batch, same durability, interleaved, in one run.

    python benchmarks/store.py [DATABASE ...] [--jobs N] [--batch N] [--rounds N]

The bare loop is what a person would write by hand on the driver: claim a batch with what a handler needs (id and payload),
settle it together with the next claim, as ours does. It keeps no history, no fence, no limits, and has no handler to call.
Printed are medians and their ratio.
"""

import argparse
import secrets
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database

from cron2queue.runtime.jobs import AttemptRecord, Done, NewJob, Settlement

KINDS = ("mail",)
KEPT = AttemptRecord(run_seconds=0.001, outcome_name="done")


def fill(database: Database, jobs: int) -> None:
    database.empty()
    store = database.store()
    for start in range(0, jobs, 2000):
        store.enqueue_many([NewJob(kind="mail", payload={"n": number}) for number in range(start, min(jobs, start + 2000))])


def ours(database: Database, batch: int) -> float:
    store = database.store()
    store.controls()
    began, ends = time.perf_counter(), []
    while True:
        _, jobs = store.settle_and_claim(ends, "default", kinds=KINDS, limit=batch, worker="w")
        if not jobs:
            break
        ends = [Settlement(job=job, outcome=Done(), record=KEPT) for job in jobs]
    return time.perf_counter() - began


class Bare:
    """The loop by hand: the same table, the fastest statements that each database has."""

    def __init__(self, database: Database, batch: int) -> None:
        self.name, self.batch = database.name, batch
        self.raw: Any = database.connect()
        self.cursor = self.raw.cursor()
        self.mark = "?" if self.name == "sqlite" else "%s"

    def begin(self) -> None:
        if self.name in ("sqlite", "postgresql"):
            self.cursor.execute("BEGIN IMMEDIATE" if self.name == "sqlite" else "BEGIN")

    def commit(self) -> None:
        if self.name in ("sqlite", "postgresql"):
            self.cursor.execute("COMMIT")
        else:
            self.raw.commit()

    def settle(self, ids: list[int]) -> None:
        if ids:
            some = ", ".join([self.mark] * len(ids))
            self.cursor.execute(f"UPDATE c2q_jobs SET state = 'succeeded', finished_at = 1 WHERE id IN ({some})", ids)

    def claim(self) -> list[int]:
        where = f"queue = 'default' AND state = 'ready' ORDER BY priority, id LIMIT {self.batch}"
        token = secrets.token_hex(12)
        change = f"state = 'running', lease = {self.mark}, attempts = attempts + 1"
        if self.name == "sqlite":
            inner = f"SELECT id FROM c2q_jobs WHERE {where}"
            self.cursor.execute(f"UPDATE c2q_jobs SET {change} WHERE id IN ({inner}) RETURNING id, payload", (token,))
            return [row[0] for row in self.cursor.fetchall()]
        if self.name == "postgresql":
            picked = f"WITH p AS MATERIALIZED (SELECT id FROM c2q_jobs WHERE {where} FOR UPDATE SKIP LOCKED)"
            change = change.replace("attempts +", "j.attempts +")
            update = f"UPDATE c2q_jobs j SET {change} FROM p WHERE j.id = p.id RETURNING j.id, j.payload"
            self.cursor.execute(f"{picked} {update}", (token,))
            return [row[0] for row in self.cursor.fetchall()]
        self.cursor.execute(f"SELECT id, payload FROM c2q_jobs WHERE {where} FOR UPDATE SKIP LOCKED")
        ids = [row[0] for row in self.cursor.fetchall()]
        if ids:
            some = ", ".join([self.mark] * len(ids))
            self.cursor.execute(f"UPDATE c2q_jobs SET {change} WHERE id IN ({some})", (token, *ids))
        return ids

    def run(self) -> float:
        began, ids = time.perf_counter(), []
        while True:
            self.begin()
            self.settle(ids)
            ids = self.claim()
            self.commit()
            if not ids:
                break
        return time.perf_counter() - began


def bare(database: Database, batch: int) -> float:
    loop = Bare(database, batch)
    lasted = loop.run()
    loop.raw.close()
    return lasted


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("databases", nargs="*", default=list(NAMES), metavar="DATABASE")
    options.add_argument("--jobs", type=int, default=4000)
    options.add_argument("--batch", type=int, default=50)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    print(f"{'database':<12}{'bare jobs/s':>14}{'ours jobs/s':>14}{'share':>8}   batch {asked.batch}")
    for name in asked.databases:
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        database = open_database(name, Path(folder.name))
        rates: dict[str, list[float]] = {"bare": [], "ours": []}
        for _ in range(asked.rounds):
            for label, run in (("bare", bare), ("ours", ours)):
                fill(database, asked.jobs)
                rates[label].append(asked.jobs / run(database, asked.batch))
        by_hand, own = (statistics.median(rates[label]) for label in ("bare", "ours"))
        print(f"{name:<12}{by_hand:>14,.0f}{own:>14,.0f}{own / by_hand:>8.2f}", flush=True)
        database.empty()
        database.close()
        folder.cleanup()


if __name__ == "__main__":
    main()
