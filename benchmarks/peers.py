"""Whole workers against the workers of other queues on the same machine, in turn in each round: jobs that do nothing.

    python benchmarks/peers.py --python PYTHON [RIVAL ...] [--jobs N] [--rounds N] [--workers N]

PYTHON is the interpreter of an environment of its own with what benchmarks/peers.txt names: no peer is ever installed beside
the product. Timed is from the first call of a handler to the last, and for ours from the first call to the last *end*. All
are durable: SQLite at synchronous=FULL, servers that flush at commit, RabbitMQ with a quorum queue, late ack and confirms.
Ours is told twice: ends committed in groups of at most a hundred (a kind declared short), and each end by itself (strict).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "rivals"))

from databases import administrator, open_database, server_url
from tally import LOOK, told
from worker import fill, ours

RIVAL_FOLDER = Path(__file__).resolve().parent / "rivals"
BROKER = os.environ.get("C2Q_BENCH_BROKER", "amqp://guest:guest@127.0.0.1:5672//")
GOALS = {  # by rival, database and whether strict: how many times as fast
    ("huey", "sqlite", False): 8.0,
    ("pgqueuer", "postgresql", False): 2.0,
    ("procrastinate", "postgresql", False): 40.0,
    ("celery", "mariadb", False): 4.5,
    ("celery", "mysql", False): 2.5,
    ("celery", "sqlite", True): 2.0,
    ("celery", "postgresql", True): 1.2,
    ("celery", "mariadb", True): 0.8,
}
RIVALS = tuple(dict.fromkeys(rival for rival, _, _ in GOALS))


@contextmanager
def address(rival: str) -> Iterator[dict[str, str]]:
    """Where the rival keeps its jobs; empty, and gone afterwards."""
    if rival == "celery":
        yield {"RIVAL_URL": BROKER, "RIVAL_QUEUE": f"rival{os.getpid()}_{time.monotonic_ns()}"}
    elif rival == "huey":
        yield {}
    else:
        label = f"c2q_rival_{os.getpid()}"
        with administrator("postgresql") as cursor:
            cursor.execute(f"CREATE DATABASE {label}")
        yield {"RIVAL_URL": server_url("postgresql").format(label).replace("+psycopg", "")}
        with administrator("postgresql") as cursor:
            cursor.execute(f"DROP DATABASE {label} WITH (FORCE)")


def theirs(rival: str, folder: Path, options: argparse.Namespace) -> float:
    """Jobs a second of the rival's workers."""
    with address(rival) as place:
        environment = {**os.environ, **place, "PYTHONPATH": str(RIVAL_FOLDER)}
        program = [options.python, "-c"]
        subprocess.run(
            [*program, f"import rival_{rival} as r; r.fill({options.jobs})"], cwd=folder, env=environment, check=True
        )
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [*program, f"import rival_{rival} as r; r.work()"]
        workers = [
            subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **quiet)
            for _ in range(options.workers)
        ]
        while told(folder)[0] < options.jobs:
            assert all(worker.poll() is None for worker in workers), f"a worker of {rival} has ended"
            time.sleep(LOOK)
        for worker in workers:
            os.killpg(worker.pid, 9)
            worker.wait()
    return options.jobs / told(folder)[1]


def own(name: str, strict: bool, folder: Path, options: argparse.Namespace) -> float:
    """Jobs a second of our workers."""
    asked = argparse.Namespace(single=False, strict=strict, children=1, workers=options.workers)
    database = open_database(name, folder)
    fill(database, options.jobs)
    rate = options.jobs / ours(database, folder, asked)[0]
    database.close()
    return rate


def in_folder(measure: Callable[..., float], *arguments: object) -> float:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        *first, options = arguments
        return measure(*first, Path(folder), options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rivals", nargs="*", default=list(RIVALS), metavar="RIVAL", help=", ".join(RIVALS))
    parser.add_argument("--python", required=True)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print(f"{'rival':<15}{'jobs/s':>9}   {'ours on':<20}{'jobs/s':>9}{'times':>8}{'goal':>7}", flush=True)
    for rival in options.rivals:
        cases = [(name, strict) for known, name, strict in GOALS if known == rival]
        rounds = [
            (in_folder(theirs, rival, options), *[in_folder(own, name, strict, options) for name, strict in cases])
            for _ in range(options.rounds)
        ]
        columns = list(zip(*rounds, strict=True))
        for (name, strict), column in zip(cases, columns[1:], strict=True):
            times = statistics.median(mine / peer for mine, peer in zip(column, columns[0], strict=True))
            where, goal = f"{name}{', strict' if strict else ''}", GOALS[rival, name, strict]
            print(
                f"{rival:<15}{statistics.median(columns[0]):>9,.0f}   {where:<20}{statistics.median(column):>9,.0f}"
                f"{times:>8.1f}{goal:>7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
