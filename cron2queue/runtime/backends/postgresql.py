"""PostgreSQL 13 and newer: claims, inserts and settles are one statement each, with RETURNING."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

from cron2queue.runtime.backend import (
    CANDIDATE_COLUMNS,
    CLAIM_COLUMNS,
    NEW_COLUMNS,
    RECORD_COLUMNS,
    Change,
    Row,
    Want,
    order_of_claim,
)
from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.inserting import SKIPPING, Parted, as_of_now, current, filled, names_of
from cron2queue.runtime.runs import Plain
from cron2queue.runtime.skip_locked import SkipLockedBackend

_NEW = tuple(NEW_COLUMNS.items())
_DEDUPE = tuple(NEW_COLUMNS).index("dedupe")


def _typed(kind: str) -> str:
    return f"CAST(? AS {kind})"


def _arrays(columns: dict[str, str]) -> str:
    casts = ", ".join(f"CAST(? AS {kind}[])" for kind in columns.values())
    return f"unnest({casts}) WITH ORDINALITY AS d ({', '.join(columns)}, place)"


def _given(alike: tuple[int, ...], differing: tuple[int, ...]) -> tuple[str, str]:
    """Columns of many jobs, and where they come from: what all have in common is given once, the rest as an array a column."""
    common = [f"{_typed(kind)} AS {name}" for name, kind in (_NEW[place] for place in alike)]
    arrays = _arrays(dict(_NEW[place] for place in differing))
    names = ", ".join(_NEW[place][0] for place in (*alike, *differing))
    return names, f"(SELECT {', '.join(common)}) AS c, {arrays} ORDER BY place"


@cache
def _insert(alike: tuple[int, ...], differing: tuple[int, ...], certain: bool) -> str:
    """INSERT of many. ON CONFLICT looks into each unique index first: a quarter of the whole."""
    names, source = _given(alike, differing)
    insert = f"INSERT INTO {{jobs}} ({names_of((*alike, *differing))}) SELECT {names}, 0, 0, 0 FROM {source}"
    return f"{insert}{' RETURNING id' if certain else SKIPPING}, public_id"


@cache
def _insert_current(alike: tuple[int, ...], differing: tuple[int, ...]) -> str:
    names, source = _given(alike, differing)
    return f"{as_of_now((*alike, *differing), names)}, {source} RETURNING public_id, id"


@cache
def _current_one(places: tuple[int, ...]) -> str:
    """Without a key it is refused only if it is stored already: then ON CONFLICT would look, and write, for nothing."""
    return current(places, _typed) + (SKIPPING if _DEDUPE in places else " RETURNING id")


@cache
def _insert_one(places: tuple[int, ...]) -> str:
    return f"INSERT INTO {{jobs}} ({names_of(places)}) VALUES ({', '.join('?' * len(places))}, 0, 0, 0){SKIPPING}"


def _array(cells: Row) -> Any:
    """Text and bytes as one literal, which takes the driver a tenth of the time that a list does; all else as a list.

    A list of bytes would be written by the caller's `standard_conforming_strings`, which no array is read by.
    """
    kinds = {type(cell) for cell in cells}
    if bytes in kinds and kinds <= {bytes, type(None)}:
        return "{" + ",".join(["NULL" if cell is None else f'"\\\\x{cell.hex()}"' for cell in cells]) + "}"
    if kinds != {str}:
        return list(cells)
    quoted = "\0".join(cells).replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{quoted}"}}'


_KEEP = (
    f"INSERT INTO {{attempts}} ({', '.join(RECORD_COLUMNS)}, started_at, ended_at) "
    f"SELECT {', '.join(RECORD_COLUMNS)}, {{now}} - length, {{now}} FROM {_arrays({**RECORD_COLUMNS, 'length': 'bigint'})}"
)
_RETURNED = "j." + CLAIM_COLUMNS  # its first is the id, which both tables have
# Success and its records in one statement: what the records tell of a job is what the UPDATE returns. Numbers come as one
# text each, so that the driver need not look at every one.
_FINISH = (
    "ended AS (UPDATE {jobs} j SET %s FROM unnest(CAST(? AS bigint[]), CAST(? AS float8[])) AS d (job, seconds) "
    "WHERE j.id = d.job AND j.lease = CAST(? AS text) || d.job "
    "RETURNING j.id, j.runs, j.attempts, j.started_at - j.ready_at AS waited, d.seconds), "
    "kept AS (INSERT INTO {attempts} "
    "(job_id, run, number, lease, worker, outcome, wait_seconds, run_seconds, started_at, ended_at) "
    "SELECT id, runs, attempts, CAST(? AS text) || id, CAST(? AS text), 'done', GREATEST(COALESCE(waited, 0), 0) / 1e6, "
    "seconds, {now} - CAST(seconds * 1e6 AS bigint), {now} FROM ended RETURNING job_id)"
)
_FINISHED = "string_agg(CAST(job_id AS text), ',') FROM kept"  # as one text as well
_NOTHING_ELSE = ", NULL" * (CLAIM_COLUMNS.count(",") - 1)
_TAKE = (
    "picked AS MATERIALIZED (%s FOR UPDATE SKIP LOCKED), "
    f"taken AS (UPDATE {{jobs}} j SET %s FROM picked WHERE j.id = picked.id RETURNING {_RETURNED} AS waited)"
)


def _text_array(numbers: Iterable[float]) -> str:
    return "{" + ",".join(map(repr, numbers)) + "}"


def _finishing(done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> Row:
    jobs, seconds = _text_array(each.job_id for each in ended), _text_array(each.seconds for each in ended)
    return (*done[1], jobs, seconds, claim, claim, worker)


def _ids(finished: str | None) -> set[int]:
    return set(map(int, finished.split(","))) if finished else set()


class PostgresqlBackend(SkipLockedBackend):
    """An error inside a transaction spoils all of it here, so that duplicates are skipped by ON CONFLICT."""

    name: ClassVar[str] = "postgresql"
    minimum: ClassVar[tuple[int, ...]] = (13,)
    lease_of_claim: ClassVar[str] = "CAST(? AS TEXT) || id"
    insert_is_single: ClassVar[bool] = True
    take_is_single: ClassVar[bool] = True
    finish_is_single: ClassVar[bool] = True

    def insert(self, session: Session, rows: Sequence[Row], *, certain: bool = False) -> list[int | None]:
        """All rows in one statement of fixed length, in their order; a unique index skips its row."""
        if len(rows) == 1:
            places = filled(rows[0])
            return [session.value(_insert_one(places), [rows[0][place] for place in places])]
        parts = Parted(rows)
        arrays = [_array(parts.columns[place]) for place in parts.differing]
        returned = session.rows(_insert(parts.alike, parts.differing, certain), [*parts.common, *arrays])
        ids = {public_id: job_id for job_id, public_id in returned}
        return [ids.get(row[0]) for row in rows]

    def insert_current(self, session: Session, rows: Sequence[Row], version: int) -> list[int]:
        """One statement, and one round trip, for a look and an INSERT."""
        if len(rows) > 1:
            parts = Parted(rows)
            arrays = [_array(parts.columns[place]) for place in parts.differing]
            found = dict(session.rows(_insert_current(parts.alike, parts.differing), [version, *parts.common, *arrays]))
            return [found[row[0]] for row in rows] if found else []
        places = filled(rows[0])
        values = [*(rows[0][place] for place in places), version]
        try:
            return [row[0] for row in session.run_often(_current_one(places), values).fetchall()]
        except Exception as error:  # an INSERT that is refused undoes itself, as it is alone
            if session.driver.code_of(error) is not Failure.DUPLICATE:
                raise
            return []

    def keep_records(self, session: Session, rows: Sequence[Row]) -> None:
        """All rows as one array a column: the statement has the same text, and is prepared, whatever the batch."""
        session.run(_KEEP, [list(column) for column in zip(*rows, strict=True)])

    def take(self, session: Session, want: Want) -> list[Row]:
        """Claim in one statement. The fence keeps the planner from updating more rows than were locked."""
        rows = session.rows(f"WITH {self._take(want)} SELECT * FROM taken", self._taking(want))
        return sorted(rows, key=order_of_claim)

    def _take(self, want: Want) -> str:
        inner = self.candidate_query(want).replace(CANDIDATE_COLUMNS, "id", 1)
        change = self.claimed().replace(" || id", " || j.id").replace("attempts +", "j.attempts +")
        return _TAKE % (inner, change)

    def _taking(self, want: Want) -> Row:
        return (*self.candidate_parameters(want), want.token + "-", want.worker)

    def fenced(self, session: Session, change: str, parameters: Row, leases: Sequence[tuple[int, str]]) -> set[int]:
        """All in one statement; RETURNING tells which leases held."""
        named = "id = ANY (CAST(? AS bigint[])) AND lease = ANY (CAST(? AS text[]))"
        statement = f"UPDATE {{jobs}} SET {change} WHERE {named} RETURNING id"
        ids, tokens = [list(column) for column in zip(*leases, strict=True)]
        return {row[0] for row in session.rows(statement, (*parameters, ids, tokens))}

    def finish(self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> set[int]:
        """All in one statement; a lease that is lost is no row in either of its halves."""
        statement = f"WITH {_FINISH % done[0]} SELECT {_FINISHED}"
        return _ids(session.value(statement, _finishing(done, claim, worker, ended)))

    def finish_and_take(
        self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain], want: Want
    ) -> tuple[set[int], list[Row]]:
        """Both in one statement, on different rows: what is ready has no lease. A row without an id tells who held."""
        statement = (
            f"WITH {_FINISH % done[0]}, {self._take(want)} "
            f"SELECT * FROM taken UNION ALL SELECT NULL, {_FINISHED.replace(' FROM', f'{_NOTHING_ELSE} FROM')}"
        )
        rows = session.rows(statement, (*_finishing(done, claim, worker, ended), *self._taking(want)))
        (finished,) = [row[1] for row in rows if row[0] is None]
        return _ids(finished), sorted([row for row in rows if row[0] is not None], key=order_of_claim)

    def try_write(self, session: Session, statement: str, parameters: Row) -> bool:
        """Behind a savepoint, outside a transaction as well."""
        if session.raw.info.transaction_status == 0:
            return self._try_alone(session, statement, parameters)
        return super().try_write(session, statement, parameters)

    def _try_alone(self, session: Session, statement: str, parameters: Row) -> bool:
        session.driver.begin(session.raw)
        written = super().try_write(session, statement, parameters)
        session.driver.commit(session.raw)
        return written
