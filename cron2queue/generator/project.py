"""All files of the plan's folder, put together: the plan, the new crontabs, what the engines made, the review, PLAN.json."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue import __version__
from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.artifacts import PRIVATE, SHARED, Artifact
from cron2queue.generator.review import review
from cron2queue.generator.units import LockFile, host_artifacts
from cron2queue.plan.manifest import MANIFEST_NAME, Manifest
from cron2queue.redaction import redact
from cron2queue.runtime.settings import PLAN_NAME
from cron2queue.text import to_bytes, to_text

if TYPE_CHECKING:
    from cron2queue.generator.drafts import Change, Draft, Original
    from cron2queue.generator.templating import Templates
    from cron2queue.plan.file import Merged

GROUP_READABLE = 0o640


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The files to write, and the manifest that describes them (itself the last of the files)."""

    artifacts: tuple[Artifact, ...]
    manifest: Manifest


def unified_diff(old: bytes, new: bytes, old_name: str, new_name: str) -> str:
    """A diff that `patch` understands; bytes stay as they are."""
    before, after = to_text(old).split("\n"), to_text(new).split("\n")
    lines = difflib.unified_diff(_with_ends(before), _with_ends(after), old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _with_ends(lines: list[str]) -> list[str]:
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _crontab_artifacts(draft: Draft, originals: Sequence[Original]) -> list[Artifact]:
    made, diffs = [], []
    editable = [each for each in originals if each.file.editable]
    for source, original in zip(draft.sources, editable, strict=True):
        new = draft.crontabs[source.output]
        made.append(Artifact(path=source.output, content=new, mode=PRIVATE))
        diffs.append(unified_diff(original.file.to_bytes(), new, source.path, source.output))
    made.append(Artifact(path="crontab.diff", content=to_bytes("".join(diffs)), mode=PRIVATE))
    return made


def _locks(changes: Sequence[Change], folder: str) -> list[LockFile]:
    owners = [(each.move.job.settings.user or "root", need) for each in changes for need in each.needs]
    return [LockFile(path=need, user=user) for user, need in owners if need.startswith(f"{folder}/") and need.endswith(".lock")]


def _host(merged: Merged, draft: Draft, templates: Templates) -> list[Artifact]:
    jobs = [change.move.job for change in draft.changes]
    locks = _locks(draft.changes, merged.plan.project.lock_folder)
    return host_artifacts(merged.plan, jobs, locks, templates)


def private(merged: Merged) -> bool:
    """Whether the plan itself holds a password: that of the database, or one of a command."""
    address = merged.plan.project.database
    return redact(address) != address or any(job.decision is not Decision.DROP and job.secret for job in merged.plan.jobs)


def assemble(
    merged: Merged,
    draft: Draft,
    originals: Sequence[Original],
    templates: Templates,
    *,
    on: str,
    kept_digests: Mapping[str, str],
    answers: Mapping[str, Mapping[str, bool]],
) -> Product:
    """Everything that convert writes. `kept_digests` are of files that a run for single entries leaves alone."""
    plan = merged.plan
    mode = GROUP_READABLE if private(merged) else SHARED
    host = _host(merged, draft, templates) if draft.changes else []
    files = [
        Artifact(path=PLAN_NAME, content=merged.text.encode(), mode=mode, merged=True),
        *_crontab_artifacts(draft, originals),
        *draft.artifacts,
        *host,
        review(
            plan,
            draft,
            templates,
            on=on,
            tool=__version__,
            edited=merged.edited,
            paths=[original.file.path for original in originals],
        ),
    ]
    manifest = Manifest(
        tool=__version__,
        on=on,
        sources=draft.sources,
        files={**kept_digests, **{each.path: each.digest for each in files}},
        generated=merged.generated,
        refused=draft.refused,
        answers=answers,
    )
    last = Artifact(path=MANIFEST_NAME, content=manifest.to_json(), mode=PRIVATE, merged=True)
    return Product(artifacts=(*files, last), manifest=manifest)
