"""A simulated host whose truth is known: every number given must be true, and every bound must hold the truth."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cron2queue.evidence.runs import Pairing, Run

from .looking import look

START = datetime(2026, 11, 20, tzinfo=UTC)
MINUTES = 600


@dataclass(frozen=True)
class Job:
    user: str
    command: str
    every: int
    shortest: float
    longest: float


@dataclass(frozen=True)
class Truth:
    job: Job
    at: float
    end: float
    parent: int
    child: int


JOBS = (
    Job("root", "poll", 1, 0.0, 0.4),
    Job("root", "import --all", 5, 2, 500),
    Job("root", "report", 10, 30, 90),
    Job("app", "mail", 2, 0.1, 3),
    Job("app", "sync %s", 15, 600, 1500),
    Job("www", "sync %s", 60, 5, 4000),
)


def simulated(seed: int) -> list[Truth]:
    """Runs with process numbers that begin anew at 32768, as the kernel gives them."""
    chance = random.Random(seed)
    pid, truths = chance.randrange(300, 32_000), []
    for minute in range(MINUTES):
        due = [job for job in JOBS if minute % job.every == 0]
        chance.shuffle(due)
        parents = []
        for job in due:
            pid = _next(pid)
            parents.append((job, pid))
        chance.shuffle(parents)
        for job, parent in parents:
            pid = _next(pid)
            at = minute * 60 + 1 + chance.random() * 0.3
            truths.append(Truth(job, at, at + chance.uniform(job.shortest, job.longest), parent, pid))
    return truths


def _next(pid: int) -> int:
    return 300 if pid >= 32_767 else pid + 1


def lines(events: list[tuple[float, str, str]], *, iso: bool) -> dict[str, str]:
    """Lines by log, from (second, log, text)."""
    logs: dict[str, list[str]] = {}
    for second, log, text in sorted(events, key=lambda each: each[0]):
        at = START + timedelta(seconds=second)
        stamp = f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00" if iso else f"{at:%b} {at.day:2} {at:%H:%M:%S}"
        logs.setdefault(log, []).append(f"{stamp} web1 {text}\n")
    return {log: "".join(each) for log, each in logs.items()}


def debian_l15(truth: Truth) -> list[tuple[float, str, str]]:
    said = f"([{truth.child}] {truth.job.command})"
    head = f"CRON[{truth.parent}]: ({truth.job.user})"
    return [(truth.at, "syslog", f"{head} CMD {said}"), (truth.end, "syslog", f"{head} END {said}")]


def debian_sessions(truth: Truth, *, auth: str = "syslog") -> list[tuple[float, str, str]]:
    parent = f"CRON[{truth.parent}]: pam_unix(cron:session): session"
    return [
        (truth.at - 0.001, auth, f"{parent} opened for user {truth.job.user}(uid=0) by (uid=0)"),
        (truth.at, "syslog", f"CRON[{truth.child}]: ({truth.job.user}) CMD ({truth.job.command})"),
        (truth.end, auth, f"{parent} closed for user {truth.job.user}"),
    ]


def debian_two_logs(truth: Truth) -> list[tuple[float, str, str]]:
    return debian_sessions(truth, auth="auth.log")


def cronie(truth: Truth) -> list[tuple[float, str, str]]:
    said = f"({truth.job.user}) {{}} ({truth.job.command})"
    return [
        (truth.at, "cron", f"CROND[{truth.child}]: " + said.format("CMD")),
        (truth.end, "cron", f"CROND[{truth.parent}]: " + said.format("CMDEND")),
    ]


def told(folder: Path, truths: list[Truth], daemon: Callable[[Truth], list[tuple[float, str, str]]], *, iso: bool) -> list[Run]:
    events = [event for truth in truths for event in daemon(truth) if event[0] < MINUTES * 60]
    for name, text in lines(events, iso=iso).items():
        (folder / name).write_text(text)
    return look(folder)[1]


def of_truth(run: Run, truths: list[Truth]) -> list[Truth]:
    """The truths that this run can be: of its user and command, and started in its second."""
    second = (run.started - START).total_seconds()
    return [
        each for each in truths if (each.job.user, each.job.command) == (run.user, run.command) and abs(each.at - second) <= 1.0
    ]


@pytest.mark.parametrize("iso", [False, True], ids=["rfc3164", "iso"])
@pytest.mark.parametrize("daemon", [debian_l15, debian_sessions, debian_two_logs, cronie], ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_told_is_true(
    tmp_path: Path, seed: int, daemon: Callable[[Truth], list[tuple[float, str, str]]], iso: bool
) -> None:
    truths = simulated(seed)
    runs = told(tmp_path, truths, daemon, iso=iso)
    assert len(runs) == len(truths)
    known = 0
    for run in runs:
        (truth,) = of_truth(run, truths)
        seconds = truth.end - truth.at
        if run.seconds is not None:
            known += 1
            assert abs(run.seconds - seconds) <= 1.01, (run, seconds)
        elif run.pairing is Pairing.AMBIGUOUS:
            assert run.at_least is None or run.at_least <= seconds + 1.01, (run, seconds)
            assert run.at_most is None or run.at_most >= seconds - 1.01, (run, seconds)
        else:
            assert truth.end >= MINUTES * 60 or not run.open, (run, seconds)
    assert known >= len(truths) * 0.5
