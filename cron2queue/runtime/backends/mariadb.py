"""MariaDB 10.6 and newer."""

from collections.abc import Sequence
from typing import ClassVar

from cron2queue.runtime.backend import Row, Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.innodb import InnodbBackend


class MariadbBackend(InnodbBackend):
    """SKIP LOCKED came with 10.6; RETURNING is there for INSERT and DELETE, not for UPDATE."""

    name: ClassVar[str] = "mariadb"
    minimum: ClassVar[tuple[int, ...]] = (10, 6)

    def insert_all(self, session: Session, rows: Sequence[Row]) -> list[int | None]:
        """The ids come with the INSERT itself."""
        if len(rows) == 1:
            return super().insert_all(session, rows)
        statement = self.insert_statement(len(rows)) + " RETURNING id, public_id"
        returned = session.rows(statement, self.insert_parameters(rows))
        found = {public_id: job_id for job_id, public_id in returned}
        return [int(found[row[0]]) for row in rows]

    def explain(self, session: Session, want: Want) -> str:
        """One line a table: the key that is used, and in Extra any sort."""
        query = "EXPLAIN " + self.candidate_query(want) + " FOR UPDATE SKIP LOCKED"
        return "\n".join(" ".join(map(str, row)) for row in session.rows(query, self.candidate_parameters(want)))
