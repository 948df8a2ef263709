"""The work of `diff --shadow`: what cron ran and what the queue would have run, read from both, compared and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.evidence import book_of
from cron2queue.errors import InputError, UsageError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.cli.operation import Operation
    from cron2queue.crontab.lines import CrontabFile, Entry
    from cron2queue.cutover.shadow import Comparison, CronRun, ShadowJob, ShadowTime
    from cron2queue.evidence.book import EvidenceBook
    from cron2queue.evidence.matching import Index
    from cron2queue.evidence.runs import Run
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.manifest import Manifest, Source
    from cron2queue.runtime.settings import JobSettings
    from cron2queue.runtime.sight.inspection import Inspection
    from cron2queue.runtime.sight.views import JobView

PAGE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of `diff --shadow`, as typed."""

    logs: Sequence[str]
    journal: str | None
    observations: Path | None
    since: str | None
    database: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadowed:
    """An entry that stands or stood in shadow: its table in the plan, its line, its id, and since when."""

    job: JobSettings
    entry: Entry
    id: str
    time: ShadowTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is shown: the entries, and what of the evidence could not be used."""

    at: datetime
    entries: tuple[Comparison, ...]
    skipped: tuple[str, ...]


def compared(path: Path, only: Sequence[str], request: Request) -> Compared:
    """Both sides of every entry in shadow, or of the named ones."""
    from cron2queue.cli.clock import zone_for
    from cron2queue.cli.operation import moment, operation
    from cron2queue.plan.folder import Folder
    from cron2queue.runtime.settings import PLAN_NAME

    if not (request.logs or request.journal or request.observations):
        remedy = "give cron's log (--logs /var/log/syslog, --journal live) or a recording (--observations)"
        raise UsageError("nothing tells what cron ran", remedy=remedy, place="--shadow")
    with Folder.open(path.absolute()) as folder:
        where = operation(request.database, folder.path / PLAN_NAME)
        files, shadowed = _in_shadow(folder, where, only)
    zone = zone_for(where.settings.project.timezone if where.settings else None)
    with where.inspection() as inspection:
        now = inspection.now()
        book, runs = _cron_runs(request, files, shadowed, zone, now)
        since = moment(request.since, now)
        begins = {each.id: _begin(each, book, since) for each in shadowed}
        jobs = _jobs(inspection, shadowed, min(begins.values()))
        found = [_compare(each, runs, book, jobs[each.id], begins[each.id], now) for each in shadowed]
    return Compared(at=now, entries=tuple(found), skipped=book.skipped)


def _in_shadow(folder: Folder, where: Operation, only: Sequence[str]) -> tuple[list[CrontabFile], list[Shadowed]]:
    from cron2queue.cli.switching import manifest_in
    from cron2queue.crontab.lines import entry_ids, place_of
    from cron2queue.cutover.journal import Journal
    from cron2queue.cutover.shadow import shadow_times
    from cron2queue.runtime.plan_tables import did_you_mean

    manifest, journal = manifest_in(folder), Journal(folder)
    found = shadow_times(journal.steps())
    if not found:
        remedy = "cron2queue convert ... --shadow, then cron2queue apply: the old lines stay beside the producers"
        raise UsageError("no entry stands in shadow, or has stood there", remedy=remedy, place=str(folder.path))
    for name in only:
        if name not in found:
            raise UsageError(f"{name!r} was never in shadow", remedy=did_you_mean(name, found), place="--only")
    files = list(_files(manifest, folder))
    ids = entry_ids(files)
    entries = {place_of(file.path, entry): entry for file in files for entry in file.entries}
    jobs: Mapping[str, JobSettings] = where.settings.jobs if where.settings else {}
    places = {each.name: (source.path, each.line) for source in manifest.sources for each in source.replacements}
    shadowed = [
        Shadowed(job=jobs[name], entry=entries[places[name]], id=ids[places[name]], time=each)
        for name, each in found.items()
        if (not only or name in only) and name in jobs and places.get(name) in entries
    ]
    if not shadowed:
        names = ", ".join(only or found)
        raise UsageError(f"not in the plan or the crontab any more: {names}", remedy="convert again", place=str(folder.path))
    return files, shadowed


def _files(manifest: Manifest, folder: Folder) -> Iterator[CrontabFile]:
    """The live crontabs as they were before any replacement: the lines that cron runs beside the producers."""
    from cron2queue.crontab.dialect import dialect_named
    from cron2queue.crontab.lines import Kind
    from cron2queue.crontab.parser import parse
    from cron2queue.plan.blocks import restored

    for source in manifest.sources:
        text = restored(_text(source, folder), source.repairs)
        yield parse(text, path=source.path, dialect=dialect_named(source.dialect), kind=Kind(source.kind), user=source.user)


def _text(source: Source, folder: Folder) -> bytes:
    from cron2queue.cutover.live import live_crontab

    return live_crontab(source, folder.path).read()


Runs = Mapping[str, tuple[list["CronRun"], bool]]
"""By entry id: its starts, and whether some of them may be another entry's that looks the same."""


