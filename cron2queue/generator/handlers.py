"""Handlers and producers: stubs that run the old command unchanged, in the language of the people who will rewrite them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.artifacts import PROGRAM, SHARED, Artifact
from cron2queue.plan.builder import SHADOW, handler_path
from cron2queue.plan.model import Language
from cron2queue.plan.naming import module_name
from cron2queue.runtime.settings import OLD_COMMAND, PLAN_NAME
from cron2queue.text import to_bytes

if TYPE_CHECKING:
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.runtime.settings import JobSettings

# What cron gives a job besides its own variables; a worker's environment is another.
CRON_ENVIRONMENT = (("PATH", "/usr/bin:/bin"), ("SHELL", "/bin/sh"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerPage:
    """What a handler's template may use: names are slugs, all else is foreign text for the filters.

    `home` is the folder to start in where the crontab itself sets HOME.
    """

    name: str
    function: str
    command: str
    shell: str
    stdin: str | None
    environment: tuple[tuple[str, str], ...]
    home: str | None
    user: str | None
    split: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowPage:
    """The stand-in of shadow mode has nothing to fill in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerPage:
    """What a producer's template may use; `enqueue` are the words of the command that makes one job."""

    name: str
    python: str
    enqueue: tuple[str, ...]


def producer_path(name: str, language: Language) -> str:
    """Where the producer of a split entry lies, below the plan's folder."""
    return f"producers/{module_name(name)}.{language.ending}"


def _environment(settings: JobSettings) -> tuple[tuple[str, str], ...]:
    merged = dict(CRON_ENVIRONMENT) | {"SHELL": settings.shell} | dict(settings.environment)
    return tuple(sorted(merged.items()))


def _handler(move: Move, path: str, workshop: Workshop) -> Artifact:
    settings, language = move.job.settings, workshop.plan.project.language
    page = HandlerPage(
        name=settings.name,
        function=module_name(settings.name),
        command=settings.command or "",
        shell=settings.shell,
        stdin=settings.stdin,
        environment=_environment(settings),
        home=settings.environment.get("HOME"),
        user=settings.user,
        split=move.job.decision is Decision.SPLIT,
    )
    text = workshop.templates.render(f"sqlqueue/handlers/handler.{language.ending}.j2", page)
    mode = SHARED if language is Language.PYTHON else PROGRAM
    return Artifact(path=path, content=to_bytes(text), mode=mode)


def _producer(move: Move, workshop: Workshop) -> Artifact:
    project, name = workshop.plan.project, move.job.name
    plan = f"{project.folder}/{PLAN_NAME}"
    words = (project.python, "-I", "-m", "cron2queue.runtime", "enqueue", name, "--plan", plan, "--quiet")
    page = ProducerPage(name=name, python=project.python, enqueue=words)
    text = workshop.templates.render(f"sqlqueue/producers/producer.{project.language.ending}.j2", page)
    return Artifact(path=producer_path(name, project.language), content=to_bytes(text), mode=PROGRAM)


def _artifacts(workshop: Workshop) -> Iterator[Artifact]:
    if any(move.job.settings.handler == SHADOW for move in workshop.moves):
        text = workshop.templates.render("sqlqueue/handlers/shadow.sh.j2", ShadowPage())
        yield Artifact(path=SHADOW, content=text.encode(), mode=PROGRAM)
    expected = f".{workshop.plan.project.language.ending}"
    for move in workshop.moves:
        handler = move.job.settings.handler
        if handler == SHADOW:
            handler = OLD_COMMAND if move.job.secret else handler_path(move.job.name, workshop.plan.project.language)
        # A handler that was renamed to another language or to a file of their own is the user's affair.
        if handler != OLD_COMMAND and handler.startswith("handlers/") and handler.endswith(expected):
            yield _handler(move, handler, workshop)
        if move.job.decision is Decision.SPLIT:
            yield _producer(move, workshop)


def handler_artifacts(workshop: Workshop) -> list[Artifact]:
    """The stubs of all moves."""
    return list(_artifacts(workshop))
