"""What convert says when it is done: the plan, the files, what is left to the reader, and what to type next."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import BECOMES, Decision
from cron2queue.generator.crontab_lines import is_moved
from cron2queue.generator.drafts import CHANGING
from cron2queue.generator.repairing import REPAIR_FIRST
from cron2queue.redaction import redact
from cron2queue.text import cut, safe_text

if TYPE_CHECKING:
    from pathlib import Path

    from cron2queue.generator.drafts import Change
    from cron2queue.generator.preparing import Prepared
    from cron2queue.plan.model import PlannedJob

_OPEN = f"{BECOMES[Decision.ASK]}: see the questions"


def _today(job: PlannedJob, change: Change | None) -> str:
    """The schedule of the crontab; that of the plan may be another one."""
    entry = change.move.entry if change else job.verdict.entry if job.verdict else None
    return (entry.schedule_text if entry else job.settings.schedule) or ""


def _then(job: PlannedJob, change: Change | None, prepared: Prepared) -> tuple[str, ...]:
    """What becomes of it; for what will be run differently overlap and time limit as well."""
    settings = job.settings
    if job.name in prepared.draft.refused:
        return ("REFUSED, stays as it is",)
    if change is None and job.decision is Decision.FIX and (settings.source or "") in prepared.draft.revived:
        return ("stays; its file is repaired",)
    if change is None:
        words = {Decision.KEEP: BECOMES[Decision.KEEP], Decision.ASK: _OPEN, Decision.FIX: REPAIR_FIRST}
        return (words.get(job.decision, "not converted now"),)
    if job.decision is Decision.DROP:
        return (BECOMES[Decision.DROP],)
    if job.decision not in CHANGING and change.block.repaired:
        return (f"repaired; {_OPEN}" if job.decision is Decision.ASK else "repaired, stays",)
    moved = f"at {safe_text(settings.schedule or '')}" if is_moved(change.move) else ""
    if job.decision not in CHANGING:
        return (moved or re.split("[,;]", change.note)[0] or BECOMES[Decision.KEEP],)
    kept = {"systemd": "timer", "guard": BECOMES[Decision.GUARD]}
    becomes = kept.get(job.engine, f"job -> {settings.queue}")
    return (f"{becomes}, {moved}" if moved else becomes, settings.overlap, f"{settings.timeout:g} s")


_HEADINGS = ("line", "entry", "now", "then", "overlap", "timeout")


def _lines_of_plan(prepared: Prepared) -> Iterator[str]:
    """A table as wide as its cells: what stands alone in `then` may reach into the columns to its right."""
    rows: list[tuple[str, ...]] = [_HEADINGS]
    changes = {each.move.job.name: each for each in prepared.draft.changes}
    for job in prepared.merged.plan.jobs:
        change = changes.get(job.name)
        now = cut(safe_text(_today(job, change)), 20)
        rows.append((str(job.settings.line or 0), cut(job.name, 25), now, *_then(job, change, prepared)))
    widths = [max(len(row[at]) for row in rows if len(row) > at and (at != 3 or len(row) > 4)) for at in range(len(_HEADINGS))]
    for line, *cells in rows:
        padded = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths[1:], strict=False))
        yield f"  {line:>{widths[0]}}  {padded}".rstrip()


def _wrote(prepared: Prepared, path: Path, *, written: bool) -> Iterator[str]:
    fates = Counter(str(change.fate) for change in prepared.changes)
    counted = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    heading = "WROTE" if written else "WOULD WRITE"
    yield f"{heading}  {len(prepared.changes)} files in {safe_text(str(path))}: {counted}"
    yield "  nothing else was changed"
    for change in prepared.changes:
        if change.fate == "kept":
            yield f"  edited, so kept: {change.artifact.path}; its new version is {change.path}"
    for left in prepared.left_over:
        then = (
            "disable it as its line comes back, then delete it" if left.endswith(".timer") else "delete it when nothing uses it"
        )
        yield f"  no longer generated: {safe_text(left)}; {then}"
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
        lines += ["", *_next(prepared, safe_text(str(path)))]
    return "\n".join(lines) + "\n"


def _next(prepared: Prepared, shown: str) -> Iterator[str]:
    yield f"Next   read {shown}/REVIEW.md"
    if not prepared.draft.to_apply:
        yield "       nothing is to be applied: the crontab is as the plan wants it"
        return
    yield f"       cron2queue diff {shown}"
    yield f"       cron2queue apply {shown}"
    yield "       diff shows what would change; apply asks, and backs up"
