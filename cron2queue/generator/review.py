"""REVIEW.md: what changes for each entry and why, what stays, what was refused, what to check, and how to go back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import BECOMES, Decision
from cron2queue.generator.artifacts import SHARED, Artifact
from cron2queue.generator.checklist import Item, checklist
from cron2queue.generator.engine import engine_named
from cron2queue.generator.migrations import database_of
from cron2queue.generator.repairing import REPAIR_FIRST
from cron2queue.generator.units import by_queue, worker_unit
from cron2queue.generator.upkeep import chore_unit, chores
from cron2queue.plan.model import MIGRATED
from cron2queue.text import to_text

if TYPE_CHECKING:
    from cron2queue.generator.drafts import Change, Draft, Mended
    from cron2queue.generator.engine import Move
    from cron2queue.generator.templating import Templates
    from cron2queue.plan.model import Plan, PlannedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry in the review; its texts may be foreign."""

    name: str
    path: str
    line: int
    schedule: str
    becomes: str
    because: str
    overlap: str = ""
    timeout: str = ""
    order: int | None = None
    old: str = ""
    new: str | None = None
    proof: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """What the review's template may use."""

    project: str
    tool: str
    on: str
    entries: int
    paths: tuple[str, ...]
    counts: str
    shadow: bool
    changes: tuple[Row, ...]
    stays: tuple[Row, ...]
    mended: tuple[Row, ...]
    revived: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str], ...]
    gone: tuple[str, ...]
    edited: tuple[str, ...]
    checklist: tuple[Item, ...]
    steps: tuple[str, ...]
    folder: str


def _becomes(job: PlannedJob, *, changed: bool = False) -> str:
    settings = job.settings
    if job.engine == "systemd" and job.decision is not Decision.DROP:
        return "a systemd timer"
    words = {
        Decision.QUEUE: f"job in queue {settings.queue}",
        Decision.SPLIT: f"producer and item jobs in queue {settings.queue}",
        Decision.FIX: "repaired, stays" if changed else REPAIR_FIRST,
    }
    return words.get(job.decision, BECOMES[job.decision])


def _row(job: PlannedJob, **more: object) -> Row:
    settings = job.settings
    limited = job.migrated or job.decision is Decision.GUARD
    values: dict[str, object] = {
        "name": job.name,
        "path": settings.source or "",
        "line": settings.line or 0,
        "schedule": settings.schedule or "",
        "becomes": _becomes(job),
        "because": job.because,
        "overlap": str(settings.overlap) if limited else "",
        "timeout": f"{settings.timeout:g} s" if limited and settings.timeout else "",
        "order": job.verdict.order if job.verdict else None,
        "notes": job.notes,
        **more,
    }
    return Row(**values)  # type: ignore[arg-type]


def _proof(change: Change) -> str:
    if change.note:
        return change.note[0].upper() + change.note[1:]
    if getattr(change.move.entry.schedule, "random", False):
        return "Starts are drawn at random as before, from the same minutes"
    where = "the new line" if change.block.new is not None else "its target"
    return f"Proved: all starts of {where} over 400 days, both clock changes among them, are those of the old line"


def _changed(change: Change) -> Row:
    new = None if change.block.new is None else to_text(change.block.new).rstrip("\n")
    becomes = _becomes(change.move.job, changed=True)
    notes = (*change.move.job.notes, *filter(None, [change.remark]))
    return _row(
        change.move.job,
        notes=notes,
        becomes=becomes,
        old=to_text(change.block.old).rstrip("\r\n"),
        new=new,
        proof=_proof(change),
    )


def _mended(line: Mended) -> Row:
    block = line.block
    return Row(
        name=block.name,
        path=line.path,
        line=line.line,
        schedule="",
        becomes="repaired",
        because=", ".join(line.rules),
        old=to_text(block.old).rstrip("\n"),
        new=to_text(block.new or b"").rstrip("\n"),
    )


def _counts(plan: Plan, draft: Draft) -> str:
    changed = Counter(change.move.job.decision for change in draft.changes)
    jobs = sum(changed[decision] for decision in MIGRATED)
    stay = len(plan.jobs) - len(draft.changes)
    return (
        f"Of {len(plan.jobs)} entries: jobs {jobs}, in cron with a guard {changed[Decision.GUARD]},"
        f" repaired {changed[Decision.FIX]}, switched off {changed[Decision.DROP]}, as they were {stay}."
    )


