"""PostgreSQL 13 and newer: claims, inserts and settles are one statement each, with RETURNING."""

from collections.abc import Sequence
from typing import ClassVar

from cron2queue.runtime.backend import CANDIDATE_COLUMNS, CLAIM_COLUMNS, INSERTED, NEW_COLUMNS, RECORD_COLUMNS, Row, Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.skip_locked import SkipLockedBackend

_SKIPPING = " ON CONFLICT DO NOTHING RETURNING id"


def _arrays(columns: dict[str, str]) -> str:
    casts = ", ".join(f"CAST(? AS {kind}[])" for kind in columns.values())
    return f"unnest({casts}) WITH ORDINALITY AS d ({', '.join(columns)}, place)"


_GIVEN = ", ".join("COALESCE(run_at, {now})" if column == "run_at" else column for column in NEW_COLUMNS)
_INSERT = (
    f"INSERT INTO {{jobs}} ({', '.join(INSERTED)}) "
    f"SELECT {_GIVEN}, 0, 0, 0, {{now}}, CASE WHEN state = 'ready' THEN {{now}} END "
    f"FROM {_arrays(NEW_COLUMNS)} ORDER BY place{_SKIPPING}, public_id"
)
_KEEP = (
    f"INSERT INTO {{attempts}} ({', '.join(RECORD_COLUMNS)}, started_at, ended_at) "
    f"SELECT {', '.join(RECORD_COLUMNS)}, {{now}} - length, {{now}} FROM {_arrays({**RECORD_COLUMNS, 'length': 'bigint'})}"
)
_RETURNED = ", ".join("j." + column for column in CLAIM_COLUMNS.split(", "))


class PostgresqlBackend(SkipLockedBackend):
    """An error inside a transaction spoils all of it here, so that duplicates are skipped by ON CONFLICT."""

    name: ClassVar[str] = "postgresql"
    minimum: ClassVar[tuple[int, ...]] = (13,)
    lease_of_claim: ClassVar[str] = "CAST(? AS TEXT) || id"
    take_is_single: ClassVar[bool] = True

    def insert(self, session: Session, rows: Sequence[Row]) -> list[int | None]:
        """All rows in one statement of fixed length, in their order; a unique index skips its row."""
        if len(rows) == 1:
            found = session.value(self.insert_statement(1) + _SKIPPING, self.insert_parameters(rows))
            return [found]
        returned = session.rows(_INSERT, [list(column) for column in zip(*rows, strict=True)])
        ids = {public_id: job_id for job_id, public_id in returned}
        return [ids.get(row[0]) for row in rows]

    def keep_records(self, session: Session, rows: Sequence[Row]) -> None:
        """All rows as one array a column: the statement has the same text, and is prepared, whatever the batch."""
        session.run(_KEEP, [list(column) for column in zip(*rows, strict=True)])

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim in one statement. The fence keeps the planner from updating more rows than were locked."""
        inner = self.candidate_query(want).replace(CANDIDATE_COLUMNS, "id", 1)
        change = self.claimed().replace(" || id", " || j.id").replace("attempts +", "j.attempts +")
        statement = (
            f"WITH picked AS MATERIALIZED ({inner} FOR UPDATE SKIP LOCKED) "
            f"UPDATE {{jobs}} j SET {change} FROM picked WHERE j.id = picked.id RETURNING {_RETURNED}"
        )
        rows = session.rows(statement, (*self.candidate_parameters(want), want.token + "-", want.worker))
        return sorted(rows, key=lambda row: (row[17], row[0]))

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """All in one statement; RETURNING tells which leases held."""
        named = "id = ANY (CAST(? AS bigint[])) AND lease = ANY (CAST(? AS text[]))"
        statement = f"UPDATE {{jobs}} SET {change} WHERE {named} RETURNING id"
        ids, tokens = [list(column) for column in zip(*leases, strict=True)]
        return {row[0] for row in session.rows(statement, (*parameters, ids, tokens))}

    def try_write(self, session: Session, statement: str, parameters: Row) -> bool:
        """Behind a savepoint, outside a transaction as well."""
        if session.raw.info.transaction_status == 0:
            return self._try_alone(session, statement, parameters)
        return super(SkipLockedBackend, self).try_write(session, statement, parameters)

    def _try_alone(self, session: Session, statement: str, parameters: Row) -> bool:
        session.driver.begin(session.raw)
        written = super(SkipLockedBackend, self).try_write(session, statement, parameters)
        session.driver.commit(session.raw)
        return written
