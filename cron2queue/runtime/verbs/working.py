"""The store's verbs for workers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cron2queue.runtime.backend import Want, marks
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.desk import Desk
from cron2queue.runtime.jobs import AttemptRecord, Done, Job, Released, Rescued, RetryAt, Settlement, WorkerInfo
from cron2queue.runtime.limits import Controls, Stale
from cron2queue.runtime.trouble import LeaseLost, StatementFailed
from cron2queue.runtime.verbs import claiming, liveness, ordering, rollups, settling, upkeep
from cron2queue.runtime.verbs.finishing import finish_and_claim, finishing
from cron2queue.runtime.verbs.tally import Tally
from cron2queue.runtime.verbs.watermark import Watermarks


class WorkerVerbs(Desk):
    """claim, settle, beat, rescue and what belongs to them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._watermarks = Watermarks()
        self._swept_to = b""
        self.tally = Tally()  # a worker's stores share one

    # ---- claim and settle

    def claim(self, queue: str, *, kinds: Collection[str], limit: int, worker: str) -> list[Job]:
        """At most `limit` jobs of one queue and of these kinds, now leased to `worker`; the best priority first.

        The attempt is counted here. An empty list means: nothing to do, paused, or at a limit.
        """
        want = claiming.want_of(self.controls(), queue, kinds, limit, worker)
        with self._watermarks.measured(want) as claim:
            backend = self.backend
            work: Callable[[Session, Controls], list[Job]] = lambda session, controls: claiming.claim(  # noqa: E731
                session, backend, controls, claiming.by(controls, claim.want)
            )
            single = backend.take_is_single and not self._limited(claim.want)
            claim.jobs = self.with_controls(work, single=single)
        left = limit - len(claim.jobs)
        if left > 0 and claim.want.after is not None:  # nothing more behind the mark: the rest comes from the start
            return claim.jobs + self.claim(queue, kinds=kinds, limit=left, worker=worker)
        return claim.jobs

    def claim_job(self, public_id: str, queue: str, *, kinds: Collection[str], worker: str) -> Job | None:
        """The job of this id, if it is ready in its queue and the limits leave room for it now; else None.

        For a broker that carries ids: the same lease as in `claim`, so that a second message for the job finds nothing.
        """
        want = claiming.want_of(self.controls(), queue, kinds, 1, worker, public_id)
        backend = self.backend
        jobs = self.with_controls(
            lambda session, controls: claiming.claim(session, backend, controls, claiming.by(controls, want))
        )
        return jobs[0] if jobs else None

    def is_ready(self, public_id: str) -> bool:
        """Whether the job waits to be claimed."""
        query = "SELECT 1 FROM {jobs} WHERE public_id = ? AND state = 'ready'"
        return self.sessions.read(lambda session: session.value(query, (public_id,))) is not None

    def _limited(self, want: Want) -> bool:
        controls = self.controls()
        return controls.touches(want.kinds) or controls.queue(want.queue).concurrency is not None

    def settle(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Write how attempts ended, all in one transaction. False: the lease was lost, and nothing was written for it.

        It does not fail for what a message holds: then the end is written with a plain message, and at last alone.
        """
        if not settlements:
            return []
        backend = self.backend
        try:
            single = finishing(settlements, backend, self.controls()) is not None
            held = self.with_controls(
                lambda session, controls: settling.settle(session, backend, controls, settlements), single=single
            )
        except StatementFailed:
            return [self._settle_somehow(each) for each in settlements]
        self.tally.settled(settlements, held)
        self._after_settling(settlements)
        return held

    def _settle_somehow(self, settlement: Settlement) -> bool:
        """One job by itself: as it is, then plain, then the change of state alone."""
        plain = settling.plain(settlement)
        for each, keep in ((settlement, True), (plain, True), (plain, False)):
            try:
                held = self._settle_one(each, keep_record=keep)
            except StatementFailed:
                if not keep:
                    raise
            else:
                self.tally.settled([settlement], [held])
                self._after_settling([each])
                return held
        return False

    def _settle_one(self, settlement: Settlement, *, keep_record: bool) -> bool:
        backend = self.backend
        return self.with_controls(
            lambda session, controls: settling.settle(session, backend, controls, [settlement], keep_record=keep_record)
        )[0]

    def settle_and_claim(
        self, settlements: Sequence[Settlement], queue: str, *, kinds: Collection[str], limit: int, worker: str
    ) -> tuple[list[bool], list[Job]]:
        """Settle the last batch and claim the next in one transaction: half the commits, which are the limit everywhere.

        Under limits by kind or key they are two, for locks are then taken in one order; and when a settlement pauses its
        kind, which no claim of the same transaction could know.
        """
        want = claiming.want_of(self.controls(), queue, kinds, limit, worker)
        if (
            not settlements
            or _pauses_a_kind(settlements)
            or self.controls().touches({*want.kinds, *(each.job.kind for each in settlements)})
        ):
            return self.settle(settlements), self.claim(queue, kinds=kinds, limit=limit, worker=worker)
        backend = self.backend

        def both(session: Session, controls: Controls) -> tuple[list[bool], list[Job]]:
            held = settling.settle(session, backend, controls, settlements)
            return held, claiming.claim(session, backend, controls, claiming.by(controls, want))

        try:
            held, jobs = self._in_one_statement(settlements, want, both) or self.with_controls(both)
        except (StatementFailed, Stale):
            self.forget_controls()
            return self.settle(settlements), self.claim(queue, kinds=kinds, limit=limit, worker=worker)
        self.tally.settled(settlements, held)
        self._after_settling(settlements)
        return held, jobs

    def _in_one_statement(
        self, settlements: Sequence[Settlement], want: Want, both: Callable[[Session, Controls], tuple[list[bool], list[Job]]]
    ) -> tuple[list[bool], list[Job]] | None:
        """The same without BEGIN and COMMIT, if a backend can do it. Run again, it is one statement after the other."""
        backend, controls = self.backend, self.controls()
        ends = finishing(settlements, backend, controls)
        if ends is None or self._limited(want) or controls.queue(want.queue).paused:
            return None

        def work(session: Session) -> tuple[list[bool], list[Job]]:
            if session.reruns:
                return both(session, controls)
            return finish_and_claim(session, backend, controls, settlements, ends, claiming.by(controls, want))

        return self.sessions.single(work)

    def _after_settling(self, settlements: Sequence[Settlement]) -> None:
        """Look once more for whom the turns are: a producer may have come in between."""
        if _pauses_a_kind(settlements):
            self.forget_controls()
        turns = settling.turns_of(each.job for each in settlements)
        if turns:
            backend = self.backend
            self.sessions.unit(lambda session: ordering.pass_all_on(session, backend, turns))

    def release(self, jobs: Sequence[Job]) -> list[bool]:
        """Give jobs back unused: no attempt is counted."""
        self._watermarks.forget()
        return self.settle([Settlement(job=job, outcome=Released()) for job in jobs])

    @contextmanager
    def transaction(self, job: Job, *, result_ref: str | None = None, record: AttemptRecord | None = None) -> Iterator[Any]:
        """A raw DB-API connection in a transaction; at its end the job is completed in that same transaction.

        Effects and completion commit together or not at all. LeaseLost: the job belongs to another by now, and the
        effects were rolled back. An error inside rolls back and leaves the job as it was.
        """
        settlement = Settlement(
            job=job, outcome=Done(result_ref=result_ref), record=record or AttemptRecord(outcome_name="done")
        )
        backend, controls = self.backend, self.controls()
        session = self.sessions.open()
        driver = self.driver
        try:
            self.sessions.begin(session)
            session.careful = True
            try:
                yield session.raw
                if settling.settle(session, backend, controls, [settlement]) != [True]:
                    raise LeaseLost(f"the lease of job {job.public_id} was lost", remedy="discard the result")
                driver.commit(session.raw)
            except BaseException:
                self._roll_back(session)
                raise
        finally:
            self.sessions.drop(session)
        self._after_settling([settlement])

    def _roll_back(self, session: Session) -> None:
        try:
            self.driver.rollback(session.raw)
        except Exception as error:
            if not self.driver.is_own(error):
                raise

    def complete(self, settlements: Sequence[Settlement]) -> None:
        """Count what `transaction()` has completed, and keep of each attempt what was not known within it."""
        self.sessions.unit(lambda session: settling.complete_records(session, settlements))
        self.tally.settled(settlements, [True] * len(settlements))

    def progress(self, job: Job, fraction: float | None = None, phase: str | None = None) -> bool:
        """Note how far an attempt is (0..1) and in which phase; within an attempt the fraction never goes back.

        False: the lease was lost. What comes late, after the job was completed under it, is no loss.
        """
        done = None if fraction is None or fraction != fraction else min(max(float(fraction), 0.0), 1.0)
        said = None if phase is None else settling.safe(phase, 200)
        statement = (
            "UPDATE {jobs} SET phase = COALESCE(?, phase), "
            "progress = CASE WHEN progress IS NULL OR progress < COALESCE(?, 0) THEN COALESCE(?, progress) ELSE progress END "
            "WHERE id = ? AND lease = ?"
        )
        parameters = (said, done, done, job.id, job.lease.token)
        if self.sessions.single(lambda session: session.changed(statement, parameters)) == 1:
            return True
        return self.sessions.read(lambda session: settling.is_completed(session, job))

    def cancel_requested(self, jobs: Sequence[Job]) -> set[int]:
        """Ids of those of these jobs that were asked to stop."""
        if not jobs:
            return set()
        query = f"SELECT id FROM {{jobs}} WHERE id IN ({marks(len(jobs))}) AND state = 'cancel_requested'"
        ids = [job.id for job in jobs]
        return self.sessions.read(lambda session: {int(row[0]) for row in session.rows(query, ids)})

    # ---- liveness

    def register_worker(self, worker: WorkerInfo) -> None:
        """Write the worker's row; from now on it must beat."""
        backend = self.backend
        self.sessions.unit(lambda session: liveness.register(session, backend, worker))

    def beat(self, worker: str, rss_bytes: int | None = None, running: int = 0) -> int:
        """Raise the worker's counter; its new value, or 0 if the worker was rescued from and must stop its children."""
        return self.sessions.unit(lambda session: liveness.beat(session, worker, rss_bytes, running))

    def retire_worker(self, worker: str) -> bool:
        """Take the worker's row away at its end."""
        return self.sessions.unit(lambda session: liveness.retire(session, worker))

    def beats(self) -> dict[str, int]:
        """The counter of each worker; -1 for one that holds jobs and has no row."""
        return self.sessions.read(liveness.beats)

    def rescue(self, worker: str, *, counter_seen: int, by: str) -> list[Rescued]:
        """Take the jobs of a worker back if its counter is still the one that was watched standing still."""
        backend = self.backend

        def work(session: Session, controls: Controls) -> list[Rescued]:
            return liveness.rescue(session, backend, controls, worker, counter_seen=counter_seen, by=by)

        rescued = self.with_controls(work)
        self.tally.rescued(rescued)
        return rescued

    def reconcile(self, worker: str, held: Collection[str]) -> int:
        """Give back what the table counts as this worker's and whose tokens the worker does not know."""
        backend = self.backend
        return self.with_controls(lambda session, controls: liveness.reconcile(session, backend, controls, worker, set(held)))

    # ---- upkeep that belongs to running

    def roll_up(self) -> int:
        """Add what was counted since the last time to the roll-ups; how many figures. Nothing is lost if it fails."""
        counts = self.tally.take()
        if not counts:
            return 0
        backend = self.backend
        try:
            self.sessions.unit(lambda session: rollups.add(session, backend, counts))
        except BaseException:
            self.tally.give_back(counts)
            raise
        self.sessions.unit(rollups.prune)
        return len(counts)

    def move_due(self, limit: int = 500) -> int:
        """Bring due jobs over, and free what is held by nothing any more. Returns how many jobs became ready."""
        moved = self.sessions.unit(lambda session: upkeep.move_due(session, limit))
        if self.sessions.read(upkeep.has_held):
            backend = self.backend
            freed, self._swept_to = self.with_controls(
                lambda session, controls: upkeep.sweep(session, backend, controls, self._swept_to)
            )
            moved += freed
        return moved


def _pauses_a_kind(settlements: Iterable[Settlement]) -> bool:
    return any(isinstance(end, RetryAt) and end.pause_kind_seconds is not None for _, end, _, _ in settlements)
