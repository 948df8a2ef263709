"""cron2queue.toml out: a commented file in stable order, into which later runs merge what is new without touching edits.

A value is somebody's edit when it differs from what the last run wrote there. Such a value stays; every other one follows
the crontab and the evidence. Tables, comments and blank lines stay where they are.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit import comment, item, nl, table
from tomlkit.items import Table

from cron2queue.analyser.verdicts import Decision
from cron2queue.plan.builder import queues_of
from cron2queue.plan.keys import (
    FACTS,
    HEADING,
    JOB_WORDS,
    PROJECT_WORDS,
    QUEUE_WORDS,
    job_values,
    project_values,
    queue_values,
)
from cron2queue.plan.model import Plan, PlannedJob
from cron2queue.plan.reading import PlanText, check_keys, read_jobs, read_project, read_settings
from cron2queue.redaction import redact
from cron2queue.runtime.settings import FORMAT_VERSION, PLAN_NAME, JobSettings, Overlap, defaults
from cron2queue.text import cut, safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence
    from pathlib import Path

    from tomlkit import TOMLDocument

Generated = dict[str, dict[str, dict[str, Any]]]
"""What a run wrote: kind of table, name, key. `project` has the one name ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The new text, the plan that it says, what was generated for the next comparison, and what stayed as edited."""

    text: str
    plan: Plan
    generated: Generated
    edited: tuple[str, ...]


def _remark(text: str) -> str:
    return cut(safe_text(redact(text)), 160)


def _new_table(values: Mapping[str, Any], words: Mapping[str, str], remarks: tuple[str, ...] = ()) -> Table:
    made = table()
    for remark in remarks:
        made.add(comment(_remark(remark)))
    for key, value in values.items():
        written = item(value)
        if words.get(key) and not isinstance(value, dict):
            written.comment(words[key])
        made.add(key, written)
    made.add(nl())
    return made


class _Merger:
    """One run of merging fresh values into a document."""

    def __init__(self, document: TOMLDocument, base: Generated, forced: frozenset[str]) -> None:
        self.document = document
        self.forced = forced
        self.base = base
        self.generated: Generated = {"project": {}, "queues": {}, "jobs": {}}
        self.edited: list[str] = []
        self.tail = ""

    def engine_of(self, name: str) -> object:
        """The engine that the file names for a job: its own, or that of the project."""
        own: Mapping[str, Any] = self.document.get("engines", {})
        return own.get(name, self.document["project"].get("engine"))

    def _known(self, kind: str, name: str) -> Mapping[str, Any]:
        return self.base.get(kind, {}).get(name, {})

    def put(self, kind: str, name: str, values: Mapping[str, Any], words: Mapping[str, str], remarks: tuple[str, ...]) -> None:
        """Make the table, or bring its values up to date."""
        self.generated[kind][name] = dict(values)
        holder: Any = self.document if kind == "project" else self._super_table(kind)
        key = name or kind
        if key not in holder:
            self._add(kind, name, holder, _new_table(values, words, remarks))
            return
        where = f"{kind}.{name}" if name else kind
        for value_key in [*values, *(set(self._known(kind, name)) - set(values))]:
            self._merge(holder[key], value_key, values.get(value_key), self._known(kind, name).get(value_key), where)

    def _add(self, kind: str, name: str, holder: Any, made: Table) -> None:
        """Put a new table after its like; where those are scattered over the file, at its end."""
        if hasattr(holder, "append"):
            holder.append(name or kind, made)
            return
        alone, above = tomlkit.document(), table(is_super_table=True)
        above.append(name, made)
        alone.append(kind, above)
        self.tail += "\n" + tomlkit.dumps(alone)

    def text(self) -> str:
        """The whole file."""
        return tomlkit.dumps(self.document) + self.tail

    def _super_table(self, kind: str) -> MutableMapping[str, Any]:
        if kind not in self.document:
            self.document.append(kind, table(is_super_table=True))
        found: MutableMapping[str, Any] = self.document[kind]
        return found

    def _merge(self, held: Any, key: str, fresh: Any, known: Any, where: str) -> None:
        current = held[key].unwrap() if hasattr(held.get(key), "unwrap") else held.get(key)
        if current == fresh:
            return
        forced = where == "project" and key.replace("-", "_") in self.forced
        if key not in FACTS and current != known and not forced:
            self.edited.append(f"{where}.{key}")
        elif fresh is None:
            held.remove(key)
        else:
            held[key] = fresh


def _fresh_document() -> TOMLDocument:
    document = tomlkit.document()
    for line in HEADING:
        document.add(comment(line))
    document.add("format-version", FORMAT_VERSION)
    document.add(nl())
    return document


def _free(name: str, taken: set[str]) -> str:
    chosen, number = name, 2
    while chosen in taken:
        chosen, number = f"{name}-{number}", number + 1
    return chosen


def _renamed(job: PlannedJob, name: str) -> PlannedJob:
    old = job.settings
    kind = name if old.kind == old.name else old.kind
    return job if name == old.name else replace(job, settings=replace(old, name=name, kind=kind))


def matched(fresh: Plan, document: Mapping[str, Any]) -> dict[str, PlannedJob]:
    """The fresh jobs under the names that the file has for them: by entry first, then by name."""
    tables = document.get("jobs", {})
    by_entry = {str(held["entry"]): name for name, held in tables.items() if isinstance(held, dict) and "entry" in held}
    present = {job.settings.entry for job in fresh.jobs}
    taken = {name for entry, name in by_entry.items() if entry in present}
    result = {}
    for job in fresh.jobs:
        name = by_entry.get(job.settings.entry or "") or _free(job.name, taken)
        taken.add(name)
        result[name] = _renamed(job, name)
    return result


def _standing(held: Mapping[str, Any], known: Mapping[str, Any], key: str, fresh: str) -> str:
    """The word that will stand in the file after merging: an edited one, or the fresh one; a deleted key takes its default."""
    if key not in held:
        return str(defaults(JobSettings)[key]) if key in known else fresh
    return fresh if held[key] == known.get(key) else str(held[key])


def _effective(job: PlannedJob, held: Mapping[str, Any], known: Mapping[str, Any]) -> Decision:
    """The decision that will stand in the file after merging: an edited one, or the fresh one."""
    return Decision.__members__.get(_standing(held, known, "decision", job.settings.decision).upper(), job.decision)


def _gone(document: Mapping[str, Any], jobs: Mapping[str, PlannedJob]) -> Iterator[str]:
    for name, held in document.get("jobs", {}).items():
        if name not in jobs and "entry" in held:
            yield name


def _as_decided(jobs: Mapping[str, PlannedJob], document: Mapping[str, Any], base: Generated) -> Iterator[PlannedJob]:
    """The jobs with the decisions and the queues that will stand in the file."""
    for name, job in jobs.items():
        held = document.get("jobs", {}).get(name, {})
        known = base.get("jobs", {}).get(name, {})
        decision, queue = _effective(job, held, known), _standing(held, known, "queue", job.settings.queue)
        yield replace(job, settings=replace(job.settings, decision=decision.lower(), queue=queue))


def _merge_queues(merger: _Merger, fresh: Plan, jobs: Sequence[PlannedJob], whys: Mapping[str, str]) -> None:
    """Each queue that a job waits in by our choice; one that somebody has named is theirs to describe."""
    chosen = {job.settings.queue for job in fresh.jobs}
    queues, reasons = queues_of(job for job in jobs if job.settings.queue in chosen)
    found = {queue.name: queue for queue in (*fresh.queues, *queues)}
    for name, queue in sorted(found.items()):
        merger.put("queues", name, queue_values(queue), QUEUE_WORDS, (reasons.get(name) or whys.get(name, ""),))


def _fitting(settings: JobSettings, decision: Decision, engine: object) -> JobSettings:
    """What was chosen for a queue is not proposed to a lock, which has no memory."""
    guarded = decision is Decision.GUARD or engine == "guard"
    forgetful = guarded and settings.overlap in (Overlap.MERGE, Overlap.QUEUE, Overlap.REPLACE)
    return replace(settings, overlap=Overlap.SKIP) if forgetful else settings


def _merge_jobs(merger: _Merger, jobs: Mapping[str, PlannedJob], base: Generated) -> None:
    for name, job in jobs.items():
        held = merger.document.get("jobs", {}).get(name, {})
        decision = _effective(job, held, base.get("jobs", {}).get(name, {}))
        remarks = tuple(filter(None, (job.because, *job.notes)))
        settings = _fitting(job.settings, decision, merger.engine_of(name))
        merger.put("jobs", name, job_values(settings, decision), JOB_WORDS, remarks)
        if job.verdict:  # a spread start counts as an edit, so that it stays in later runs
            merger.generated["jobs"][name]["schedule"] = job.verdict.entry.schedule_text


def merge(
    fresh: Plan,
    *,
    path: Path,
    text: str | None,
    base: Generated,
    whys: Mapping[str, str],
    forced: frozenset[str] = frozenset(),
) -> Merged:
    """Merge a fresh plan into the file's text (None: there is no file yet).

    `base` is what the last run generated, `whys` explains queues, `forced` are keys of the project that win over edits.
    Raises UsageError for a file that cannot be used.
    """
    source = PlanText(text or "", path)
    document = source.document() if text is not None else _fresh_document()
    check_keys(source, document)
    merger = _Merger(document, base, forced)
    merger.put("project", "", project_values(fresh.project), PROJECT_WORDS, ())
    jobs = matched(fresh, document)
    _merge_queues(merger, fresh, [*_as_decided(jobs, document, base)], whys)
    _merge_jobs(merger, jobs, base)
    new = merger.text()
    # Read back as a whole: what is written is what everybody will read.
    result = PlanText(new, path)
    written = tomllib.loads(new)
    settings = read_settings(result, written)
    project = read_project(result, written, fresh.project)
    plan = Plan(
        project=project,
        queues=tuple(settings.queues.values()),
        jobs=read_jobs(result, written, settings, jobs, project.engine),
        gone=tuple(_gone(written, jobs)),
        hooks=tuple(written.get("hooks", {})),
    )
    return Merged(text=new, plan=plan, generated=merger.generated, edited=tuple(merger.edited))


__all__ = ["PLAN_NAME", "Generated", "Merged", "merge"]
