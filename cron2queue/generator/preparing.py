"""One conversion from an audit to the files that would be written, with everything that an earlier one left in the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cron2queue.errors import UsageError
from cron2queue.generator.artifacts import Change as FileChange
from cron2queue.generator.artifacts import compare, left_over
from cron2queue.generator.conversion import draft
from cron2queue.generator.drafts import Draft, Original, Request
from cron2queue.generator.engine import engine_named
from cron2queue.generator.project import Product, assemble
from cron2queue.generator.repairing import as_repaired, repairs
from cron2queue.plan.builder import build
from cron2queue.plan.file import Merged, merge
from cron2queue.plan.manifest import MANIFEST_NAME, Manifest, read_manifest
from cron2queue.plan.reading import PlanText, check_keys, read_project
from cron2queue.plan.spread import spread
from cron2queue.runtime.plan_tables import did_you_mean, unreadable
from cron2queue.runtime.settings import PLAN_NAME

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.generator.templating import Templates
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.model import Project

Answers = Mapping[str, Mapping[str, bool]]
"""By entry and sign, what a person said when asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the caller wants. `explicit` holds the project's keys that were given now and win over the plan's."""

    defaults: Project
    explicit: Mapping[str, Any] = field(default_factory=dict)
    only: frozenset[str] = frozenset()
    spread: bool = False
    answers: Answers = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What an earlier conversion left: the plan's text and PLAN.json."""

    text: str | None = None
    manifest: Manifest | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """Digests of what was generated, by path."""
        return self.manifest.files if self.manifest else {}

    @property
    def dates(self) -> dict[str, tuple[str | None, date]]:
        """New line and date of every replacement that was planned."""
        sources = self.manifest.sources if self.manifest else ()
        return {each.name: (each.new, date.fromisoformat(each.on)) for source in sources for each in source.replacements}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that writing needs, and all that a summary shows."""

    merged: Merged
    draft: Draft
    product: Product
    changes: tuple[FileChange, ...]
    left_over: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether writing would change anything."""
        return any(change.fate != "same" for change in self.changes)


def look_back(folder: Folder | None) -> Before:
    """Read what lies in the folder. Raises UsageError for a plan or a PLAN.json that cannot be read."""
    if folder is None:
        return Before()
    text, data = folder.read(PLAN_NAME), folder.read(MANIFEST_NAME)
    try:
        decoded = None if text is None else text.decode("utf-8")
    except UnicodeDecodeError as trouble:
        raise unreadable(trouble, trouble.object, folder.path / PLAN_NAME) from None
    manifest = None if data is None else read_manifest(data, place=str(folder.path / MANIFEST_NAME))
    return Before(text=decoded, manifest=manifest)


def project_of(before: Before, choices: Choices, path: Path) -> Project:
    """The choices of the whole migration: given now, else in the plan, else the defaults."""
    known = choices.defaults
    if before.text is not None:
        source = PlanText(before.text, path)
        document = source.document()
        check_keys(source, document)
        known = read_project(source, document, known)
        _check_engines(source, document, known.engine)
    project = replace(known, **choices.explicit)
    engine_named(project.engine)
    return project


def _check_engines(source: PlanText, document: Mapping[str, Any], engine: str) -> None:
    """An engine that nobody knows is told with its line."""
    single = document.get("engines", {})
    for table, key, word in (("project", "engine", engine), *(("engines", name, word) for name, word in single.items())):
        try:
            engine_named(str(word))
        except UsageError as trouble:
            raise source.wrong(trouble.message, table=table, key=key, remedy=trouble.remedy) from None


def _check_only(only: frozenset[str], merged: Merged) -> None:
    names = frozenset(job.name for job in merged.plan.jobs)
    for name in sorted(only - names):
        raise UsageError(f"no entry is named {name!r}", remedy=did_you_mean(name, names))


def _dated(prepared: Product, before: Before) -> str | None:
    """The date of the earlier run, when this one comes to the same."""
    old, new = before.manifest, prepared.manifest
    if old is None or old.tool != new.tool:
        return None
    same = (old.sources, old.generated, old.refused) == (new.sources, _through_json(new.generated), new.refused)
    return old.on if same else None


def _through_json(value: object) -> object:
    import json

    return json.loads(json.dumps(value))


def prepare(
    audit: Audit, originals: Sequence[Original], templates: Templates, choices: Choices, *, path: Path, folder: Folder | None
) -> Prepared:
    """Decide and render everything; nothing is written. `path` is the plan's folder, `folder` None while there is none."""
    before = look_back(folder)
    project = project_of(before, choices, path / PLAN_NAME)
    repaired = repairs(audit)
    audit = replace(audit, verdicts=as_repaired(audit.verdicts, repaired))
    built = build(audit, project, owners={each.file.path: each.owner for each in originals})
    jobs = spread(built.plan.jobs, audit) if choices.spread else built.plan.jobs
    merged = merge(
        replace(built.plan, jobs=tuple(jobs)),
        path=path / PLAN_NAME,
        text=before.text,
        base=dict(before.manifest.generated) if before.manifest else {},
        whys=built.whys,
        forced=frozenset(choices.explicit),
    )
    _check_only(choices.only, merged)
    request = Request(
        plan=merged.plan,
        originals=originals,
        at=audit.at,
        zone=audit.zone,
        templates=templates,
        folder=path,
        only=choices.only,
        dates=before.dates,
        repairs=repaired,
        known={each.path: each for each in before.manifest.sources} if before.manifest else {},
    )
    return _rendered(request, merged, before, choices, folder)


def _rendered(request: Request, merged: Merged, before: Before, choices: Choices, folder: Folder | None) -> Prepared:
    drawn = draft(request)
    kept = before.files if choices.only else {}
    answers = {**(before.manifest.answers if before.manifest else {}), **choices.answers}

    def assembled(on: str) -> Product:
        templates, originals = request.templates, request.originals
        return assemble(merged, drawn, originals, templates, on=on, kept_digests=kept, answers=answers)

    product = assembled(request.at.date().isoformat())
    earlier = _dated(product, before)
    if earlier and earlier != product.manifest.on:
        product = assembled(earlier)
    changes = compare(product.artifacts, folder, before.files)
    return Prepared(
        merged=merged,
        draft=drawn,
        product=product,
        changes=tuple(changes),
        left_over=() if choices.only else tuple(left_over(changes, before.files)),
    )
