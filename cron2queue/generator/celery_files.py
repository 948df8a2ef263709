"""What both engines of Celery write: the application, the units of relay, workers and beat, and the broker's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.crontab.schedule import AtReboot
from cron2queue.generator.artifacts import SHARED, Artifact
from cron2queue.generator.celery_schedule import beat_lines
from cron2queue.generator.engine import CannotConvert, checked_user
from cron2queue.generator.handlers import handler_artifacts
from cron2queue.generator.migrations import migration_artifacts
from cron2queue.generator.producer_line import refuse_work_in_shadow
from cron2queue.generator.units import (
    STOP_MARGIN,
    Program,
    by_queue,
    jobs_of,
    queue_artifact,
    stop_seconds,
    supervisor_artifact,
    unit,
    user_beside,
    user_of,
    worker_unit,
)
from cron2queue.generator.upkeep import upkeep_artifacts
from cron2queue.runtime.celery.broker import APPLICATION, HOLDING_SECONDS, LONGEST_RUN
from cron2queue.runtime.settings import PLAN_NAME

if TYPE_CHECKING:
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan, Project

BEAT = "celery-beat"
_SERVERS_OWN_TIMEOUT = 1800

Schedules = tuple[tuple[str, tuple[dict[str, str], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationPage:
    """celery_app.py. `beat` holds, by job, the fields of its crontab() entries."""

    plan: str
    beat: Schedules


@dataclass(frozen=True, slots=True, kw_only=True)
class CeleryPage:
    """The units of workers, relay and beat."""

    project: str
    slice: str
    folder: str
    python: str
    plan: str
    application: str
    user: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPage:
    """The snippet for rabbitmq.conf; milliseconds."""

    project: str
    consumer_timeout: int


def refuse_for_celery(move: Move, plan: Plan) -> None:
    """Raise CannotConvert for what Celery would do otherwise than the plan says."""
    refuse_work_in_shadow(move, plan)
    checked_user(move.job.settings.user)
    if move.job.settings.timeout is None:
        raise CannotConvert(
            "RabbitMQ takes a message back from a worker after a time, so that a job needs a limit", remedy="set its timeout"
        )
    if move.job.settings.timeout + move.job.settings.grace > LONGEST_RUN:
        raise CannotConvert("no broker keeps the message of a job for more than a week", remedy="lower its timeout")
    mixed = [job.name for job in plan.migrated if job.engine == "sqlqueue"]
    if mixed:
        raise CannotConvert(
            f"workers of sqlqueue and of Celery on one job table would take each other's jobs ({mixed[0]} is for sqlqueue)",
            remedy='set engine = "celery" for all of the project',
        )


def worker_words(project: Project, queue: str, jobs: str) -> tuple[str, ...]:
    """The command of a worker. Nothing is asked of it through the broker: gossip, mingling and remote control are off."""
    return (
        *(project.python, "-P", "-m", "celery", "-A", APPLICATION, "worker", "--pool", "prefork"),
        *("--queues", f"c2q.{project.name}.{queue}", "--concurrency", jobs, "--hostname", f"{project.name}-{queue}@%h"),
        *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
    )


def relay_words(project: Project) -> tuple[str, ...]:
    """The command of the relay."""
    return (project.python, "-P", "-m", "cron2queue.runtime", "relay", "--plan", f"{project.folder}/{PLAN_NAME}", "--quiet")


def beat_words(project: Project) -> tuple[str, ...]:
    """The command of beat."""
    return (project.python, "-P", "-m", "celery", "-A", APPLICATION, "beat", "--loglevel", "WARNING")


def _schedules(workshop: Workshop) -> Schedules:
    found = []
    for move in workshop.moves:
        if move.job.engine != BEAT or isinstance(move.entry.schedule, AtReboot):
            continue  # stays in cron
        lines = beat_lines(move.entry.schedule, workshop.zone, workshop.at)
        found.append((move.job.name, tuple({**dict(line.fields), "zone": line.zone} for line in lines)))
    return tuple(found)


def _supervisor(workshop: Workshop, beat: bool) -> Artifact:
    project, main = workshop.plan.project, user_beside(workshop.moves)
    once = {"relay": relay_words(project), **({"beat": beat_words(project)} if beat else {})}
    programs = [Program(name=name, words=words, user=main, stop_seconds=STOP_MARGIN) for name, words in once.items()]
    for queue, moves in by_queue(workshop.moves).items():
        words = worker_words(project, queue, str(jobs_of(queue, workshop.plan)))
        programs.append(Program(name=queue, words=words, user=user_of(moves), stop_seconds=stop_seconds(moves)))
    return supervisor_artifact(workshop, programs)


def celery_artifacts(workshop: Workshop) -> list[Artifact]:
    """Everything but the crontab; an empty list when there is no move."""
    if not workshop.moves:
        return []
    shared = [*migration_artifacts(workshop.plan), *handler_artifacts(workshop), *upkeep_artifacts(workshop)]
    return [*shared, *_own_artifacts(workshop)]


def _own_artifacts(workshop: Workshop) -> list[Artifact]:
    project, render = workshop.plan.project, workshop.templates.render
    name = f"cron2queue-{project.name}"
    page = CeleryPage(
        project=project.name,
        slice=f"{name}.slice",
        folder=project.folder,
        python=project.python,
        plan=f"{project.folder}/{PLAN_NAME}",
        application=APPLICATION,
        user=user_beside(workshop.moves),
    )
    schedules = _schedules(workshop)
    beat = any(move.job.engine == BEAT for move in workshop.moves)
    text = render("celery/celery_app.py.j2", ApplicationPage(plan=PLAN_NAME, beat=schedules))
    longest = max(int(move.job.settings.timeout or 0) + int(move.job.settings.grace) for move in workshop.moves)
    broker = BrokerPage(project=project.name, consumer_timeout=max(_SERVERS_OWN_TIMEOUT, longest + int(HOLDING_SECONDS)) * 1000)
    units = {"relay": "celery/units/relay.service.j2", **({"beat": "celery/units/beat.service.j2"} if beat else {})}
    return [
        Artifact(path=f"{APPLICATION}.py", content=text.encode(), mode=SHARED),
        unit(f"systemd/{worker_unit(project)}.service", render("celery/units/worker@.service.j2", page)),
        *(queue_artifact(queue, moves, workshop) for queue, moves in by_queue(workshop.moves).items()),
        *(unit(f"systemd/{name}-{kind}.service", render(template, page)) for kind, template in units.items()),
        unit(f"systemd/{page.slice}", render("sqlqueue/units/slice.j2", page)),
        unit(f"rabbitmq/{name}.conf", render("celery/units/rabbitmq.conf.j2", broker)),
        _supervisor(workshop, beat),
    ]
