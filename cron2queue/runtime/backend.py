"""How one database performs the verbs. The base is written with what is correct on every database.

Its one tool is the guarded UPDATE: a write names the state or the lease that it expects, and only a row count of one
is believed. A backend may only make that faster or safer; an empty subclass passes the whole conformance suite.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter

from cron2queue.record import Record
from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.session import RunCarefully, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Final

    from cron2queue.runtime.runs import Plain

    Row = tuple[Any, ...]
else:
    Row = tuple

Change = tuple[str, Row]  # a SET clause and its parameters

# What a producer gives of a job, in the order of Draft.row, with the types for PostgreSQL's arrays.
NEW_COLUMNS: Final = {
    "public_id": "text", "queue": "text", "kind": "text", "job_key": "bytea", "dedupe": "bytea", "unique_until": "bigint",
    "payload": "text", "state": "text", "priority": "int", "run_at": "bigint", "due_at": "bigint", "max_attempts": "int",
    "ordering_key": "bytea", "turn": "bytea", "limit_key": "bytea", "held_by": "bytea", "held_rank": "int", "owner": "bytea",
    "trace_context": "text", "created_at": "bigint", "ready_at": "bigint",
}  # fmt: skip
NEW_NAMES: Final = tuple(NEW_COLUMNS)
COUNTERS: Final = ("attempts", "crashes", "runs")  # all of them are 0 at first
# One finished attempt, likewise; `length` is in microseconds.
RECORD_COLUMNS: Final = {
    "job_id": "bigint", "run": "int", "number": "int", "lease": "text", "worker": "text", "outcome": "text",
    "exit_status": "int", "signal_number": "int", "wait_seconds": "float8", "run_seconds": "float8",
    "max_rss_bytes": "bigint", "message": "text", "diagnostic": "text", "output_tail": "text",
}  # fmt: skip
# What a claim reads, in the order in which claiming.job_of takes it; `attempts` and `runs` as they are after the claim. The
# last is how long it waited. As few as there may be: a driver in Python decodes each by itself.
CLAIM_COLUMNS: Final = (
    "id, public_id, kind, job_key, payload, attempts, max_attempts, crashes, runs, ordering_key, owner, trace_context, "
    "limit_key, priority, started_at - ready_at"
)
CANDIDATE_COLUMNS: Final = (
    CLAIM_COLUMNS.replace("attempts,", "attempts + 1,", 1).replace("runs,", "runs + 1,").replace("started_at", "{now}")
)
KIND, KEY, LIMIT_KEY = 2, 3, 12  # places in a claimed row
order_of_claim: Final = itemgetter(13, 0)  # by priority, then by id
# `?` are the lease (or its prefix) and the worker. The attempt is counted here, not when it ends: a job that takes
# its worker down with it must not run for ever.
CLAIMED: Final = (
    "lease = {lease}, worker = ?, attempts = attempts + 1, runs = CASE WHEN runs < 2147483647 THEN runs + 1 ELSE runs END, "
    "started_at = {now}, finished_at = NULL, progress = NULL, phase = NULL, state = 'running'"
)


def marks(count: int) -> str:
    """So many parameters for a list. A sequence is never bound as one parameter."""
    return ", ".join("?" * count)


def among(ids: Sequence[int]) -> tuple[str, Row]:
    """The condition that names exactly these rows, and its parameters.

    Jobs of one claim mostly follow each other. Then two numbers say so, and the database reads one range instead of a hundred.
    """
    if len(ids) > 1 and sorted(ids) == list(range(first := min(ids), first + len(ids))):
        return "id BETWEEN ? AND ?", (first, first + len(ids) - 1)
    return f"id IN ({marks(len(ids))})", tuple(ids)


class Want(Record):
    """What a worker asks for: at most `limit` jobs of these kinds in one queue, under tokens that begin with `token`."""

    queue: str
    kinds: tuple[str, ...]
    limit: int
    worker: str
    token: str
    version: int = 0  # of the snapshot of pauses and limits that this claim goes by
    after: tuple[int, int] | None = None  # low watermark: only jobs behind this priority and id
    public_id: str | None = None  # this very job, for a broker that carries ids

    def lease(self, job_id: int) -> str:
        """The token of one job of this claim."""
        return f"{self.token}-{job_id}"


class Backend:
    """The verbs, correct on every database. `minimum` is the oldest server that has what the backend needs."""

    name: ClassVar[str] = "base"
    insert_is_single: ClassVar[bool] = False  # insert() of one row is one statement: it needs no transaction around it
    minimum: ClassVar[tuple[int, ...]] = (0,)
    lease_of_claim: ClassVar[str] = "?"  # SQL of one job's token; the base binds it whole

    def insert(self, session: Session, rows: Sequence[Row], *, certain: bool = False) -> list[int | None]:
        """Insert rows one by one, each behind a savepoint; None for those that a unique index refused.

        `certain`: none will be refused, for nothing that must be unique in them was seen before.
        """
        return [self._insert_one(session, row) for row in rows]

    def _insert_one(self, session: Session, row: Row) -> int | None:
        statement = f"INSERT INTO {{jobs}} ({', '.join((*NEW_NAMES, *COUNTERS))}) VALUES ({marks(len(row))}, 0, 0, 0)"
        if not self.try_write(session, statement, row):
            return None
        return int(session.value("SELECT id FROM {jobs} WHERE public_id = ?", (row[0],)))

    def insert_current(self, session: Session, rows: Sequence[Row], version: int) -> list[int]:
        """Insert rows that name no time, as of now, if pauses and limits are still of this version; the ids, in their order.

        None of them if they are not, if a unique index refused a single row (of many none is refused), or if the backend would
        rather look first: then nothing was written.
        """
        return []

    def keep_records(self, session: Session, rows: Sequence[Row]) -> None:
        """Insert finished attempts: RECORD_COLUMNS, and the attempt's length in microseconds.

        Columns in which no row has anything are left out: most attempts end well, and have little to tell.
        """
        for start in range(0, len(rows), 100):
            some = rows[start : start + 100]
            kept = [place for place in range(len(RECORD_COLUMNS)) if any(row[place] is not None for row in some)]
            columns = [list(RECORD_COLUMNS)[place] for place in kept]
            values = ", ".join([f"({'?, ' * len(kept)}{{now}} - ?, {{now}})"] * len(some))
            statement = f"INSERT INTO {{attempts}} ({', '.join(columns)}, started_at, ended_at) VALUES {values}"
            session.run(statement, [row[place] for row in some for place in (*kept, -1)])

    def candidates(self, session: Session, want: Want) -> list[Row]:
        """Jobs that could be claimed now, in their order; a backend may lock them."""
        return session.rows(self.candidate_query(want), self.candidate_parameters(want))

    # Behind the mark, as a range of the claim index. The parameters are its priority and its id.
    behind_mark: ClassVar[str] = "(priority, id) > (?, ?)"
    marked_table: ClassVar[str] = "{jobs}"
    candidate_columns: ClassVar[str] = CANDIDATE_COLUMNS

    def candidate_query(self, want: Want) -> str:
        """One queue, equality and order exactly as in the index: no sort, no look at any other row.

        The kinds are looked at row by row, the version of the snapshot of limits once.
        """
        table, mark = (self.marked_table, f" AND {self.behind_mark}") if want.after else ("{jobs}", "")
        if want.public_id is not None:
            mark += " AND public_id = ?"
        return (
            f"SELECT {self.candidate_columns} FROM {table} WHERE queue = ? AND state = 'ready'{mark} "
            f"AND kind IN ({marks(len(want.kinds))}) AND (SELECT version FROM {{controls}} WHERE id = 1) = ? "
            "ORDER BY priority, id LIMIT ?"
        )

    def candidate_parameters(self, want: Want) -> Row:
        """Those of candidate_query."""
        one = () if want.public_id is None else (want.public_id,)
        return (want.queue, *self.mark_parameters(want.after), *one, *want.kinds, want.version, want.limit)

    def mark_parameters(self, after: tuple[int, int] | None) -> Row:
        """Those of behind_mark."""
        return after or ()

    def mark_running(self, session: Session, rows: Sequence[Row], want: Want) -> list[Row]:
        """Make the candidates this worker's own, each by a guarded UPDATE; those that another got first are left out."""
        statement = f"UPDATE {{jobs}} SET {self.claimed()} WHERE id = ? AND state = 'ready'"
        return [row for row in rows if session.changed(statement, (want.lease(row[0]), want.worker, row[0])) == 1]

    def claimed(self) -> str:
        """The SET of a claim."""
        return CLAIMED.replace("{lease}", self.lease_of_claim)

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim. The base tries again while there are candidates, since others may have been faster."""
        taken: list[Row] = []
        while rows := self.candidates(session, want):
            won = self.mark_running(session, rows, want)
            taken += won
            if won or len(rows) < want.limit:
                break
        return taken

    passing_locks: ClassVar[str] = ""  # appended to a SELECT of rows to change, it locks them and leaves out what others hold
    take_is_single: ClassVar[bool] = False  # take() is one statement: it needs no transaction around it

    finish_is_single: ClassVar[bool] = False  # finish() likewise

    def lock_jobs(self, session: Session, ids: Sequence[int]) -> None:
        """Before several statements that change these jobs: take them in one order, that two never wait in a circle.

        Nothing where there is one lock for all, or where a unit that met others is just run again.
        """
        return

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """Apply one SET to leased jobs; the ids of those whose lease held."""
        statement = f"UPDATE {{jobs}} SET {change} WHERE id = ? AND lease = ?"
        return {job_id for job_id, lease in leases if session.changed(statement, (*parameters, job_id, lease)) == 1}

    def finish(self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> set[int]:
        """Apply the SET of success to jobs of one claim that ended plainly, and keep their records.

        A lease is what the claim's tokens begin with, and the id. Returned are the ids of those whose lease held.
        """
        held = self.fenced(session, *done, [(each.job_id, claim + str(each.job_id)) for each in ended])
        if held:
            self.keep_records(session, [each.record(claim, worker) for each in ended if each.job_id in held])
        return held

    def finish_and_take(
        self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain], want: Want
    ) -> tuple[set[int], list[Row]]:
        """`finish`, then `take`; where finish_is_single, this is one statement as well."""
        return self.finish(session, done, claim, worker, ended), self.take(session, want)

    def fenced_batch(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """The same in one statement, for databases without RETURNING: all held, or the unit is run again carefully."""
        if session.careful or len(leases) == 1:
            return Backend.fenced(self, session, change, parameters, leases)
        named, their = self.named(leases)
        if session.changed(f"UPDATE {{jobs}} SET {change} WHERE {named}", (*parameters, *their)) != len(leases):
            raise RunCarefully
        return {job_id for job_id, _ in leases}

    def named(self, leases: Sequence[tuple[int, str]]) -> tuple[str, Row]:
        """The condition that names exactly these leases: a token ends with the id of its job.

        Jobs of one claim share the rest of it, which then is sent once.
        """
        named, ids = among([job_id for job_id, _ in leases])
        claims = {lease.removesuffix(str(job_id)) for job_id, lease in leases}
        if len(claims) == 1 and self.lease_of_claim != "?":
            return f"{named} AND lease = {self.lease_of_claim}", (*ids, claims.pop())
        return f"{named} AND lease IN ({marks(len(leases))})", (*ids, *(lease for _, lease in leases))

    def mark_message(self, session: Session, consumer: bytes, message_id: bytes) -> bool:
        """Write into the inbox; False if it stood there already."""
        known = session.value("SELECT 1 FROM {inbox} WHERE consumer = ? AND message_id = ?", (consumer, message_id))
        if known is not None:
            return False
        statement = "INSERT INTO {inbox} (consumer, message_id, processed_at) VALUES (?, ?, {now})"
        return self.try_write(session, statement, (consumer, message_id))

    def try_write(self, session: Session, statement: str, parameters: Row) -> bool:
        """Write one row behind a savepoint; False if no row was hit, or a unique index refused it."""
        session.run("SAVEPOINT c2q_try")
        try:
            hit = session.changed(statement, parameters) == 1
        except Exception as error:
            if session.driver.code_of(error) is not Failure.DUPLICATE:
                raise
            session.run("ROLLBACK TO SAVEPOINT c2q_try")
            return False
        session.run("RELEASE SAVEPOINT c2q_try")
        return hit

    def lock_limits(self, session: Session, queue: str | None, limits: Collection[tuple[str, bytes]]) -> None:
        """Take the rows of limits, in one order, until the transaction ends. An UPDATE locks a row on every database."""
        if queue is not None:
            session.run("UPDATE {queues} SET locked = locked + 1 WHERE name = ?", (queue,))
        for scope, name in sorted(limits):
            session.run("UPDATE {limits} SET locked = locked + 1 WHERE scope = ? AND name = ?", (scope, name))

    def explain(self, session: Session, want: Want) -> str:
        """The plan of the claim, in the words of the server, for `check` and the tests."""
        rows = session.rows("EXPLAIN " + self.candidate_query(want), self.candidate_parameters(want))
        return "\n".join(" ".join(str(cell) for cell in row) for row in rows)

    def check_server(self, version: str) -> str | None:
        """Why this server is too old for the backend, or None."""
        import re  # only a start looks at it

        numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
        if numbers >= self.minimum:
            return None
        return f"{self.name} {version} is older than {'.'.join(map(str, self.minimum))}"
