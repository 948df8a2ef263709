"""PostgreSQL 13 and newer: claims, inserts and settles are one statement each, with RETURNING."""

from collections.abc import Sequence
from typing import ClassVar

from cron2queue.runtime.backend import CANDIDATE_COLUMNS, CLAIM_COLUMNS, NewRow, Row, Want, marks
from cron2queue.runtime.session import Session
from cron2queue.runtime.skip_locked import SkipLockedBackend

_RETURNED = ", ".join("j." + column for column in CLAIM_COLUMNS.split(", "))


class PostgresqlBackend(SkipLockedBackend):
    """An error inside a transaction spoils all of it here, so that duplicates are skipped by ON CONFLICT."""

    name: ClassVar[str] = "postgresql"
    minimum: ClassVar[tuple[int, ...]] = (13,)
    lease_of_claim: ClassVar[str] = "CAST(? AS TEXT) || id"
    take_is_single: ClassVar[bool] = True

    def insert(self, session: Session, rows: Sequence[NewRow]) -> list[int | None]:
        """All rows in one statement; a unique index skips its row. The workers' hint goes with the commit."""
        statement = self.insert_statement(rows) + " ON CONFLICT DO NOTHING RETURNING id, public_id"
        returned = session.rows(statement, [cell for _, row in rows for cell in row])
        found = {public_id: job_id for job_id, public_id in returned}
        return [found.get(row[0]) for _, row in rows]

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim in one statement. The fence keeps the planner from updating more rows than were locked."""
        inner = self.candidate_query(want).replace(CANDIDATE_COLUMNS, "id", 1)
        change = self.claimed().replace(" || id", " || j.id").replace("attempts +", "j.attempts +")
        statement = (
            f"WITH picked AS MATERIALIZED ({inner} FOR UPDATE SKIP LOCKED) "
            f"UPDATE {{jobs}} j SET {change} FROM picked WHERE j.id = picked.id RETURNING {_RETURNED}"
        )
        rows = session.rows(statement, (*want.parameters, want.limit, want.token + "-", want.worker))
        return sorted(rows, key=lambda row: (row[17], row[0]))

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """All in one statement; RETURNING tells which leases held."""
        some = marks(len(leases))
        statement = f"UPDATE {{jobs}} SET {change} WHERE id IN ({some}) AND lease IN ({some}) RETURNING id"
        ids = [job_id for job_id, _ in leases]
        return {row[0] for row in session.rows(statement, (*parameters, *ids, *(lease for _, lease in leases)))}

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
