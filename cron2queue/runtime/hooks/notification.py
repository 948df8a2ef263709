"""One round of telling hooks: what is new, at most so often an hour, and again next time when a hook could not be told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cron2queue.runtime.health import Judgement
from cron2queue.runtime.hooks.delivery import Delivery, deliver
from cron2queue.runtime.hooks.hook import Event, Hook
from cron2queue.runtime.hooks.marks import Marks
from cron2queue.runtime.hooks.occurrences import Occurrences
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.sight.views import StatusView

_HOUR = 3600
MOST_FAILURES = 3  # in a row: a hook that cannot be reached is left alone until the next round
_MOST = 100_000  # told and suppressed in one hour, in the two halves of one mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Tells each hook its news. `tell` is replaced in tests."""

    inspection: Inspection
    marks: Marks
    hooks: Sequence[Hook]
    tell: Callable[[Hook, Event], Delivery] = deliver

    def run(self, status: StatusView, judgements: Sequence[Judgement]) -> Iterator[Delivery]:
        """Each attempt to tell a hook, with its problem if it had one."""
        for hook in self.hooks:
            found = Occurrences(inspection=self.inspection, marks=self.marks, hook=hook)
            failures = 0
            for news in found.news(status, judgements):
                leave = self._leave(hook, int(status.at.timestamp()) // _HOUR)
                if leave is None:
                    continue
                delivery = self.tell(hook, replace(news.event, suppressed=leave.suppressed))
                failures = failures + 1 if delivery.problem else 0
                if delivery.problem:  # what was not heard was not told: it comes again, and does not count
                    news.take_back()
                    leave.take_back()
                yield delivery
                if failures == MOST_FAILURES:
                    break

    def _leave(self, hook: Hook, hour: int) -> "Leave | None":
        """Leave to tell the hook once more in this hour; None when it has been told enough."""
        name = f"hook:{hook.name}:allowance"
        for _ in range(20):
            old = self.marks.read(name)
            then, told, suppressed = _unpacked(old or 0)
            told = told if then == hour else 0
            allowed = told < hook.at_most_per_hour
            new = _packed(hour, told + 1, 0) if allowed else _packed(hour, told, suppressed + 1)
            if self.marks.move(name, old, new):
                return Leave(suppressed, lambda new=new, old=old: self.marks.move(name, new, old or 0)) if allowed else None  # type: ignore[misc]
        return None


class Leave(NamedTuple):
    """Leave to tell once: how many events were not told since the last one, and how to give the leave back unused."""

    suppressed: int
    take_back: Callable[[], object]


def _packed(hour: int, told: int, suppressed: int) -> int:
    return (hour * _MOST + min(told, _MOST - 1)) * _MOST + min(suppressed, _MOST - 1)


def _unpacked(value: int) -> tuple[int, int, int]:
    return value // _MOST // _MOST, value // _MOST % _MOST, value % _MOST
