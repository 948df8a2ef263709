"""`python -m cron2queue.runtime relay`: the relay as a process, from its options to its end."""

import argparse
import logging
import os
import select
import signal
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.celery import login, redis
from cron2queue.runtime.celery.address import BROKER_VARIABLE
from cron2queue.runtime.celery.application import application_beside
from cron2queue.runtime.celery.broker import Topology
from cron2queue.runtime.celery.kinds import QUEUED, settings_of
from cron2queue.runtime.celery.presence import Presence
from cron2queue.runtime.celery.publishing import Publisher
from cron2queue.runtime.celery.relay import Relay, RelayOptions
from cron2queue.runtime.database.address import parse
from cron2queue.runtime.settings import PLAN_NAME, Settings
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker.commandline import DATABASE_VARIABLE, start_logging
from cron2queue.runtime.worker.hints import Hint, hints_for
from cron2queue.runtime.worker.notify import ServiceManager

log = logging.getLogger("cron2queue.relay")

_LONGEST_PAUSE = 5.0
_NO_LEADER = "; a queue that has no leader never answers: rabbitmqctl list_queues name leader"
_BUSY_SECONDS = 0.02  # after a round that sent something, while workers may run out of messages: more is likely

_DESCRIPTION = """Send the ids of ready jobs to the broker of Celery, until told to stop.

Examples:
  python -m cron2queue.runtime relay --plan cron2queue.toml
  python -m cron2queue.runtime relay --again 30          send anew after half a minute what was lost on the way
"""


@dataclass(slots=True, kw_only=True)
class RelayProcess:
    """Rounds until a signal comes. Trouble with the database or the broker is told once and waited out."""

    relay: Relay
    publisher: Publisher
    manager: ServiceManager
    hints: list[Hint]
    poll_seconds: float
    presence: Presence | None = None
    once: bool = False
    random: Random = field(default_factory=Random)
    stopping: bool = False
    failures: int = 0
    refused: bool = False  # what was told last
    expected: tuple[type[BaseException], ...] = field(init=False)

    def __post_init__(self) -> None:
        self.expected = (Cron2QueueError, *self.publisher.errors())

    def run(self) -> None:
        """The loop. With `once`, until a round finds nothing to send."""
        wake = self._hear_signals()
        self.manager.say("READY=1", "STATUS=relaying")
        while not self.stopping:
            number = self._round()
            self.manager.say("WATCHDOG=1")
            if self.once and not self.failures and not number:
                break
            self._wait(wake, number)
        self.manager.say("STOPPING=1")
        self.publisher.reset()

    def _hear_signals(self) -> int:
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

        def stop(number: int, frame: FrameType | None) -> None:
            self.stopping = True

        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, stop)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        return reading

    def _round(self) -> int:
        try:
            number = self.relay.round()
            if self.presence is not None and self.presence.tell():
                log.info("told to restart: this relay stops")
                self.stopping = True
        except self.expected as trouble:
            self._tell(trouble)
            self.failures += 1
            if not isinstance(trouble, Cron2QueueError):
                self.publisher.reset()
            return 0
        if self.failures:
            log.info("the relay goes on")
        self.failures, self.refused = 0, False
        return number

    def _tell(self, trouble: BaseException) -> None:
        """What a time of waiting began with, and also a refused login: a lost connection often is the first sign of it."""
        refusal = login.of(trouble, self.publisher.app.connection_for_write())
        hint = _NO_LEADER if isinstance(trouble, TimeoutError) else ""
        said = f"{type(trouble).__name__}: {trouble}{hint}" if refusal is None else str(refusal)
        if not self.failures or (refusal is not None and not self.refused):
            log.error("the relay waits: %s", said)
        self.refused = refusal is not None

    def _wait(self, wake: int, number: int) -> None:
        if self.stopping:
            return
        if self.failures:
            seconds = min(_LONGEST_PAUSE, 0.1 * 2 ** min(self.failures, 10)) * self.random.uniform(0.5, 1.0)
            select.select([wake], [], [], seconds)
            return
        until = time.monotonic() + (_BUSY_SECONDS if number and not self.relay.is_ahead() else self.poll_seconds)
        readable, _, _ = select.select(
            [wake, *(hint.descriptor for hint in self.hints)], [], [], max(0.0, until - time.monotonic())
        )
        for hint in self.hints:
            if hint.descriptor in readable:
                hint.drain()


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `relay`."""
    add = parser.add_argument
    add("--plan", type=Path, default=Path(PLAN_NAME), metavar="FILE", help=f"the plan (default: {PLAN_NAME})")
    add("--database", metavar="URL", help=f"default: {DATABASE_VARIABLE}, then the plan's")
    add("--broker", metavar="URL", help=f"default: {BROKER_VARIABLE}")
    add("--window", type=int, default=500, metavar="N", help="ids of a queue at the broker at one time")
    add("--again", type=float, default=60.0, metavar="SECONDS", help="send anew what is not claimed so long and not there")
    add("--poll", type=float, default=0.25, metavar="SECONDS", help="between two looks at queues where nothing happens")
    add("--lease", type=float, default=30.0, metavar="SECONDS", help="the same for all workers of a database")
    add("--once", action="store_true", help="leave when nothing is left to send")
    add("--log", choices=["text", "json"], default="text", help="form of the log on stderr")
    add("--quiet", action="store_true", help="log warnings and errors only")


def _relay_options(arguments: argparse.Namespace, settings: Settings) -> RelayOptions:
    for name in ("window", "again", "poll", "lease"):
        if not getattr(arguments, name) > 0:
            raise UsageError(f"--{name} must be above 0", remedy=f"leave --{name} out, or give a number above 0")
    names = Topology.of(settings).names
    # Any kind may stand in any queue, as for workers.
    kinds = tuple(sorted({job.kind for job in settings.jobs.values() if job.decision in QUEUED}))
    return RelayOptions(
        kinds=dict.fromkeys(names, kinds), window=arguments.window, again=arguments.again, lease=arguments.lease
    )


def relay(arguments: argparse.Namespace) -> int:
    """Be the relay; 0 after a clean stop."""
    start_logging(arguments.log, quiet=arguments.quiet)
    settings = settings_of(arguments.plan)
    if arguments.broker:
        os.environ[BROKER_VARIABLE] = arguments.broker
    app = application_beside(arguments.plan)
    login.check(app)
    redis.check_servers(app, settings)
    database = arguments.database or os.environ.get(DATABASE_VARIABLE) or settings.project.database
    with closing(Store.open(database, prefix=settings.project.prefix)) as store:
        store.require_schema()
        publisher = Publisher(app, Topology.of(settings))
        presence = None if arguments.once else Presence(store=store, every=arguments.lease / 6)
        process = RelayProcess(
            relay=Relay(store=store, broker=publisher, options=_relay_options(arguments, settings)),
            publisher=publisher,
            manager=ServiceManager.from_environment(os.environ, os.getpid()),
            hints=[] if arguments.once else hints_for(parse(database), settings.project.prefix),
            poll_seconds=arguments.poll,
            presence=presence,
            once=arguments.once,
        )
        process.run()
        with suppress(Cron2QueueError):
            store.roll_up()
            if presence is not None:
                presence.end()
    return 0


def main(arguments: list[str]) -> int:
    """Read the options and be the relay."""
    parser = argparse.ArgumentParser(
        prog="python -m cron2queue.runtime relay",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="One relay a database is enough; a second one does no harm, and sends every id twice.",
    )
    add_options(parser)
    return relay(parser.parse_args(arguments))
