"""What does the work of a kind: a Python function, the crontab's old command, or a program of any language.

A handler is found only through the plan or a module that the plan names; nothing that stands in the database is ever
imported or looked up as a name.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

from cron2queue.errors import UsageError
from cron2queue.runtime.locks.locking import checked_name
from cron2queue.runtime.plan_tables import Misplaced, did_you_mean
from cron2queue.runtime.settings import OLD_COMMAND, JobSettings, Retry, RetryRule, Settings

_MARK = "__cron2queue_handlers__"
_SERVED = frozenset({"queue", "split"})  # decisions that make jobs

Function = TypeVar("Function", bound=Callable[..., Any])


class Permanent(Exception):
    """Raised by a handler: no further try can help. The text is shown to the job's owner."""


class RetryLater(Exception):
    """Raised by a handler: try again, after `seconds` or by the kind's policy if None.

    `pause_kind` keeps every job of the kind back for so long, for a foreign system that answered Retry-After.
    """

    def __init__(self, seconds: float | None = None, *, pause_kind: bool = False, message: str = "") -> None:
        super().__init__(message or "try again later")
        self.seconds = seconds
        self.pause_kind = pause_kind


class Cancelled(Exception):
    """Raised by `checkpoint()` once a cancel was asked for; a handler may raise it too."""


class TimedOut(Cancelled):
    """Raised by `checkpoint()` once the job's time is up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerOptions:
    """How a kind is to be run. Times in seconds, memory in bytes, None is unlimited.

    `waits_only` kinds run as threads side by side in one child; `short` kinds are given to a child in groups; of a
    `strict` kind the end of each job is committed by itself; `force_cancel` allows a cancel to kill after the grace.
    `max_attempts` None leaves it to the job. While `lock` is held on this host, by `cron2queue lock` in a crontab or by a job,
    no job of the kind is run here; `lock_folder` is the plan's.
    """

    kind: str
    queue: str = "default"
    timeout: float | None = None
    grace: float = 10.0
    retry: RetryRule = Retry.EXPONENTIAL
    max_attempts: int | None = None
    memory_bytes: int | None = None
    waits_only: bool = False
    short: bool = False
    strict: bool = False
    force_cancel: bool = True
    lock: str | None = None
    lock_folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTarget:
    """A function that a handler module has annotated."""

    function: Callable[[Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTarget:
    """The crontab's old command, run as cron ran it."""

    command: str
    shell: str = "/bin/sh"
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    stdin: str | None = None
    user: str | None = None
    exit_statuses: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTarget:
    """A program that keeps the exec contract: payload on stdin, C2Q_* in the environment, reports on fd 3."""

    path: str
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    exit_statuses: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


Target = PythonTarget | CommandTarget | ProgramTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A kind's options and what does its work."""

    options: HandlerOptions
    target: Target


def handler(kind: str, **options: Any) -> Callable[[Function], Function]:
    """Annotate a function as the handler of a kind; options as in HandlerOptions. The function itself is unchanged.

    Raises TypeError for an option that is not known, when the module is imported.
    """
    written = MappingProxyType({"kind": kind, **options})
    HandlerOptions(**written)

    def annotate(function: Function) -> Function:
        setattr(function, _MARK, (*getattr(function, _MARK, ()), written))
        return function

    return annotate


def annotated(module: ModuleType) -> dict[str, Handler]:
    """The handlers that a module defines, by kind. Raises UsageError when two claim one kind."""
    found: dict[str, Handler] = {}
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) != module.__name__:
            continue  # imported from elsewhere: registered there
        for written in getattr(value, _MARK, ()):
            kind = written["kind"]
            if kind in found:
                raise UsageError(f"two handlers for the kind {kind!r}", place=module.__file__, remedy="give one another kind")
            found[kind] = Handler(options=HandlerOptions(**written), target=PythonTarget(function=value))
    return found


