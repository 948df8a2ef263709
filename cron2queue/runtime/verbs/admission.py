"""Claims under limits: candidates are counted in, or moved out of the way so that no later claim reads them again.

A job of a kind or key at its limit becomes `blocked`; one of a kind that is paused or over its rate becomes `scheduled`
for the moment at which it may run. So the claim index holds runnable rows only, however many are held back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cron2queue.runtime.backend import KEY, KIND, LIMIT_KEY, Backend, Row, Want, marks
from cron2queue.runtime.database.instants import seconds
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.limits import Controls, LimitId, LimitRule, compare, held_by, running_by_limit

_ROUNDS: Final = 10
_BATCH: Final = 100
_QUANTUM: Final = 0.05  # seconds; jobs over their rate come back in groups of this distance


@dataclass(slots=True)
class Gate:
    """Counts candidates in, in their order, while the rows of the limits are locked."""

    controls: Controls
    now: int
    running: dict[bytes, int]
    tokens: dict[LimitId, float]
    late: dict[LimitId, int] = field(default_factory=dict)

    def verdict(self, kind: str, key: bytes | None) -> tuple[bytes | None, int | None] | None:
        """None to let it run; else the hash that it is held by, or the moment until which it must wait."""
        limits = self.controls.of_job(kind, key)
        for limit in limits:
            if (until := self._not_before(limit, self.controls.limits[limit])) is not None:
                return None, until
        for limit in limits:
            most = self.controls.limits[limit].concurrency
            if most is not None and self.running.get(held_by(limit, key), 0) >= most:
                return held_by(limit, key), None
        self._count(limits, key)
        return None

    def _not_before(self, limit: LimitId, rule: LimitRule) -> int | None:
        if rule.paused_until is not None and rule.paused_until > self.now:
            return rule.paused_until
        if rule.rate is None or self.tokens[limit] >= 1:
            return None
        behind = self.late[limit] = self.late.get(limit, 0) + 1
        wait = (behind - self.tokens[limit]) / rule.rate
        return self.now + seconds(math.ceil(wait / _QUANTUM) * _QUANTUM)

    def _count(self, limits: Sequence[LimitId], key: bytes | None) -> None:
        for limit in limits:
            name = held_by(limit, key)
            self.running[name] = self.running.get(name, 0) + 1
            if limit in self.tokens:
                self.tokens[limit] -= 1


def refilled(tokens: float | None, refilled_at: int | None, now: int, rule: LimitRule) -> float:
    """The bucket as it is now: full at first, then filled at the rate, never above the burst. Clocks may go back."""
    if tokens is None or refilled_at is None or rule.rate is None:
        return float(rule.burst)
    return min(float(rule.burst), tokens + max(0, now - refilled_at) / 1e6 * rule.rate)


def take(session: Session, backend: Backend, controls: Controls, want: Want) -> list[Row]:
    """Claim what the limits leave room for. Their rows stay locked until the transaction ends."""
    rule = controls.queue(want.queue)
    backend.lock_limits(session, want.queue if rule.concurrency is not None else None, controls.locks(want.kinds))
    compare(session, controls)
    room = want.limit
    if rule.concurrency is not None:
        room = min(room, rule.concurrency - _running_in(session, want.queue))
    if room < 1:
        return []
    if not controls.touches(want.kinds):
        return backend.take(session, replace(want, limit=room))
    gate = _gate(session, controls)
    taken = _pass_through(session, backend, gate, replace(want, limit=room))
    _keep_tokens(session, gate)
    return taken


def _running_in(session: Session, queue: str) -> int:
    one = "SELECT COUNT(*) FROM {jobs} WHERE queue = ? AND state = ?"
    return sum(int(session.value(one, (queue, state))) for state in ("running", "cancel_requested"))


def _gate(session: Session, controls: Controls) -> Gate:
    now = int(session.value("SELECT {now}"))
    tokens = {
        (row[0], bytes(row[1])): refilled(row[2], row[3], now, controls.limits[row[0], bytes(row[1])])
        for row in session.rows("SELECT scope, name, tokens, refilled_at FROM {limits} WHERE rate IS NOT NULL")
    }
    return Gate(controls=controls, now=now, running=running_by_limit(session, controls), tokens=tokens)


def _pass_through(session: Session, backend: Backend, gate: Gate, want: Want) -> list[Row]:
    taken: list[Row] = []
    size = want.limit
    for _ in range(_ROUNDS):
        candidates = backend.candidates(session, replace(want, limit=size))
        admitted, aside = _sorted_out(gate, candidates, want.limit - len(taken))
        _put_aside(session, aside)
        taken += backend.mark_running(session, admitted, want)
        if not aside or len(taken) >= want.limit:
            break
        size = max(_BATCH, want.limit)
    return taken


Aside = tuple[bytes | None, int | None]


def _sorted_out(gate: Gate, rows: Sequence[Row], room: int) -> tuple[list[Row], dict[Aside, list[Any]]]:
    admitted: list[Row] = []
    aside: dict[Aside, list[Any]] = {}
    for row in rows:
        if len(admitted) == room:
            break
        key = row[LIMIT_KEY] if row[LIMIT_KEY] is not None else row[KEY]
        verdict = gate.verdict(row[KIND], None if key is None else bytes(key))
        if verdict is None:
            admitted.append(row)
        else:
            aside.setdefault(verdict, []).append(row[0])
    return admitted, aside


def _put_aside(session: Session, aside: dict[Aside, list[Any]]) -> None:
    for (name, until), ids in aside.items():
        some = marks(len(ids))
        if name is not None:
            change = "held_by = ?, held_rank = priority, state = 'blocked'"
            session.run(f"UPDATE {{jobs}} SET {change} WHERE id IN ({some}) AND state = 'ready'", (name, *ids))
        else:
            change = "due_at = ?, state = 'scheduled'"
            session.run(f"UPDATE {{jobs}} SET {change} WHERE id IN ({some}) AND state = 'ready'", (until, *ids))


def _keep_tokens(session: Session, gate: Gate) -> None:
    for (scope, name), left in gate.tokens.items():
        session.run(
            "UPDATE {limits} SET tokens = ?, refilled_at = ? WHERE scope = ? AND name = ?", (left, gate.now, scope, name)
        )


def free(session: Session, controls: Controls, names: Sequence[tuple[LimitId, bytes]]) -> int:
    """Make as many held jobs ready as their limits have room for. The limits' rows are locked by the caller."""
    if not names:
        return 0
    running = running_by_limit(session, controls)
    freed = 0
    for limit, name in sorted(names):
        rule = controls.limits.get(limit)
        most = None if rule is None else rule.concurrency
        room = _BATCH * 5 if most is None else most - running.get(name, 0)
        freed += unblock(session, name, room)
    return freed


def unblock(session: Session, name: bytes, room: int) -> int:
    """The first `room` jobs that are held by this name become ready."""
    if room < 1:
        return 0
    query = "SELECT id FROM {jobs} WHERE held_by = ? ORDER BY held_rank, id LIMIT ?"
    ids = [row[0] for row in session.rows(query, (name, room))]
    if not ids:
        return 0
    change = "held_by = NULL, held_rank = NULL, ready_at = {now}, state = 'ready'"
    return session.changed(f"UPDATE {{jobs}} SET {change} WHERE id IN ({marks(len(ids))}) AND state = 'blocked'", ids)
