"""Counts how many bit sets hold each minute, on whole integers instead of minute by minute."""

from collections.abc import Iterable, Iterator


def _added(planes: list[int], bits: int) -> None:
    """Add 1 to each counter whose bit is set: plane k holds bit k of all counters."""
    at = 0
    while bits:
        if at == len(planes):
            planes.append(0)
        carry = planes[at] & bits
        planes[at] ^= bits
        bits = carry
        at += 1


def add(planes: list[int], bits: int) -> None:
    """One more in each minute of the set."""
    _added(planes, bits)


def take(planes: list[int], bits: int) -> None:
    """One less in each minute of the set; all of them were counted before."""
    at = 0
    while bits:
        borrow = bits & ~planes[at]
        planes[at] ^= bits
        bits = borrow
        at += 1


def counters(sets: Iterable[int]) -> list[int]:
    """The planes of the sum of all sets."""
    planes: list[int] = []
    for bits in sets:
        _added(planes, bits)
    return planes


def peak(planes: list[int], within: int) -> tuple[int, int]:
    """The highest counter among the minutes `within`, and the set of the minutes that have it."""
    best, candidates = 0, within
    for at in range(len(planes) - 1, -1, -1):
        hit = candidates & planes[at]
        if hit:
            candidates = hit
            best |= 1 << at
    return best, candidates


def at_least(planes: list[int], level: int) -> int:
    """The set of the minutes whose counter is `level` or more; `level` is positive."""
    equal, more = -1, 0
    for at in range(max(len(planes), level.bit_length()) - 1, -1, -1):
        plane = planes[at] if at < len(planes) else 0
        if level >> at & 1:
            equal &= plane
        else:
            more |= equal & plane
            equal &= ~plane
    return more | equal if equal >= 0 else more


def minutes_of(bits: int) -> Iterator[int]:
    """Positions of the set bits, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def smeared(bits: int, length: int) -> int:
    """Each set bit followed by `length - 1` more: the minutes in which something that starts there is alive."""
    done = 1
    while done < length:
        step = min(done, length - done)
        bits |= bits << step
        done += step
    return bits