def _load_file(path: Path) -> ModuleType:
    name = "cron2queue_handlers_" + "".join(c if c.isalnum() else "_" for c in str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # of a name that ends with .py there always are
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _run_import(partial(spec.loader.exec_module, module), str(path))
    return module


def _run_import(load: Callable[[], Any], place: str) -> Any:
    try:
        return load()
    except Exception as trouble:  # whatever a foreign module raises while it is imported
        said = f"{type(trouble).__name__}: {trouble.msg if isinstance(trouble, SyntaxError) else trouble}"
        remedy = "mend it, then start the worker again"
        raise UsageError(f"the handler module fails: {said}", place=_where(trouble, place), remedy=remedy) from trouble


def _where(trouble: Exception, module: str) -> str:
    """The module, and its line at which the trouble began."""
    if isinstance(trouble, SyntaxError) and trouble.filename and trouble.lineno:
        return f"{trouble.filename}:{trouble.lineno}"
    lines = [line for frame, line in walk_tb(trouble.__traceback__) if frame.f_code.co_filename == module]
    return f"{module}:{lines[-1]}" if lines else module


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All handlers of a worker, by kind; `skipped` says why a job of the plan is not served here."""

    handlers: Mapping[str, Handler]
    skipped: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_modules(cls, names: Iterable[str]) -> "Registry":
        """Import modules by dotted name (from the configuration, never from a row) and register what they annotate."""
        found: dict[str, Handler] = {}
        for name in names:
            _add(found, annotated(_run_import(partial(importlib.import_module, name), name)), name)
        return cls(handlers=MappingProxyType(found))

    @classmethod
    def from_settings(cls, settings: Settings, *, user: str | None = None, is_root: bool | None = None) -> "Registry":
        """Everything that the plan queues. Raises UsageError that names the job or file at fault."""
        if str(settings.folder) not in sys.path:
            sys.path.append(str(settings.folder))
        found = dict(cls.from_modules(settings.project.handlers).handlers)
        skipped: dict[str, str] = {}
        loaded: dict[Path, dict[str, Handler]] = {}
        for job in settings.jobs.values():
            if job.decision not in _SERVED:
                continue
            if reason := _wrong_user(job, user, os.geteuid() == 0 if is_root is None else is_root):
                skipped[job.name] = reason
                continue
            _add_job(found, job, settings.folder, loaded)
        locked = {
            kind: _with_lock(each, settings.project.lock_folder)
            for kind, each in found.items()
            if each.options.lock is not None
        }
        return cls(handlers=MappingProxyType({**found, **locked}), skipped=MappingProxyType(skipped))


def _with_lock(handler: Handler, folder: str | None) -> Handler:
    """The handler of a kind that takes a lock. Raises UsageError if it cannot be the name of one."""
    checked_name(handler.options.lock or "")
    return replace(handler, options=replace(handler.options, lock_folder=folder))


def _is_program(job: JobSettings) -> bool:
    return job.handler != OLD_COMMAND and not job.handler.endswith(".py")


def _wrong_user(job: JobSettings, user: str | None, is_root: bool) -> str | None:
    """Root starts a command as its user. A program would get root's own rights, its environment and home among them."""
    if job.user is None or user is None or job.user == user or (is_root and not _is_program(job)):
        return None
    return f"it is to run as {job.user}, and this worker runs as {user}"


def _add(found: dict[str, Handler], new: Mapping[str, Handler], place: str) -> None:
    for kind, each in new.items():
        if kind in found and found[kind] != each:
            raise UsageError(f"a second handler for the kind {kind!r}", place=place, remedy="give one of them another kind")
        found[kind] = each


def _add_job(found: dict[str, Handler], job: JobSettings, folder: Path, loaded: dict[Path, dict[str, Handler]]) -> None:
    if job.handler == OLD_COMMAND or _is_program(job):
        target = _program(job, folder) if _is_program(job) else _command(job)
        _add(found, {job.kind: Handler(options=_overlaid(HandlerOptions(kind=job.kind), job), target=target)}, job.name)
        return
    path = Path(os.path.realpath(folder / job.handler))
    if path not in loaded:
        if not os.path.isfile(path):
            raise _at_fault(job, f"there is no file {path}", "write it, or name another")
        loaded[path] = annotated(_load_file(path))
        _add(found, loaded[path], str(path))
    if job.kind not in found:
        remedy = did_you_mean(job.kind, loaded[path]) if loaded[path] else f'annotate one with @handler("{job.kind}")'
        raise UsageError(f"no handler for the kind {job.kind!r}", place=str(path), remedy=remedy)
    found[job.kind] = replace(found[job.kind], options=_overlaid(found[job.kind].options, job))


def _at_fault(job: JobSettings, said: str, remedy: str) -> Misplaced:
    return Misplaced(f"jobs.{job.name}.handler: {said}", remedy=remedy, table=f"jobs.{job.name}", key="handler")


def _command(job: JobSettings) -> CommandTarget:
    return CommandTarget(
        command=job.command or "",
        shell=job.shell,
        environment=job.environment,
        stdin=job.stdin,
        user=job.user,
        exit_statuses=job.exit_statuses,
    )


def _program(job: JobSettings, folder: Path) -> ProgramTarget:
    path = Path(os.path.realpath(folder / job.handler))
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        if not os.path.exists(path):
            raise _at_fault(job, f"there is no file {path}", "write it, or name another")
        raise _at_fault(job, f"{path} is no executable file", f"chmod +x {path}")
    return ProgramTarget(path=str(path), environment=job.environment, exit_statuses=job.exit_statuses)


_OVERLAY = {"memory_limit": "memory_bytes"}
_OVERLAID = (
    *("queue", "timeout", "grace", "retry", "max_attempts", "memory_limit"),
    *("short", "strict", "waits_only", "force_cancel", "lock"),
)


def _overlaid(options: HandlerOptions, job: JobSettings) -> HandlerOptions:
    """What the plan writes comes before what the decorator says: the plan is the one file that operators edit."""
    written = {name: getattr(job, name) for name in _OVERLAID if name in job.written}
    return replace(options, **{_OVERLAY.get(name, name): value for name, value in written.items()})
