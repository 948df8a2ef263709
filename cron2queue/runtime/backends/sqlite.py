"""SQLite: one UPDATE with RETURNING, under the one write lock that there is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain

from cron2queue.runtime.backend import (
    CANDIDATE_COLUMNS,
    CLAIM_COLUMNS,
    Backend,
    Change,
    Row,
    Want,
    among,
    marks,
    order_of_claim,
)
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.inserting import SKIPPING, Parted, current, filled, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Final

    from cron2queue.runtime.runs import Plain

# The columns are those of Plain.
_RECORDS: Final = (
    "INSERT INTO {attempts} (job_id, run, number, lease, worker, outcome, wait_seconds, run_seconds, started_at, ended_at) "
    "SELECT column1, column2, column3, ? || column1, ?, 'done', column4, column5, "
    "{now} - CAST(column5 * 1000000 AS INTEGER), {now} FROM (VALUES %s)"
)


def _untyped(_: str) -> str:
    return "?"


def _insert(alike: tuple[int, ...], differing: tuple[int, ...], count: int) -> str:
    """INSERT of so many; what all of them have in common is given once."""
    given = [*("?" * len(alike)), *(f"column{number + 1}" for number in range(len(differing)))]
    rows = ", ".join([f"({marks(len(differing))})"] * count)
    return (
        f"INSERT INTO {{jobs}} ({names_of((*alike, *differing))}) SELECT {', '.join(given)}, 0, 0, 0 "
        f"{f'FROM (VALUES {rows}) ' if differing else ''}WHERE true{SKIPPING}, public_id"
    )


@cache
def _current(places: tuple[int, ...]) -> str:
    """Without RETURNING, for which SQLite keeps the row aside: the driver knows the id of the row that was inserted last."""
    return f"{current(places, _untyped)} ON CONFLICT DO NOTHING"


class SqliteBackend(Backend):
    """Nothing can come between in a statement that writes, so no guard is ever lost here."""

    name: ClassVar[str] = "sqlite"
    minimum: ClassVar[tuple[int, ...]] = (3, 37, 0)  # STRICT tables; RETURNING came with 3.35
    lease_of_claim: ClassVar[str] = "? || id"
    insert_is_single: ClassVar[bool] = True
    take_is_single: ClassVar[bool] = True

    def insert(self, session: Session, rows: Sequence[Row], *, certain: bool = False) -> list[int | None]:
        """All rows in one statement; a unique index skips its row."""
        parts = Parted(rows)
        cells = chain.from_iterable(zip(*(parts.columns[place] for place in parts.differing), strict=True))
        statement = _insert(parts.alike, parts.differing, len(rows))
        found = {public_id: job_id for job_id, public_id in session.rows(statement, [*parts.common, *cells])}
        return [found.get(row[0]) for row in rows]

    def insert_current(self, session: Session, rows: Sequence[Row], version: int) -> list[int]:
        """One statement for a look and an INSERT of one row; a bulk looks first, which costs nothing beside it."""
        if len(rows) > 1:
            return []
        places = filled(rows[0])
        cursor = session.run(_current(places), [*(rows[0][place] for place in places), version])
        return [cursor.lastrowid] if cursor.rowcount == 1 else []

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim in one statement. An idle worker only looks first: a write would keep producers waiting, even of nothing."""
        if not session.raw.in_transaction and not self.candidates(session, want.but(limit=1)):
            return []
        inner = self.candidate_query(want).replace(CANDIDATE_COLUMNS, "id", 1)
        statement = f"UPDATE {{jobs}} SET {self.claimed()} WHERE id IN ({inner}) RETURNING {CLAIM_COLUMNS}"
        rows = session.rows(statement, (want.token + "-", want.worker, *self.candidate_parameters(want)))
        return sorted(rows, key=order_of_claim)

    def mark_running(self, session: Session, rows: Sequence[Row], want: Want) -> list[Row]:
        """Under the write lock the candidates are what they were."""
        if rows:
            named, ids = among([row[0] for row in rows])
            statement = f"UPDATE {{jobs}} SET {self.claimed()} WHERE {named}"
            session.run(statement, (want.token + "-", want.worker, *ids))
        return list(rows)

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """All in one statement; RETURNING tells which leases held."""
        named, their = self.named(leases)
        statement = f"UPDATE {{jobs}} SET {change} WHERE {named} RETURNING id"
        return {row[0] for row in session.rows(statement, (*parameters, *their))}

    def finish(self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> set[int]:
        """The records in one statement that says once what they share."""
        held = self.fenced(session, *done, [(each.job_id, claim + str(each.job_id)) for each in ended])
        kept = [each for each in ended if each.job_id in held]
        for start in range(0, len(kept), 100):
            some = kept[start : start + 100]
            session.run(_RECORDS % ", ".join(["(?, ?, ?, ?, ?)"] * len(some)), (claim, worker, *chain.from_iterable(some)))
        return held

    def explain(self, session: Session, want: Want) -> str:
        """The last column of each step is the sentence."""
        rows = session.rows("EXPLAIN QUERY PLAN " + self.candidate_query(want), self.candidate_parameters(want))
        return "\n".join(str(row[-1]) for row in rows)
