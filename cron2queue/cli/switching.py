"""The work of `diff`, `apply` and `rollback`: show what would change, ask, and change it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.trouble import say
from cron2queue.cli.writing import write_stdout
from cron2queue.errors import Refused, UsageError
from cron2queue.redaction import redact
from cron2queue.text import safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cron2queue.cli.operation import Operation
    from cron2queue.cutover.preflight import Told
    from cron2queue.cutover.rollback import EditedBlock
    from cron2queue.cutover.switch import Cutover
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.manifest import Manifest

DIFFERS = 1


def manifest_in(folder: Folder) -> Manifest:
    """What convert wrote down. Raises UsageError for a folder that it has not written."""
    from cron2queue.plan.manifest import MANIFEST_NAME, read_manifest

    data = folder.read(MANIFEST_NAME)
    if data is None:
        remedy = "name the folder that was given to convert --into"
        raise UsageError("convert has not made this folder: it holds no PLAN.json", remedy=remedy, place=str(folder.path))
    return read_manifest(data, place=str(folder.path / MANIFEST_NAME))


@contextmanager
def _plan_in(path: Path) -> Iterator[tuple[Folder, Manifest]]:
    """The folder that convert has made, and what it wrote down there, while nobody else switches by it."""
    from cron2queue.cutover.switch import sole_use
    from cron2queue.plan.folder import Folder

    with _rights(), Folder.open(path.absolute()) as folder:
        manifest_in(folder)  # in a folder of anybody else's not even a lock is made
        with sole_use(folder):
            yield folder, manifest_in(folder)


@contextmanager
def _rights() -> Iterator[None]:
    """A right that is missing is a refusal: whoever converted has it."""
    from cron2queue.plan.folder import NotYours

    remedy = "run it as the user who has converted, or as root"
    try:
        yield
    except PermissionError as trouble:
        raise Refused(trouble.strerror or "not permitted", remedy=remedy, place=str(trouble.filename)) from None
    except NotYours as trouble:
        raise Refused(trouble.message, remedy=remedy) from None


def _shown(text: str) -> str:
    """A diff for a person's eyes: safe to show, secrets masked."""
    return "".join(f"{safe_text(redact(line))}\n" for line in text.splitlines())


def _difference(cutover: Cutover) -> str:
    from cron2queue.generator.project import unified_diff

    return _shown(unified_diff(cutover.before, cutover.after, cutover.live.name, f"{cutover.live.name} (new)"))


def perform_diff(path: Path, only: Sequence[str]) -> int:
    """Show what apply would change; 1 when it would change anything."""
    from cron2queue.cutover.apply import cutovers

    with _plan_in(path) as (folder, manifest):
        found = cutovers(manifest, folder, only)
    write_stdout("".join(_difference(each) for each in found))
    return DIFFERS if found else 0


def _agreed(cutover: Cutover, *, yes: bool) -> bool:
    """Show the change, and ask unless it was agreed to beforehand."""
    write_stdout(_difference(cutover))
    for remark in cutover.remarks:
        say(remark)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("there is nobody to ask: standard input is not a terminal", remedy="add --yes", place=cutover.kind)
    verb = "Change" if cutover.kind == "apply" else "Put back"
    print(f"{verb} {safe_text(cutover.live.name)}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _perform(folder: Folder, found: Sequence[Cutover], *, yes: bool) -> None:
    from datetime import UTC, datetime

    from cron2queue.cutover.journal import Journal
    from cron2queue.cutover.switch import perform, still_loads

    for cutover in found:
        still_loads(cutover)
        if not _agreed(cutover, yes=yes):
            write_stdout("nothing was changed\n")
            continue
        step = perform(cutover, Journal(folder), datetime.now(UTC))
        names, backup = ", ".join(cutover.names), safe_text(str(folder.path / step.backup))
        write_stdout(f"{cutover.kind}: {safe_text(cutover.live.name)} is changed ({names}); backup {backup}\n")


def _plans(found: Sequence[Cutover]) -> list[Path]:
    """The plans that the new lines read."""
    from cron2queue.runtime.settings import PLAN_NAME

    needs = {Path(need) for cutover in found for each in cutover.touched for need in each.needs}
    return sorted(need for need in needs if need.name == PLAN_NAME)


def _tables_are_there(found: Sequence[Cutover]) -> None:
    """Raises what a producer would meet from the first minute on: no tables, old ones, a database that does not answer."""
    from cron2queue.cli.operation import operation

    for plan in _plans(found):
        with operation(None, plan).store() as store:
            store.require_schema()


def _told(found: Sequence[Cutover]) -> dict[str, Told]:
    """What the plans of the new lines say of the host."""
    from cron2queue.cli.operation import operation

    return {str(plan): _of(operation(None, plan)) for plan in _plans(found) if os.path.exists(plan)}


def _of(where: Operation) -> Told:
    from cron2queue.cutover.preflight import Told
    from cron2queue.runtime.database.address import parse

    address, python = parse(where.url), where.document.get("project", {}).get("python")
    file = Path(address.database) if address.family == "sqlite" and address.database else None
    return Told(python=python if isinstance(python, str) else None, sqlite=file)


def perform_apply(path: Path, only: Sequence[str], *, yes: bool) -> int:
    """Make the plan's changes in the live crontabs."""
    from cron2queue.cutover.apply import cutovers
    from cron2queue.cutover.preflight import ready

    with _plan_in(path) as (folder, manifest):
        found = cutovers(manifest, folder, only)
        plans = _told(found)
        for cutover in found:
            ready(cutover, plans)
        _tables_are_there(found)
        if not found:
            write_stdout("nothing to change: the live crontab is as the plan wants it\n")
        _perform(folder, found, yes=yes)
    return 0


def perform_rollback(path: Path, only: Sequence[str], *, yes: bool) -> int:
    """Take applied changes back."""
    from cron2queue.cutover.rollback import EditedBlock, cutovers

    with _plan_in(path) as (folder, manifest):
        try:
            found = cutovers(manifest, folder, only)
        except EditedBlock as edited:
            write_stdout(_edit(edited))
            raise
        _perform(folder, found, yes=yes)
    return 0


def _edit(edited: EditedBlock) -> str:
    """All that was edited since, the lines in the way among them."""
    if edited.applied is None:
        return ""
    from cron2queue.generator.project import unified_diff

    return _shown(unified_diff(edited.applied, edited.text, "as applied", "as it stands"))
