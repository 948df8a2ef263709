"""Scheduled ticks: one job for each nominal time, however many hosts tick, and what overlap and lateness mean.

The key of a tick's job is its name and its nominal UTC time, unique until pruned: the wall clock at which cron really
started the producer does not matter. Jobs of one name share an ordering key (unless they may run in parallel), so that
its turn tells whether the one before is still waiting or running.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cron2queue.record import Record
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.exact import to_bytes
from cron2queue.runtime.database.instants import to_micros
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Enqueued, Forever, NewJob
from cron2queue.runtime.limits import turn_of
from cron2queue.runtime.settings import Missed, Overlap
from cron2queue.runtime.verbs import ordering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SYSTEM: Final = "cron2queue"


class Tick(Record):
    """One nominal time of one entry. `place` tells hosts apart where each host is to run its own."""

    name: str
    nominal: datetime
    overlap: Overlap = Overlap.SKIP
    place: str | None = None

    @property
    def entry(self) -> str:
        """What "the same job" means for this tick."""
        return self.name if self.place is None else f"{self.name}@{self.place}"

    @property
    def key(self) -> str:
        """The same on every host and in every repetition."""
        return f"{self.entry} {self.nominal.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

    @property
    def ordering_key(self) -> str | None:
        """Shared by all jobs of the entry; None where they may run side by side."""
        return None if self.overlap is Overlap.PARALLEL else f"tick {self.entry}"

    def job(self, template: NewJob) -> NewJob:
        """The job of this tick."""
        return template.but(key=self.key, unique=Forever(), ordering_key=self.ordering_key)


class Ticked(Record):
    """What became of a tick: a job (perhaps made by another host), or skipped since the one before is not done."""

    tick: Tick
    enqueued: Enqueued | None


def minute_of(moment: datetime) -> datetime:
    """The nominal time of a tick that cron started at this moment: its minute, in UTC."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def to_catch_up(fires: Sequence[datetime], last: datetime | None, now: datetime, policy: Missed, most: int) -> list[datetime]:
    """Which of these nominal times to enqueue now, oldest first: those after `last` and not after `now`, by the policy.

    An entry that never ticked before has missed nothing. The newest always counts; `all` keeps the newest `most`.
    """
    due = sorted(fire for fire in fires if fire <= now and (last is None or fire > last))
    if last is None or policy is not Missed.ALL:
        late_by = now - due[-1] if due else timedelta()
        on_time = late_by < timedelta(minutes=1)
        return due[-1:] if due and (on_time or (policy is Missed.ONCE and last is not None)) else []
    return due[-most:] if most > 0 else []


def note_tick(session: Session, backend: Backend, tick: Tick) -> None:
    """Write the newest nominal time of the entry down. Its row stays locked: ticks of one entry go one after another."""
    entry, nominal = to_bytes(tick.entry), to_micros(tick.nominal)
    statement = "UPDATE {ticks} SET last_nominal = CASE WHEN last_nominal < ? THEN ? ELSE last_nominal END WHERE entry = ?"
    if session.changed(statement, (nominal, nominal, entry)):
        return
    if not backend.try_write(session, "INSERT INTO {ticks} (entry, last_nominal) VALUES (?, ?)", (entry, nominal)):
        session.run(statement, (nominal, nominal, entry))


def stands_in_the_way(session: Session, tick: Tick) -> bool:
    """Whether this tick is to be skipped, as an earlier job of its entry still waits or runs."""
    if tick.ordering_key is None or tick.overlap not in (Overlap.SKIP, Overlap.MERGE):
        return False
    turn = turn_of(tick.ordering_key)
    if tick.overlap is Overlap.SKIP:
        return ordering.holder(session, turn)
    waiting = session.value("SELECT id FROM {jobs} WHERE held_by = ? LIMIT 1", (turn,))
    begun = session.value("SELECT id FROM {jobs} WHERE turn = ? AND state IN ('running', 'cancel_requested')", (turn,))
    return waiting is not None or (begun is None and ordering.holder(session, turn))


def replace_earlier(session: Session, tick: Tick) -> None:
    """Cancel what waits or runs of this entry; the new job begins when it has stopped."""
    if tick.overlap is not Overlap.REPLACE or tick.ordering_key is None:
        return
    from cron2queue.runtime.verbs import control

    turn = turn_of(tick.ordering_key)
    query = "SELECT public_id FROM {jobs} WHERE held_by = ? UNION SELECT public_id FROM {jobs} WHERE turn = ?"
    for (public_id,) in session.rows(query, (turn, turn)):
        control.cancel(session, public_id, SYSTEM, None)
