"""`python -m cron2queue.runtime work`: the options of a worker, and how it ends."""

import argparse
import logging
import os
import sys
from pathlib import Path

from cron2queue.errors import UsageError
from cron2queue.given import restore_environment
from cron2queue.runtime.settings import DEFAULT_DATABASE, PLAN_NAME, Settings, read_settings
from cron2queue.runtime.streams import open_closed_streams
from cron2queue.runtime.worker.options import (
    DEFAULT_RECYCLE_BYTES,
    DEFAULT_RECYCLE_JOBS,
    DEFAULT_RECYCLE_SECONDS,
    Recycling,
    Timing,
    WorkerOptions,
)

_DESCRIPTION = """Work on jobs until told to stop.

Examples:
  cron2queue worker --queue default:2
  cron2queue worker --queue mail:8 --queue reports:1 --children 4
  cron2queue worker --drain                  leave when nothing is left to do
"""
DATABASE_VARIABLE = "CRON2QUEUE_DATABASE_URL"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `work`."""
    add = parser.add_argument
    add("--plan", type=Path, metavar="FILE", help=f"the plan; {PLAN_NAME} in this folder if there is one")
    add("--database", metavar="URL", help=f"default: {DATABASE_VARIABLE}, then the plan's, then {DEFAULT_DATABASE}")
    add("--prefix", help="the prefix of the tables (default: the plan's)")
    add("--queue", action="append", default=[], metavar="NAME[:N]", help="a queue and how many of its jobs at one time")
    add("--handlers", action="append", default=[], metavar="MODULE", help="a Python module with handlers, beside the plan's")
    add("--children", type=int, default=0, metavar="N", help="child processes (default: by the queues, at most two a CPU)")
    add("--threads", type=int, default=16, metavar="N", help="jobs side by side of kinds that only wait")
    add("--drain", action="store_true", help="leave as soon as nothing is left to do")
    add("--grace", type=float, default=30.0, metavar="SECONDS", help="for running jobs when told to stop")
    add("--lease", type=float, default=30.0, metavar="SECONDS", help="the same for all workers of a database")
    add("--poll", type=float, default=1.0, metavar="SECONDS", help="longest time between two looks at an empty queue")
    add("--recycle-jobs", type=int, default=DEFAULT_RECYCLE_JOBS, metavar="N", help="a child is replaced after so many jobs")
    add("--recycle-bytes", type=int, default=DEFAULT_RECYCLE_BYTES, metavar="N", help="... or above this size")
    add("--recycle-seconds", type=float, default=DEFAULT_RECYCLE_SECONDS, metavar="N", help="... or at this age")
    add("--log", choices=["text", "json"], default="text", help="form of the log on stderr")
    add("-q", "--quiet", action="store_true", help="log warnings and errors only")


def queue_of(text: str) -> tuple[str, int]:
    """`NAME` or `NAME:N`. Raises UsageError."""
    name, colon, number = text.rpartition(":")
    if not colon:
        return text, 1
    if not (name and number.isascii() and number.isdecimal() and 1 <= int(number) <= 10_000):
        raise UsageError(f"--queue {text!r} is not NAME:N", remedy="write it like --queue mail:4")
    return name, int(number)


def options_of(arguments: argparse.Namespace, environment: "os._Environ[str] | dict[str, str]") -> WorkerOptions:
    """The worker that the command line asks for. Raises UsageError or InputError."""
    plan: Path | None = arguments.plan
    if plan is None and os.path.isfile(PLAN_NAME):
        plan = Path(PLAN_NAME)
    settings = read_settings(plan) if plan is not None else Settings(folder=Path.cwd())
    for name in ("threads", "grace", "lease", "poll", "recycle_jobs", "recycle_bytes", "recycle_seconds"):
        if not getattr(arguments, name) > 0:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} must be above 0", remedy=f"leave {option} out, or give a number above 0")
    if arguments.children < 0:
        raise UsageError("--children must not be negative", remedy="0 or nothing lets the worker choose")
    return WorkerOptions(
        database=arguments.database or environment.get(DATABASE_VARIABLE) or settings.project.database,
        prefix=arguments.prefix or settings.project.prefix,
        plan=plan,
        modules=tuple(arguments.handlers),
        queues=dict(queue_of(each) for each in arguments.queue),
        widths={name: queue.concurrency for name, queue in settings.queues.items()},
        limits=settings.queues,
        children=arguments.children,
        threads=arguments.threads,
        drain=arguments.drain,
        grace=arguments.grace,
        timing=Timing(lease=arguments.lease, poll=arguments.poll),
        recycling=Recycling(jobs=arguments.recycle_jobs, rss_bytes=arguments.recycle_bytes, seconds=arguments.recycle_seconds),
        retention=settings.retention,
    )


def start_logging(form: str, *, quiet: bool) -> None:
    """Log to stderr: lines for people, or JSON for machines."""
    from cron2queue.runtime.json_logs import JsonLines, PlainLines, under_journald

    handler = logging.StreamHandler()
    if form == "json":
        handler.setFormatter(JsonLines(priorities=under_journald()))
    else:
        handler.setFormatter(PlainLines())
    logger = logging.getLogger("cron2queue")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def work(arguments: argparse.Namespace) -> int:
    """Be a worker; 0 after a clean stop."""
    from cron2queue.runtime.worker import init

    if init.is_init():
        return init.run_as_init(init.own_command())
    from cron2queue.runtime.worker.notify import ServiceManager
    from cron2queue.runtime.worker.supervisor import Supervisor

    open_closed_streams()
    restore_environment()
    start_logging(arguments.log, quiet=arguments.quiet)
    options = options_of(arguments, os.environ)
    if os.geteuid() == 0 and not options.drain:
        logging.getLogger("cron2queue.worker").warning(
            "this worker runs as root, and so do handlers in Python and every job that names no user"
        )
    Supervisor(options=options, manager=ServiceManager.from_environment(os.environ, os.getpid())).run()
    sys.stderr.flush()
    return 0


def main(arguments: list[str]) -> int:
    """Read the options and be a worker."""
    parser = argparse.ArgumentParser(
        prog="cron2queue worker",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="TERM lets running jobs finish for --grace seconds and gives the rest back; a\nsecond TERM is quicker.",
    )
    add_options(parser)
    return work(parser.parse_args(arguments))
