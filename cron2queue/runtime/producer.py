"""The producer that cron starts: `python -m cron2queue.runtime enqueue`. Lean: one job in, its public id out."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from cron2queue.errors import DatabaseUnavailable, UsageError
from cron2queue.record import Record
from cron2queue.runtime.database.exact import random_hex
from cron2queue.runtime.database.prefix import PREFIX
from cron2queue.runtime.jobs import Enqueued, Forever, NewJob, Period, UniqueScope, WhileActive
from cron2queue.runtime.verbs.producing import ProducerVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Any, Final

    from cron2queue.runtime.settings import JobSettings, Settings
    from cron2queue.runtime.verbs.ticking import Tick, Ticked

PLAN_NAME: Final = "cron2queue.toml"  # as in runtime.settings, which only a plan needs
DEFAULT_DATABASE: Final = "sqlite:///./cron2queue.db"
DATABASE_VARIABLE: Final = "CRON2QUEUE_DATABASE_URL"
_DESCRIPTION = """Enqueue one job: a job of the plan by its name, or any kind with --kind.

Exit status: 0 enqueued, or known already; 2 wrong call; 3 plan not readable; 69 no database; 75 queue full, try again.
"""


class Wish(Record):
    """What is to be enqueued, and where."""

    url: str
    prefix: str
    job: NewJob
    tick: Tick | None = None
    spool: str | None = None


# Each option: its words, and what argparse is told of it. The name of the job stands first, and needs none.
_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "--kind": {"help": "the kind, for a job that is not in the plan"},
    "--key": {"help": "makes it idempotent: the same kind and key is one job"},
    "--unique": {"default": "active", "metavar": "active|forever|SECONDS", "help": "how long the key stays taken"},
    "--payload": {"metavar": "JSON", "help": "the payload; - reads it from standard input"},
    "--queue": {"help": "the queue (default: the plan's, or default)"},
    "--priority": {"type": int, "help": "lower runs first (default 100)"},
    "--delay": {"type": float, "metavar": "SECONDS", "help": "not before so many seconds from now"},
    "--run-at": {"metavar": "TIME", "help": "not before this time, ISO 8601 with its offset"},
    "--max-attempts": {"type": int, "metavar": "N", "help": "runs, the first included (default 8)"},
    "--ordering-key": {"metavar": "KEY", "help": "jobs of one key run one at a time, in order"},
    "--limit-key": {"metavar": "KEY", "help": "the bucket of limits by key"},
    "--owner": {"help": "who asked for it"},
    "--tick": {"action": "store_true", "help": "this is the scheduled run of the job: once for each minute"},
    "--nominal": {"metavar": "TIME", "help": "the tick's time, if it is not this minute (with --tick)"},
    "--spool": {"metavar": "FILE", "help": "keep the job in this file while the database is away"},
    "--plan": {"metavar": "FILE", "help": f"the plan (default: {PLAN_NAME}, if it is there)"},
    "--database": {"metavar": "URL", "help": f"the database (default: ${DATABASE_VARIABLE}, or the plan's)"},
    "--prefix": {"help": f"the prefix of the tables (default: the plan's, or {PREFIX})"},
    "--quiet": {"action": "store_true", "help": "print nothing"},
}
_SHORT: Final = {"-q": "--quiet"}


class Options:
    """What the command line says, by the names of its options."""

    def __init__(self, **given: Any) -> None:
        self.name: Any = None
        for option, told in _OPTIONS.items():
            self.set(option, False if "action" in told else told.get("default"))
        self.__dict__.update(given)

    def set(self, option: str, value: Any) -> None:
        """Note the value of an option."""
        setattr(self, option[2:].replace("-", "_"), value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def options_of(arguments: Sequence[str]) -> Options:
    """Read the command line. What is written as a generated line writes it is read here; help and all else by argparse."""
    return _plainly_read(arguments) or _parser().parse_args(list(arguments), Options())


def _plainly_read(arguments: Sequence[str]) -> Options | None:
    options, words = Options(), iter(arguments)
    for word in words:
        option = _SHORT.get(word, word)
        if option not in _OPTIONS:
            if option.startswith("-") or options.name is not None:
                return None
            options.name = word
        elif "action" in _OPTIONS[option]:
            options.set(option, True)
        else:
            value = next(words, "-")
            if value.startswith("-") or "type" in _OPTIONS[option]:
                return None
            options.set(option, value)
    return options


def _parser() -> ArgumentParser:
    import argparse

    made = argparse.ArgumentParser(
        prog="python -m cron2queue.runtime enqueue",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("name", nargs="?", help="a job of the plan")
    for option, told in _OPTIONS.items():
        made.add_argument(option, *[short for short, long in _SHORT.items() if long == option], **told)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; trouble comes out as Cron2QueueError with its exit status."""
    options = options_of(arguments)
    wish = wish_of(options, environment=os.environ, now=datetime.now(UTC))
    said = carry_out(wish)
    if not options.quiet:
        print(said)
    return 0


def wish_of(options: Options, *, environment: Mapping[str, str], now: datetime) -> Wish:
    """Put plan, options and environment together. Options win over the plan."""
    settings = _settings(options)
    planned = _planned(options, settings)
    project = settings.project if settings is not None else None
    url = options.database or environment.get(DATABASE_VARIABLE) or (project.database if project else DEFAULT_DATABASE)
    job = _new_job(options, planned, now)
    return Wish(
        url=url,
        prefix=options.prefix or (project.prefix if project else PREFIX),
        job=job,
        tick=_tick(options, planned, now) if options.tick else None,
        spool=options.spool,
    )