def _celery_steps(name: str, *, beat: bool) -> tuple[str, ...]:
    """What stands before the workers: broker, relay, and beat where it keeps the times."""
    services = f"cron2queue-{name}-relay" + (f" cron2queue-{name}-beat" if beat else "")
    broker = f"for RabbitMQ before 3.12 install `units/rabbitmq/cron2queue-{name}.conf` in /etc/rabbitmq/conf.d and restart it"
    return (
        f"Write CRON2QUEUE_BROKER_URL and CRON2QUEUE_DATABASE_URL into `/etc/cron2queue/{name}.env` on every host; {broker}.",
        f"On one host start what is needed once (units as in the next step): `systemctl enable --now {services}`.",
    )


def _as_whom(plan: Plan, queued: Sequence[Move]) -> str:
    """A SQLite file belongs to whoever makes it."""
    users = sorted({user for move in queued if (user := move.job.settings.user) not in (None, "root")})
    if database_of(plan.project.database) != "sqlite" or not users:
        return ""
    return f", as {users[0]}, in a folder that is {users[0]}'s own"


def _upkeep(plan: Plan, queued: Sequence[Move]) -> tuple[str, ...]:
    """Timers that run beside the workers, where the plan asks for any."""
    found = list(chores(plan, [move for move in queued if engine_named(move.job.engine).has_workers]))
    if not found:
        return ()
    names = " ".join(f"{chore_unit(plan, chore)}.timer" for chore in found)
    instead = f"without systemd install `units/cron.d/cron2queue-{plan.project.name}`"
    return (f"Start what runs by itself: `systemctl enable --now {names}`; {instead}.",)


def _in_order(draft: Draft) -> list[Change]:
    """As the audit would migrate them; what needs no migration comes last."""
    return sorted(draft.changes, key=lambda each: (each.move.job.verdict and each.move.job.verdict.order) or 10**9)


def _steps(plan: Plan, draft: Draft) -> tuple[str, ...]:
    project = plan.project
    queued = [change.move for change in draft.changes if change.move.job.migrated and change.move.job.engine != "systemd"]
    timers = any(change.move.job.engine == "systemd" for change in draft.changes)
    steps = ["Read this file, `cron2queue.toml` and `cron2queue diff`; change the plan where you know better; convert again."]
    if draft.changes and not project.lock_folder.startswith(f"{project.folder}/"):
        steps.append(
            f"Make the lock files: install `units/tmpfiles.d/cron2queue-{project.name}.conf`, run `systemd-tmpfiles --create`."
        )
    if queued:
        names = " ".join(f"{worker_unit(project)}{queue}" for queue in by_queue(queued))
        steps.append(f"Make the job table: `cron2queue migrate up --plan cron2queue.toml`{_as_whom(plan, queued)}.")
        if any(move.job.engine.startswith("celery") for move in queued):
            steps.extend(_celery_steps(project.name, beat=any(move.job.engine == "celery-beat" for move in queued)))
        steps.append(f"Copy `units/systemd/` to /etc/systemd/system and start the workers: `systemctl enable --now {names}`.")
        steps.extend(_upkeep(plan, queued))
    if timers:
        steps.append("Install the timers of `units/systemd/` and enable each in the same minute in which its line is applied.")
    if draft.changes:
        first = _in_order(draft)[0].move.job.name
        steps.append(
            f"Apply one entry: `cron2queue apply {project.folder} --only {first}`; watch `cron2queue status` for a day."
        )
        steps.append("Apply the others one by one in the order of the table above.")
    return tuple(steps)


def review(
    plan: Plan, draft: Draft, templates: Templates, *, on: str, tool: str, edited: Sequence[str], paths: Sequence[str]
) -> Artifact:
    """The review of one conversion."""
    changed: Mapping[str, Change] = {change.move.job.name: change for change in draft.changes}
    queued = tuple(job for job in plan.migrated if job.name in changed)
    stays = [job for job in plan.jobs if job.name not in changed and job.name not in draft.refused]
    page = ReviewPage(
        project=plan.project.name,
        tool=tool,
        on=on,
        entries=len(plan.jobs),
        paths=tuple(paths),
        counts=_counts(plan, draft),
        shadow=plan.project.shadow,
        changes=tuple(_changed(each) for each in _in_order(draft)),
        stays=tuple(_row(job) for job in stays),
        mended=tuple(map(_mended, draft.mended)),
        revived=tuple(sorted(draft.revived)),
        refused=tuple(sorted(draft.refused.items())),
        questions=tuple((job.name, question) for job in plan.jobs for question in job.questions),
        gone=plan.gone,
        edited=tuple(edited),
        checklist=checklist(plan, queued),
        steps=_steps(plan, draft),
        folder=plan.project.folder,
    )
    text = templates.render("_shared/REVIEW.md.j2", page)
    return Artifact(path="REVIEW.md", content=text.encode("utf-8", "backslashreplace"), mode=SHARED)
