"""What a broker gave up, in the operators' log: a line for each job, or sort of foreign message, and minute.

Who fills the broker's dead letters fills neither this table nor a screen: equal ones are counted in one line, and above
MOST_LINES in a minute the rest is one line more; jobs and foreign messages each have so many, so that no stranger hides
what befell a job. A kill between this record and the broker's hearing of it costs a second
count.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from cron2queue.runtime.backend import marks
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.verbs import control

VERB: Final = "given-up"
SERIES: Final = "given_up"
NOT_TOLD: Final = "not told"
UNREADABLE: Final = "unreadable"
# The broker's own words, what stands for none, and what a reason that is none of them is counted as.
REASONS: Final = ("delivery_limit", "rejected", "expired", "maxlen", NOT_TOLD, UNREADABLE, "other")
MOST_LINES: Final = 50
_LOOKED_AT: Final = 200  # newest lines of the log, among which those of this minute are found
_FOREIGN: Final = "-"
_OTHERS: Final = "others"
_NO_JOB: Final = 0  # as a number in the log, whose lines without one are what operators did to queues and workers
_BECAME: Final = {
    None: "no job of ours",
    "ready": "goes out again",
    "running": "running",
    "cancel_requested": "running",
    "scheduled": "waits for its time",
    "blocked": "waits for its turn",
}


class Letter(NamedTuple):
    """One message that was given up; `queue` and `kind` are empty where they are nobody's here. Texts are safe to keep."""

    public_id: str
    kind: str
    queue: str
    reason: str


class Line(NamedTuple):
    """What letters of one line have in common; `job_id` 0 is no job."""

    public_id: str
    job_id: int
    kind: str
    queue: str
    reason: str
    became: str


@dataclass(slots=True)
class Recorded:
    """`new`: lines that this minute did not have yet. `counted`: letters by line, those of no line included."""

    new: list[Line] = field(default_factory=list)
    counted: Counter[Line] = field(default_factory=Counter)


def record(session: Session, by: str, letters: Iterable[Letter]) -> Recorded:
    """Write down what was given up, and what has become of the jobs that it names."""
    letters = list(letters)
    jobs = _jobs(session, sorted({each.public_id for each in letters if each.public_id}))
    recorded = Recorded(counted=Counter(_line(each, jobs.get(each.public_id)) for each in letters))
    minute = _minute(session)
    book = _Book(session, by, minute, _lines(session, by, minute))
    for line, n in recorded.counted.items():
        if book.add(line, n):
            recorded.new.append(line)
    book.add_others()
    return recorded


def counts(recorded: Recorded, queues: Iterable[str], kinds: Iterable[str]) -> Counter[tuple[str, str, str]]:
    """For the figures: by queue, kind and series; what is none of these queues and kinds is `-`, whatever it calls itself."""
    own = (frozenset(queues), frozenset(kinds))
    found: Counter[tuple[str, str, str]] = Counter()
    for line, n in recorded.counted.items():
        names = [name if name in known else _FOREIGN for name, known in zip((line.queue, line.kind), own, strict=True)]
        found[names[0], names[1], f"{SERIES}:{line.reason if line.reason in REASONS else REASONS[-1]}"] += n
    return found


Job = tuple[int, str, str, str]  # id, state, queue, kind


def _jobs(session: Session, public_ids: Sequence[str]) -> dict[str, Job]:
    if not public_ids:
        return {}
    query = f"SELECT public_id, id, state, queue, kind FROM {{jobs}} WHERE public_id IN ({marks(len(public_ids))})"
    return {row[0]: (int(row[1]), row[2], row[3], row[4]) for row in session.rows(query, public_ids)}


def _line(letter: Letter, job: Job | None) -> Line:
    if job is None:
        return Line("", _NO_JOB, letter.kind, letter.queue, letter.reason, _BECAME[None])
    job_id, state, queue, kind = job
    return Line(letter.public_id, job_id, kind, queue, letter.reason, _BECAME.get(state, "had ended"))


def _minute(session: Session) -> str:
    now = datetime.fromtimestamp(int(session.value("SELECT {now}")) // 1_000_000, UTC)
    return f"{now:%Y-%m-%dT%H:%MZ}"


def _lines(session: Session, by: str, minute: str) -> dict[Line, tuple[int, str]]:
    """Those of this minute, with their row's id and detail; the newest of equal ones."""
    query = (
        "SELECT id, target, detail, job_id FROM {operations} WHERE id > (SELECT MAX(id) FROM {operations}) - ? "
        "AND verb = ? AND done_by = ? ORDER BY id"
    )
    found: dict[Line, tuple[int, str]] = {}
    for row_id, target, detail, job_id in session.rows(query, (_LOOKED_AT, VERB, control.clean(by, 255))):
        told = details(detail)
        if told.get("minute") == minute:
            words = (str(told.get(name) or "") for name in ("kind", "queue", "reason", "became"))
            own = int(job_id or _NO_JOB)
            found[Line(target if own else "", own, *words)] = (int(row_id), detail)
    return found


def details(text: str | None) -> Mapping[str, Any]:
    """The detail of a line; nothing when somebody else has written there."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def number(told: Mapping[str, Any]) -> int:
    """How many letters a line's detail counts."""
    n = told.get("count")
    return n if isinstance(n, int) and 0 < n < 1 << 53 else 1


def told(text: str) -> str:
    """A line's detail in words; empty for what is none."""
    said = details(text)
    if not said.get("reason"):
        return ""
    times = f", {number(said):,} times" if number(said) > 1 else ""
    where = f" in queue {said['queue']}" if said.get("queue") else ""
    return f"{said['reason']}{where}; {said.get('became')}{times}"


_REST: Final = Line("", _NO_JOB, "", "", _OTHERS, _OTHERS)


def is_rest(told: Mapping[str, Any]) -> bool:
    """Whether a line's detail counts what was above MOST_LINES."""
    return told.get("became") == _OTHERS


@dataclass(slots=True)
class _Book:
    """The lines of one minute. `known`: those that are written, with their id and detail."""

    session: Session
    by: str
    minute: str
    known: dict[Line, tuple[int, str]]
    others: int = 0

    def add(self, line: Line, n: int) -> bool:
        """Count letters of one line; whether it is a new one."""
        if line in self.known and self._raise(*self.known[line], line, n):
            return False
        if sum(bool(each.job_id) == bool(line.job_id) for each in self.known) >= MOST_LINES:
            self.others += n
            return False
        self._write(line, n)
        self.known.setdefault(line, (0, ""))
        return True

    def add_others(self) -> None:
        """What there was no line for."""
        if self.others and not (_REST in self.known and self._raise(*self.known[_REST], _REST, self.others)):
            self._write(_REST, self.others)

    def _raise(self, row_id: int, detail: str, line: Line, n: int) -> bool:
        """False when another relay has written there meanwhile."""
        raised = json.dumps(self._detail(line, number(details(detail)) + n))
        statement = "UPDATE {operations} SET done_at = {now}, detail = ? WHERE id = ? AND detail = ?"
        return self.session.changed(statement, (raised, row_id, detail)) == 1

    def _write(self, line: Line, n: int) -> None:
        target = line.public_id or line.queue or "dead letters"
        control.note(self.session, self.by, VERB, target, detail=self._detail(line, n), job_id=line.job_id)

    def _detail(self, line: Line, n: int) -> dict[str, Any]:
        names = {"queue": line.queue, "kind": line.kind, "reason": line.reason, "became": line.became}
        return {**names, "count": n, "minute": self.minute}
