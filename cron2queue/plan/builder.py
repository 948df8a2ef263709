"""Verdicts turned into named jobs: queue, time budget, retries and overlap are chosen here, from what the audit knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cron2queue.analyser.schedulers import known_scheduler
from cron2queue.analyser.verdicts import Answer, Decision
from cron2queue.crontab.schedule import Calendar
from cron2queue.plan.character import Character, character
from cron2queue.plan.model import MIGRATED, Language, Plan, PlannedJob, Project
from cron2queue.plan.naming import module_name, unique
from cron2queue.plan.secrecy import holds_secret
from cron2queue.plan.timing import Budget, budget
from cron2queue.runtime.settings import OLD_COMMAND, JobSettings, Missed, Overlap, QueueSettings, Scope
from cron2queue.text import safe_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import timedelta

    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile, Entry

_DAY = 86400
SHADOW = "handlers/shadow.sh"
"""The handler of every job in shadow mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A fresh plan, and for each queue the sentence that explains its size."""

    plan: Plan
    whys: Mapping[str, str]


def handler_path(name: str, language: Language) -> str:
    """Where the handler of a job lies, below the plan's folder."""
    return f"handlers/{module_name(name)}.{language.ending}"


def declared_environment(file: CrontabFile, entry: Entry) -> dict[str, str]:
    """What the crontab itself sets for an entry; what cron adds of its own is the runtime's matter. SHELL stands apart."""
    names = {line.name for line in file.assignments if line.number < entry.number}
    return {name: value for name, value in entry.environment.items() if name in names and name != "SHELL"}


def _is_plain(*texts: str | None) -> bool:
    """Whether the plan can hold these: UTF-8 without NUL."""
    whole = "".join(text or "" for text in texts)
    try:
        whole.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in whole


def _overlap(verdict: Verdict) -> Overlap:
    if verdict.overlap in Overlap.__members__.values():
        return Overlap(verdict.overlap)
    return Overlap.MERGE if verdict.signs.mostly_empty.answer is Answer.YES else Overlap.SKIP


def _missed(verdict: Verdict, gap: timedelta | None) -> Missed:
    rare = gap is not None and gap.total_seconds() >= _DAY / 2
    return Missed.ONCE if rare and verdict.signs.lost_on_failure.answer is Answer.YES else Missed.SKIP


def _attempts(verdict: Verdict, kind: Character) -> int:
    return 8 if verdict.signs.lost_on_failure.answer is Answer.YES else kind.max_attempts


def _must_not_be_lost(verdict: Verdict) -> bool:
    """Only said where a broker could lose it: in the job table nothing is lost."""
    return verdict.signs.lost_on_failure.answer is Answer.YES


_NOT_WRITABLE = "stays: its line holds bytes that are not UTF-8 or NUL, which no plan can carry unchanged"


def _notes(kind: Character, time: Budget, decision: Decision, *, secret: bool) -> tuple[str, ...]:
    if decision not in MIGRATED and decision is not Decision.GUARD:
        return ()
    notes = [f"timeout {time.why}"]
    if kind.queue == "mail" and decision in MIGRATED:
        notes.append("may run more than once: make sure that a repeated run does not send twice")
    if secret and decision in MIGRATED:
        notes.append("a password stands in its command or its environment: the plan alone holds it, and no stub is written")
    return tuple(notes)


def _words(verdict: Verdict, file: CrontabFile) -> dict[str, Any]:
    """What the crontab says, as the plan may hold it. Text that is not UTF-8 cannot stand there, and is left out."""
    entry = verdict.entry
    facts: dict[str, Any] = {
        "source": safe_text(verdict.path) if not _is_plain(verdict.path) else verdict.path,
        "line": entry.number,
        "entry": verdict.entry_id,
        "schedule": entry.schedule_text if _is_plain(entry.schedule_text) else None,
        "zone": _own_zone(entry),
    }
    if not _writable(entry):
        return facts
    return facts | {
        "command": entry.command,
        "stdin": entry.stdin,
        "shell": entry.environment.get("SHELL", "/bin/sh"),
        "environment": declared_environment(file, entry),
    }


def _own_zone(entry: Entry) -> str | None:
    """The zone of its schedule, where the crontab names one that the daemon heeds."""
    zone = entry.schedule.zone if isinstance(entry.schedule, Calendar) else None
    return zone if _is_plain(zone) else None


def _writable(entry: Entry) -> bool:
    names = entry.environment
    texts = (entry.command, entry.stdin, entry.user, entry.schedule_text, *names, *names.values())
    return _is_plain(*texts) and all(name and "=" not in name for name in names)


