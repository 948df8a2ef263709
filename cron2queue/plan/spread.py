"""Other minutes for starts that pile up: within the same hours, as often as before, chains and single times untouched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.crontab.schedule import Calendar
from cron2queue.plan.builder import with_schedule

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.plan.model import PlannedJob

HERD = 3
"""So many starts in one minute are worth moving apart."""
_NAMES = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """A minute field that can be shifted: every `step` minutes from `first`; step 60 is once an hour."""

    first: int
    step: int
    others: str

    def minutes(self, shift: int) -> range:
        """The minutes of the hour after a shift."""
        return range((self.first + shift) % self.step, 60, self.step)

    def text(self, shift: int) -> str:
        """The schedule after a shift."""
        first = (self.first + shift) % self.step
        field = str(first) if self.step == 60 else f"{first}-59/{self.step}"
        return f"{field} {self.others}"


def rhythm(schedule_text: str, schedule: object) -> Rhythm | None:
    """The rhythm of a schedule that starts at the same minutes of several hours a day; None for all others.

    A job with one time a day is left alone: somebody chose that time.
    """
    if not isinstance(schedule, Calendar) or schedule.random or schedule.hours.bit_count() < 2:
        return None
    fields = _NAMES.get(schedule_text.strip().lower(), schedule_text).split()
    minutes = [minute for minute in range(60) if schedule.minutes >> minute & 1]
    if len(fields) != 5 or not minutes:
        return None
    step = 60 if len(minutes) == 1 else minutes[1] - minutes[0]
    if 60 % step or step == 1 or minutes != list(range(minutes[0], 60, step)) or minutes[0] >= step:
        return None
    return Rhythm(first=minutes[0], step=step, others=" ".join(fields[1:]))


def _starts(jobs: Iterable[PlannedJob]) -> Counter[int]:
    """How many entries start in each minute of an hour."""
    found: Counter[int] = Counter()
    for job in jobs:
        schedule = job.verdict.entry.schedule if job.verdict else None
        if isinstance(schedule, Calendar) and not schedule.never_fires:
            found.update(minute for minute in range(60) if schedule.minutes >> minute & 1)
    return found


def _best(rhythm_found: Rhythm, starts: Mapping[int, int]) -> int:
    """The smallest shift after which the entry meets the fewest others."""
    return min(range(rhythm_found.step), key=lambda shift: (max(starts[each] for each in rhythm_found.minutes(shift)), shift))


def spread(jobs: Sequence[PlannedJob], audit: Audit) -> list[PlannedJob]:
    """The jobs with new minutes where at least three entries start together.

    Members of a chain keep their minutes: what waits for them is timed to them.
    """
    chained = {entry for chain in audit.chains for entry in (chain.first, chain.then)}
    starts = _starts(jobs)
    result = []
    for job in jobs:
        found = rhythm(job.settings.schedule or "", job.verdict.entry.schedule if job.verdict else None)
        movable = found and job.settings.entry not in chained and job.decision not in (Decision.DROP, Decision.FIX)
        if found is None or not movable or max(starts[each] for each in found.minutes(0)) < HERD:
            result.append(job)
            continue
        shift = _best(found, starts)
        starts.subtract(found.minutes(0))
        starts.update(found.minutes(shift))
        result.append(_shifted(job, found, shift) if shift else job)
    return result


def _shifted(job: PlannedJob, found: Rhythm, shift: int) -> PlannedJob:
    note = f"spread: starts {shift} min later than {job.settings.schedule}, out of a crowd of starts in one minute"
    return with_schedule(job, found.text(shift), note)
