"""The store's verbs for producers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from cron2queue.runtime import inbox, tracing
from cron2queue.runtime.database.exact import to_bytes
from cron2queue.runtime.database.instants import from_micros
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.desk import Desk
from cron2queue.runtime.jobs import Enqueued, NewJob, UniqueScope, WhileActive
from cron2queue.runtime.limits import Controls
from cron2queue.runtime.trouble import QueueFull
from cron2queue.runtime.verbs import enqueueing, ordering, subscriptions
from cron2queue.runtime.verbs.drafts import PAYLOAD_LIMIT, Draft, draft, drafts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cron2queue.runtime.verbs.counting import ProducerCounts
    from cron2queue.runtime.verbs.ticking import Tick, Ticked


class ProducerVerbs(Desk):
    """enqueue, enqueue_many, publish, subscribe, once."""

    payload_limit: int = PAYLOAD_LIMIT
    _counts: ProducerCounts | None = None  # made by the first refusal or duplicate

    def enqueue(self, job: NewJob, *, connection: Any = None) -> Enqueued:
        """Store one job, or find it: the same (kind, key) within its scope is one row.

        With `connection` (a SQLAlchemy Session or Connection, or a raw driver connection) it is part of the caller's
        transaction and commits with it. Raises JobRefused, QueueFull, DatabaseUnavailable; and in a caller's transaction
        RetryTransaction, when only its owner can run it again.
        """
        return self.enqueue_many((job,), connection=connection)[0]

    def enqueue_many(self, jobs: Iterable[NewJob], *, connection: Any = None) -> list[Enqueued]:
        """Store many jobs in one transaction; duplicates are answered, never an error. Answers in the order of the jobs."""
        if not tracing.active():
            return self._enqueue_many(jobs, connection)
        with tracing.sending(jobs) as carrying:
            return self._enqueue_many(carrying, connection)

    def _enqueue_many(self, jobs: Iterable[NewJob], connection: Any) -> list[Enqueued]:
        drafts = drafts_of(jobs, payload_limit=self.payload_limit)
        if not drafts:
            return []
        return self._counted(drafts, lambda: self._stored(drafts, connection))

    def _stored(self, drafts: Sequence[Draft], connection: Any) -> list[Enqueued]:
        backend = self.backend
        if connection is not None:
            return self.inside(connection, lambda session, controls: self._with_notice(session, controls, drafts))
        alone = backend.insert_is_single and enqueueing.is_one_statement(drafts)
        store = enqueueing.enqueue_alone if alone else enqueueing.enqueue
        answers = self.with_controls(lambda session, controls: store(session, backend, controls, drafts), single=alone)
        self._after_enqueue([each.terms.turn for each in drafts if each.terms.turn is not None])
        return answers

    def _counted(self, drafts: Sequence[Draft], work: Callable[[], list[Enqueued]]) -> list[Enqueued]:
        """Its answers. What a full queue refused, and what was there already, is counted."""
        try:
            answers = work()
        except QueueFull as full:
            self._count("refused", [each.job for each in drafts if each.job.queue == full.queue])
            raise
        if True in [answer.duplicate for answer in answers]:
            self._count("duplicates", [each.job for each, answer in zip(drafts, answers, strict=True) if answer.duplicate])
        return answers

    def _count(self, series: str, jobs: Sequence[NewJob]) -> None:
        if not jobs:
            return
        if self._counts is None:
            from cron2queue.runtime.verbs.counting import ProducerCounts

            self._counts = ProducerCounts(self.impatient_sessions(), self.backend)
        self._counts.count(series, jobs)

    def close(self) -> None:
        """Close this process's connections, after the figures of what was refused or there already are written."""
        if self._counts is not None:
            self._counts.finish()
        super().close()

    def _with_notice(self, session: Session, controls: Controls, drafts: Sequence[Draft]) -> list[Enqueued]:
        """In the caller's transaction: where the database can, workers hear of it at the moment of its commit."""
        answers = enqueueing.enqueue(session, self.backend, controls, drafts)
        if self.driver.family == "postgresql":
            from cron2queue.runtime.database.wakeups import NOTIFY

            session.run(NOTIFY)
        return answers

    def _after_enqueue(self, turns: Sequence[bytes]) -> None:
        """Look once more for the turns (their holders may have ended meanwhile), and wake the workers of this host."""
        if turns:
            backend = self.backend
            self.sessions.unit(lambda session: ordering.pass_all_on(session, backend, sorted(set(turns))))
        self.wake_workers()

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

    def tick(self, tick: Tick, template: NewJob) -> Ticked:
        """Enqueue the job of a scheduled tick: once for each nominal time, on however many hosts, by its overlap rule."""
        from cron2queue.runtime.verbs import ticking

        drafts = [draft(tick.job(template), payload_limit=self.payload_limit)]
        backend = self.backend

        def work(session: Session, controls: Controls) -> list[Enqueued]:
            ticking.note_tick(session, backend, tick)
            known = enqueueing.look(session, drafts)
            if not known.jobs and ticking.stands_in_the_way(session, tick):
                return []
            if not known.jobs:
                ticking.replace_earlier(session, tick)
            return enqueueing.enqueue(session, backend, controls, drafts)

        answers = self._counted(drafts, lambda: self.with_controls(work))
        self._after_enqueue([each.terms.turn for each in drafts if each.terms.turn is not None])
        return ticking.Ticked(tick=tick, enqueued=answers[0] if answers else None)

    def last_tick(self, tick: Tick) -> datetime | None:
        """The newest nominal time that was enqueued for the entry; None if it never ticked."""
        query = "SELECT last_nominal FROM {ticks} WHERE entry = ?"
        found = self.sessions.read(lambda session: session.value(query, (to_bytes(tick.entry),)))
        return None if found is None else from_micros(int(found))

    def counts(self, queue: str) -> Mapping[str, int]:
        """How many jobs of a queue are in each state that is not an end. For more, see the inspection."""
        query = "SELECT state, COUNT(*) FROM {jobs} WHERE queue = ? AND state = ? GROUP BY state"
        states = ("scheduled", "ready", "blocked", "running", "cancel_requested")
        return self.sessions.read(
            lambda session: {state: int(count) for each in states for state, count in session.rows(query, (queue, each))}
        )
