"""The variables in force at each entry of a file: many assignments must not be copied for every entry after them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping
from operator import itemgetter

# So few are copied: a dict answers faster than a search in the past.
_FEW = 64


class Variables:
    """What the assignments of one file set, in order; `now` is what holds after the last of them."""

    def __init__(self) -> None:
        self.now: dict[str, str] = {}
        self._past: dict[str, list[tuple[int, str]]] = {}
        self._count = 0

    def set(self, name: str, value: str) -> None:
        """One more assignment."""
        self._count += 1
        self.now[name] = value
        self._past.setdefault(name, []).append((self._count, value))

    def in_force(self, defaults: Mapping[str, str], forced: Mapping[str, str]) -> Mapping[str, str]:
        """What holds here, whatever is set later: the file's own over the defaults, and under what is forced."""
        if len(self.now) <= _FEW:
            return {**defaults, **self.now, **forced}
        return _AsOf(self._past, self._count, defaults, forced)


class _AsOf(Mapping[str, str]):
    """The variables as they were after so many assignments; all of one file look into the same past."""

    __slots__ = ("_count", "_defaults", "_forced", "_past")

    def __init__(
        self,
        past: Mapping[str, list[tuple[int, str]]],
        count: int,
        defaults: Mapping[str, str],
        forced: Mapping[str, str],
    ) -> None:
        self._past = past
        self._count = count
        self._defaults = defaults
        self._forced = forced

    def __getitem__(self, name: str) -> str:
        if name in self._forced:
            return self._forced[name]
        values = self._past.get(name)
        return self._last(values) if values and values[0][0] <= self._count else self._defaults[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def items(self) -> ItemsView[str, str]:
        """All at once, which is quicker than one by one."""
        return self._whole().items()

    def _whole(self) -> dict[str, str]:
        return {**self._defaults, **dict(self._assigned()), **self._forced}

    def _assigned(self) -> Iterator[tuple[str, str]]:
        """Names come in the order in which they were set first."""
        for name, values in self._past.items():
            if values[0][0] > self._count:
                return
            yield name, values[0][1] if len(values) == 1 else self._last(values)

    def _last(self, values: list[tuple[int, str]]) -> str:
        return values[bisect_right(values, self._count, key=itemgetter(0)) - 1][1]
