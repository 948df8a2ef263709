"""A new job, checked and turned into the row that will be inserted, before any database sees it."""

from __future__ import annotations

from functools import cache, lru_cache

from cron2queue.record import Record
from cron2queue.runtime.backend import Row
from cron2queue.runtime.database.exact import digest, exact, random_hex, to_bytes
from cron2queue.runtime.database.instants import seconds, to_micros
from cron2queue.runtime.jobs import Forever, NewJob, Period, WhileActive
from cron2queue.runtime.limits import UNTIL_PRUNED, turn_of
from cron2queue.runtime.trouble import JobRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final

PAYLOAD_LIMIT: Final = 256 * 1024  # bytes
DEPTH_LIMIT: Final = 64  # levels of lists and objects
_BEGINNING = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_SIGNS = _BEGINNING | frozenset(".:-")
_HEX = frozenset("0123456789abcdef")
_FLAT = frozenset({str, int, float, bool, type(None)})
_INT = 2**31 - 1


class Draft(Record):
    """A job that may be stored: everything about it is within bounds."""

    job: NewJob
    public_id: str
    payload: str
    key: bytes | None
    dedupe: bytes | None
    period: int | None  # microseconds of uniqueness, UNTIL_PRUNED, or None while active
    ordering_key: bytes | None
    turn: bytes | None
    run_at: int | None
    certain: bool  # no unique index can refuse it: its public id was made just now, and nothing else in it is unique
    timeless: bool  # nothing in its row hangs on what time it is, or on who has a turn

    def timeless_row(self) -> Row:
        """Its row without the times, which are all the moment at which it is inserted."""
        job = self.job
        return (
            self.public_id, job.queue, job.kind, self.key, self.dedupe, self.period, self.payload, "ready", job.priority, None,
            None, job.max_attempts, None, None, exact(job.limit_key), None, None, exact(job.owner), job.trace_context, None,
            None,
        )  # fmt: skip

    def row(self, *, now: int, has_turn: bool) -> Row:
        """Its row, for NEW_COLUMNS: ready, or scheduled for later, or blocked behind another of its ordering key."""
        job, later = self.job, self.run_at is not None and self.run_at > now
        blocked = self.turn is not None and not has_turn
        state = "blocked" if blocked else "scheduled" if later else "ready"
        until = self.period if self.period in (None, UNTIL_PRUNED) else now + (self.period or 0)
        return (
            self.public_id, job.queue, job.kind, self.key, self.dedupe, until, self.payload, state, job.priority,
            now if self.run_at is None else self.run_at,
            self.run_at if state == "scheduled" else None, job.max_attempts, self.ordering_key, self.turn if has_turn else None,
            exact(job.limit_key), self.turn if blocked else None, 0 if blocked else None, exact(job.owner), job.trace_context,
            now, now if state == "ready" else None,
        )  # fmt: skip


def drafts_of(jobs: Sequence[NewJob], *, payload_limit: int = PAYLOAD_LIMIT) -> list[Draft]:
    """Check many jobs; their public ids are cut from one piece of randomness."""
    digits = random_hex(16 * len(jobs))
    return [
        draft(job, payload_limit=payload_limit, public_id=digits[at : at + 32])
        for job, at in zip(jobs, range(0, len(digits), 32), strict=True)
    ]


def draft(job: NewJob, *, payload_limit: int = PAYLOAD_LIMIT, public_id: str | None = None) -> Draft:
    """Check a job, which gets this public id if it has none. JobRefused tells what is out of bounds; nothing is ever cut."""
    _check_words(job.queue, job.kind, job.priority, job.max_attempts)
    _check_rest(job)
    key = None if job.key is None else _bounded("key", job.key, 1024)
    ordering_key = None if job.ordering_key is None else _bounded("ordering key", job.ordering_key, 255)
    period = None if type(job.unique) is WhileActive else _period(job)
    if job.owner is not None:
        _bounded("owner", job.owner, 255)
    if job.limit_key is not None:
        _bounded("limit key", job.limit_key, 1024)
    if job.trace_context is not None:
        _bounded("trace context", job.trace_context, 1000)
    return Draft(
        job=job,
        public_id=job.public_id or public_id or random_hex(16),
        payload=payload_text(job.payload, limit=payload_limit),
        key=key,
        dedupe=None if key is None else _dedupe(job, key),
        period=period,
        ordering_key=ordering_key,
        turn=None if job.ordering_key is None else turn_of(job.ordering_key),
        run_at=None if job.run_at is None else to_micros(job.run_at),
        certain=key is None and ordering_key is None and job.public_id is None,
        timeless=job.run_at is None and ordering_key is None and (period is None or period == UNTIL_PRUNED),
    )


def _dedupe(job: NewJob, key: bytes) -> bytes:
    scope = type(job.unique).__name__.encode()
    return digest(b"job", scope, job.kind.encode(), key)


