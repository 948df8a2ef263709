"""The broker as the relay sees it: declare, publish with confirms, count what waits, empty the dead letters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from amqp.exceptions import PreconditionFailed
from celery import Celery

from cron2queue.runtime.celery.broker import Topology, task_name
from cron2queue.runtime.celery.confirms import Confirms
from cron2queue.runtime.celery.letters import DeadQueue
from cron2queue.runtime.verbs.given_up import Letter

_SECONDS: Final = 10  # for one answer of the broker
_FIRST, _LATER = 9, 0  # the broker's two classes (RabbitMQ 4: above 4, and the rest); older quorum queues know none
_PLAIN_PRIORITY: Final = 100


class Ready(NamedTuple):
    """A row that waits to be claimed. `since` (micros) changes each time that it becomes ready."""

    public_id: str
    kind: str
    priority: int
    since: int


@dataclass(slots=True)
class Publisher:
    """One connection, made when it is needed; any trouble is raised, and `reset` begins anew."""

    app: Celery
    topology: Topology
    _connection: Any = None
    _producer: Any = None
    _channel: Any = None
    _confirms: Confirms | None = None
    _declared: set[str] = field(default_factory=set)
    _dead: DeadQueue = field(init=False)

    def __post_init__(self) -> None:
        self._dead = DeadQueue(self.topology)

    def errors(self) -> tuple[type[BaseException], ...]:
        """What a broker that is away or unwilling raises."""
        from kombu.exceptions import KombuError

        connection = self.app.connection_for_write()
        return (OSError, KombuError, *connection.connection_errors, *connection.channel_errors)

    def reset(self) -> None:
        """Drop the connection; what was not confirmed counts as not sent."""
        connection, self._connection, self._producer, self._channel = self._connection, None, None, None
        self._confirms = None
        self._declared.clear()
        if connection is not None:
            raw = connection._connection
            with suppress(Exception):
                connection.close()
            with suppress(Exception):  # what cannot say goodbye any more leaves its socket open
                raw.collect()

    def _open(self) -> None:
        if self._connection is not None:
            return
        # No heartbeat: nothing listens between two rounds. What is asked is answered in time, or the connection is dropped:
        # a queue that has lost its leader may never answer.
        confirms = self.app.conf.broker_transport_options.get("confirm_publish", False)
        options: dict[str, Any] = {"read_timeout": _SECONDS, "write_timeout": _SECONDS} if confirms else {}
        options["confirm_publish"] = False  # by which the transport would wait for each message alone
        self._connection = self.app.connection_for_write(heartbeat=0, connect_timeout=_SECONDS, transport_options=options)
        self._connection.ensure_connection(max_retries=1, timeout=_SECONDS)
        self._channel = self._connection.channel()
        publishing = self._connection.channel()
        self._confirms = Confirms.of(self._connection, publishing) if confirms else None
        self._producer = self.app.amqp.Producer(publishing, auto_declare=False)
        self._declare_dead()
        for name in self.topology.names:
            self._declare(name)

    def _declare_dead(self) -> None:
        """A queue that is there already with other arguments is good enough."""
        try:
            self.topology.dead_letters()(self._channel).declare()
        except PreconditionFailed:
            self._channel = self._connection.channel()
            self._channel.queue_declare(self.topology.dead_queue, passive=True)

    def _declare(self, name: str) -> None:
        self.topology.queue(name)(self._channel).declare()
        self._declared.add(name)

    def send(self, queue: str, rows: Sequence[Ready]) -> list[Ready]:
        """Publish ids; returns, when the broker has answered for all of them, those that it has on disk."""
        self._open()
        if self._confirms is None:
            for row in rows:
                self._publish(queue, row)
            return list(rows)
        numbers = []
        for row in rows:
            self._publish(queue, row)
            numbers.append(self._confirms.expect())
        self._confirms.wait(_SECONDS)
        refused = self._confirms.refused
        if refused:  # RabbitMQ keeps to its no for a channel, also when its reason has gone
            self.reset()
        return [row for row, number in zip(rows, numbers, strict=True) if number not in refused]

    def _publish(self, queue: str, row: Ready) -> None:
        self.app.send_task(
            task_name(row.kind),
            args=(row.public_id, queue),
            exchange=self.topology.base,
            routing_key=self.topology.name(queue),
            producer=self._producer,
            declare=[],
            retry=False,
            ignore_result=True,
            priority=_FIRST if row.priority < _PLAIN_PRIORITY else _LATER,
            delivery_mode=2,
        )

    def waiting(self, queue: str) -> int:
        """How many messages wait in a queue of the plan. A queue that was taken away is declared again: then none."""
        self._open()
        try:
            answer = self.topology.queue(queue)(self._channel).queue_declare(passive=True)
        except self._connection.channel_errors:
            self._channel = self._connection.channel()
            self._declare(queue)
            return 0
        return int(answer.message_count)

    @contextmanager
    def dead_letters(self) -> Iterator[list[Letter]]:
        """The first of them: acknowledged at the end of the block, and the broker's again after an error in it.

        Redis gives nothing up, and has none.
        """
        self._open()
        letters = [] if self._confirms is None else self._dead.look(self._channel)
        try:
            yield letters
        except BaseException:
            self.reset()
            raise
        self._dead.acknowledge(self._channel)
        if self._dead.broken:
            self.reset()
