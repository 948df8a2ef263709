"""A worker on SQLite against Huey's consumer on SQLite, both at synchronous=FULL, one worker process, in turn in each round.

    python benchmarks/peers.py --python PYTHON [--jobs N] [--rounds N]

PYTHON is the interpreter of an environment of its own with what benchmarks/peers.txt names: no peer is ever installed beside
the product. Timed are jobs that do nothing, from the first call of a handler to the last end (for Huey: to the last call).
Huey acknowledges before it runs a task, keeps no history and loses what a killed consumer had in hand; here a killed worker's
jobs come back, and ends are committed in groups of at most a hundred (a kind declared short).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import open_database
from worker import fill, ours

HUEY = """
import pathlib, time
from huey import SqliteHuey
huey = SqliteHuey(filename="huey.db", results=False, fsync=True)
seen = [0, 0.0]

@huey.task()
def noop(total):
    seen[0] += 1
    if seen[0] == 1:
        seen[1] = time.monotonic()
    if seen[0] == total:
        pathlib.Path("lasted").write_text(str(time.monotonic() - seen[1]))
"""


def huey(folder: Path, options: argparse.Namespace) -> float:
    """Seconds that its consumer took."""
    (folder / "peer.py").write_text(HUEY)
    enqueue = f"from peer import noop\nfor _ in range({options.jobs}): noop({options.jobs})"
    subprocess.run([options.python, "-c", enqueue], cwd=folder, check=True)
    consumer = [options.python, "-m", "huey.bin.huey_consumer", "peer.huey", "-w", "1", "-k", "process", "-n", "-q"]
    running = subprocess.Popen(consumer, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lasted = folder / "lasted"
    while not lasted.exists() or not lasted.read_text():
        assert running.poll() is None, "the consumer has ended"
        time.sleep(0.05)
    running.terminate()
    running.wait()
    return float(lasted.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    one = argparse.Namespace(single=False, strict=False, children=1, workers=1)
    strict = argparse.Namespace(single=False, strict=True, children=1, workers=1)
    rates: dict[str, list[float]] = {"huey": [], "ours": [], "ours, strict": []}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            rates["huey"].append(options.jobs / huey(Path(folder), options))
        for name, asked in (("ours", one), ("ours, strict", strict)):
            with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                database = open_database("sqlite", Path(folder))
                fill(database, options.jobs)
                rates[name].append(options.jobs / ours(database, Path(folder), asked)[0])
                database.close()
    base = statistics.median(rates["huey"])
    for name, found in rates.items():
        print(f"{name:<14}{statistics.median(found):>10,.0f} jobs/s{statistics.median(found) / base:>8.1f} times")


if __name__ == "__main__":
    main()
