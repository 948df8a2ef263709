"""What convert says when it is done: the plan, the files, what is left to the reader, and what to type next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.drafts import CHANGING
from cron2queue.redaction import redact
from cron2queue.text import cut, safe_text

if TYPE_CHECKING:
    from pathlib import Path

    from cron2queue.generator.preparing import Prepared
    from cron2queue.plan.model import PlannedJob


def _then(job: PlannedJob, prepared: Prepared) -> str:
    change, settings = prepared.draft.change(job.name), job.settings
    if job.name in prepared.draft.refused:
        return "REFUSED, stays as it is"
    if change is None and job.decision is Decision.FIX and (settings.source or "") in prepared.draft.revived:
        return "stays; its file is repaired"
    if change is None:
        words = {Decision.KEEP: "stays", Decision.ASK: "not decided: see the questions", Decision.FIX: "repair it first"}
        return words.get(job.decision, "not converted now")
    if job.decision is Decision.DROP:
        return "switched off"
    if job.decision not in CHANGING and change.block.repaired:
        return "repaired; not decided: see the questions" if job.decision is Decision.ASK else "repaired, stays"
    if job.decision in (Decision.KEEP, Decision.ASK):
        return change.note.partition(",")[0] or "stays"
    limits = f"{settings.overlap:<8}  timeout {settings.timeout:g} s"
    if job.engine in ("systemd", "guard"):
        return f"{'timer' if job.engine == 'systemd' else 'guarded':<20} {limits}"
    return f"{'job -> ' + settings.queue:<20} {limits}  attempts {settings.max_attempts}"


def _lines_of_plan(prepared: Prepared) -> Iterator[str]:
    yield "  line  entry                      now                   then"
    for job in prepared.merged.plan.jobs:
        now = cut(safe_text(job.settings.schedule or ""), 20)
        yield f"  {job.settings.line or 0:>4}  {cut(job.name, 25):<25}  {now:<20}  {_then(job, prepared)}"


def _wrote(prepared: Prepared, path: Path, *, written: bool) -> Iterator[str]:
    fates = Counter(str(change.fate) for change in prepared.changes)
    counted = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    heading = "WROTE" if written else "WOULD WRITE"
    yield f"{heading}  {len(prepared.changes)} files in {safe_text(str(path))}: {counted}        nothing else was changed"
    for change in prepared.changes:
        if change.fate == "kept":
            yield f"  edited, so kept: {change.artifact.path}; its new version is {change.path}"
    for left in prepared.left_over:
        yield f"  no longer generated: {safe_text(left)}; delete it when nothing uses it"
    for key in prepared.merged.edited:
        yield f"  your value stays: {safe_text(key)}"


def _attention(prepared: Prepared) -> Iterator[str]:
    for name, reason in sorted(prepared.draft.refused.items()):
        yield f"  refused  {name}: {safe_text(redact(reason))}"
    for mended in prepared.draft.mended:
        yield f"  repaired {mended.block.name} of {safe_text(mended.path)} ({', '.join(mended.rules)})"
    for path in sorted(prepared.draft.revived):
        yield f"  revived  {safe_text(path)}: cron ignores it today; repaired, all of its entries run. Then convert again"
    for name in prepared.merged.plan.gone:
        yield f"  removed  {name}: its line is no longer in the crontab; the plan keeps the job until you delete its table"
    questions = sum(len(job.questions) for job in prepared.merged.plan.jobs)
    if questions:
        yield f"  open     {questions} {'question' if questions == 1 else 'questions'} in REVIEW.md; answer with --ask"


def summary(prepared: Prepared, path: Path, *, written: bool) -> str:
    """The whole text, safe to show."""
    lines = ["PLAN", "", *_lines_of_plan(prepared), "", *_wrote(prepared, path, written=written)]
    attention = list(_attention(prepared))
    if attention:
        lines += ["", "YOURS", "", *attention]
    if written:
        shown = safe_text(str(path))
        lines += ["", f"Next   read {shown}/REVIEW.md", f"       cron2queue diff {shown}        what would change, as a diff"]
        lines.append(f"       cron2queue apply {shown}       asks, backs up, and refuses if the crontab has changed")
    return "\n".join(lines) + "\n"
