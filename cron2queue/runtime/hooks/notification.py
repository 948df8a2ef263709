"""One round of telling hooks: what is new, at most so often an hour, and again next time when a hook could not be told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from cron2queue.runtime.health import Judgement
from cron2queue.runtime.hooks.delivery import Delivery, deliver
from cron2queue.runtime.hooks.hook import Event, Hook
from cron2queue.runtime.hooks.marks import Marks
from cron2queue.runtime.hooks.occurrences import Occurrences
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.sight.views import StatusView

_HOUR = 3600
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
            for news in found.news(status, judgements):
                allowed, suppressed = self._allowance(hook, int(status.at.timestamp()) // _HOUR)
                if not allowed:
                    continue
                delivery = self.tell(hook, replace(news.event, suppressed=suppressed))
                if delivery.problem:
                    news.take_back()
                yield delivery

    def _allowance(self, hook: Hook, hour: int) -> tuple[bool, int]:
        """Whether the hook may be told once more in this hour, and how many it was not told since it was told last."""
        name = f"hook:{hook.name}:allowance"
        for _ in range(20):
            old = self.marks.read(name)
            then, told, suppressed = _unpacked(old or 0)
            told = told if then == hour else 0
            allowed = told < hook.at_most_per_hour
            new = _packed(hour, told + 1, 0) if allowed else _packed(hour, told, suppressed + 1)
            if self.marks.move(name, old, new):
                return allowed, suppressed
        return False, 0


def _packed(hour: int, told: int, suppressed: int) -> int:
    return (hour * _MOST + min(told, _MOST - 1)) * _MOST + min(suppressed, _MOST - 1)


def _unpacked(value: int) -> tuple[int, int, int]:
    return value // _MOST // _MOST, value // _MOST % _MOST, value % _MOST
