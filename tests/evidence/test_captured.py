"""What real daemons logged, against what their jobs themselves wrote down: every number must be true."""

import json
import lzma
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.evidence.matching import printed
from cron2queue.evidence.runs import Pairing, Run
from cron2queue.text import to_text

from .looking import LOGS, look

CAPTURED = LOGS.parent / "captured"
LATE = 1.5  # seconds that a loaded machine needs to start a shell, and that a stamp in whole seconds leaves out
STOPPED = 15
WEB = "* * * * * sleep 1; echo web >/dev/null"
"""The crontab of this user names no shell, so that nothing was written down."""


@dataclass(frozen=True)
class Case:
    """One capture, by the names of its files; `pairings` is how many runs have an end, and how surely."""

    truth: str
    dialect: str
    pairings: dict[str, int]
    logs: tuple[str, ...] = ()
    journal: str | None = None
    tells_output: bool = False

    def __str__(self) -> str:
        return "+".join(self.logs or (self.journal or "",))


@dataclass(frozen=True)
class Truth:
    """What one run wrote down itself; no end: it was killed together with the shell that would have written it down."""

    user: str
    command: str
    started: float
    wrote: bool
    seconds: float | None = None
    status: int | None = None
    signal: int | None = None


CASES = (
    Case("systemd-cron-1.15.19", "systemd-cron", {"exact": 152}, journal="systemd-cron-1.15.19.json", tells_output=True),
    Case("systemd-cron-2.5.1", "systemd-cron", {"exact": 31}, journal="systemd-cron-2.5.1.json", tells_output=True),
    Case("systemd-cron-2.5.1", "systemd-cron", {"exact": 31}, logs=("systemd-cron-2.5.1.syslog",)),
    Case("debian-cron-L1", "debian", {"exact": 137, "good": 4}, journal="debian-cron-L1.json"),
    Case("debian-cron-L1", "debian", {"ambiguous": 139, "good": 5}, logs=("debian-cron-L1.syslog", "debian-cron-L1.auth.log")),
    Case("debian-cron-L15", "debian", {"exact": 55}, journal="debian-cron-L15.json"),
    Case("debian-cron-L15", "debian", {"exact": 55}, logs=("debian-cron-L15.syslog",)),
    Case("cronie-1.7.2", "cronie", {"exact": 21, "good": 63}, journal="cronie-1.7.2.json", tells_output=True),
    Case("cronie-1.7.2", "cronie", {"good": 84}, logs=("cronie-1.7.2.cron", "cronie-1.7.2.secure"), tells_output=True),
    Case("cronie-1.7.2", "cronie", {"good": 84}, logs=("cronie-1.7.2.cron",), tells_output=True),
    Case("busybox-1.37.0", "busybox", {}, logs=("busybox-1.37.0.log",)),
)


def data(name: str) -> Path:
    path = CAPTURED / name
    return path if path.exists() else CAPTURED / f"{name}.xz"


def crontabs(dialect: str) -> list[CrontabFile]:
    """The crontabs that ran; systemd-cron does not read one with a byte that is not UTF-8, so its had none."""
    if dialect == "busybox":
        names = [("busybox.root", "root"), ("busybox.app", "app")]
    else:
        names = [("crontab.system", ""), ("crontab.app", "app"), ("crontab.web", "web")]
    return [_crontab(data(name).read_bytes(), user, dialect) for name, user in names]


def _crontab(text: bytes, user: str, dialect: str) -> CrontabFile:
    if dialect == "systemd-cron":
        text = b"".join(line for line in text.splitlines(keepends=True) if b"caf\xe9" not in line)
    kind, path = (Kind.USER, f"/var/spool/cron/crontabs/{user}") if user else (Kind.SYSTEM, "/etc/cron.d/caps")
    return parse(text, path=path, dialect=dialect_named(dialect), kind=kind)


def truths(name: str) -> list[Truth]:
    read = json.loads(lzma.decompress(data(f"{name}.truth.json").read_bytes()))
    return [Truth(**each | {"command": to_text(each["command"].encode("latin-1"))}) for each in read]


def told(case: Case) -> tuple[EvidenceBook, list[Run]]:
    journal = data(case.journal) if case.journal else None
    return look(*map(data, case.logs), journal=journal, files=crontabs(case.dialect))