def _period(job: NewJob) -> int | None:
    if isinstance(job.unique, Period):
        return seconds(job.unique.seconds)
    return UNTIL_PRUNED if isinstance(job.unique, Forever) else None


def checked_name(what: str, name: str, longest: int) -> str:
    """The name of a queue, kind or event, if it may be one."""
    if isinstance(name, str) and len(name) <= longest and _is_name(name):
        return name
    raise JobRefused(
        f"{name!r} cannot be the name of a {what}",
        remedy=f"use at most {longest} ASCII letters, digits, '_', '.', ':' and '-', beginning with a letter, digit or '_'",
    )


@lru_cache(maxsize=1024)
def _is_name(name: str) -> bool:
    return name[:1] in _BEGINNING and _SIGNS.issuperset(name)


def _check_words(queue: str, kind: str, priority: int, max_attempts: int) -> None:
    """What jobs of one producer mostly share, and is looked at once."""
    try:
        _check_once(queue, kind, priority, max_attempts)
    except TypeError:  # what cannot be hashed is no name, or no number
        _check_once.__wrapped__(queue, kind, priority, max_attempts)


@lru_cache(maxsize=1024, typed=True)
def _check_once(queue: str, kind: str, priority: int, max_attempts: int) -> None:
    checked_name("queue", queue, 64)
    checked_name("kind", kind, 128)
    if not 1 <= max_attempts <= 1_000_000:
        raise JobRefused(f"max_attempts is {max_attempts}", remedy="it counts runs, the first included: from 1 to 1000000")
    if not -_INT <= priority <= _INT:
        raise JobRefused(f"the priority {priority} does not fit into 32 bits", remedy="use small numbers; lower runs first")


def _check_rest(job: NewJob) -> None:
    if job.public_id is not None and not (len(job.public_id) == 32 and _HEX.issuperset(job.public_id)):
        raise JobRefused("a public id is 32 hexadecimal digits", remedy="leave it out: one is made for you")
    if job.trace_context is not None and not job.trace_context.isprintable():
        raise JobRefused("the trace context holds control characters", remedy="hand over a traceparent as W3C defines it")
    if job.run_at is not None and job.run_at.tzinfo is None:
        raise JobRefused("run_at has no time zone", remedy="hand over an aware datetime, e.g. datetime.now(UTC) + delay")
    if isinstance(job.unique, Period) and not job.unique.seconds > 0:
        raise JobRefused("a period of uniqueness must be longer than nothing", remedy="give its seconds")


def _bounded(what: str, text: str, limit: int) -> bytes:
    try:
        data = to_bytes(text)
    except UnicodeEncodeError:
        raise JobRefused(f"the {what} holds characters that cannot be stored", remedy="hand over valid text") from None
    if len(data) > limit:
        raise JobRefused(f"the {what} has {len(data)} bytes, more than {limit}", remedy="use a hash of it")
    return data


def payload_text(payload: Any, *, limit: int = PAYLOAD_LIMIT) -> str:
    """The payload as JSON within the limits: strict JSON (no NaN), valid UTF-8, not too deep, not too large."""
    if payload is None:
        return "null"
    _check_depth(payload)
    try:
        text = _encoder(False)(payload)
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:  # lone surrogates: escaped they are valid JSON
        text = _encoder(True)(payload)
        size = len(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise JobRefused(f"the payload is not JSON: {error}", remedy="use text, numbers, lists and objects only") from None
    if size > limit:
        raise JobRefused(
            f"the payload has {size} bytes, more than {limit}", remedy="store the data elsewhere and hand over a reference"
        )
    return text


@cache
def _encoder(ascii_only: bool) -> Callable[[Any], str]:
    """Strict JSON without blanks. That nothing holds itself was seen when its depth was."""
    from json import JSONEncoder, encoder  # most ticks have nothing to say

    made = JSONEncoder(allow_nan=False, ensure_ascii=ascii_only, separators=(",", ":"), check_circular=False)
    in_c = getattr(encoder, "c_make_encoder", None)  # encode() makes one of them for each value
    if in_c is None:
        return made.encode
    quote = encoder.encode_basestring_ascii if ascii_only else encoder.encode_basestring
    pieces = in_c(None, made.default, quote, None, ":", ",", False, False, False)
    return lambda payload: "".join(pieces(payload, 0))


def _check_depth(payload: Any) -> None:
    if type(payload) is dict and _FLAT.issuperset(map(type, payload.values())):
        return
    level: list[Any] = [payload] if isinstance(payload, (dict, list, tuple)) else []
    for _ in range(DEPTH_LIMIT):
        if not level:
            return
        inside = level
        level = []
        for each in inside:
            for value in each.values() if isinstance(each, dict) else each:
                if isinstance(value, (dict, list, tuple)):
                    level.append(value)
    if level:
        raise JobRefused(f"the payload is nested deeper than {DEPTH_LIMIT} levels", remedy="flatten it")
