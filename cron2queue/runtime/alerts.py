"""Alert limits from the plan: the table [alerts] for every queue, [alerts.queues.NAME] for one.

Each limit is one number (critical from there) or a pair [warning, critical]; `false` switches a judgement off.

    [alerts]
    oldest-age = [450, 900]      # seconds; without it, half of the queue's age-limit and the age-limit
    depth = [5000, 10000]        # jobs; without it, half of the queue's depth-limit and the depth-limit
    dead = [1, 100]              # dead jobs of the queue
    refused = [1, 1000]          # jobs that found the queue full in the last hour
    no-worker = true             # ready jobs and no living worker
    unclaimed-kind = true        # ready jobs of a kind that no worker knows
    missed-tick = [1, 3]         # ticks of one entry, in the queue of its jobs
    lease-lost = [1, 10]         # refused writes in the last hour
    clock-skew = [2, 30]         # seconds between this host and the database; belongs to no queue
    [alerts.queues.mail]
    dead = false
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import ceil
from types import MappingProxyType
from typing import Any

from cron2queue.runtime.plan_tables import Unfit, read_table, tables_of
from cron2queue.runtime.settings import flag


@dataclass(frozen=True, slots=True)
class Threshold:
    """From `warning` on it is a warning, from `critical` on it is critical; None: never."""

    warning: float | None = None
    critical: float | None = None


OFF = Threshold()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAlerts:
    """What is watched for one queue; None for age and depth: taken from the queue's own limits."""

    oldest_age: Threshold | None = None
    depth: Threshold | None = None
    dead: Threshold = Threshold(1, None)
    refused: Threshold = Threshold(1, None)
    no_worker: bool = True
    unclaimed_kind: bool = True
    missed_tick: Threshold = Threshold(1, 3)
    lease_lost: Threshold = Threshold(1, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """Every alert limit of a plan."""

    default: QueueAlerts = QueueAlerts()
    queues: Mapping[str, QueueAlerts] = field(default_factory=lambda: MappingProxyType({}))
    clock_skew: Threshold = Threshold(2, 30)

    def of(self, queue: str) -> QueueAlerts:
        """The limits for this queue."""
        return self.queues.get(queue, self.default)

    @property
    def counted_to(self) -> int:
        """How far jobs must be counted for the highest limit to be seen."""
        limits = [limit for each in (self.default, *self.queues.values()) for limit in (each.depth or OFF, each.dead)]
        return ceil(max(limit.critical or limit.warning or 0 for limit in limits))


def alert_settings(document: Mapping[str, Any]) -> AlertSettings:
    """The alert limits of a parsed plan. Raises UsageError that names the key and what it takes."""
    table = document.get("alerts", {})
    own = {name: value for name, value in table.items() if name != "queues"} if isinstance(table, dict) else table
    read = read_table(own, "alerts", {**_QUEUE, **_HOST})
    default = replace(QueueAlerts(), **{name: value for name, value in read.items() if name in _QUEUE_FIELDS})
    queues = {
        name: replace(default, **read_table(each, f"alerts.queues.{name}", _QUEUE))
        for name, each in tables_of(table, "queues", "alerts.queues").items()
    }
    rest = {name: value for name, value in read.items() if name not in _QUEUE_FIELDS}
    return replace(AlertSettings(default=default, queues=MappingProxyType(queues)), **rest)


def _threshold(value: object) -> Threshold:
    if value is False:
        return OFF
    if _is_limit(value):
        return Threshold(None, float(value))  # type: ignore[arg-type]
    if isinstance(value, list) and len(value) == 2 and all(map(_is_limit, value)) and value[0] <= value[1]:
        return Threshold(float(value[0]), float(value[1]))
    raise Unfit("a number, [warning, critical] or false")


def _is_limit(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**12


_QUEUE: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys(("oldest-age", "depth", "dead", "refused", "missed-tick", "lease-lost"), _threshold),
    **dict.fromkeys(("no-worker", "unclaimed-kind"), flag),
}
_HOST: Mapping[str, Callable[[object], Any]] = {"clock-skew": _threshold}
_QUEUE_FIELDS = frozenset(each.name for each in fields(QueueAlerts))
