"""What MySQL and MariaDB have in common beyond locks that can be skipped.

How their optimizer is brought to read a range; and how little is sent, since their driver is written in Python and takes each
cell of a row, and each parameter, into its hands.
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any, ClassVar, Final

from cron2queue.runtime.backend import NEW_NAMES, Change, Row, Want, marks
from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.session import RunCarefully, Session
from cron2queue.runtime.inserting import Parted, filled, names_of
from cron2queue.runtime.runs import Plain
from cron2queue.runtime.skip_locked import SkipLockedBackend

_RECORDS: Final = (
    "INSERT INTO {attempts} (job_id, run, number, lease, worker, outcome, wait_seconds, run_seconds, started_at, ended_at) "
    "SELECT j.id, j.runs, j.attempts, j.lease, j.worker, 'done', "
    "CASE WHEN j.started_at > j.ready_at THEN (j.started_at - j.ready_at) / 1e6 ELSE 0 END, d.seconds, "
    "{now} - CAST(d.seconds * 1000000 AS SIGNED), {now} FROM JSON_TABLE(?, '$[*]' COLUMNS "
    "(job BIGINT PATH '$[0]', seconds DOUBLE PATH '$[1]')) d JOIN {jobs} j ON j.id = d.job WHERE j.lease = CONCAT(?, j.id)"
)

_DEDUPE: Final = NEW_NAMES.index("dedupe")
_NULL_REFUSED: Final = 1048
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-")

_RARE: Final = ("job_key", "ordering_key", "owner", "trace_context", "limit_key")  # most jobs have none of them
_NONE_OF_THEM: Final = " AND ".join(f"{name} IS NULL" for name in _RARE)
_ALL_OF_THEM: Final = ", ".join(f"COALESCE(HEX({name}), '-')" for name in _RARE)
_PACKED: Final = (
    "CONCAT_WS(' ', id, public_id, attempts + 1, max_attempts, crashes, runs + 1, priority, "
    "COALESCE({now} - ready_at, 0), kind), payload, "
    f"CASE WHEN {_NONE_OF_THEM} THEN NULL ELSE CONCAT_WS(' ', {_ALL_OF_THEM}) END"
)


def _unpacked(row: Row) -> Row:
    """A row of _PACKED as one of CANDIDATE_COLUMNS."""
    packed, payload, rare = row
    job_id, public_id, attempt, most, crashes, run, priority, waited, kind = _text(packed).split(" ", 8)
    key = ordering_key = owner = trace = limit_key = None
    if rare is not None:
        known = [None if each == "-" else bytes.fromhex(each) for each in _text(rare).split(" ")]
        key, ordering_key, owner, trace, limit_key = known
    return (
        int(job_id), public_id, kind, key, payload, int(attempt), int(most), int(crashes), int(run), ordering_key, owner,
        None if trace is None else trace.decode(), limit_key, int(priority), int(waited),
    )  # fmt: skip


def _text(cell: str | bytes) -> str:
    """What is made of binary and other columns together may come as bytes."""
    return cell if isinstance(cell, str) else cell.decode()


def _literal(cell: Any) -> str | None:
    """A cell as it stands in SQL, where that needs no thought."""
    if type(cell) is int:
        return str(cell)
    if type(cell) is bytes:
        return f"X'{cell.hex()}'"
    return f"'{cell}'" if type(cell) is str and _PLAIN.issuperset(cell) else None


@cache
def _current(places: tuple[int, ...]) -> str:
    """INSERT of one job as of now; it has no public id, and is refused, if the version of pauses and limits has changed.

    Not INSERT .. SELECT, for which MariaDB keeps all other producers from their next id.
    """
    version = "(SELECT CASE WHEN version = ? THEN ? END FROM {controls} WHERE id = 1)"
    given = ", ".join([version, *("?" * (len(places) - 1))])
    now = "created_at, run_at, ready_at"
    return f"INSERT INTO {{jobs}} ({now}, {names_of(places)}) VALUES ({{now}}, created_at, created_at, {given}, 0, 0, 0)"


class InnodbBackend(SkipLockedBackend):
    """Both compare rows of values without an index, and prefer a look-up by equality to a range of more columns.

    Left alone, they read over all dead entries before the mark; so the mark is spelt out and the index is named.
    """

    behind_mark: ClassVar[str] = "(priority > ? OR (priority = ? AND id > ?))"
    marked_table: ClassVar[str] = "{jobs} FORCE INDEX ({jobs}_claim)"
    candidate_columns: ClassVar[str] = _PACKED

    insert_is_single: ClassVar[bool] = True

    def insert(self, session: Session, rows: Sequence[Row], *, certain: bool = False) -> list[int | None]:
        """One plain INSERT: the variants that ignore duplicates deadlock, and swallow other errors as well.

        A duplicate undoes its statement only; then the rows go one by one.
        """
        if len(rows) == 1:
            return [self._insert_alone(session, rows[0])]
        try:
            return self._insert_all(session, rows)
        except Exception as error:
            if session.driver.code_of(error) is not Failure.DUPLICATE:
                raise
        return [self._insert_alone(session, row) for row in rows]

    def _insert_alone(self, session: Session, row: Row) -> int | None:
        places = filled(row)
        statement = f"INSERT INTO {{jobs}} ({names_of(places)}) VALUES ({marks(len(places))}, 0, 0, 0)"
        try:
            return int(session.run_often(statement, [row[place] for place in places]).lastrowid)
        except Exception as error:
            if session.driver.code_of(error) is not Failure.DUPLICATE:
                raise
            return None

    def _insert_all(self, session: Session, rows: Sequence[Row]) -> list[int | None]:
        """Insert, or raise; the ids in the order of the rows. Only what differs goes through the hands of the driver."""
        parts = Parted(rows)
        said = {place: _literal(parts.columns[place][0]) for place in parts.alike}
        given = [*parts.differing, *(place for place in parts.alike if said[place] is None)]
        words = [word for word in said.values() if word is not None]
        row = f"({', '.join([session.driver.placeholder] * len(given) + words)}, 0, 0, 0)"
        names = names_of((*given, *(place for place in parts.alike if said[place] is not None)))
        sql = f"{session.sql(f'INSERT INTO {{jobs}} ({names}) VALUES ')}{', '.join([row] * len(rows))}"
        cells = chain.from_iterable(zip(*(parts.columns[place] for place in given), strict=True))
        return self._ids(session, int(session.send(sql, list(cells)).lastrowid), [row[0] for row in rows])

    def _ids(self, session: Session, first: int, public_ids: list[str]) -> list[int | None]:
        """Those of rows that one INSERT has made. They are given in its order, and mostly without gaps: then the last tells."""
        query = "SELECT id, @@auto_increment_increment FROM {jobs} WHERE public_id = ?"
        ((last, step),) = session.rows(query, (public_ids[-1],))
        ids = range(first, last + 1, step)
        if len(ids) == len(public_ids) and ids[-1] == last:
            return list(ids)
        query = f"SELECT public_id, id FROM {{jobs}} WHERE public_id IN ({marks(len(public_ids))})"
        found = dict(session.rows(query, public_ids))
        return [int(found[public_id]) for public_id in public_ids]

    def insert_current(self, session: Session, rows: Sequence[Row], version: int) -> list[int]:
        """One statement for a look and an INSERT of one row. With a key one looks first, since a refused INSERT leaves locks;
        before a bulk as well, where the clock would be read for each row.
        """
        row = rows[0]
        if len(rows) > 1 or row[_DEDUPE] is not None:
            return []
        places = filled(row)
        try:
            cursor = session.run_often(_current(places), [version, *(row[place] for place in places)])
        except Exception as error:
            if session.driver.code_of(error) is Failure.DUPLICATE or error.args[:1] == (_NULL_REFUSED,):
                return []
            raise
        return [int(cursor.lastrowid)]

    def try_write(self, session: Session, statement: str, parameters: Row) -> bool:
        """A duplicate undoes its own statement only: no savepoint is needed."""
        try:
            return session.changed(statement, parameters) == 1
        except Exception as error:
            if session.driver.code_of(error) is not Failure.DUPLICATE:
                raise
            return False

    def candidates(self, session: Session, want: Want) -> list[Row]:
        """Three cells a row instead of fifteen."""
        return [_unpacked(row) for row in super().candidates(session, want)]

    def finish(self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> set[int]:
        """The records are made from the rows of the jobs, while the lease stands there: little has to be sent."""
        if session.careful:
            return super().finish(session, done, claim, worker, ended)
        told = "[" + ",".join([f"[{each.job_id},{each.seconds!r}]" for each in ended]) + "]"
        if session.changed(_RECORDS, (told, claim)) != len(ended):
            raise RunCarefully
        return self.fenced(session, *done, [(each.job_id, claim + str(each.job_id)) for each in ended])

    def mark_parameters(self, after: tuple[int, int] | None) -> Row:
        """The priority twice, as it is spelt out."""
        return () if after is None else (after[0], *after)
