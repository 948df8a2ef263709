"""Names and times at the broker: what relay and workers declare, so that both declare the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cron2queue.errors import UsageError
from cron2queue.runtime.settings import JobSettings, Settings

if TYPE_CHECKING:
    from kombu import Exchange, Queue

TASK_PREFIX: Final = "c2q."
APPLICATION: Final = "celery_app"  # the module that convert writes beside the plan
# A message may wait in a worker until its queue's limit has room for its job; after that the broker has it again.
ADMISSION_SECONDS: Final = 20.0
# A message of a paused queue waits long enough for the relay to hear of the pause, and is dropped: after it all are sent anew.
PAUSE_SECONDS: Final = 1.0
# What Celery's own limits stand above those of the job: they are the backstop of the backstop.
MARGIN_SECONDS: Final = 60.0
# How long a message may be in a worker's hands beyond the run of its job.
HOLDING_SECONDS: Final = ADMISSION_SECONDS + 2 * MARGIN_SECONDS
_SHORTEST_VISIBILITY: Final = 1800.0
LONGEST_RUN: Final = 7 * 86400.0  # and what is counted for a job without a time limit
# Above every job, and the same for every plan: a queue that exists cannot be declared with another one. It need not be
# tight, since it is the row, and not the message, that a lost worker gives back.
_CONSUMER_TIMEOUT: Final = 8 * 86400.0
_DELIVERY_LIMIT: Final = 20
# With RabbitMQ 4 a dead letter keeps its count of failed deliveries, and 20 is the limit of every queue that names none: the
# first letter that comes back from a relay that was killed would be dropped.
_DEAD_DELIVERY_LIMIT: Final = 1_000_000


def longest_run(jobs: Mapping[str, JobSettings]) -> float:
    """Seconds that the longest job may take, its end by force included."""
    own = [job for job in jobs.values() if job.decision in ("queue", "split")]
    return max((LONGEST_RUN if job.timeout is None else job.timeout + job.grace for job in own), default=0.0)


def visibility_timeout(settings: Settings) -> int:
    """Seconds after which Redis hands a message out again: above the longest job."""
    return int(max(_SHORTEST_VISIBILITY, longest_run(settings.jobs) + HOLDING_SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Names of exchanges and queues."""

    project: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> "Topology":
        """What the plan's jobs need. Raises UsageError for a job that no broker would wait for."""
        queues = {job.queue for job in settings.jobs.values() if job.decision in ("queue", "split")}
        if not queues:
            raise UsageError("the plan queues no job", remedy='set decision = "queue" in the table of one')
        if longest_run(settings.jobs) > LONGEST_RUN:
            raise UsageError(
                "a job may take more than a week, for which no broker keeps its message", remedy="lower its timeout"
            )
        return cls(project=settings.project.name, names=tuple(sorted(queues)))

    @property
    def base(self) -> str:
        """What all names begin with."""
        return f"c2q.{self.project}"

    def name(self, queue: str) -> str:
        """The broker's name for a queue of the plan."""
        return f"{self.base}.{queue}"

    def exchange(self) -> "Exchange":
        """Where ids are published; of type topic, as Celery's delayed delivery for quorum queues wants it."""
        from kombu import Exchange

        return Exchange(self.base, type="topic", durable=True)

    def queue(self, name: str) -> "Queue":
        """A queue of the plan at the broker: replicated, and what is rejected for good goes to the dead letters."""
        arguments = {
            "x-delivery-limit": _DELIVERY_LIMIT,
            "x-dead-letter-exchange": self.dead_exchange,
            "x-dead-letter-routing-key": self.dead_queue,
            "x-consumer-timeout": int(_CONSUMER_TIMEOUT * 1000),
        }
        return _quorum(self.name(name), self.exchange(), arguments)

    def queues(self) -> "list[Queue]":
        """All of them."""
        return [self.queue(name) for name in self.names]

    @property
    def dead_exchange(self) -> str:
        """Where rejected messages go."""
        return f"{self.base}!dead"

    @property
    def dead_queue(self) -> str:
        """Where the relay finds them; a name that no queue of a plan can have."""
        return f"{self.base}!dead"

    def dead_letters(self) -> "Queue":
        """The queue of dead letters."""
        from kombu import Exchange

        arguments = {"x-delivery-limit": _DEAD_DELIVERY_LIMIT}
        return _quorum(self.dead_queue, Exchange(self.dead_exchange, type="direct", durable=True), arguments)


def _quorum(name: str, exchange: "Exchange", arguments: Mapping[str, Any]) -> "Queue":
    from kombu import Queue

    return Queue(name, exchange, routing_key=name, durable=True, queue_arguments={"x-queue-type": "quorum", **arguments})


def task_name(kind: str) -> str:
    """The Celery task of a kind."""
    return TASK_PREFIX + kind
