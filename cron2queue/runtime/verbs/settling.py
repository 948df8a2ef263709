"""Settle: one end for each attempt, fenced by the lease, with its record; and what follows for those that wait for it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from cron2queue.redaction import redact
from cron2queue.runtime.backend import RECORD_COLUMNS, Backend, Change, Row
from cron2queue.runtime.database.instants import seconds
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import (
    MAX_CRASHES,
    PLAINLY_DONE,
    AttemptRecord,
    Cancelled,
    Crashed,
    Done,
    GiveUp,
    Job,
    Outcome,
    Released,
    RetryAt,
    Settlement,
)
from cron2queue.runtime.limits import Controls, LimitId, held_by, turn_of
from cron2queue.runtime.runs import Plain
from cron2queue.runtime.verbs import admission, control, ordering
from cron2queue.text import cut_bytes, to_bytes

MESSAGE_BYTES: Final = 1000
DIAGNOSTIC_BYTES: Final = 8 * 1024
TAIL_BYTES: Final = 64 * 1024

# SET clauses. In each, what reads `state`, `attempts` or `crashes` stands before their own change: MySQL assigns from
# left to right. Uniqueness ends by setting the nullable unique column to NULL, by primary key.
_ENDS: Final = "dedupe = CASE WHEN unique_until IS NULL THEN NULL ELSE dedupe END, turn = NULL, finished_at = {now}"
_LET_GO: Final = "lease = NULL, worker = NULL"


def _ends_if(condition: str) -> str:
    return (
        f"dedupe = CASE WHEN ({condition}) AND unique_until IS NULL THEN NULL ELSE dedupe END, "
        f"turn = CASE WHEN {condition} THEN NULL ELSE turn END, "
        f"finished_at = CASE WHEN {condition} THEN {{now}} ELSE NULL END"
    )


_OVER: Final = "state = 'cancel_requested' OR attempts >= max_attempts"
_CRASHED: Final = f"state = 'cancel_requested' OR attempts >= max_attempts OR crashes + 1 >= {MAX_CRASHES}"
DONE: Final = f"result_ref = ?, message = ?, progress = 1, {_ENDS}, {_LET_GO}, state = 'succeeded'"
DEAD: Final = f"message = ?, {_ENDS}, {_LET_GO}, state = 'dead'"
CANCELLED: Final = (
    f"message = ?, cancel_requested_at = COALESCE(cancel_requested_at, {{now}}), {_ENDS}, {_LET_GO}, state = 'cancelled'"
)
RETRY: Final = (
    f"message = ?, {_ends_if(_OVER)}, {_LET_GO}, run_at = {{now}} + ?, "
    f"due_at = CASE WHEN {_OVER} THEN NULL ELSE {{now}} + ? END, "
    "state = CASE WHEN state = 'cancel_requested' THEN 'cancelled' "
    "WHEN attempts >= max_attempts THEN 'dead' ELSE 'scheduled' END"
)
CRASHED: Final = (
    f"message = ?, {_ends_if(_CRASHED)}, {_LET_GO}, "
    f"due_at = CASE WHEN ({_CRASHED}) OR ? = 0 THEN NULL ELSE {{now}} + ? END, ready_at = {{now}}, "
    f"state = CASE WHEN state = 'cancel_requested' THEN 'cancelled' WHEN {_CRASHED} THEN 'dead' "
    "WHEN ? = 0 THEN 'ready' ELSE 'scheduled' END, crashes = crashes + 1"
)
_ASKED: Final = "state = 'cancel_requested'"
_UNCOUNTED: Final = f"{_ends_if(_ASKED)}, {_LET_GO}, attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END"
RELEASED: Final = (
    f"{_UNCOUNTED}, ready_at = {{now}}, state = CASE WHEN state = 'cancel_requested' THEN 'cancelled' ELSE 'ready' END"
)
RELEASED_FOR_LATER: Final = (
    f"{_UNCOUNTED}, due_at = CASE WHEN {_ASKED} THEN NULL ELSE {{now}} + ? END, "
    "state = CASE WHEN state = 'cancel_requested' THEN 'cancelled' ELSE 'scheduled' END"
)

_COMPLETED: Final = (
    "run_seconds", "exit_status", "signal_number", "max_rss_bytes", "diagnostic", "output_tail", "length",
    "job_id", "run", "lease",
)  # fmt: skip
_SILENT: Final = ((None, None, None, "", "done"), (None, None, None, "", ""))  # of an AttemptRecord, behind its seconds


PLAINLY: Final = (DONE, (None, ""))
Changes = dict[Change, list[tuple[int, str]]]  # with the leases that each is for


def change_of(outcome: Outcome, retry_delay: float | None) -> Change:
    """The SET clause and its parameters."""
    message = safe(outcome.message, MESSAGE_BYTES)
    match outcome:
        case Done():
            return DONE, (None if outcome.result_ref is None else clean(outcome.result_ref, MESSAGE_BYTES), message)
        case GiveUp():
            return DEAD, (message or clean(outcome.reason, MESSAGE_BYTES),)
        case Cancelled():
            return CANCELLED, (message,)
        case RetryAt():
            delay = outcome.delay_seconds if outcome.delay_seconds is not None else retry_delay
            wait = seconds(delay or 0.0)
            return RETRY, (message, wait, wait)
        case Crashed():
            wait = seconds(retry_delay or 0.0)
            return CRASHED, (message or clean(outcome.reason, MESSAGE_BYTES), wait, wait, wait)
        case Released():
            return (RELEASED_FOR_LATER, (seconds(outcome.delay_seconds),)) if outcome.delay_seconds else (RELEASED, ())
        case _:
            assert_never(outcome)


def clean(text: str, limit: int) -> str:
    """Text that every database takes: no NUL, no lone surrogate, at most so many bytes, cut on a character boundary."""
    return cut_bytes(text.replace("\0", "\\0"), limit) if text else text


def safe(text: str, limit: int) -> str:
    """The same of what a handler or program has said; secrets are masked before the cut."""
    return clean(redact(text), limit) if text else text


def ascii_word(text: str, limit: int) -> str:
    """A word for an ASCII column."""
    return text.replace("\0", "").encode("ascii", "replace").decode()[:limit]


def plain(settlement: Settlement) -> Settlement:
    """The same end, with nothing in its texts that could be refused."""
    outcome = replace(settlement.outcome, message="the message could not be stored", diagnostic="")
    if isinstance(outcome, Done):
        outcome = replace(outcome, result_ref=None if outcome.result_ref is None else repr(outcome.result_ref)[:200])
    record = settlement.record
    kept = AttemptRecord(wait_seconds=record.wait_seconds, run_seconds=record.run_seconds, outcome_name=record.outcome_name)
    return settlement._replace(outcome=outcome, record=kept)


def settle(
    session: Session,
    backend: Backend,
    controls: Controls,
    settlements: Sequence[Settlement],
    *,
    keep_record: bool = True,
) -> list[bool]:
    """Write all ends in this transaction. False where the lease was lost: then nothing was written for that job."""
    limited = [each for each in settlements if controls.limits and controls.of_job(each.job.kind, limit_key(each.job))]
    if limited:
        backend.lock_limits(session, None, controls.locks({each.job.kind for each in limited}))
    finished, others = told_apart(settlements) if keep_record else ({}, settlements)
    changes = _by_change(others)
    if changes and len(finished) + len(changes) > 1:
        backend.lock_jobs(session, sorted(each.job.id for each in settlements))
    held: set[int] = set()
    for (claim, worker), ended in finished.items():
        held |= backend.finish(session, PLAINLY, claim, worker, sorted(ended))
    if others:
        held |= _settle_others(session, backend, others, changes, keep_record=keep_record)
    if session.reruns or len(held) < len(settlements):
        held |= settled_before(session, [each for each in settlements if each.job.id not in held])
    admission.free(session, controls, _limits_of(controls, (each.job for each in limited)))
    for turn in turns_of(each.job for each in settlements):
        ordering.pass_on(session, backend, turn)
    return [each.job.id in held for each in settlements]


def told_apart(settlements: Sequence[Settlement]) -> tuple[dict[tuple[str, str], list[Plain]], Sequence[Settlement]]:
    """Those that ended well and have nothing to say, which are most, by their claim and worker; and all others."""
    plain: dict[tuple[str, str], list[Plain]] = {}
    others: list[Settlement] = []
    for each in settlements:
        job, outcome, _, record = each
        token, worker = job.lease
        silent = (outcome is PLAINLY_DONE or outcome == PLAINLY_DONE) and record[2:] in _SILENT
        claim = token.removesuffix(str(job.id))
        lasted = record.run_seconds
        if silent and lasted is not None and record.wait_seconds in (None, job.waited_seconds) and claim != token:
            ended = Plain(job.id, job.run, job.attempt, job.waited_seconds, lasted)
            plain.setdefault((claim, worker), []).append(ended)
        else:
            others.append(each)
    return plain, others


def _settle_others(
    session: Session, backend: Backend, settlements: Sequence[Settlement], changes: Changes, *, keep_record: bool
) -> set[int]:
    held: set[int] = set()
    for (clause, parameters), leases in changes.items():
        held |= backend.fenced(session, clause, parameters, leases)
    _pause_kinds(session, backend, settlements, held)
    ended = [each for each in settlements if each.job.id in held and not isinstance(each.outcome, Released)]
    if keep_record and ended:
        backend.keep_records(session, [_record_cells(each) for each in ended])
    return held


def _by_change(settlements: Sequence[Settlement]) -> Changes:
    """The leases of equal changes together, in the order of ids."""
    groups: Changes = {}
    for each in sorted(settlements, key=lambda one: one.job.id):
        change = change_of(each.outcome, each.retry_delay)
        groups.setdefault(change, []).append((each.job.id, each.job.lease.token))
    return groups


def limit_key(job: Job) -> bytes | None:
    """The key that limits by key look at."""
    key = job.limit_key if job.limit_key is not None else job.key
    return None if key is None else to_bytes(key)


def _limits_of(controls: Controls, jobs: Iterable[Job]) -> list[tuple[LimitId, bytes]]:
    pairs = ((job, limit_key(job)) for job in jobs)
    return list({(limit, held_by(limit, key)) for job, key in pairs for limit in controls.of_job(job.kind, key)})


def turns_of(jobs: Iterable[Job]) -> list[bytes]:
    """The turns that these jobs may have left, in one order."""
    return sorted({turn_of(job.ordering_key) for job in jobs if job.ordering_key is not None})


def _pause_kinds(session: Session, backend: Backend, settlements: Sequence[Settlement], held: set[int]) -> None:
    for each in settlements:
        outcome = each.outcome
        if isinstance(outcome, RetryAt) and outcome.pause_kind_seconds is not None and each.job.id in held:
            control.pause_kind(session, backend, each.job.kind, outcome.pause_kind_seconds)


def _record_cells(each: Settlement) -> Row:
    """What is kept of an attempt. Instants are the database's, lengths the worker's own."""
    job, kept, outcome = each.job, each.record, each.outcome
    reason = outcome.reason if isinstance(outcome, (GiveUp, Crashed)) else ""
    return (
        job.id, job.run, job.attempt, job.lease.token, job.lease.worker, _word_for(each), kept.exit_status, kept.signal,
        kept.wait_seconds if kept.wait_seconds is not None else job.waited_seconds, kept.run_seconds, kept.max_rss_bytes,
        safe(outcome.message, MESSAGE_BYTES) or clean(reason, MESSAGE_BYTES) or None,
        safe(outcome.diagnostic, DIAGNOSTIC_BYTES) or None, safe(kept.output_tail, TAIL_BYTES) or None,
        seconds(kept.run_seconds or 0.0),
    )  # fmt: skip


def complete_records(session: Session, settlements: Sequence[Settlement]) -> None:
    """What only the worker knows of attempts that their own transactions have ended: how long they took, what they printed."""
    statement = (
        "UPDATE {attempts} SET run_seconds = ?, exit_status = ?, signal_number = ?, max_rss_bytes = ?, diagnostic = ?, "
        "output_tail = ?, started_at = {now} - ?, ended_at = {now} WHERE job_id = ? AND run = ? AND lease = ?"
    )
    for each in settlements:
        cells = dict(zip((*RECORD_COLUMNS, "length"), _record_cells(each), strict=True))
        session.run(statement, [cells[name] for name in _COMPLETED])


def is_completed(session: Session, job: Job) -> bool:
    """Whether this attempt was completed under its own lease; a rescue names it as well."""
    query = "SELECT 1 FROM {attempts} WHERE job_id = ? AND run = ? AND lease = ? AND outcome = 'done'"
    return session.value(query, (job.id, job.run, job.lease.token)) is not None


def outcome_name(outcome: Outcome) -> str:
    """The word for an outcome where the worker gave none of its own (timeout, out-of-memory, ...)."""
    names = {
        Done: "done",
        RetryAt: "retry",
        GiveUp: "gave-up",
        Cancelled: "cancelled",
        Crashed: "crashed",
        Released: "released",
    }
    return names[type(outcome)]


def settled_before(session: Session, settlements: Sequence[Settlement]) -> set[int]:
    """Those that ended just so under this very lease before: a COMMIT whose answer was lost, or transaction()."""
    query = "SELECT lease, outcome FROM {attempts} WHERE job_id = ? AND run = ?"
    found = {each.job.id: session.row(query, (each.job.id, each.job.run)) for each in settlements}
    return {each.job.id for each in settlements if found[each.job.id] == (each.job.lease.token, _word_for(each))}


def _word_for(settlement: Settlement) -> str:
    return ascii_word(settlement.record.outcome_name or outcome_name(settlement.outcome), 32)
