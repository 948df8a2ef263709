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
