"""`check`: everything that can be looked at from here, judged, as a monitoring plugin says it."""

import signal
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from cron2queue.cli.operation import Operation, operation
from cron2queue.cli.schedules import never_came
from cron2queue.cli.screens.canvas import as_json, put
from cron2queue.cli.screens.records import SCHEMA, alert_record
from cron2queue.cli.trouble import say as say_aside
from cron2queue.cli.watching import looked
from cron2queue.errors import Cron2QueueError, DatabaseUnavailable, TryAgain, UsageError
from cron2queue.runtime.health import Judgement, Level, plugin_output, worst
from cron2queue.runtime.hooks.marks import Marks
from cron2queue.runtime.hooks.notification import Round
from cron2queue.runtime.sight.views import StatusView
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import SchemaMismatch


class TookTooLong(Cron2QueueError):
    """The look did not end within its time."""


def checked_within(
    seconds: int, database: str | None, plan: Path | None, *, notify: bool = False, every: float | None = None
) -> list[Judgement]:
    """Look at everything, in at most so many seconds (hooks have times of their own). With `every`, stay and tell hooks."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"no answer within {seconds} s", remedy="look at the database's load, or give more with --timeout")

    if every is not None and not notify:
        return [_trouble(Level.UNKNOWN, "configuration", UsageError("--every is for --notify", remedy="give both"))]
    if every is not None:
        watch(operation(database, plan), every, sleep=time.sleep)
    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        return checked(database, plan, notify=notify)
    finally:
        signal.alarm(0)


def checked(database: str | None, plan: Path | None, *, notify: bool) -> list[Judgement]:
    """Look at everything. What makes a look impossible is itself a judgement, so that a plugin always has its line."""
    found: list[Judgement] = []
    try:
        found.extend(_all(operation(database, plan), notify=notify))
    except SchemaMismatch as old:
        found.append(_trouble(Level.CRITICAL, "schema", old))
    except TookTooLong as slow:
        found.append(_trouble(Level.UNKNOWN, "time", slow))
    except DatabaseUnavailable as away:
        found.append(_trouble(Level.CRITICAL, "database", away))
    except TryAgain as busy:
        found.append(_trouble(Level.UNKNOWN, "database", busy))
    except Cron2QueueError as trouble:
        found.append(_trouble(Level.UNKNOWN, "configuration", trouble))
    return found


def _trouble(level: Level, check: str, trouble: Cron2QueueError) -> Judgement:
    text = f"{trouble.place}: {trouble.message}" if trouble.place else trouble.message
    return Judgement(level=level, check=check, subject=check, text=text, remedy=trouble.remedy or "")


def _all(where: Operation, *, notify: bool) -> Iterator[Judgement]:
    with where.inspection() as inspection:
        inspection.now()  # a file that is not there must not be made by the store
    with where.store() as store:
        store.require_schema()
        yield Judgement(level=Level.OK, check="schema", subject="schema", text=f"at step {store.schema_version()}")
        yield from _server(store)
        yield from _lock_folder(where)
        status, judgements = looked(where)
        yield from judgements
        yield from _never_came(where)
        if notify:
            signal.alarm(0)  # a hook is never cut off in the middle of being told
            yield from told(where, store, status, judgements)


def _server(store: Store) -> Iterator[Judgement]:
    """What of the server or the session would break a promise."""
    facts = store.server_facts()
    for level, troubles in ((Level.CRITICAL, facts.refusals), (Level.WARNING, facts.warnings)):
        for each in troubles:
            yield Judgement(level=level, check="database", subject="database", text=each.message, remedy=each.remedy)
    if not facts.refusals and not facts.warnings:
        text = f"{facts.backend} {facts.version}, settings as they should be"
        yield Judgement(level=Level.OK, check="database", subject="database", text=text)


def _lock_folder(where: Operation) -> Iterator[Judgement]:
    """Guarded lines need their folder at each start; /run is empty after a boot, and tmpfiles.d makes it again."""
    project = where.document.get("project", {})
    folder = project.get("lock-folder") if isinstance(project, dict) else None
    if not isinstance(folder, str):
        return
    problem = _lock_folder_problem(Path(folder))
    level = Level.CRITICAL if problem else Level.OK
    remedy = "install units/tmpfiles.d and run systemd-tmpfiles --create" if problem else ""
    yield Judgement(level=level, check="lock-folder", subject=folder, text=problem or "is there", remedy=remedy)


def _lock_folder_problem(folder: Path) -> str:
    try:
        found = folder.stat()
    except OSError as trouble:
        return f"cannot be used: {trouble.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return "is no folder"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return "lets everybody delete the locks of others"
    return ""


def _never_came(where: Operation) -> Iterator[Judgement]:
    with where.inspection() as inspection:
        names = never_came(where, inspection.ticks())
    for name in names:
        text = "its producer has not come yet: is its crontab line applied?"
        yield Judgement(level=Level.OK, check="producer", subject=name, text=text)


def told(where: Operation, store: Store, status: StatusView, judgements: Sequence[Judgement]) -> Iterator[Judgement]:
    """Run the hooks, and judge whether they could be told."""
    with where.inspection() as inspection:
        found = Round(inspection=inspection, marks=Marks(store), hooks=where.hooks)
        for delivery in found.run(status, judgements):
            level = Level.WARNING if delivery.problem else Level.OK
            yield Judgement(level=level, check="hook", subject=delivery.hook, text=delivery.problem or "was told")


def say(judgements: Sequence[Judgement], format: str, *, verbose: bool) -> Level:
    """Put the verdict on stdout; the level is the exit status."""
    level = worst(judgement.level for judgement in judgements)
    put(as_json(_record(judgements, level)) if format == "json" else plugin_output(judgements, verbose=verbose))
    return level


def _record(judgements: Sequence[Judgement], level: Level) -> dict[str, Any]:
    checks = [alert_record(each) for each in judgements]
    return {"schema": SCHEMA, "level": level.name.lower(), "status": int(level), "checks": checks}


def watch(where: Operation, every: float, *, sleep: Any) -> None:
    """Tell hooks again and again; a database that is away is said once on stderr and waited for."""
    troubled = ""
    while True:
        trouble = ""
        try:
            status, judgements = looked(where)
            with where.store() as store:
                failed = [each for each in told(where, store, status, judgements) if each.level is not Level.OK]
            for each in failed:
                say_aside(f"hook {each.subject}: {each.text}")
        except UsageError:
            raise
        except Cron2QueueError as away:
            trouble = away.message
        if trouble and trouble != troubled:
            say_aside(f"{trouble}; trying again")
        troubled = trouble
        sleep(every)
