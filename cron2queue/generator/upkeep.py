"""What runs by itself beside the workers: the look that tells the plan's hooks, and the ticks that are made up for.

Each is written where the plan asks for it: a timer for systemd, and a line of one file in cron.d for hosts without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.crontab.dialect import dialect_named
from cron2queue.generator.shell import cron_command, sh_words
from cron2queue.generator.units import unit, user_beside
from cron2queue.runtime.settings import PLAN_NAME, Missed

if TYPE_CHECKING:
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """One command that is started again and again.

    `words` come after the interpreter. `calendar` and `at_boot` (or None) are for systemd, `schedules` for cron; `fine` are
    exit statuses that are no failure of the unit.
    """

    name: str
    why: str
    words: tuple[str, ...]
    calendar: str
    at_boot: str | None
    schedules: tuple[str, ...]
    fine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChorePage:
    """What the templates of a service and its timer may use."""

    project: str
    name: str
    why: str
    user: str | None
    folder: str
    command: tuple[str, ...]
    calendar: str
    at_boot: str | None
    fine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CronPage:
    """What the template of the cron.d file may use: each chore's comment, and its lines as cron reads them."""

    project: str
    chores: tuple[tuple[str, tuple[str, ...]], ...]


CHECK = Chore(
    name="check",
    why="tells the hooks of the plan what is new",
    words=("check", "--notify", "--plan"),
    calendar="*:*",
    at_boot=None,
    schedules=("* * * * *",),
    fine="1 2 3",
)
CATCH_UP = Chore(
    name="catch-up",
    why="enqueues what was missed while cron, the host or the database was down, as each entry of the plan wants it",
    words=("jobs", "catch-up", "--plan"),
    calendar="*:0/10",
    at_boot="1min",
    schedules=("@reboot", "*/10 * * * *"),
    fine="69 75",
)


def chores(plan: Plan, moves: Iterable[Move]) -> Iterator[Chore]:
    """Those that the plan asks for: hooks to be told, entries whose missed ticks are not to be skipped."""
    if plan.hooks:
        yield CHECK
    if any(move.job.settings.missed is not Missed.SKIP for move in moves):
        yield CATCH_UP


def chore_unit(plan: Plan, chore: Chore) -> str:
    """The name of its timer and its service, without their endings."""
    return f"cron2queue-{plan.project.name}-{chore.name}"


def _command(plan: Plan, chore: Chore) -> tuple[str, ...]:
    return (plan.project.python, "-I", "-m", "cron2queue", *chore.words, f"{plan.project.folder}/{PLAN_NAME}")


def upkeep_artifacts(workshop: Workshop) -> list[Artifact]:
    """Timers and services, and the same as lines for cron.d; nothing when the plan asks for none."""
    found = list(chores(workshop.plan, workshop.moves))
    user = user_beside(workshop.moves)
    units = [each for chore in found for each in _units(workshop, chore, user)]
    return [*units, _cron_file(workshop, found, user)] if found else []


def _units(workshop: Workshop, chore: Chore, user: str | None) -> Iterator[Artifact]:
    project = workshop.plan.project
    page = ChorePage(
        project=project.name,
        name=chore.name,
        why=chore.why,
        user=user,
        folder=project.folder,
        command=_command(workshop.plan, chore),
        calendar=chore.calendar,
        at_boot=chore.at_boot,
        fine=chore.fine,
    )
    for ending in ("service", "timer"):
        text = workshop.templates.render(f"sqlqueue/units/chore.{ending}.j2", page)
        yield unit(f"systemd/{chore_unit(workshop.plan, chore)}.{ending}", text)


def _cron_file(workshop: Workshop, found: Iterable[Chore], user: str | None) -> Artifact:
    plan = workshop.plan
    percent = dialect_named(workshop.moves[0].file.dialect).percent

    def lines(chore: Chore) -> tuple[str, ...]:
        command = cron_command(f"{sh_words(*_command(plan, chore))} > /dev/null", percent=percent)
        return tuple(f"{schedule} {user or 'root'} {command}" for schedule in chore.schedules)

    page = CronPage(project=plan.project.name, chores=tuple((chore.why, lines(chore)) for chore in found))
    text = workshop.templates.render("sqlqueue/units/cron.d.j2", page)
    return unit(f"cron.d/cron2queue-{plan.project.name}", text)
