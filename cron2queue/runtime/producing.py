"""The store's verbs for producers."""

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from cron2queue.runtime import enqueueing, inbox, liveness, subscriptions
from cron2queue.runtime.desk import Desk
from cron2queue.runtime.drafts import PAYLOAD_LIMIT, draft
from cron2queue.runtime.jobs import Enqueued, NewJob, UniqueScope, WhileActive


class ProducerVerbs(Desk):
    """enqueue, enqueue_many, publish, subscribe, once."""

    payload_limit: int = PAYLOAD_LIMIT

    def enqueue(self, job: NewJob, *, connection: Any = None) -> Enqueued:
        """Store one job, or find it: the same (kind, key) within its scope is one row.

        With `connection` (a SQLAlchemy Session or Connection, or a raw driver connection) it is part of the caller's
        transaction and commits with it. Raises JobRefused, QueueFull, DatabaseUnavailable; and in a caller's transaction
        RetryTransaction, when only its owner can run it again.
        """
        return self.enqueue_many((job,), connection=connection)[0]

    def enqueue_many(self, jobs: Iterable[NewJob], *, connection: Any = None) -> list[Enqueued]:
        """Store many jobs in one transaction; duplicates are answered, never an error. Answers in the order of the jobs."""
        drafts = [draft(job, payload_limit=self.payload_limit) for job in jobs]
        if not drafts:
            return []
        backend = self.backend
        if connection is not None:
            return self.inside(connection, lambda session, controls: enqueueing.enqueue(session, backend, controls, drafts))
        answers = self.with_controls(lambda session, controls: enqueueing.enqueue(session, backend, controls, drafts))
        turns = sorted({each.turn for each in drafts if each.turn is not None})
        if turns:
            self.sessions.unit(lambda session: liveness.pass_on_turns(session, backend, turns))
        return answers

    def publish(
        self,
        event: str,
        payload: Any = None,
        *,
        key: str | None = None,
        unique: UniqueScope | None = None,
        connection: Any = None,
        **fields: Any,
    ) -> list[Enqueued]:
        """One job for each kind that subscribes to the event, with the same payload and key."""
        load = subscriptions.of_event
        if connection is None:
            found = self.sessions.read(lambda session: load(session, event))
        else:
            found = self.inside(connection, lambda session, _: load(session, event))
        jobs = [
            NewJob(
                kind=each.kind, queue=each.queue, priority=each.priority, max_attempts=each.max_attempts,
                payload=payload, key=key, unique=unique or WhileActive(), **fields,
            )
            for each in found
        ]  # fmt: skip
        return self.enqueue_many(jobs, connection=connection)

    def subscribe(self, event: str, kind: str, *, queue: str = "default", priority: int = 100, max_attempts: int = 8) -> None:
        """From now on each `event` makes a job of this kind. Saying it again changes queue, priority and attempts."""
        wish = subscriptions.checked(event, kind, queue=queue, priority=priority, max_attempts=max_attempts)
        backend = self.backend
        self.sessions.unit(lambda session: subscriptions.subscribe(session, backend, event, wish))

    def unsubscribe(self, event: str, kind: str) -> bool:
        """No more jobs of this kind for the event. False if there was no subscription."""
        return self.sessions.unit(lambda session: subscriptions.unsubscribe(session, event, kind))

    def once(self, connection: Any, consumer: str, message_id: str) -> bool:
        """Write (consumer, message id) into the inbox in the caller's transaction; False if it was processed before."""
        backend = self.backend
        row = inbox.checked(consumer, message_id)
        return self.inside(connection, lambda session, _: backend.mark_message(session, *row))

    def counts(self, queue: str) -> Mapping[str, int]:
        """How many jobs of a queue are in each state that is not an end. For more, see the inspection."""
        with contextlib.suppress(KeyError):
            query = "SELECT state, COUNT(*) FROM {jobs} WHERE queue = ? AND state = ? GROUP BY state"
            states = ("scheduled", "ready", "blocked", "running", "cancel_requested")
            return self.sessions.read(
                lambda session: {state: int(count) for each in states for state, count in session.rows(query, (queue, each))}
            )
        return {}
