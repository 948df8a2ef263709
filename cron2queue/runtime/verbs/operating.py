"""The store's verbs for operators."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from cron2queue.errors import UsageError
from cron2queue.runtime.database.exact import exact
from cron2queue.runtime.database.instants import seconds, to_micros
from cron2queue.runtime.desk import Desk
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.limits import LimitId, held_by
from cron2queue.runtime.retention import DAY, Retention
from cron2queue.runtime.verbs import admission, control, ordering, upkeep
from cron2queue.runtime.verbs.drafts import checked_name

SCOPES: Final = ("queue", "kind", "key")
_NOT_GIVEN: Final = object()


class OperatorVerbs(Desk):
    """pause, limit, cancel, requeue, prune."""

    def pause(self, queue: str, *, by: str) -> bool:
        """Stop claims from a queue, on all workers at once. False if it was paused already."""
        checked_name("queue", queue, 64)
        backend = self.backend
        self.forget_controls()
        return self.sessions.unit(lambda session: control.pause(session, backend, queue, by))

    def resume(self, queue: str, *, by: str) -> bool:
        """Let a paused queue go on. False if it was not paused."""
        self.forget_controls()
        resumed = self.sessions.unit(lambda session: control.resume(session, queue, by))
        self.wake_workers()
        return resumed

    def pause_kind(self, kind: str, seconds: float, *, by: str | None = None) -> None:
        """Keep a kind back for so many seconds from now (a 429 with Retry-After); a longer pause in force stays."""
        checked_name("kind", kind, 128)
        backend = self.backend
        self.forget_controls()
        self.sessions.unit(lambda session: control.pause_kind(session, backend, kind, seconds))
        if by is not None:
            self.sessions.unit(lambda session: control.note(session, by, "pause-kind", kind, detail={"seconds": seconds}))

    def resume_kind(self, kind: str, *, by: str) -> bool:
        """End the pause of a kind now. False if it was not paused."""
        self.forget_controls()
        return self.sessions.unit(lambda session: control.resume_kind(session, kind, by))

    def set_limit(
        self,
        scope: str,
        name: str,
        *,
        by: str,
        concurrency: Any = _NOT_GIVEN,
        rate: Any = _NOT_GIVEN,
        burst: Any = _NOT_GIVEN,
        depth: Any = _NOT_GIVEN,
        age: Any = _NOT_GIVEN,
        alert_depth: Any = _NOT_GIVEN,
        alert_age: Any = _NOT_GIVEN,
    ) -> None:
        """Set limits of a queue, kind or key (`*`: of each key); None takes one away, what is not named stays.

        `concurrency`: jobs at one time over all workers. `rate`: starts a second, `burst`: how many at once after a rest.
        `depth`: waiting jobs, `age`: seconds of the oldest ready job, above which a queue refuses new ones.
        """
        given = {
            "concurrency": concurrency, "rate": rate, "burst": burst, "depth_limit": depth, "age_limit": age,
            "alert_depth": alert_depth, "alert_age": alert_age,
        }  # fmt: skip
        values = {key: value for key, value in given.items() if value is not _NOT_GIVEN}
        _check_limits(scope, name, values)
        if not values:
            return
        backend = self.backend
        self.forget_controls()
        if scope == "queue":
            self.sessions.unit(lambda session: control.limit_queue(session, backend, name, values, by))
            return
        limit: LimitId = (scope, exact(name) or b"")
        self.sessions.unit(lambda session: control.limit_jobs(session, backend, limit, values, by))
        self._free(limit)

    def _free(self, limit: LimitId) -> None:
        """More room than before: bring the held jobs over. Those of keys under `*` come with the next sweep."""
        backend = self.backend

        def work(session: Any, controls: Any) -> int:
            backend.lock_limits(session, None, [limit])
            return admission.free(session, controls, [(limit, held_by(limit, limit[1]))])

        self.with_controls(work)

    def cancel(self, public_id: str, *, by: str, principal: str | None = None) -> JobState | None:
        """Cancel a job: at once if it has not begun, else by asking it to stop. The state that it is in then.

        None if there is no such job, or `principal` does not own it.
        """
        backend = self.backend
        answer = self.sessions.unit(lambda session: control.cancel(session, public_id, by, principal))
        if answer is None:
            return None
        state, turn = answer
        if turn is not None:
            self.sessions.unit(lambda session: ordering.pass_all_on(session, backend, [turn]))
        return state

    def make_due(self, public_id: str, *, by: str, principal: str | None = None) -> JobState | None:
        """Let a scheduled job (waiting for its time or its retry) be due now; the state that it was found in.

        None if there is no such job, or `principal` does not own it. In any other state nothing is changed.
        """
        return self.sessions.unit(lambda session: control.make_due(session, public_id, by, principal))

    def restart_workers(self, *, by: str) -> int:
        """Ask every worker that runs now to stop after its jobs, so that its supervisor starts it anew; the new mark."""
        return self.sessions.unit(lambda session: control.raise_restart_mark(session, by))

    def requeue(
        self,
        public_ids: Sequence[str] | None = None,
        *,
        by: str,
        kind: str | None = None,
        queue: str | None = None,
        since: datetime | None = None,
        limit: int = 10_000,
        spread: float = 0.0,
    ) -> int:
        """Bring dead jobs back, by their ids or by kind, queue and time of death; how many came back.

        Attempts start anew, the history stays. `spread`: seconds over which their starts are divided.
        """
        if public_ids is None and kind is None and queue is None and since is None:
            raise UsageError("nothing says which dead jobs to requeue", remedy="name ids, a kind, a queue or a time")
        backend = self.backend
        moment = None if since is None else to_micros(since)
        ids = self.sessions.read(
            lambda session: (
                control.ids_of(session, public_ids)
                if public_ids is not None
                else control.dead_ids(session, kind, queue, moment, limit)
            )
        )
        done = 0
        for start in range(0, len(ids), upkeep.PRUNE_BATCH):
            share = seconds(spread) * min(upkeep.PRUNE_BATCH, len(ids) - start) // max(1, len(ids))
            offset = seconds(spread) * start // max(1, len(ids))
            batch = ids[start : start + upkeep.PRUNE_BATCH]
            count, turns = self.sessions.unit(
                lambda session, batch=batch, share=share, offset=offset: control.requeue(session, batch, by, offset, share)  # type: ignore[misc]
            )
            done += count
            if turns:
                self.sessions.unit(lambda session, turns=turns: ordering.pass_all_on(session, backend, turns))  # type: ignore[misc]
        self.wake_workers()
        return done

    def prune(self, keep: Retention | None = None, *, most: int = 1_000_000, by: str | None = None) -> dict[str, int]:
        """Delete what is older than it is to be kept, by primary key, 500 rows a commit. How many of what are gone.

        `most`: jobs, after which the rest is left for the next time. `by` is for the record; workers prune unrecorded.
        """
        keep = keep or Retention()
        now = int(self.sessions.read(lambda session: session.value("SELECT {now}")))
        before = {state: now - seconds(days * DAY) for state, days in keep.of_states.items()}
        gone = {"jobs": self._prune_jobs(before, most) if before else 0, "inbox": 0, "operations": 0}
        for what, days, batch in (
            ("inbox", keep.inbox, upkeep.prune_inbox),
            ("operations", keep.log, upkeep.prune_operations),
        ):
            while days is not None:
                limit = now - seconds(days * DAY)
                count = self.sessions.unit(lambda session, batch=batch, limit=limit: batch(session, limit))  # type: ignore[misc]
                gone[what] += count
                if count < upkeep.PRUNE_BATCH:
                    break
        if by is not None:
            self.sessions.unit(lambda session: control.note(session, by, "prune", "all", detail=gone))
        return gone

    def _prune_jobs(self, before: Mapping[str, int], most: int) -> int:
        gone = 0
        after: upkeep.Cursor | None = (0, 0)
        while after is not None and gone < most:
            start = after
            ids, after = self.sessions.read(lambda session, start=start: upkeep.prunable(session, before, start))  # type: ignore[misc]
            if ids:
                gone += self.sessions.unit(lambda session, ids=ids: upkeep.delete_jobs(session, ids))  # type: ignore[misc]
        return gone


def _check_limits(scope: str, name: str, values: Mapping[str, Any]) -> None:
    if scope not in SCOPES:
        raise UsageError(f"{scope!r} is not a scope of limits", remedy=f"use one of: {', '.join(SCOPES)}")
    allowed = control.QUEUE_COLUMNS if scope == "queue" else control.LIMIT_COLUMNS if scope == "kind" else ("concurrency",)
    if wrong := sorted(set(values) - set(allowed)):
        raise UsageError(f"a {scope} has no limit of {', '.join(wrong)}", remedy=f"it has: {', '.join(allowed)}")
    for key, value in values.items():
        if value is not None and not (value > 0 or (key in ("concurrency", "depth_limit") and value == 0)):
            raise UsageError(f"{key} of {value} makes no sense", remedy="use a positive number, or None to take the limit away")
    if scope != "key":
        checked_name(scope, name, 64 if scope == "queue" else 128)