def _settings(options: Options) -> Settings | None:
    name = options.plan
    if name is None and os.path.exists(PLAN_NAME):
        name = PLAN_NAME
    if name is None:
        return None
    from pathlib import Path

    from cron2queue.runtime.settings import read_settings

    return read_settings(Path(name))


def _planned(options: Options, settings: Settings | None) -> JobSettings | None:
    if options.name is None:
        if options.kind is None:
            raise UsageError("nothing to enqueue", remedy="name a job of the plan, or give --kind")
        return None
    if settings is None:
        raise UsageError(
            f"there is no plan to look {options.name!r} up in", remedy="give --plan FILE, or --kind without a name"
        )
    if options.name not in settings.jobs:
        from cron2queue.runtime.plan_tables import did_you_mean

        said, remedy = f"the plan has no job {options.name!r}", did_you_mean(options.name, settings.jobs)
        raise UsageError(said, remedy=remedy, place=options.plan or PLAN_NAME)
    return settings.jobs[options.name]


def _new_job(options: Options, planned: JobSettings | None, now: datetime) -> NewJob:
    def chosen(given: Any, of_plan: Any, otherwise: Any) -> Any:
        return given if given is not None else of_plan if planned is not None else otherwise

    return NewJob(
        kind=chosen(options.kind, planned and planned.kind, None),
        payload=_payload(options.payload),
        key=options.key,
        queue=chosen(options.queue, planned and planned.queue, "default"),
        priority=chosen(options.priority, planned and planned.priority, 100),
        run_at=_run_at(options, now),
        max_attempts=chosen(options.max_attempts, planned and planned.max_attempts, 8),
        unique=_unique(options.unique),
        ordering_key=_ordering_key(options, planned, now),
        owner=options.owner,
        limit_key=options.limit_key,
        public_id=random_hex(16),  # one id for all tries, the spooled one included
    )


def _ordering_key(options: Options, planned: JobSettings | None, now: datetime) -> str | None:
    """A planned job without key or payload of its own is the entry's run, by hand: it waits its turn among the ticks' jobs."""
    if options.ordering_key is not None or planned is None or options.key is not None or options.payload is not None:
        given: str | None = options.ordering_key
        return given
    return tick_of(planned, now).ordering_key


def _payload(text: str | None) -> Any:
    if text is None:
        return None
    import json

    try:
        return json.loads(sys.stdin.buffer.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the payload is not JSON: {error}", remedy="quote it for the shell: --payload '{\"n\": 1}'") from None


def _run_at(options: Options, now: datetime) -> datetime | None:
    if options.run_at is not None:
        return _time(options.run_at, "--run-at")
    if options.delay is None:
        return None
    try:
        return now + timedelta(seconds=options.delay)
    except (OverflowError, ValueError):
        raise UsageError(f"a delay of {options.delay} seconds is no time", remedy="give seconds") from None


def _time(text: str, option: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no time", remedy="write it like 2026-07-01T03:00:00+02:00") from None
    if moment.tzinfo is None:
        raise UsageError(f"{option} {text!r} has no offset", remedy="write it like 2026-07-01T03:00:00+02:00, or with Z")
    return moment


def _unique(text: str) -> UniqueScope:
    if text in ("active", "forever"):
        return WhileActive() if text == "active" else Forever()
    try:
        return Period(seconds=float(text))
    except ValueError:
        raise UsageError(f"--unique {text!r} is no scope", remedy="use active, forever or a number of seconds") from None


def _tick(options: Options, planned: JobSettings | None, now: datetime) -> Tick:
    if planned is None:
        raise UsageError("--tick needs a job of the plan", remedy="name it: its overlap rule and its name make the key")
    nominal = now if options.nominal is None else _time(options.nominal, "--nominal")
    return tick_of(planned, nominal)


def tick_of(planned: JobSettings, nominal: datetime) -> Tick:
    """The tick of a planned job at this time; each host has its own where the plan's scope says so."""
    from cron2queue.runtime.settings import Scope
    from cron2queue.runtime.verbs.ticking import Tick, minute_of

    place = os.uname().nodename if planned.scope is Scope.HOST else None
    return Tick(name=planned.name, nominal=minute_of(nominal), overlap=planned.overlap, place=place)


def carry_out(wish: Wish) -> str:
    """Enqueue, or spool; what to print."""
    store = ProducerVerbs.open(wish.url, prefix=wish.prefix)
    try:
        return _say(_replayed(wish, store))
    except DatabaseUnavailable as trouble:
        if wish.spool is None:
            raise
        from pathlib import Path

        from cron2queue.redaction import redact
        from cron2queue.runtime import spool
        from cron2queue.text import safe_text

        job = wish.job if wish.tick is None else wish.tick.job(wish.job)
        public_id = spool.put(Path(wish.spool), job)
        said = " ".join(trouble.message.split())  # a driver's text may have several lines
        print(safe_text(redact(f"cron2queue: {said}; kept in {wish.spool}")), file=sys.stderr)
        return f"{public_id} spooled"
    finally:
        store.close()


def _replayed(wish: Wish, store: ProducerVerbs) -> Enqueued | Ticked:
    if wish.spool is not None:
        from pathlib import Path

        from cron2queue.runtime import spool

        spool.replay(Path(wish.spool), store)
    return store.enqueue(wish.job) if wish.tick is None else store.tick(wish.tick, wish.job)


def _say(answer: Enqueued | Ticked) -> str:
    if not isinstance(answer, Enqueued):
        if answer.enqueued is None:
            return f"skipped: the {answer.tick.name} before is not done yet"
        answer = answer.enqueued
    return f"{answer.public_id} duplicate" if answer.duplicate else answer.public_id
