"""A new job, checked and turned into the row that will be inserted, before any database sees it."""

from __future__ import annotations

from _operator import attrgetter
from functools import cache, lru_cache

from cron2queue.record import Record
from cron2queue.runtime.backend import Row
from cron2queue.runtime.database.exact import digest, random_hex, to_bytes
from cron2queue.runtime.database.instants import seconds, to_micros
from cron2queue.runtime.jobs import Forever, NewJob, Period
from cron2queue.runtime.limits import UNTIL_PRUNED, turn_of
from cron2queue.runtime.trouble import JobRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from typing import Any, Final

    from cron2queue.runtime.jobs import UniqueScope

PAYLOAD_LIMIT: Final = 256 * 1024  # bytes
DEPTH_LIMIT: Final = 64  # levels of lists and objects
_BEGINNING = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_SIGNS = _BEGINNING | frozenset(".:-")
_HEX = frozenset("0123456789abcdef")
_FLAT = frozenset({str, int, float, bool, type(None)})
_INT = 2**31 - 1


class Terms(Record):
    """What a job asks for beside its payload, its key and its id, checked and as it is stored. Most jobs of a bulk share it."""

    queue: str
    kind: str
    priority: int
    max_attempts: int
    period: int | None  # microseconds of uniqueness, UNTIL_PRUNED, or None while active
    scope: bytes  # of the uniqueness
    ordering_key: bytes | None
    turn: bytes | None
    run_at: int | None
    limit_key: bytes | None
    owner: bytes | None
    trace_context: str | None
    timeless: bool  # nothing in its row hangs on what time it is, or on who has a turn
    rest: Row  # behind the payload in a row that names no time


class Draft:
    """A job that may be stored: everything about it is within bounds. A bulk makes many; a record would take it much longer."""

    __slots__ = ("certain", "dedupe", "job", "key", "payload", "public_id", "terms")

    def __init__(self, job: NewJob, terms: Terms, public_id: str, payload: str, key: bytes | None) -> None:
        self.job = job
        self.terms = terms
        self.public_id = public_id if job.public_id is None else job.public_id
        self.payload = payload
        self.key = key
        self.dedupe = None if key is None else digest(b"job", terms.scope, terms.kind.encode(), key)
        # No unique index can refuse it: its public id was made just now, and nothing else in it is unique.
        self.certain = key is None and terms.ordering_key is None and job.public_id is None

    def timeless_row(self) -> Row:
        """Its row without the times, which are all the moment at which it is inserted."""
        terms = self.terms
        return (self.public_id, terms.queue, terms.kind, self.key, self.dedupe, terms.period, self.payload, *terms.rest)

    def row(self, *, now: int, has_turn: bool) -> Row:
        """Its row, for NEW_COLUMNS: ready, or scheduled for later, or blocked behind another of its ordering key."""
        terms = self.terms
        later = terms.run_at is not None and terms.run_at > now
        blocked = terms.turn is not None and not has_turn
        state = "blocked" if blocked else "scheduled" if later else "ready"
        until = terms.period if terms.period in (None, UNTIL_PRUNED) else now + (terms.period or 0)
        return (
            self.public_id, terms.queue, terms.kind, self.key, self.dedupe, until, self.payload, state, terms.priority,
            now if terms.run_at is None else terms.run_at,
            terms.run_at if state == "scheduled" else None, terms.max_attempts, terms.ordering_key,
            terms.turn if has_turn else None, terms.limit_key, terms.turn if blocked else None, 0 if blocked else None,
            terms.owner, terms.trace_context, now, now if state == "ready" else None,
        )  # fmt: skip


def drafts_of(jobs: Iterable[NewJob], *, payload_limit: int = PAYLOAD_LIMIT) -> list[Draft]:
    """Check many jobs; their public ids are cut from one piece of randomness, and what is asked as before is checked."""
    jobs = tuple(jobs)
    digits, at = random_hex(16 * len(jobs)), 0
    said: tuple[Any, ...] = ()
    made: list[Draft] = []
    for job in jobs:
        if (words := _WORDS(job)) != said:
            terms, said = _terms(words), words
        made.append(_drafted(job, terms, digits[at : at + 32], payload_limit))
        at += 32
    return made


