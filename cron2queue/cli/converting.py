"""The work of `cron2queue convert`: read, judge, plan, render, and only then write into the one folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cron2queue.errors import InputError, UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.declarations import Declarations
    from cron2queue.generator.drafts import Original
    from cron2queue.generator.preparing import Before, Choices, Prepared
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.model import Project

DIFFERS, NOT_READ = 1, 3
SIGNS = ("mostly_empty", "overlap_hurts", "user_waits", "lost_on_failure")
LOCK_FOLDER = "/run/lock/cron2queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of the command, as typed; None where nothing was said."""

    sources: list[str] | None
    into: Path
    dialect: str
    kind: str
    user: str | None
    root: Path | None
    logs: list[str] | None
    journal: str | None
    observations: Path | None
    nothing_to_do: list[str] | None
    timezone: str | None
    at: str | None
    project: Mapping[str, Any]
    only: list[str] | None
    spread: bool
    ask: bool
    check: bool
    dry_run: bool
    quiet: bool


PROJECT_OPTIONS = ("language", "engine", "database", "shadow", "observe")


def request_from(given: Mapping[str, Any]) -> Request:
    """The request out of the options by name. Raises UsageError for a value that [project] does not take."""
    from cron2queue.plan.reading import checked_choices

    project = {name: given[name] for name in PROJECT_OPTIONS} | _settings(given["settings"] or [])
    others = {name: value for name, value in given.items() if name not in (*PROJECT_OPTIONS, "settings")}
    return Request(project=checked_choices(project), **others)


def _settings(pairs: list[str]) -> dict[str, Any]:
    from cron2queue.plan.keys import PROJECT_WORDS
    from cron2queue.runtime.plan_tables import did_you_mean

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is no KEY=VALUE", remedy="write e.g. --set folder=/opt/c2q", place="--set")
        if key not in PROJECT_WORDS:
            raise UsageError(f"there is no key {key!r} in [project]", remedy=did_you_mean(key, PROJECT_WORDS), place="--set")
        found[key.replace("-", "_")] = {"true": True, "false": False}.get(value, value)
    return found


def perform(request: Request) -> int:
    """Convert; the exit status."""
    from cron2queue.plan.folder import Folder

    path = Path(request.into).absolute()
    if request.ask:
        from cron2queue.cli.asking import need_terminal

        need_terminal(sys.stdin)
    if not os.path.exists(path) and (request.check or request.dry_run):
        return _in_folder(request, path, None)
    if not os.path.exists(path):
        # Nothing is made before everything is rendered: a first conversion that fails leaves no folder behind.
        prepared, unreadable = _prepared(request, path, None)
        with Folder.open(path, create=True) as folder:
            _write(prepared, folder)
        return _told(request, prepared, path, unreadable)
    with Folder.open(path) as folder:
        return _in_folder(request, path, folder)


def _in_folder(request: Request, path: Path, folder: Folder | None) -> int:
    prepared, unreadable = _prepared(request, path, folder)
    if folder is not None and not (request.check or request.dry_run):
        _write(prepared, folder)
    return _told(request, prepared, path, unreadable)


def _write(prepared: Prepared, folder: Folder) -> None:
    from cron2queue.generator.artifacts import write

    write(prepared.changes, folder)
    _make_locks(prepared, folder)


def _make_locks(prepared: Prepared, folder: Folder) -> None:
    """Lock files inside of the folder, for a user who has no tmpfiles.d; each belongs to the user of its job."""
    inside = f"{folder.path}/"
    for change in prepared.draft.changes:
        for need in change.needs:
            if need.startswith(inside) and need.endswith(".lock"):
                folder.touch(need.removeprefix(inside), 0o600, user=change.move.job.settings.user)


def _told(request: Request, prepared: Prepared, path: Path, unreadable: bool) -> int:
    from cron2queue.cli.writing import write_stdout
    from cron2queue.generator.summary import summary

    if not request.quiet:
        write_stdout(summary(prepared, path, written=not (request.check or request.dry_run)))
    if unreadable:
        return NOT_READ
    return DIFFERS if request.check and prepared.differs else 0


def _prepared(request: Request, path: Path, folder: Folder | None) -> tuple[Prepared, bool]:
    from cron2queue.cli.clock import moment, zone_for
    from cron2queue.cli.reading.host import caller
    from cron2queue.cli.remarks import tell_unreadable, with_evidence
    from cron2queue.cli.sources import read
    from cron2queue.generator.preparing import look_back, prepare
    from cron2queue.generator.restoring import originals
    from cron2queue.generator.templating import Templates

    sources = read(request.sources or [], dialect=request.dialect, kind=request.kind, user=request.user, root=request.root)
    sources = with_evidence(sources, request.logs, request.journal, request.observations)
    tell_unreadable(sources)
    found = originals(sources.files, caller=request.user or caller(), owner=request.user)
    if sources.unreadable and not any(each.file.lines for each in found):
        raise InputError("nothing was read", remedy="name crontabs that you may read")
    before = look_back(folder)
    zone = zone_for(request.timezone or _planned_zone(before), root=request.root)
    at = moment(request.at, zone)
    audit, answers = _judged(request, found, before, zone, at)
    choices = _choices(request, path, found, zone, answers)
    prepared = prepare(audit, found, Templates(), choices, path=path, folder=folder)
    _refuse_nothing(found, prepared)
    return prepared, bool(sources.unreadable)


