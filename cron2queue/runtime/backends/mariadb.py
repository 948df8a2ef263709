"""MariaDB 10.6 and newer."""

from typing import ClassVar

from cron2queue.runtime.backend import Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.innodb import InnodbBackend


class MariadbBackend(InnodbBackend):
    """SKIP LOCKED came with 10.6; RETURNING is there for INSERT and DELETE, not for UPDATE."""

    name: ClassVar[str] = "mariadb"
    minimum: ClassVar[tuple[int, ...]] = (10, 6)

    def explain(self, session: Session, want: Want) -> str:
        """One line a table: the key that is used, and in Extra any sort."""
        query = "EXPLAIN " + self.candidate_query(want) + " FOR UPDATE SKIP LOCKED"
        return "\n".join(" ".join(map(str, row)) for row in session.rows(query, self.candidate_parameters(want)))