def is_of(run: Run, truth: Truth) -> bool:
    """Whether it can be this run, by its command, as it was or as the daemon shows it, or cut, and its start."""
    forms = [" ".join(form.split()) for form in (truth.command, printed(truth.command))]
    said = " ".join(run.command.split())
    same = said in forms or (len(said) > 150 and forms[0].startswith(said))
    return same and run.user in ("", truth.user) and abs(run.started.timestamp() - truth.started) <= 2.5


def contradicts(run: Run, truth: Truth, edge: float) -> str | None:
    """What of the run is not true; the log ends at `edge`."""
    if truth.seconds is None:
        return None if run.seconds is None or run.signal == STOPPED else "an end that nobody saw"
    if truth.started + truth.seconds > edge:
        return None if run.seconds is None else "an end after the log's end"
    return _of_its_end(run, truth, truth.seconds) or _of_its_length(run, truth, truth.seconds)


def _of_its_end(run: Run, truth: Truth, seconds: float) -> str | None:
    if run.open and not truth.command.endswith("&"):  # cronie waits for what is left behind, and the log may end before
        return "it is said to be open"
    if run.exit_status not in (None, truth.status) or run.signal not in (None, truth.signal):
        return "its status"
    return None if run.output in (None, truth.wrote) else "its output"


def _of_its_length(run: Run, truth: Truth, seconds: float) -> str | None:
    if truth.command.endswith("&"):
        return None
    if run.seconds is not None and abs(run.seconds - seconds) > LATE:
        return "its duration"
    if run.at_least is not None and run.at_least > seconds + LATE:
        return "its lower bound"
    return "its upper bound" if run.at_most is not None and run.at_most < seconds - LATE else None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_told_of_a_real_log_is_true(case: Case) -> None:
    book, runs = told(case)
    edge = book.window.end.timestamp() + 1 if book.window else 0.0
    left = [run for run in runs if run.user != "web" and run.command != WEB]
    for truth in truths(case.truth):
        run = min((each for each in left if is_of(each, truth)), key=lambda each: abs(each.started.timestamp() - truth.started))
        left.remove(run)
        assert contradicts(run, truth, edge) is None, (run, truth)
        if case.tells_output and run.ended and run.signal != STOPPED:
            assert bool(run.output) == truth.wrote, (run, truth)
    assert [(str(each.started)[11:19], each.command) for each in left] == []
    assert book.unmatched == 0
    assert Counter(str(run.pairing) for run in runs if run.ended or run.at_least is not None) == case.pairings


def test_a_log_of_anacron_tells_all_of_its_jobs() -> None:
    """Each time in a row but the third, which is at once; with a mail program but the first two; the last without MAILTO."""
    _, runs = look(data("anacron-2.3.log"))
    assert [run.pairing for run in runs] == [Pairing.EXACT] * 30
    assert Counter((run.command, run.seconds, run.exit_status, run.signal, run.output) for run in runs) == {
        ("good.daily", 2, 0, None, False): 5,
        ("bad.daily", 0, 3, None, False): 5,
        ("killed.weekly", 1, None, 9, False): 5,
        ("says.daily", 0, 0, None, True): 5,
        ("big.monthly", 3, 0, None, True): 5,
        ("grün.daily", 1, 0, None, True): 5,
    }


def test_busybox_tells_of_starts_that_it_skipped_and_cuts_long_commands() -> None:
    book, _ = look(data("busybox-1.37.0.log"), files=crontabs("busybox"))
    assert sorted(each.met_predecessor for each in book.by_entry.values() if each.met_predecessor) == [0.5]
    assert not book.unscheduled
    assert not book.never_seen


def test_what_overlaps_itself_under_cronie_is_measured() -> None:
    """A job of 100 seconds each minute: three starts, of which the first met one from before the log."""
    files = crontabs("cronie")
    book, runs = look(data("cronie-1.7.2.cron"), data("cronie-1.7.2.secure"), files=files)
    (entry,) = (each for each in book.by_entry.values() if each.median_seconds and each.median_seconds > 90)
    assert (entry.starts, entry.n, entry.open, entry.met_predecessor) == (3, 2, 1, pytest.approx(2 / 3))
    assert [run.seconds for run in runs if run.command == "sleep 100"] == [100, 100, None]