def draft(job: NewJob, *, payload_limit: int = PAYLOAD_LIMIT) -> Draft:
    """Check a job, which gets a public id if it has none. JobRefused tells what is out of bounds; nothing is ever cut."""
    return _drafted(job, _terms(_WORDS(job)), random_hex(16), payload_limit)


def _drafted(job: NewJob, terms: Terms, public_id: str, limit: int) -> Draft:
    if job.public_id is not None:
        _check_public_id(job.public_id)
    key = None if job.key is None else _bounded("key", job.key, 1024)
    return Draft(job, terms, public_id, payload_text(job.payload, limit=limit), key)


_WORDS: Final = attrgetter(
    "queue", "kind", "priority", "max_attempts", "unique", "ordering_key", "run_at", "limit_key", "owner", "trace_context"
)


def _terms(words: tuple[Any, ...]) -> Terms:
    try:
        return _checked(*words)
    except TypeError:  # what cannot be hashed is no name, or no number
        return _checked.__wrapped__(*words)


@lru_cache(maxsize=256, typed=True)
def _checked(
    queue: str, kind: str, priority: int, max_attempts: int, unique: UniqueScope, ordering_key: str | None,
    run_at: datetime | None, limit_key: str | None, owner: str | None, trace_context: str | None,
) -> Terms:  # fmt: skip
    """What jobs of one producer mostly share, and is looked at once."""
    _check_words(queue, kind, priority, max_attempts)
    _check_times(unique, run_at)
    period = _period(unique)
    limit = None if limit_key is None else _bounded("limit key", limit_key, 1024)
    asker = None if owner is None else _bounded("owner", owner, 255)
    trace = None if trace_context is None else _printable(trace_context)
    return Terms(
        queue=queue,
        kind=kind,
        priority=priority,
        max_attempts=max_attempts,
        period=period,
        scope=type(unique).__name__.encode(),
        ordering_key=None if ordering_key is None else _bounded("ordering key", ordering_key, 255),
        turn=None if ordering_key is None else turn_of(ordering_key),
        run_at=None if run_at is None else to_micros(run_at),
        limit_key=limit,
        owner=asker,
        trace_context=trace,
        timeless=run_at is None and ordering_key is None and (period is None or period == UNTIL_PRUNED),
        rest=("ready", priority, None, None, max_attempts, None, None, limit, None, None, asker, trace, None, None),
    )


def _period(unique: UniqueScope) -> int | None:
    if isinstance(unique, Period):
        return seconds(unique.seconds)
    return UNTIL_PRUNED if isinstance(unique, Forever) else None


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
    checked_name("queue", queue, 64)
    checked_name("kind", kind, 128)
    if not 1 <= max_attempts <= 1_000_000:
        raise JobRefused(f"max_attempts is {max_attempts}", remedy="it counts runs, the first included: from 1 to 1000000")
    if not -_INT <= priority <= _INT:
        raise JobRefused(f"the priority {priority} does not fit into 32 bits", remedy="use small numbers; lower runs first")


def _check_times(unique: UniqueScope, run_at: datetime | None) -> None:
    if run_at is not None and run_at.tzinfo is None:
        raise JobRefused("run_at has no time zone", remedy="hand over an aware datetime, e.g. datetime.now(UTC) + delay")
    if isinstance(unique, Period) and not unique.seconds > 0:
        raise JobRefused("a period of uniqueness must be longer than nothing", remedy="give its seconds")


def _check_public_id(public_id: str) -> None:
    if not (len(public_id) == 32 and _HEX.issuperset(public_id)):
        raise JobRefused("a public id is 32 hexadecimal digits", remedy="leave it out: one is made for you")


def _printable(context: str) -> str:
    if not context.isprintable():
        raise JobRefused("the trace context holds control characters", remedy="hand over a traceparent as W3C defines it")
    _bounded("trace context", context, 1000)
    return context


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
