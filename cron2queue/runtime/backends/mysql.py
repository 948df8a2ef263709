"""MySQL 8.0 and newer."""

from typing import ClassVar

from cron2queue.runtime.backend import Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.innodb import InnodbBackend


class MysqlBackend(InnodbBackend):
    """SKIP LOCKED came with 8.0.1, JSON_TABLE with 8.0.4; there is no RETURNING."""

    name: ClassVar[str] = "mysql"
    minimum: ClassVar[tuple[int, ...]] = (8, 0, 4)

    def explain(self, session: Session, want: Want) -> str:
        """The tree: it names the index, and any sort."""
        query = "EXPLAIN FORMAT=TREE " + self.candidate_query(want) + " FOR UPDATE SKIP LOCKED"
        return "\n".join(str(row[0]) for row in session.rows(query, self.candidate_parameters(want)))