class _Builder:
    def __init__(self, audit: Audit, project: Project) -> None:
        self.audit = audit
        self.project = project
        self.files = {file.path: file for file in audit.files}
        self.said = {lane.entry_id: lane.seconds for lane in audit.load.lanes} if audit.load else {}

    def _handler(self, name: str, *, secret: bool) -> str:
        """In shadow mode nothing is worked off; a command with a password is run from the plan, without a stub.

        Entries that stay have one too: whoever changes the decision by hand gets the file at the next run.
        """
        if self.project.shadow:
            return SHADOW
        return OLD_COMMAND if secret else handler_path(name, self.project.language)

    def _choices(self, verdict: Verdict, kind: Character, time: Budget) -> dict[str, Any]:
        """What is decided here, and may be decided otherwise by hand."""
        return {
            "priority": kind.priority,
            "timeout": time.seconds,
            "max_attempts": _attempts(verdict, kind),
            "retry": kind.retry,
            "overlap": _overlap(verdict),
            "scope": Scope.HOST,
            "missed": _missed(verdict, verdict.entry.schedule.shortest_gap),
            "memory_limit": kind.memory_limit,
            "must_not_be_lost": self.project.engine.startswith("celery") and _must_not_be_lost(verdict),
        }

    def job(self, verdict: Verdict, name: str, user: str | None, queue: str) -> PlannedJob:
        """One planned job out of one verdict."""
        entry, kind = verdict.entry, character(verdict)
        evidence, said = self.audit.book.by_entry.get(verdict.entry_id), self.said.get(verdict.entry_id)
        scheduler = known_scheduler(entry.command) is not None
        time = budget(evidence, entry.schedule.shortest_gap, said=said, scheduler=scheduler)
        words = _words(verdict, self.files[verdict.path])
        secret = holds_secret(words.get("command"), words.get("stdin"), words.get("environment", {}))
        decision = verdict.decision if _writable(entry) else Decision.KEEP
        settings = JobSettings(
            name=name,
            kind=name,
            decision=decision.lower(),
            user=user if _is_plain(user) else None,
            queue=queue,
            handler=self._handler(name, secret=secret),
            **words,
            **self._choices(verdict, kind, time),
        )
        return PlannedJob(
            settings=settings,
            engine=self.project.engine,
            because=verdict.because,
            questions=verdict.questions,
            notes=_notes(kind, time, decision, secret=secret) if _writable(entry) else (_NOT_WRITABLE,),
            verdict=verdict,
        )


def main_user(users: Iterable[str | None]) -> str | None:
    """Whoever most jobs belong to, of several the first by name; None where no user is known."""
    counted = Counter(user for user in users if user)
    return min(counted, key=lambda user: (-counted[user], user), default=None)


def _queue_name(verdict: Verdict, user: str | None, main: str | None) -> str:
    """A queue belongs to one user: jobs of others than the most frequent one wait in a queue of their own."""
    from cron2queue.plan.naming import slug

    plain = character(verdict).queue
    return plain if user is None or user == main else slug(f"{plain}-{user}")


def _age_limit(kind: Character, jobs: Iterable[PlannedJob]) -> float:
    """Never below what one run ahead in the queue may take, or a healthy queue would refuse work."""
    return max([kind.age_limit, *(int(2 * (job.settings.timeout or 0)) for job in jobs)])


def queues_of(jobs: Iterable[PlannedJob]) -> tuple[list[QueueSettings], dict[str, str]]:
    """The queues that the jobs wait in, and why each has its size."""
    queues, whys = [], {}
    by_name: dict[str, list[PlannedJob]] = {}
    for job in jobs:
        if job.migrated and job.verdict:
            by_name.setdefault(job.settings.queue, []).append(job)
    for name in sorted(by_name):
        held = by_name[name]
        kind = character(held[0].verdict) if held[0].verdict else None
        if kind is None:
            continue
        age = _age_limit(kind, held)
        queues.append(QueueSettings(name=name, concurrency=kind.concurrency, depth_limit=10_000, age_limit=age))
        whys[name] = kind.why
    return queues, whys


def build(audit: Audit, project: Project, *, owners: Mapping[str, str | None]) -> Built:
    """The plan that follows from an audit: one job for each verdict, in the order of files and lines.

    `owners` names, by path, whose crontab a file without a user column is.
    """
    builder = _Builder(audit, project)
    order = {file.path: number for number, file in enumerate(audit.files)}
    verdicts = sorted(audit.verdicts, key=lambda each: (order[each.path], each.entry.number))
    users = [each.entry.user or owners.get(each.path) for each in verdicts]
    migrated = [user for user, each in zip(users, verdicts, strict=True) if each.decision in MIGRATED]
    main = main_user(migrated or users)
    names = unique(each.name for each in verdicts)
    jobs = [
        builder.job(verdict, name, user, _queue_name(verdict, user, main))
        for verdict, name, user in zip(verdicts, names, users, strict=True)
    ]
    queues, whys = queues_of(jobs)
    return Built(plan=Plan(project=project, queues=tuple(queues), jobs=tuple(jobs)), whys=whys)
