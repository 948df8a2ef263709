"""What has newly happened, for hooks: dead jobs, output, queues over a limit, missed ticks, each told once.

What was told already stands in marks, one a hook and occasion, moved by compare-and-swap: of two hosts that look at the
same moment, one tells. A hook hears nothing of what was before its first look.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cron2queue.runtime.database.instants import from_micros, to_micros
from cron2queue.runtime.health import Judgement, Level
from cron2queue.runtime.hooks.hook import Event, Hook, Occasion
from cron2queue.runtime.hooks.marks import Marks, fitted
from cron2queue.runtime.jobs import ENDED, JobState
from cron2queue.runtime.sight.dead import folded
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.sight.jobs import MOST_ENDED
from cron2queue.runtime.sight.views import JobView, MissedTick, StatusView

SETTLING = timedelta(seconds=2)  # transactions that commit late must not be passed by
EXAMPLES = 5
OVER_LIMIT = frozenset({"oldest-age", "depth", "refused", "no-worker", "no-relay", "unclaimed-kind"})


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One event, and how to take back that it was told, for a hook that could not be reached."""

    event: Event
    take_back: Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrences:
    """Finds the news for one hook."""

    inspection: Inspection
    marks: Marks
    hook: Hook

    def news(self, status: StatusView, judgements: Sequence[Judgement]) -> Iterator[News]:
        """Everything that this hook wants to hear and has not heard."""
        if self.hook.on & {Occasion.DEAD, Occasion.OUTPUT}:
            yield from self._ended(status.at - SETTLING)
        if Occasion.OVER_LIMIT in self.hook.on:
            yield from self._over_limit(status, judgements)
        if Occasion.MISSED_TICK in self.hook.on:
            for tick in status.missed:
                yield from self._missed(tick, status)

    def _mark(self, *words: str) -> str:
        return fitted(":".join(("hook", self.hook.name, *words)))

    def _claimed(self, name: str, old: int | None, new: int) -> Callable[[], object] | None:
        """Move the mark; how to move it back, or None when another was faster."""
        if not self.marks.move(name, old, new):
            return None
        return lambda: self.marks.move(name, new, old if old is not None else 0)

    def _ended(self, until: datetime) -> Iterator[News]:
        name = self._mark("ended")
        old = self.marks.read(name)
        if old is None:
            self.marks.move(name, None, to_micros(until))
            return
        states = (*ENDED,) if Occasion.OUTPUT in self.hook.on else (JobState.DEAD,)
        ended = self.inspection.ended(from_micros(old), until, states)
        if len(ended) == MOST_ENDED and ended[-1].finished_at is not None:
            until = ended[-1].finished_at  # the rest comes in the next round
        new = to_micros(until)
        take_back = self._claimed(name, old, new) if old < new else None
        if take_back is not None:
            events = [*self._dead(ended, until), *self._output(ended, until)]
            yield from (News(event=event, take_back=take_back) for event in events)

    def _dead(self, ended: Sequence[JobView], at: datetime) -> Iterator[Event]:
        groups: dict[tuple[str, str], list[JobView]] = {}
        for job in ended if Occasion.DEAD in self.hook.on else ():
            if job.state == JobState.DEAD:
                groups.setdefault((job.kind, folded(job.message)), []).append(job)
        yield from (_death(jobs, at) for jobs in groups.values())

    def _output(self, ended: Sequence[JobView], at: datetime) -> Iterator[Event]:
        for job in ended if Occasion.OUTPUT in self.hook.on else ():
            printed = "".join(attempt.output_tail for attempt in job.history)
            if printed.strip():
                yield Event(
                    occasion=Occasion.OUTPUT,
                    subject=job.kind,
                    text=f"{job.state}, and it printed something",
                    at=at.isoformat(),
                    jobs=(job.id,),
                    kind=job.kind,
                    output=printed,
                )

    def _over_limit(self, status: StatusView, judgements: Sequence[Judgement]) -> Iterator[News]:
        """On the change from well to not well; the change back only sets the mark, also of what is not seen any more."""
        found = [each for each in judgements if each.check in OVER_LIMIT and each.level is Level.CRITICAL]
        bad = {self._mark(each.check, each.subject): each for each in found}
        for name in self._standing():
            if name not in bad:
                self.marks.move(name, 1, 0)
        for name, judgement in bad.items():
            yield from self._begun(name, judgement, status)

    def _standing(self) -> list[str]:
        """The marks of what this hook was told of, and has not heard the end of."""
        prefix = self._mark("")
        return [name for name in self.marks.raised(prefix) if name.removeprefix(prefix).partition(":")[0] in OVER_LIMIT]

    def _begun(self, name: str, judgement: Judgement, status: StatusView) -> Iterator[News]:
        old = self.marks.read(name)
        take_back = None if old == 1 else self._claimed(name, old, 1)
        if take_back is None:
            return
        queues = {each.kind: each.queue for each in status.unclaimed} if judgement.check == "unclaimed-kind" else {}
        event = Event(
            occasion=Occasion.OVER_LIMIT,
            subject=judgement.subject,
            text=judgement.text,
            at=status.at.isoformat(),
            queue=queues.get(judgement.subject, judgement.subject),
            kind=judgement.subject if queues else None,
            remedy=judgement.remedy,
        )
        yield News(event=event, take_back=take_back)

    def _missed(self, tick: MissedTick, status: StatusView) -> Iterator[News]:
        """Once for each time that a producer stays away; the first tick that is missing names the time."""
        name = self._mark("missed", tick.name)
        old, new = self.marks.read(name), to_micros(tick.due)
        take_back = self._claimed(name, old, new) if old != new else None
        if take_back is None:
            return
        event = Event(
            occasion=Occasion.MISSED_TICK,
            subject=tick.name,
            text=f"{tick.missed} missed since {tick.due:%Y-%m-%d %H:%M} UTC ({tick.schedule})",
            at=status.at.isoformat(),
            count=tick.missed,
            remedy="look whether cron runs on its host, and for its mail",
        )
        yield News(event=event, take_back=take_back)


def _death(jobs: Sequence[JobView], at: datetime) -> Event:
    last = jobs[-1]
    many = "job is" if len(jobs) == 1 else "jobs are"
    return Event(
        occasion=Occasion.DEAD,
        subject=last.kind,
        text=f"{len(jobs)} {many} dead: {last.message or 'no message'}",
        at=at.isoformat(),
        count=len(jobs),
        jobs=tuple(job.id for job in jobs[:EXAMPLES]),
        queue=last.queue,
        kind=last.kind,
        output=last.history[-1].output_tail if last.history else "",
        remedy=f"cron2queue jobs show {last.id}; cron2queue dead requeue --kind {last.kind}",
    )
