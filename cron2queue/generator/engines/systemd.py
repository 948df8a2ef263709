"""Timers and services of systemd: for long jobs that need neither a queue nor a retry, but a limit and a journal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from cron2queue.crontab.schedule import AtReboot, Calendar, Fire
from cron2queue.generator.engine import CannotConvert, Engine, Move, Workshop, delay_minutes
from cron2queue.generator.hardening import hardening
from cron2queue.generator.oncalendar import OnCalendar, fires_of, lines_of
from cron2queue.generator.shell import NotWritable, unit_assignment, unit_program, unit_word
from cron2queue.generator.units import unit
from cron2queue.runtime.settings import Missed, Overlap

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.generator.artifacts import Artifact
    from cron2queue.plan.model import Plan

STAY = "leave it in cron, with a guard"
_NO_QUEUE = "a timer remembers one start at most; make it a queue job"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePage:
    """What the service's template may use; everything but the names is foreign text for the filters.

    `daemon`: started at boot to stay; cron's line put it into the background, and nobody looked after it.
    """

    project: str
    name: str
    user: str | None
    environment: tuple[tuple[str, str], ...]
    shell: str
    command: str
    stdin: tuple[str, ...] | None
    timeout: int
    grace: int
    hardening: tuple[str, ...]
    at_boot: bool
    daemon: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerPage:
    """What the timer's template may use."""

    project: str
    name: str
    schedule: str
    lines: tuple[str, ...]
    persistent: str
    random_seconds: int
    defer: bool


def _range_of_minutes(calendar: Calendar) -> tuple[int, int]:
    """The lowest minute and the number of minutes after it, of a schedule that draws its minute."""
    if calendar.possible is None:
        raise CannotConvert("systemd cannot draw the time of this schedule", remedy=STAY)
    minutes, *others = calendar.possible
    if others != [calendar.hours, calendar.days, calendar.months, calendar.weekdays]:
        raise CannotConvert("systemd can only draw the minute, and this schedule draws more", remedy=STAY)
    values = [minute for minute in range(60) if minutes >> minute & 1]
    if values != list(range(values[0], values[-1] + 1)):
        raise CannotConvert("systemd can only draw from minutes in a row", remedy=STAY)
    return values[0], values[-1] - values[0]


def _fixed(calendar: Calendar) -> tuple[Calendar, int]:
    """The schedule without its draw, and the seconds over which systemd is to spread it."""
    if not calendar.random:
        return calendar, 0
    first, more = _range_of_minutes(calendar)
    return replace(calendar, minutes=1 << first, random=False, possible=None), more * 60


def _lines(move: Move, zone: ZoneInfo, at: datetime) -> list[OnCalendar]:
    schedule = move.entry.schedule
    if not isinstance(schedule, Calendar):
        raise CannotConvert("systemd cannot keep this cron's intervals, which count from the end of the last run", remedy=STAY)
    calendar, _ = _fixed(schedule)
    return lines_of(calendar, zone, at, "systemd")


def _foreground(command: str) -> str:
    """The command without the `&` at its end, where it has one."""
    return re.sub(r"(?<!&)&[ \t]*\Z", "", command).rstrip(" \t") if re.search(r"[^&\\]&[ \t]*\Z", command) else command


def _stdin(text: str | None) -> tuple[str, ...] | None:
    """One setting a line; systemd ends each with a line break of its own, as cron does."""
    return None if text is None else tuple(text.removesuffix("\n").split("\n"))


class Systemd(Engine):
    """A timer and a service for each entry; the crontab's line goes away."""

    in_cron = False
    draws = True
    overlaps: ClassVar[Mapping[Overlap, str]] = {
        Overlap.SKIP: "",
        Overlap.MERGE: "",
        Overlap.WAIT: _NO_QUEUE,
        Overlap.QUEUE: _NO_QUEUE,
        Overlap.REPLACE: "a timer starts a unit, it never restarts a running one; make it a queue job",
        Overlap.PARALLEL: "a unit runs once at a time; leave it in cron with a guard",
    }
    database_scope = "a unit is known to one host only; make it a queue job"

    def refuse(self, move: Move, plan: Plan) -> None:
        """Also refuse what no unit can say: odd shells, names of variables, users and control characters."""
        super().refuse(move, plan)
        if plan.project.shadow:
            raise CannotConvert(
                "a timer cannot stand beside the old line: it would do the work twice", remedy="set shadow = false"
            )
        settings = move.job.settings
        if move.job.secret:
            raise CannotConvert(
                "its command or its environment holds a password, which a unit would show to every user of the host",
                remedy="let the command read it from a file of its user's own",
            )
        if settings.user is None:
            raise CannotConvert("whose job it is is not known, and a unit would run it as root", remedy="give --user NAME")
        try:
            unit_program(settings.shell)
            unit_word(move.entry.command)
            for name, value in settings.environment.items():
                unit_assignment(name, value)
            for line in _stdin(move.entry.stdin) or ():
                unit_word(line)
        except NotWritable as trouble:
            raise CannotConvert(trouble.message, remedy=trouble.remedy) from None

    def cron_command(self, move: Move, plan: Plan) -> None:
        """Nothing stays in the crontab."""

    def units(self, move: Move, plan: Plan) -> tuple[str, ...]:
        """The timer, or the service that starts at boot."""
        end = "service" if isinstance(move.entry.schedule, AtReboot) else "timer"
        return (f"cron2queue-{plan.project.name}-{move.job.settings.name}.{end}",)

    def fires(self, move: Move, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Fire]:
        """When the timer elapses."""
        if isinstance(move.entry.schedule, AtReboot):
            return iter(())
        return fires_of(_lines(move, zone, start), start, end, zone)

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """One service an entry, and a timer unless it starts at boot."""
        return [each for move in workshop.moves for each in self._of_move(move, workshop)]

    def _of_move(self, move: Move, workshop: Workshop) -> Sequence[Artifact]:
        settings, project = move.job.settings, workshop.plan.project
        at_boot = isinstance(move.entry.schedule, AtReboot)
        daemon = at_boot and _foreground(move.entry.command) != move.entry.command
        merged = {"PATH": "/usr/bin:/bin", "SHELL": settings.shell} | dict(settings.environment)
        service = ServicePage(
            project=project.name,
            name=settings.name,
            user=settings.user,
            environment=tuple(sorted(merged.items())),
            shell=settings.shell,
            command=_foreground(move.entry.command) if daemon else move.entry.command,
            stdin=_stdin(move.entry.stdin),
            timeout=int(settings.timeout or 0),
            grace=int(settings.grace),
            hardening=hardening(project.harden, [move.entry.command]),
            at_boot=at_boot,
            daemon=daemon,
        )
        name, render = f"systemd/cron2queue-{project.name}-{settings.name}", workshop.templates.render
        made = [unit(f"{name}.service", render("systemd/job.service.j2", service))]
        if not at_boot:
            made.append(unit(f"{name}.timer", render("systemd/job.timer.j2", _timer(move, workshop))))
        return made


def _timer(move: Move, workshop: Workshop) -> TimerPage:
    settings, schedule = move.job.settings, move.entry.schedule
    return TimerPage(
        project=workshop.plan.project.name,
        name=settings.name,
        schedule=move.entry.schedule_text,
        lines=tuple(line.text for line in _lines(move, workshop.zone, workshop.at)),
        persistent="no" if settings.missed is Missed.SKIP else "yes",
        random_seconds=_fixed(schedule)[1] + delay_minutes(move) * 60 if isinstance(schedule, Calendar) else 0,
        defer=settings.overlap is Overlap.SKIP,
    )
