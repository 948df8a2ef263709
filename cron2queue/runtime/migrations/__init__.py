"""The schema in numbered steps, as plain SQL files for each family of databases.

A step is applied statement by statement, and each statement may be repeated: a process killed anywhere is followed by
running the step again. Steps come in three kinds, so that the last release and this one can run side by side:
*expand* adds what old code does not notice, *switch* starts to use it, *contract* takes away what no code uses any more.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.prefix import PREFIX
from cron2queue.runtime.database.session import Session, Sessions, told
from cron2queue.runtime.trouble import NEWER, DatabaseBusy, SchemaMismatch, UnsafeDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `needs`: a release that knows fewer steps than this must not run after it."""

    number: int
    name: str
    kind: str
    needs: int
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """How far a step is: `applied`, `missing` or `half` (begun and not finished: run `migrate up` again)."""

    step: Step
    state: str
    applied_at: int | None


STEPS: Final = (
    Step(
        number=1,
        name="job_table",
        kind="expand",
        needs=1,
        tables=(
            "migrations", "jobs", "attempts", "inbox", "workers", "queues", "limits", "controls", "subscriptions", "ticks",
            "operations", "rollups", "marks",
        ),
    ),
)  # fmt: skip
LATEST: Final = STEPS[-1].number
OLDEST_USABLE: Final = 1  # this release works from this step on
_TURN_SECONDS = 50  # below the drivers' patience with one answer
_TABLE_SECONDS = 5  # whoever waits for a table makes all who come later wait behind it


def statements(family: str, step: Step, direction: str, prefix: str) -> list[str]:
    """The SQL of a step, with this prefix."""
    from importlib.resources import files

    name = f"{step.number:04}_{step.name}.{direction}.sql"
    text = files(__package__).joinpath("sql", family, name).read_text(encoding="utf-8")
    text = re.sub(r"^--.*\n", "", text, flags=re.MULTILINE)
    return [part.strip().replace(PREFIX, prefix) for part in text.split(";\n") if part.strip()]


def _family(sessions: Sessions) -> str:
    return sessions.driver.family


def _has_table(session: Session, prefix: str, name: str) -> bool:
    if session.driver.family == "sqlite":
        return session.value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (prefix + name,)) is not None
    schema = "DATABASE()" if session.driver.family == "mysql" else "ANY (current_schemas(false))"
    query = f"SELECT 1 FROM information_schema.tables WHERE table_schema = {schema} AND table_name = ?"
    return session.value(query, (prefix + name,)) is not None


def _applied(session: Session, prefix: str) -> dict[int, tuple[int, int]]:
    """Steps that are recorded: when, and what they need."""
    if not _has_table(session, prefix, "migrations"):
        return {}
    return {int(row[0]): (int(row[1]), int(row[2])) for row in session.rows("SELECT step, applied_at, needs FROM {migrations}")}


def version(sessions: Sessions, prefix: str) -> int:
    """The last step applied without a gap; 0 without tables."""
    if not sessions.driver.exists():
        return 0
    applied = sessions.read(lambda session: _applied(session, prefix))
    number = 0
    while number + 1 in applied:
        number += 1
    return number


def status(sessions: Sessions, prefix: str) -> list[StepState]:
    """Every step that this release knows."""

    def read(session: Session) -> list[StepState]:
        applied = _applied(session, prefix)
        return [_state(session, prefix, step, applied) for step in STEPS]

    if not sessions.driver.exists():
        return [StepState(step=step, state="missing", applied_at=None) for step in STEPS]
    return sessions.read(read)


def _state(session: Session, prefix: str, step: Step, applied: dict[int, tuple[int, int]]) -> StepState:
    if step.number in applied:
        return StepState(step=step, state="applied", applied_at=applied[step.number][0])
    begun = any(_has_table(session, prefix, name) for name in step.tables)
    return StepState(step=step, state="half" if begun else "missing", applied_at=None)


def require(sessions: Sessions, prefix: str) -> None:
    """SchemaMismatch if the tables are missing, half made, too old or too new for this release."""
    found = version(sessions, prefix)
    if found < OLDEST_USABLE:
        states = {state.step.number: state.state for state in status(sessions, prefix)}
        how = "only half made" if "half" in states.values() else "missing" if not found else f"at step {found}, too old"
        raise SchemaMismatch(f"the tables {prefix}* are {how}", remedy="run: cron2queue migrate up")
    applied = sessions.read(lambda session: _applied(session, prefix))
    needs = max(need for _, need in applied.values())
    if needs > LATEST:
        raise SchemaMismatch(
            f"the tables {prefix}* are at step {max(applied)}, which needs a newer release than this (it knows {LATEST} steps)",
            remedy=NEWER,
        )