def _cron_runs(
    request: Request, files: Sequence[CrontabFile], shadowed: Sequence[Shadowed], zone: ZoneInfo, now: datetime
) -> tuple[EvidenceBook, Runs]:
    """Each run is placed as it is heard: a log holds more of others than of the few entries that stand in shadow."""
    from cron2queue.crontab.lines import entry_ids
    from cron2queue.cutover.shadow import CronRun
    from cron2queue.evidence.matching import Index, listed

    entries = listed(files, entry_ids(files))
    index, by_id = Index(entries), {each.id: each.entry for each in entries}
    found: dict[str, tuple[list[CronRun], bool]] = {each.id: ([], False) for each in shadowed}

    def heard(run: Run) -> None:
        ids = _whose(run, index, by_id, zone)
        for own in found.keys() & set(ids):
            starts, shared = found[own]
            starts.append(CronRun(started=run.started, ended=run.ended))
            found[own] = (starts, shared or len(ids) > 1)

    book = book_of(request, files, zone, now, listen=heard)
    if book.window is None:
        what = "; ".join(book.skipped) or "no start of any job was found there"
        raise InputError(f"cron's side cannot be read: {what}", remedy="name the log of the cron daemon, or a recording")
    return book, found


def _whose(run: Run, index: Index, entries: Mapping[str, Entry], zone: ZoneInfo) -> Sequence[str]:
    """The entry of a start; where several look the same in the log, those that were due in its minute."""
    from cron2queue.evidence.log_format import Subject

    ids = index.of(Subject(run.user, run.command, hint=run.entry_hint))
    if len(ids) < 2:
        return ids
    minute = run.started.replace(second=0, microsecond=0)
    due = [each for each in ids if any(entries[each].schedule.fires_between(minute, minute + timedelta(minutes=1), zone))]
    return due or ids


def _begin(each: Shadowed, book: EvidenceBook, since: datetime | None) -> datetime:
    """From when on both sides tell of an entry."""
    known = [each.time.since, since, book.window.start if book.window else None]
    return max(moment for moment in known if moment is not None)


def _compare(
    each: Shadowed, runs: Runs, book: EvidenceBook, made: Sequence[ShadowJob], begin: datetime, now: datetime
) -> Comparison:
    from cron2queue.cutover.shadow import batched, compare

    end = min(each.time.until or now, book.window.end if book.window else now, now)
    gap = each.entry.schedule.shortest_gap
    starts, shared = runs[each.id]
    return compare(
        each.job.name,
        starts,
        batched(made, gap) if each.job.decision == "split" else made,
        since=begin,
        until=max(begin, end),
        gap=gap,
        overlap=each.job.overlap,
        shared=shared,
    )


def _jobs(inspection: Inspection, shadowed: Sequence[Shadowed], since: datetime) -> dict[str, list[ShadowJob]]:
    """By entry id, the jobs that its ticks on this host made since then; a tick's minute stands in their keys.

    Of every kind in one walk: a look for a single one would not go as far back.
    """
    from cron2queue.cutover.shadow import ShadowJob

    found: dict[str, list[ShadowJob]] = {each.id: [] for each in shadowed}
    for view in _views(inspection, since - timedelta(minutes=1)):
        for each in shadowed:
            due = _due(each.job, view) if each.job.kind == view.kind else None
            if due is not None:
                found[each.id].append(ShadowJob(due=due, started=view.started_at, finished=view.finished_at))
    return found


def _views(inspection: Inspection, since: datetime) -> Iterator[JobView]:
    from cron2queue.runtime.sight.inspection import JobFilter

    before = None
    while True:
        page = inspection.jobs(JobFilter(created_since=since, before_id=before, limit=PAGE))
        yield from page.jobs
        if not page.jobs or not page.more:
            return
        before = page.jobs[-1].id


def _due(job: JobSettings, view: JobView) -> datetime | None:
    """When it was due; None for a job that no tick of this entry on this host made."""
    from cron2queue.runtime.producer import tick_of

    if job.decision == "split":
        return view.created_at
    entry, _, minute = (view.key or "").rpartition(" ")
    if view.created_at is None or entry != tick_of(job, view.created_at).entry:
        return None
    try:
        return datetime.strptime(minute, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def perform_shadow(
    path: Path, only: Sequence[str], request: Request, format: str, *, color: str, ascii_only: bool, width: int | None
) -> int:
    """Compare, show, and 1 when the two sides are not alike."""
    from cron2queue.cli.operation import one_of
    from cron2queue.cli.screens.canvas import as_json, canvas, put, styled
    from cron2queue.cli.screens.shadow import shadow_record, shadow_screen
    from cron2queue.cli.trouble import say

    one_of(format, ("terminal", "json"), "--format")
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    found = compared(path, only, request)
    for each in found.skipped:
        say(f"evidence: {each}")
    put(
        as_json(shadow_record(found.at, found.entries))
        if format == "json"
        else styled(room, shadow_screen(found.entries, room))
    )
    return 0 if all(each.alike for each in found.entries) else 1


def refuse_without_shadow(request: Request, format: str) -> None:
    """Evidence says nothing of a change that is not made yet. A database may stand in the environment, and is no mistake."""
    given = {
        "--logs": request.logs,
        "--journal": request.journal,
        "--observations": request.observations,
        "--since": request.since,
        "--format": format if format != "terminal" else None,
    }
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} is for --shadow", remedy="give both, or neither", place=option)