def _refuse_nothing(found: list[Original], prepared: Prepared) -> None:
    """Raises UsageError where there is nothing to convert, to put right or to miss."""
    files = [each.file for each in found]  # where every line is switched off, the lines before that
    if any(file.entries for file in files) or prepared.draft.mended or prepared.merged.plan.gone:
        return
    for file in files:
        for line in file.malformed[:1]:
            remedy = "cron2queue audit tells what is wrong with each of its lines: repair that first"
            said = f"there is no entry to convert: cron cannot read what stands there ({line.message})"
            raise UsageError(said, remedy=remedy, place=f"{file.path}:{line.number}:{line.column}")
    names = ", ".join(file.path for file in files)
    raise UsageError("there is no entry to convert", remedy="name a crontab that holds at least one entry", place=names)


def _planned_zone(before: Before) -> str | None:
    """A later run asks about the same zone as the first one, wherever it runs."""
    zone = before.manifest.generated.get("project", {}).get("", {}).get("timezone") if before.manifest else None
    return zone if isinstance(zone, str) else None


def _judged(
    request: Request, found: list[Original], before: Before, zone: ZoneInfo, at: datetime
) -> tuple[Audit, dict[str, dict[str, bool]]]:
    from cron2queue.analyser.audit import audit
    from cron2queue.cli.evidence import book_of
    from cron2queue.cli.host import facts_of_host
    from cron2queue.cli.remarks import tell_useless_evidence

    files = [each.file for each in found]
    book = book_of(request, files, zone, at, nothing_to_do=request.nothing_to_do or ())
    host = facts_of_host(files, request.root)
    tell_useless_evidence(book, asked=bool(request.logs or request.journal or request.observations))
    known = _declarations(before)
    judged = audit(files, book, at=at, zone=zone, answers=known, host=host)
    if not request.ask:
        return judged, {}
    from cron2queue.cli.asking import ask

    said = {entry: _added(known.get(entry), new) for entry, new in ask(judged).items()}
    return audit(files, book, at=at, zone=zone, answers={**known, **said}, host=host), _plain(said)


def _declarations(before: Before) -> dict[str, Declarations]:
    """What was answered in earlier runs."""
    from cron2queue.analyser.declarations import Declarations

    answers = before.manifest.answers if before.manifest else {}
    return {entry: Declarations(**said) for entry, said in answers.items()}  # type: ignore[arg-type]


def _added(known: Declarations | None, new: Declarations) -> Declarations:
    """What was answered before, and now."""
    if known is None:
        return new
    return replace(known, **{sign: value for sign in SIGNS if (value := getattr(new, sign)) is not None})


def _plain(said: Mapping[str, Declarations]) -> dict[str, dict[str, bool]]:
    return {
        entry: {sign: value for sign in SIGNS if (value := getattr(each, sign)) is not None} for entry, each in said.items()
    }


def _choices(
    request: Request, path: Path, found: list[Original], zone: ZoneInfo, answers: Mapping[str, Mapping[str, bool]]
) -> Choices:
    from cron2queue.generator.preparing import Choices
    from cron2queue.runtime.settings import from_folder

    explicit = {key: value for key, value in request.project.items() if value is not None}
    folder = explicit.get("folder", str(path))
    if request.timezone is not None:
        explicit["timezone"] = zone.key
    if "database" in explicit:
        explicit["database"] = from_folder(explicit["database"], str(folder))
    return Choices(
        defaults=_defaults(path, str(folder), found, zone),
        explicit=explicit,
        only=frozenset(request.only or []),
        spread=request.spread,
        answers=answers,
    )


def _defaults(path: Path, folder: str, found: list[Original], zone: ZoneInfo) -> Project:
    from cron2queue.crontab.lines import Kind
    from cron2queue.plan.model import Hardening, Language, Project, Userland
    from cron2queue.plan.naming import slug
    from cron2queue.runtime.database.prefix import PREFIX
    from cron2queue.runtime.settings import DEFAULT_DATABASE, from_folder

    own = all(each.file.kind is Kind.USER for each in found)
    busybox = any(each.file.dialect == "busybox" for each in found)
    return Project(
        name=slug(path.name.lower()),
        language=Language.PYTHON,
        database=from_folder(DEFAULT_DATABASE, folder),
        prefix=PREFIX,
        timezone=zone.key,
        engine="sqlqueue",
        userland=Userland.BUSYBOX if busybox else Userland.GNU,
        folder=folder,
        python=sys.executable,
        # A user cannot have files made below /run at boot.
        lock_folder=f"{folder}/locks" if own else LOCK_FOLDER,
        harden=Hardening.BASIC,
    )
