"""What holds jobs back: pauses, concurrency by queue, kind and key, rates by kind, depth and age of a queue.

All of it stands in the database and holds for all workers together. Each store keeps a snapshot; the one row of
`controls` counts changes, and every verb compares that count in a statement that it runs anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from cron2queue.record import Record
from cron2queue.runtime.database.exact import digest, to_bytes
from cron2queue.runtime.database.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

EVERY_KEY: Final = b"*"
UNTIL_PRUNED: Final = 2**62


class QueueRule(Record):
    """The row of one queue."""

    paused: bool = False
    concurrency: int | None = None
    depth_limit: int | None = None
    age_limit: float | None = None


class LimitRule(Record):
    """A limit of one kind or key. `rate` is jobs a second, `burst` how many may start at once after a rest."""

    concurrency: int | None = None
    rate: float | None = None
    burst: int = 1
    paused_until: int | None = None


_NO_RULE: Final = QueueRule()
_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})
LimitId = tuple[str, bytes]  # scope ("kind", "key") and name


class Controls(Record):
    """A snapshot of all pauses and limits, with the count of changes at which it was taken."""

    version: int
    good_for: float | None = None  # seconds until a pause of a kind ends by itself; None: until the version changes
    queues: Mapping[str, QueueRule] = _NOTHING
    limits: Mapping[LimitId, LimitRule] = _NOTHING

    def queue(self, name: str) -> QueueRule:
        """The rule of a queue; nothing is limited where no row is."""
        return self.queues.get(name, _NO_RULE)

    def key_limit(self, key: bytes | None) -> LimitId | None:
        """The limit that a limit key falls under: its own, else the one of every key."""
        if key is None:
            return None
        own = ("key", key)
        if own in self.limits:
            return own
        return ("key", EVERY_KEY) if ("key", EVERY_KEY) in self.limits else None

    def of_job(self, kind: str, key: bytes | None) -> list[LimitId]:
        """All limits that a job falls under."""
        found = [("kind", kind.encode())] if ("kind", kind.encode()) in self.limits else []
        by_key = self.key_limit(key)
        return [*found, by_key] if by_key else found

    def touches(self, kinds: Collection[str]) -> bool:
        """Whether any limit could hold a job of these kinds back."""
        return any(scope == "key" for scope, _ in self.limits) or any(("kind", kind.encode()) in self.limits for kind in kinds)

    def locks(self, kinds: Collection[str]) -> set[LimitId]:
        """The limit rows that a claim or settle of these kinds must hold while it counts."""
        wanted = {kind.encode() for kind in kinds}
        return {(scope, name) for scope, name in self.limits if scope == "key" or name in wanted}


def held_by(limit: LimitId, key: bytes | None) -> bytes:
    """Why a job is blocked, as a hash: its kind's limit, or the limit of its own key."""
    scope, name = limit
    return digest(b"limit", scope.encode(), name if scope == "kind" or key is None else key)


def turn_of(ordering_key: str) -> bytes:
    """The turn of an ordering key: the unique index on it lets one job at a time have it."""
    return digest(b"order", to_bytes(ordering_key))


SCHEMA: Final = 1  # the latest step of the migrations of this release
_VERSION: Final = "SELECT version, (SELECT MAX(needs) FROM {migrations}) FROM {controls} WHERE id = 1"


class Stale(Exception):
    """The snapshot of pauses and limits is older than the database's: read it again, then run the unit again."""


def compare(session: Session, controls: Controls) -> None:
    """Raise Stale if pauses or limits have changed since the snapshot."""
    if session.value("SELECT version FROM {controls} WHERE id = 1") != controls.version:
        raise Stale


def load(session: Session) -> Controls:
    """Read all pauses and limits. The count is read first: a change in between makes the snapshot old, never wrong.

    Raises SchemaMismatch for tables that have left this release behind: producers come here too, and look nowhere else.
    """
    version, needs = session.row(_VERSION) or (None, None)
    if needs is not None and int(needs) > SCHEMA:
        from cron2queue.runtime.trouble import NEWER, SchemaMismatch

        raise SchemaMismatch(f"the tables need a newer release than this, which knows step {SCHEMA}", remedy=NEWER)
    queues = session.rows("SELECT name, paused_at, concurrency, depth_limit, age_limit FROM {queues}")
    rows = session.rows("SELECT scope, name, concurrency, rate, burst, paused_until, {now} FROM {limits}")
    limits = [row for row in rows if any((row[2] is not None, row[3] is not None, _pause_left(row) > 0))]
    pauses = [_pause_left(row) for row in limits if _pause_left(row) > 0]
    return Controls(
        version=-1 if version is None else int(version),
        good_for=min(pauses) / 1e6 if pauses else None,
        queues={row[0]: _queue_rule(row) for row in queues},
        limits={(row[0], bytes(row[1])): _limit_rule(row) for row in limits},
    )


def _queue_rule(row: tuple[Any, ...]) -> QueueRule:
    return QueueRule(paused=row[1] is not None, concurrency=row[2], depth_limit=row[3], age_limit=row[4])


def _pause_left(row: tuple[Any, ...]) -> int:
    """Microseconds for which a kind is still kept back."""
    return max(0, row[5] - row[6]) if row[5] is not None else 0


def _limit_rule(row: tuple[Any, ...]) -> LimitRule:
    return LimitRule(concurrency=row[2], rate=row[3], burst=row[4] or 1, paused_until=row[5])


def raise_version(session: Session) -> None:
    """Tell every snapshot that it is old."""
    session.run("UPDATE {controls} SET version = version + 1 WHERE id = 1")


def running_by_limit(session: Session, controls: Controls) -> dict[bytes, int]:
    """How many jobs run under each limit, by the hash that held_by gives. Reads the running rows only."""
    rows = session.rows(
        "SELECT kind, COALESCE(limit_key, job_key), COUNT(*) FROM {jobs} WHERE worker IS NOT NULL "
        "GROUP BY kind, COALESCE(limit_key, job_key)"
    )
    counts: dict[bytes, int] = {}
    for kind, key, count in rows:
        key = None if key is None else bytes(key)
        for limit in controls.of_job(kind, key):
            name = held_by(limit, key)
            counts[name] = counts.get(name, 0) + int(count)
    return counts