def _take_turn(session: Session, prefix: str) -> bool:
    """Wait until no other migration runs; False if that takes too long. The lock goes with the connection."""
    family = session.driver.family
    if family == "mysql":
        session.run(f"SET SESSION lock_wait_timeout = {_TABLE_SECONDS}")  # of tables; by default it is a day or a year
        return bool(session.value("SELECT GET_LOCK(?, ?)", (f"{prefix}migrate", _TURN_SECONDS)) == 1)
    if family == "postgresql":  # the session's own wait is that for tables
        session.run(f"SET lock_timeout = '{_TURN_SECONDS}s'")
        try:
            session.run("SELECT pg_advisory_lock(hashtext(?))", (f"{prefix}migrate",))
        except Exception as error:
            if session.driver.code_of(error) is Failure.AGAIN:
                return False
            raise
        session.run("RESET lock_timeout")
    return True


@contextmanager
def _alone(session: Session, prefix: str) -> Iterator[None]:
    """One migration at a time, and none that holds up all others while it waits for a table."""
    try:
        if not _take_turn(session, prefix):
            raise UnsafeDatabase("another migration is running", remedy="wait for it, then try again")
        yield
    except Exception as error:
        if not session.driver.is_own(error):
            raise
        meaning = session.driver.code_of(error)
        if meaning is Failure.AGAIN:
            remedy = "stop the workers and what else holds them for long, then run it again"
            raise DatabaseBusy("others hold the tables", remedy=remedy) from error
        raise told(error, meaning) from error


def up(sessions: Sessions, prefix: str, *, to: int | None = None) -> list[int]:
    """Apply missing steps in order."""
    sessions.driver.create()
    session = sessions.open()
    try:
        with _alone(session, prefix):
            applied = sessions.read(lambda other: _applied(other, prefix))
            wanted = [step for step in STEPS if step.number not in applied and (to is None or step.number <= to)]
            return [step.number for step in wanted if _run(sessions, session, prefix, step, "up")]
    finally:
        sessions.drop(session)


def down(sessions: Sessions, prefix: str, *, to: int, force: bool = False) -> list[int]:
    """Take steps back in reverse order."""
    if not sessions.driver.exists():
        return []
    session = sessions.open()
    try:
        with _alone(session, prefix):
            applied = sessions.read(lambda other: _applied(other, prefix))
            begun = [state.step.number for state in status(sessions, prefix) if state.state != "missing"]
            wanted = [step for step in reversed(STEPS) if step.number > to and step.number in {*applied, *begun}]
            if wanted and not force:
                _refuse_loss(session, prefix, wanted)
            return [step.number for step in wanted if _run(sessions, session, prefix, step, "down")]
    finally:
        sessions.drop(session)


def _refuse_loss(session: Session, prefix: str, steps: Sequence[Step]) -> None:
    if not any("jobs" in step.tables for step in steps) or not _has_table(session, prefix, "jobs"):
        return
    if session.value("SELECT id FROM {jobs} LIMIT 1") is not None:
        raise UnsafeDatabase(f"{prefix}jobs holds jobs, which would be lost", remedy="save them, then say --force")


def _run(sessions: Sessions, session: Session, prefix: str, step: Step, direction: str) -> bool:
    """All statements, and the record after them, or before those that take back; in one transaction where DDL is transactional.

    False if another was quicker.
    """
    driver = session.driver
    sessions.begin(session)
    try:
        if direction == "up" and step.number in _applied(session, prefix):
            driver.rollback(session.raw)
            return False
        if direction == "down" and _has_table(session, prefix, "migrations"):  # first: a step half gone is not an applied one
            session.run("DELETE FROM {migrations} WHERE step = ?", (step.number,))
        for statement in statements(driver.family, step, direction, prefix):
            execute(session, statement)
        if direction == "up":
            _record(session, step)
        driver.commit(session.raw)
    except BaseException:
        driver.rollback(session.raw)
        raise
    return True


def execute(session: Session, statement: str) -> None:
    """One statement of a step, as it stands."""
    cursor: Any = session.driver.cursor(session.raw)
    cursor.execute(statement)


def _record(session: Session, step: Step) -> None:
    if session.value("SELECT step FROM {migrations} WHERE step = ?", (step.number,)) is None:
        session.run(
            "INSERT INTO {migrations} (step, name, needs, applied_at) VALUES (?, ?, ?, {now})",
            (step.number, step.name, step.needs),
        )


def script(family: str, prefix: str, *, direction: str = "up", after: int = 0) -> str:
    """The steps as one SQL script, for people who run their own migrations; it records itself like `migrate up`."""
    parts = []
    for step in STEPS if direction == "up" else reversed(STEPS):
        if step.number <= after:
            continue
        parts.append(f"-- step {step.number}: {step.name} ({step.kind})")
        parts += [statement + ";" for statement in statements(family, step, direction, prefix)]
        if direction == "up":
            parts.append(_record_sql(family, prefix, step))
    return "\n\n".join(parts) + "\n"


def _record_sql(family: str, prefix: str, step: Step) -> str:
    from cron2queue.runtime.database.address import Address
    from cron2queue.runtime.desk import driver_for

    now = driver_for(Address(family=family)).now
    return (
        f"INSERT INTO {prefix}migrations (step, name, needs, applied_at) "
        f"SELECT {step.number}, '{step.name}', {step.needs}, {now} "
        f"WHERE NOT EXISTS (SELECT 1 FROM {prefix}migrations WHERE step = {step.number});"
    )
