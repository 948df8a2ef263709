"""`lock NAME -- COMMAND` as a command line: its options read, one call, its status."""

import argparse
import logging
import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from cron2queue.errors import UsageError
from cron2queue.runtime.locks.locking import lock_folder
from cron2queue.runtime.locks.run import run_locked
from cron2queue.runtime.settings import PLAN_NAME, ProjectSettings, Scope, read_settings
from cron2queue.runtime.streams import open_closed_streams

DATABASE_VARIABLE = "CRON2QUEUE_DATABASE_URL"


class Policy(StrEnum):
    """What to do while another run has the lock."""

    SKIP = "skip"
    WAIT = "wait"


def perform(
    name: str,
    command: Sequence[str],
    *,
    policy: str,
    scope: str,
    folder: Path | None,
    database: str | None,
    plan: Path | None,
    textfile: Path | None = None,
) -> int:
    """Run the command under the lock; its status. Raises what run_locked raises, and UsageError.

    Without a `plan`, the one in this folder is read if there is one; what was named is never passed over.
    `textfile` gets the counts of all locks of the folder afterwards, whether the command was run or not.
    """
    open_closed_streams()
    if not command:
        raise UsageError("there is no command to run", remedy="write it after --")
    for word, words in ((policy, Policy), (scope, Scope)):
        if word not in tuple(words):
            raise UsageError(f"{word!r} is none of {', '.join(words)}", remedy=f"write {' or '.join(words)}")
    project = _project(plan)
    logging.getLogger("cron2queue.lock").addHandler(logging.NullHandler())
    place = lock_folder(folder, os.environ, project.lock_folder)
    try:
        return run_locked(
            name,
            command,
            wait=policy == Policy.WAIT,
            scope=Scope(scope),
            folder=place,
            url=database or os.environ.get(DATABASE_VARIABLE) or project.database,
            prefix=project.prefix,
        )
    finally:
        if textfile is not None:
            from cron2queue.runtime.locks.metrics import write_textfile  # cron starts this line, mostly without

            write_textfile(textfile, place)


def _project(plan: Path | None) -> ProjectSettings:
    if plan is None and os.path.isfile(PLAN_NAME):
        plan = Path(PLAN_NAME)
    return ProjectSettings() if plan is None else read_settings(plan).project


def main(arguments: list[str]) -> int:
    """The lean twin: `python -m cron2queue.runtime lock NAME [options] -- COMMAND`."""
    parser = argparse.ArgumentParser(prog="python -m cron2queue.runtime lock", description="One run at a time.")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--policy", default=Policy.SKIP)
    parser.add_argument("--scope", default=Scope.HOST)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--database", metavar="URL")
    parser.add_argument("--textfile", type=Path, metavar="FILE")
    parser.add_argument("--plan", type=Path)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    read = parser.parse_args(arguments[:end])
    return perform(
        read.name,
        arguments[end + 1 :],
        policy=read.policy,
        scope=read.scope,
        folder=read.folder,
        database=read.database,
        plan=read.plan,
        textfile=read.textfile,
    )
