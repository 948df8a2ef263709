"""The Celery application of a plan: its kinds as tasks, its queues as quorum queues, and settings that lose nothing."""

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.exceptions import Reject

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.redaction import redact
from cron2queue.runtime.celery import login, redis
from cron2queue.runtime.celery.address import broker_url, is_redis
from cron2queue.runtime.celery.beat import SCHEDULER, Schedules, beat_schedule
from cron2queue.runtime.celery.broker import ADMISSION_SECONDS, APPLICATION, MARGIN_SECONDS, Topology, task_name
from cron2queue.runtime.celery.deliveries import Delivery
from cron2queue.runtime.celery.executor import Executor
from cron2queue.runtime.celery.kinds import QUEUED, settings_of
from cron2queue.runtime.celery.returning import send_anew
from cron2queue.runtime.json_logs import WithFields
from cron2queue.runtime.settings import JobSettings, Settings
from cron2queue.runtime.worker.commandline import DATABASE_VARIABLE
from cron2queue.runtime.worker.host import refuse_unfit
from cron2queue.runtime.worker.nursery import Nursery
from cron2queue.runtime.worker.options import Timing, WorkerOptions
from cron2queue.text import safe_text

log = logging.getLogger("cron2queue.worker")

_LONGEST_ID = 64
_START_SECONDS = 120.0  # for a process of the pool to load the handlers
_BROKER_HEARTBEAT = 10  # seconds: a broker that hangs is left after two of them
_MOVE_SECONDS = 10.0  # the relay brings due jobs over; here it is only for when there is none


def configuration(settings: Settings, url: str) -> dict[str, Any]:
    """Celery's settings. What is not here keeps Celery's default."""
    topology = Topology.of(settings)
    return {
        "broker_url": url,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,  # a broker may be away for a day
        "broker_heartbeat": _BROKER_HEARTBEAT,
        "broker_transport_options": redis.transport_options(settings) if is_redis(url) else {"confirm_publish": True},
        "task_default_exchange": topology.base,
        "task_default_exchange_type": "topic",
        "task_default_queue": topology.name(topology.names[0]),
        "task_default_queue_type": "quorum",
        "task_queues": topology.queues(),
        "task_create_missing_queues": False,
        # A message is acknowledged when its row is settled, and comes back when its worker is lost before.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_proc_alive_timeout": _START_SECONDS,
        # A run goes on without its broker: the row is what counts, and a second message for it finds nothing to do.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Results, states and retries stand in the job table; nothing else is asked or told through the broker.
        "task_ignore_result": True,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "enable_utc": True,
        "timezone": settings.project.timezone or "UTC",
    }


@dataclass(slots=True)
class Runner:
    """What the tasks call. Each process of the pool starts its own executor with its first job."""

    options: WorkerOptions
    app: Celery
    topology: Topology
    executor: Executor | None = None
    owner: int = 0

    def run(self, kind: str, public_id: object, queue: object) -> bool:
        """Run the row that a message names; False when there was nothing to do, or it is no message of ours.

        Raises Reject when there is no room under a limit and the broker does not take the id anew: it keeps the message.
        """
        if not (isinstance(public_id, str) and isinstance(queue, str) and len(public_id) <= _LONGEST_ID):
            return False
        if queue not in self.options.queues or not public_id.isalnum():
            return False
        delivery = Delivery.of(public_id, queue, kind)
        try:
            self.started().run(delivery)
        except Cron2QueueError:
            self.close()
            raise
        if delivery.put_back:
            send_anew(self.app, self.topology, delivery)
        return delivery.job is not None

    def started(self) -> Executor:
        """The executor of this process."""
        if self.executor is None or self.owner != os.getpid():
            self.executor, self.owner = Executor.start(self.options), os.getpid()
        return self.executor

    def begin(self) -> None:
        """With the process, so that it is seen and takes its part in the upkeep; what fails now is tried again with a job."""
        try:
            self.started()
        except Cron2QueueError as trouble:
            log.error("%s", trouble)

    def close(self) -> None:
        """End this process's executor, if it has one."""
        executor, self.executor = self.executor, None
        if executor is not None and self.owner == os.getpid():
            executor.close()

    def check(self, settings: Settings) -> None:
        """Before any job: the broker lets us in, a Redis keeps what it is given, and the handlers can be loaded and run."""
        login.check(self.app)
        redis.check_servers(self.app, settings)
        nursery = Nursery(self.options)
        nursery.start()
        try:
            refuse_unfit(nursery, self.options.children)
        finally:
            nursery.close()

    def too_wide(self, queues: Sequence[str], processes: int) -> str | None:
        """What to tell whose worker has more processes than the limits of these queues (by the broker's names) let run."""
        limits = {self.topology.name(name): limit.concurrency for name, limit in self.options.limits.items()}
        widths = [limits.get(name) for name in queues]
        room = sum(width for width in widths if width is not None)
        if not widths or None in widths or processes <= room:
            return None
        said = f"{processes} processes, and {', '.join(queues)} may run {room} at one time"
        return f"{said}: the others only wait; --concurrency {room} is enough"


