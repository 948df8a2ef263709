"""Who listens to which event: a new subscriber needs no change at the publisher."""

from __future__ import annotations

from cron2queue.record import Record
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.verbs.drafts import checked_name, draft


class Subscription(Record):
    """The jobs that an event makes."""

    kind: str
    queue: str
    priority: int
    max_attempts: int


def checked(event: str, kind: str, *, queue: str, priority: int, max_attempts: int) -> Subscription:
    """A subscription whose jobs would be accepted."""
    checked_name("event", event, 128)
    draft(NewJob(kind=kind, queue=queue, priority=priority, max_attempts=max_attempts))
    return Subscription(kind=kind, queue=queue, priority=priority, max_attempts=max_attempts)


def of_event(session: Session, event: str) -> list[Subscription]:
    """All subscriptions of an event, by kind."""
    query = "SELECT kind, queue, priority, max_attempts FROM {subscriptions} WHERE event = ? ORDER BY kind"
    return [
        Subscription(kind=row[0], queue=row[1], priority=row[2], max_attempts=row[3]) for row in session.rows(query, (event,))
    ]


def subscribe(session: Session, backend: Backend, event: str, wish: Subscription) -> None:
    """Write or change a subscription."""
    values = (wish.queue, wish.priority, wish.max_attempts)
    update = "UPDATE {subscriptions} SET queue = ?, priority = ?, max_attempts = ? WHERE event = ? AND kind = ?"
    if session.changed(update, (*values, event, wish.kind)):
        return
    insert = "INSERT INTO {subscriptions} (queue, priority, max_attempts, event, kind) VALUES (?, ?, ?, ?, ?)"
    if not backend.try_write(session, insert, (*values, event, wish.kind)):
        session.run(update, (*values, event, wish.kind))


def unsubscribe(session: Session, event: str, kind: str) -> bool:
    """Take a subscription away."""
    return session.changed("DELETE FROM {subscriptions} WHERE event = ? AND kind = ?", (event, kind)) == 1
