"""One field of a schedule: what it may hold, and what a daemon made of it."""

from __future__ import annotations

from typing import NamedTuple

from cron2queue.expressions import regex
from cron2queue.record import Record

MONTH_NAMES = (b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec")
DAY_NAMES = (b"sun", b"mon", b"tue", b"wed", b"thu", b"fri", b"sat")


class FieldSpec(Record):
    """`name` as the daemons' messages say it, the values allowed, and the names of them from `low` on."""

    name: str
    low: int
    high: int
    names: tuple[bytes, ...] = ()


MINUTE = FieldSpec(name="minute", low=0, high=59)
HOUR = FieldSpec(name="hour", low=0, high=23)
DAY = FieldSpec(name="day-of-month", low=1, high=31)
MONTH = FieldSpec(name="month", low=1, high=12, names=MONTH_NAMES)
# Some daemons hold an eighth name so that a range may end in Sunday; vixie's list has it too.
WEEKDAY = FieldSpec(name="day-of-week", low=0, high=7, names=DAY_NAMES)
FIELDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


class FieldValue(NamedTuple):
    """An accepted field: the set (one draw of it when `possible` is given) and what the daemon grumbled about it."""

    bits: int
    possible: int | None = None
    warnings: tuple[str, ...] = ()


class FieldError(NamedTuple):
    """A refused field: how many bytes the daemon had read of it, counted from its start, and its item's start.

    `took_separator`: it had read what ends the field as well, and looks for the end of the line behind that.
    """

    consumed: int
    at: int = 0
    took_separator: bool = False


ALNUM = regex(rb"[0-9A-Za-z]*")


def int32(text: bytes) -> int:
    """The C library's atoi on a 64-bit machine: saturated to 64 bits, then cut to 32."""
    digits = text.lstrip(b"0")[:20] or b"0"
    value = min(int(digits), 2**63 - 1) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def stepped(first: int, last: int, step: int, spec: FieldSpec) -> int | None:
    """Bits first, first+step, ... up to last; None as soon as a value is not allowed. Bounded by the field's size."""
    if first > last:
        return 0
    if first < spec.low or first > spec.high or (step < 0):
        return None
    bits = 0
    for value in range(first, last + 1, step):
        if value > spec.high:
            return None
        bits |= 1 << value
    return bits


def middle_bit(bits: int) -> int:
    """One value of a set as a single bit: the middle one, as a stand-in for a random draw."""
    values = [position for position in range(bits.bit_length()) if bits >> position & 1]
    return 1 << values[len(values) // 2]
