"""Units and the small files around them: workers, slice, lock files, group, log rotation, and the Supervisor variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.generator.artifacts import SHARED, Artifact
from cron2queue.generator.engine import checked_user
from cron2queue.generator.hardening import hardening
from cron2queue.generator.shell import sh_words
from cron2queue.plan.builder import main_user
from cron2queue.runtime.settings import PLAN_NAME

if TYPE_CHECKING:
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.generator.templating import Templates
    from cron2queue.plan.model import Plan, PlannedJob, Project

STOP_MARGIN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPage:
    """worker@.service and the slice."""

    project: str
    slice: str
    folder: str
    python: str
    plan: str
    hardening: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePage:
    """The drop-in of one queue; `user` None leaves the manager's own. `jobs` at one time; seconds for them to end.

    `grace` is for workers that are told it; Celery's know it of each job.
    """

    queue: str
    user: str | None
    jobs: int
    grace: int | None
    stop_seconds: int
    memory: str | None
    hardening: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of the Supervisor file, by the words of its command."""

    name: str
    words: tuple[str, ...]
    user: str | None
    stop_seconds: int

    @property
    def command(self) -> str:
        """As Supervisor reads it: words parted as in a shell, and its own `%` doubled."""
        return sh_words(*self.words).replace("%", "%%")


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorPage:
    """The Supervisor file; all programs run in one folder."""

    project: str
    folder: str
    programs: tuple[Program, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFile:
    """One lock file and the user whose job takes it."""

    path: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPage:
    """tmpfiles.d, sysusers.d and logrotate.d."""

    project: str
    folder: str
    locks: tuple[LockFile, ...]
    users: tuple[str, ...]


def worker_unit(project: Project) -> str:
    """The name of the workers' template unit, without `.service`."""
    return f"cron2queue-{project.name}-worker@"


def worker_command(project: Project, queue: str, *, jobs: int, grace: int) -> tuple[str, ...]:
    """The words that start a worker of one queue."""
    plan = f"{project.folder}/{PLAN_NAME}"
    words = (project.python, "-P", "-m", "cron2queue.runtime", "work", "--plan", plan)
    return (*words, "--queue", f"{queue}:{jobs}", "--grace", str(grace))


def jobs_of(queue: str, plan: Plan) -> int:
    """How many jobs of a queue run at one time."""
    return next((each.concurrency for each in plan.queues if each.name == queue), 1)


def user_of(moves: Sequence[Move]) -> str | None:
    """As whom the workers of these jobs run."""
    return checked_user(moves[0].job.settings.user)


def user_beside(moves: Iterable[Move]) -> str | None:
    """As whom runs what serves all queues: whoever most jobs belong to may read the plan, and write to the database."""
    return checked_user(main_user(move.job.settings.user for move in moves))


def by_queue(moves: Iterable[Move]) -> dict[str, list[Move]]:
    """The moves of each queue, by name."""
    found: dict[str, list[Move]] = {}
    for move in moves:
        found.setdefault(move.job.settings.queue, []).append(move)
    return dict(sorted(found.items()))


def stop_seconds(moves: Iterable[Move]) -> int:
    """How long a worker may take to stop: its longest job, the grace, and a margin."""
    return max(int((m.job.settings.timeout or 0) + m.job.settings.grace) for m in moves) + STOP_MARGIN


def _memory(moves: Iterable[Move]) -> str | None:
    limits = [m.job.settings.memory_limit for m in moves if m.job.settings.memory_limit]
    return f"{max(limits) // 2**20}M" if limits else None


def queue_artifact(queue: str, moves: Sequence[Move], workshop: Workshop, *, grace: int | None = None) -> Artifact:
    """The drop-in of one queue."""
    project = workshop.plan.project
    page = QueuePage(
        queue=queue,
        user=user_of(moves),
        jobs=jobs_of(queue, workshop.plan),
        grace=grace,
        stop_seconds=stop_seconds(moves),
        memory=_memory(moves),
        hardening=hardening(project.harden, [m.job.settings.command or "" for m in moves]),
    )
    text = workshop.templates.render("_shared/queue.conf.j2", page)
    return unit(f"systemd/{worker_unit(project)}{queue}.service.d/plan.conf", text)


def supervisor_artifact(workshop: Workshop, programs: Iterable[Program]) -> Artifact:
    """The Supervisor file."""
    project = workshop.plan.project
    page = SupervisorPage(project=project.name, folder=project.folder.replace("%", "%%"), programs=tuple(programs))
    return unit(f"supervisor/cron2queue-{project.name}.conf", workshop.templates.render("_shared/supervisor.conf.j2", page))


def _grace(moves: Iterable[Move]) -> int:
    return stop_seconds(moves) - STOP_MARGIN


def worker_artifacts(workshop: Workshop) -> list[Artifact]:
    """The template unit, one drop-in a queue, the slice, and the Supervisor file."""
    project, queues = workshop.plan.project, by_queue(workshop.moves)
    page = WorkerPage(
        project=project.name,
        slice=f"cron2queue-{project.name}.slice",
        folder=project.folder,
        python=project.python,
        plan=f"{project.folder}/{PLAN_NAME}",
        hardening=(),
    )
    programs = [
        Program(
            name=queue,
            words=worker_command(project, queue, jobs=jobs_of(queue, workshop.plan), grace=_grace(moves)),
            user=user_of(moves),
            stop_seconds=stop_seconds(moves),
        )
        for queue, moves in queues.items()
    ]
    render = workshop.templates.render
    return [
        unit(f"systemd/{worker_unit(project)}.service", render("sqlqueue/units/worker@.service.j2", page)),
        *(queue_artifact(queue, moves, workshop, grace=_grace(moves)) for queue, moves in queues.items()),
        unit(f"systemd/{page.slice}", render("sqlqueue/units/slice.j2", page)),
        supervisor_artifact(workshop, programs),
    ]


def unit(path: str, text: str) -> Artifact:
    """A file that the administrator installs."""
    return Artifact(path=f"units/{path}", content=text.encode(), mode=SHARED)


def host_artifacts(plan: Plan, jobs: Iterable[PlannedJob], locks: Iterable[LockFile], templates: Templates) -> list[Artifact]:
    """Lock files that only their job's user can open, the group that may read the plan, and log rotation.

    `jobs` are those that were converted. A lock folder inside of the plan's own needs no tmpfiles.d.
    """
    project = plan.project
    users = sorted({job.settings.user for job in jobs if job.migrated and job.settings.user not in (None, "root")} - {None})
    page = HostPage(
        project=project.name,
        folder=project.lock_folder,
        locks=tuple(sorted(locks, key=lambda lock: lock.path)),
        users=tuple(user for user in users if user is not None),
    )
    files = {"tmpfiles": "tmpfiles.d", "sysusers": "sysusers.d", "logrotate": "logrotate.d"}
    if project.lock_folder.startswith(f"{project.folder}/"):
        del files["tmpfiles"]
    return [
        unit(f"{folder}/cron2queue-{project.name}{'' if kind == 'logrotate' else '.conf'}", templates.render(name, page))
        for kind, folder in files.items()
        for name in [f"_shared/{kind}.conf.j2"]
    ]