def options_of(settings: Settings, plan: Path, environment: Mapping[str, str], lease: float) -> WorkerOptions:
    """How one process of the pool works: one job at a time, of any queue of the plan."""
    names = Topology.of(settings).names
    return WorkerOptions(
        database=environment.get(DATABASE_VARIABLE) or settings.project.database,
        prefix=settings.project.prefix,
        plan=plan,
        queues=dict.fromkeys(names, 1),
        limits=settings.queues,
        children=1,
        timing=Timing(lease=lease, move=_MOVE_SECONDS),
    )


def application(
    plan: Path, *, environment: Mapping[str, str] | None = None, lease: float = 30.0, beat: Schedules | None = None
) -> Celery:
    """The application of a plan. The broker is CRON2QUEUE_BROKER_URL's, the database CRON2QUEUE_DATABASE_URL's or the plan's.

    `lease`: seconds, the same for all workers of a database. `beat`: by job, the fields of its crontab() entries and their
    zone. Raises UsageError or InputError for a plan, or a broker, that cannot be used.
    """
    environment = os.environ if environment is None else environment
    settings, url = settings_of(plan), broker_url(environment)
    if is_redis(url):
        redis.refuse_what_must_not_be_lost(settings)
    options = options_of(settings, plan, environment, lease)
    app = Celery(f"c2q.{settings.project.name}", set_as_current=False)
    runner = Runner(options, app, Topology.of(settings))
    app.conf.update(configuration(settings, url))
    if beat:
        app.conf.update(beat_scheduler=SCHEDULER, beat_schedule=beat_schedule(beat, settings, plan, options.database))
    for kind, job in _kinds(settings).items():
        _add_task(app, runner, kind, job)
    _listen(runner, settings)
    logging.getLogger("celery.app.trace").addFilter(_is_news)
    return app


def _is_news(record: logging.LogRecord) -> bool:
    """Celery would show a traceback each time that a message waits for room; a second call adds no second filter."""
    return not (record.exc_info and isinstance(record.exc_info[1], Reject))


def application_or_exit(plan: Path, *, beat: Schedules | None = None) -> Celery:
    """The same for celery_app.py: what cannot be used is told in a sentence, and ends the program that asked for it."""
    try:
        return application(plan, beat=beat)
    except Cron2QueueError as trouble:
        raise _exit(trouble) from None


def application_beside(plan: Path) -> Celery:
    """The application in celery_app.py beside the plan, with what its owner has set there; else the plan's own.

    Raises UsageError when that file cannot be loaded or holds no `app`.
    """
    path = Path(os.path.realpath(plan)).with_name(f"{APPLICATION}.py")
    spec = spec_from_file_location(APPLICATION, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        return application(plan)
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # as Celery does with the folder that it is started in
    try:
        spec.loader.exec_module(module)
    except Cron2QueueError:
        raise
    except Exception as trouble:
        remedy = "repair it, or let convert write it anew"
        raise UsageError(f"cannot be loaded: {type(trouble).__name__}: {trouble}", place=str(path), remedy=remedy) from trouble
    if not isinstance(app := getattr(module, "app", None), Celery):
        raise UsageError("holds no Celery application named app", place=str(path), remedy="let convert write it anew")
    return app


def _exit(trouble: Cron2QueueError) -> SystemExit:
    return SystemExit("cron2queue: " + "\n".join(safe_text(redact(line)) for line in str(trouble).split("\n")))


def _kinds(settings: Settings) -> dict[str, JobSettings]:
    return {job.kind: job for job in settings.jobs.values() if job.decision in QUEUED}


def _add_task(app: Celery, runner: Runner, kind: str, job: JobSettings) -> None:
    """One kind. Its own time limit ends a run; Celery's only ends a process in which that has failed."""
    limit = None if job.timeout is None else job.timeout + job.grace + ADMISSION_SECONDS + MARGIN_SECONDS

    @app.task(name=task_name(kind), time_limit=limit, max_retries=0, shared=False)  # type: ignore[untyped-decorator]
    def run(public_id: object = None, queue: object = None) -> bool:
        return runner.run(kind, public_id, queue)


def _listen(runner: Runner, settings: Settings) -> None:
    """Celery's signals; the references are kept, since `runner` lives as long as the application."""

    def check(**_: Any) -> None:
        try:
            runner.check(settings)
        except Cron2QueueError as trouble:
            raise _exit(trouble) from None

    def warn(instance: Any, **_: Any) -> None:
        if said := runner.too_wide(list(instance.app.amqp.queues.consume_from), instance.concurrency):
            log.warning("%s", said)

    def begin(**_: Any) -> None:
        runner.begin()

    def close(**_: Any) -> None:
        runner.close()

    def show_fields(logger: logging.Logger, **_: Any) -> None:
        for handler in logger.handlers:
            if handler.formatter is not None:
                handler.setFormatter(WithFields(handler.formatter))

    def say_why(record: logging.LogRecord) -> bool:
        trouble = record.exc_info[1] if record.exc_info else None
        if trouble is not None and (refusal := login.of(trouble, runner.app.connection_for_read())):
            record.msg, record.args, record.exc_info = "%s", (refusal,), None
        return True

    logging.getLogger("celery.worker").addFilter(say_why)
    _connect(signals.after_setup_logger, show_fields)
    _connect(signals.worker_init, check)
    _connect(signals.celeryd_after_setup, warn)
    _connect(signals.worker_process_init, begin)
    _connect(signals.worker_process_shutdown, close)


def _connect(signal: Any, act: Callable[..., None]) -> None:
    signal.connect(act, weak=False)
