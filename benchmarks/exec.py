"""Programs as handlers, against a bare loop of posix_spawn with captured output, in turn.

    python benchmarks/exec.py [--programs N] [--rounds N]

Bare starts /bin/true in a session of its own, reads its output to the end and waits for it. Ours is what a child does for
each job: pipes for input, output and reports, a time limit, the whole tree in hand, the end classified.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

from cron2queue.runtime.prctl import become_subreaper
from cron2queue.runtime.worker.execution import Bounds, execute
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.spawn import Program

PATH = "/bin/true"


def bare() -> None:
    reading, writing = os.pipe2(os.O_CLOEXEC)
    actions = [(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_DUP2, writing, 2)]
    pid = os.posix_spawn(PATH, [PATH], os.environ, file_actions=actions, setsid=True)
    os.close(writing)
    while os.read(reading, 65536):
        pass
    os.close(reading)
    os.waitpid(pid, 0)


def ours() -> None:
    program = Program(argv=[PATH], environment=dict(os.environ))
    execute(program, b"{}", Bounds(timeout=60), Tracker(on_progress=lambda fraction, phase: None))


def rate(do: Callable[[], None], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        do()
    return count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    become_subreaper()
    rounds = [(rate(bare, options.programs), rate(ours, options.programs)) for _ in range(options.rounds)]
    by_hand, worker = (statistics.median(column) for column in zip(*rounds, strict=True))
    share = statistics.median(ours_rate / bare_rate for bare_rate, ours_rate in rounds)
    print(f"bare {by_hand:.0f}/s   worker {worker:.0f}/s   share {share:.2f}")


if __name__ == "__main__":
    main()
