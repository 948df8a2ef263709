"""What servers with row locks have in common: candidates are locked past each other, then written by primary key."""

from collections.abc import Sequence
from typing import ClassVar

from cron2queue.runtime.backend import Backend, Row, Want, among, marks
from cron2queue.runtime.database.session import Session


class SkipLockedBackend(Backend):
    """SELECT .. FOR UPDATE SKIP LOCKED, then UPDATE by primary key. The index must serve the order: with a sort, the
    first worker would lock every candidate, and the second would see an empty queue.
    """

    lease_of_claim: ClassVar[str] = "CONCAT(?, id)"
    passing_locks: ClassVar[str] = " FOR UPDATE SKIP LOCKED"

    def candidates(self, session: Session, want: Want) -> list[Row]:
        """Locked until the transaction ends; rows that others have locked are left to them."""
        return session.rows(self.candidate_query(want) + self.passing_locks, self.candidate_parameters(want))

    def mark_running(self, session: Session, rows: Sequence[Row], want: Want) -> list[Row]:
        """The rows are locked, so that they are still what they were."""
        if rows:
            named, ids = among([row[0] for row in rows])
            statement = f"UPDATE {{jobs}} SET {self.claimed()} WHERE {named}"
            session.run(statement, (want.token + "-", want.worker, *ids))
        return list(rows)

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim what is not locked by others."""
        return self.mark_running(session, self.candidates(session, want), want)

    def lock_jobs(self, session: Session, ids: Sequence[int]) -> None:
        """One SELECT .. FOR UPDATE. Whoever rescues from a living worker would meet it in the middle of its ends."""
        session.rows(f"SELECT id FROM {{jobs}} WHERE id IN ({marks(len(ids))}) ORDER BY id FOR UPDATE", ids)

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """One statement; without RETURNING on UPDATE, all or (carefully, again) one by one."""
        return self.fenced_batch(session, change, parameters, leases)
