"""What a worker counts while it works, for the roll-ups: by queue and kind, and never a job's own names.

Series: `outcome:NAME`, `succeeded`, `failed`, `retried`, `dead`, `rescued`, `lease_lost`, `foreign:429` (and 502, 503, 504,
timeout), and the durations `wait` and `run` on the ladder of `distributions` with their sums in microseconds. Producers
count `refused` and `duplicates` likewise, see `counting`.
"""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cron2queue.runtime.distributions import rungs
from cron2queue.runtime.jobs import (
    MAX_CRASHES,
    Cancelled,
    Crashed,
    Done,
    GiveUp,
    JobState,
    Released,
    Rescued,
    RetryAt,
    Settlement,
)

PERIOD_SECONDS = 300
MOST_SERIES = 5_000  # a flood of kinds cannot grow the worker; what is above is not counted
# How HTTP clients and servers word it: requests, urllib, httpx, aiohttp, curl, PHP's Guzzle.
_STATUS = re.compile(
    r"\b(?:status(?:[ _-]?code)?|HTTP(?:/[\d.]+)?|HTTP ?Error|error|response|returned)\W{0,4}(429|502|503|504)\b"
    r"|\b(429|502|503|504)\b.{0,3}(?:Client Error|Server Error|Too Many Requests|Bad Gateway|Service|Gateway Time-?out)",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(r"\b(?:time[d]?[ -]?out|ETIMEDOUT|TimeoutError|ReadTimeout|ConnectTimeout)\b", re.IGNORECASE)


class Count(NamedTuple):
    """One increment of the roll-ups."""

    queue: str
    kind: str
    series: str
    rung: int
    n: int


def foreign_cause(text: str) -> str | None:
    """`429`, `502`, `503`, `504` or `timeout` if the error says that a foreign system answered so; else None."""
    text = text[:4000]
    found = _STATUS.search(text)
    if found:
        return found[1] or found[2]
    return "timeout" if _TIMED_OUT.search(text) else None


class Tally:
    """Counts of one process; safe to be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, str, int]] = Counter()

    def settled(self, settlements: Sequence[Settlement], held: Sequence[bool]) -> None:
        """Count settlements by whether their lease still held."""
        done: dict[tuple[str, str, str], list[Settlement]] = {}  # most are, and are counted together
        with self._lock:
            for settlement, was_held in zip(settlements, held, strict=True):
                job, outcome, _, record = settlement
                if not was_held:
                    self._add(job.queue, job.kind, "lease_lost")
                elif isinstance(outcome, Done):
                    done.setdefault((job.queue, job.kind, record.outcome_name or "done"), []).append(settlement)
                else:
                    self._settled(settlement)
            for (queue, kind, name), some in done.items():
                self._add(queue, kind, f"outcome:{name}", n=len(some))
                self._add(queue, kind, "succeeded", n=len(some))
                self._lasted(queue, kind, some)

    def rescued(self, jobs: Sequence[Rescued]) -> None:
        """Count jobs that were taken back, by what they have become: the attempt has failed, unless it was to end anyway."""
        with self._lock:
            for each in jobs:
                became = "dead" if each.state is JobState.DEAD else "retried"
                follows = () if each.state is JobState.CANCELLED else ("failed", became)
                for series in ("rescued", "outcome:rescued", *follows):
                    self._add(each.queue, each.kind, series)

    def count(self, queue: str, kind: str, series: str, n: int = 1) -> None:
        """Count something else, like `refused`."""
        with self._lock:
            self._add(queue, kind, series, n=n)

    def take(self) -> list[Count]:
        """What was counted since the last time, in the order of its key, and start anew."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return [Count(*key, n) for key, n in sorted(counts.items())]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted since the last time."""
        return not self._counts

    def give_back(self, counts: Sequence[Count]) -> None:
        """What could not be written is counted again."""
        with self._lock:
            for each in counts:
                self._add(each.queue, each.kind, each.series, each.rung, each.n)

    def _add(self, queue: str, kind: str, series: str, rung: int = 0, n: int = 1) -> None:
        key = (queue, kind, series, rung)
        if key in self._counts or len(self._counts) < MOST_SERIES:
            self._counts[key] += n

    def _settled(self, settlement: Settlement) -> None:
        job, outcome, record = settlement.job, settlement.outcome, settlement.record
        if isinstance(outcome, Released):
            self._add(job.queue, job.kind, "outcome:released")
            return
        self._add(job.queue, job.kind, f"outcome:{record.outcome_name or _NAMES[type(outcome)]}")
        self._lasted(job.queue, job.kind, [settlement])
        if isinstance(outcome, RetryAt | GiveUp | Crashed):
            self._failed(settlement)

    def _lasted(self, queue: str, kind: str, settlements: Sequence[Settlement]) -> None:
        """Wait and run of attempts of one queue and kind."""
        waits = [job.waited_seconds if (own := record.wait_seconds) is None else own for job, _, _, record in settlements]
        runs = [lasted for _, _, _, record in settlements if (lasted := record.run_seconds) is not None]
        for series, known in (("wait", waits), ("run", runs)):
            for step, n in Counter(rungs(known)).items():
                self._add(queue, kind, series, step, n)
            if known:
                self._add(queue, kind, f"{series}_us", n=int(sum(known) * 1e6))

    def _failed(self, settlement: Settlement) -> None:
        job, outcome = settlement.job, settlement.outcome
        self._add(job.queue, job.kind, "failed")
        crashed = isinstance(outcome, Crashed) and job.crashes + 1 >= MAX_CRASHES
        last = crashed or isinstance(outcome, GiveUp) or job.attempt >= job.max_attempts
        self._add(job.queue, job.kind, "dead" if last else "retried")
        paused = isinstance(outcome, RetryAt) and outcome.pause_kind_seconds is not None
        cause = "429" if paused else foreign_cause(_said(settlement))
        if cause:
            self._add(job.queue, job.kind, f"foreign:{cause}")


def _said(settlement: Settlement) -> str:
    """What a failed attempt says of its trouble; a program says it at the end of its output."""
    outcome = settlement.outcome
    return "\n".join((outcome.message[-1000:], outcome.diagnostic[-2000:], settlement.record.output_tail[-1000:]))


_NAMES: dict[type, str] = {
    Done: "done",
    RetryAt: "retry",
    GiveUp: "permanent",
    Cancelled: "cancelled",
    Crashed: "crashed",
}
