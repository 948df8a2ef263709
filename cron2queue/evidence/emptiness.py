"""Does an entry mostly find nothing to do? From what its runs said and cost.

Never from the schedule: that an entry runs each minute says nothing of what it finds.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cron2queue.evidence.sketch import Sketch
from cron2queue.evidence.statistics import Emptiness

_THINGS = "jobs?|messages?|mails?|orders?|items?|files?|records?|rows?|tasks?|events?|entries"
_SOME = "(?:new |pending |open |more |due )?"
NOTHING_TO_DO: tuple[str, ...] = (
    r"\bnothing (?:to (?:do|be done|process|send|import|export|sync|update|clean)|found|new|pending)\b",
    rf"\bno {_SOME}(?:{_THINGS}|work|updates?|changes?)(?: (?:found|to |available|waiting|pending|left)|[.!]?$)",
    r"\b(?:queue|spool|inbox) (?:is )?empty\b",
    r"\b(?:already|everything) up[- ]to[- ]date\b",
    r"\b(?:processed|imported|exported|sent|found|updated|deleted)[: ]{1,2}0\b",
    rf"\b0 (?:{_THINGS})\b",
)
"""What programs say when they found nothing; a person may add to it. Searched without regard to case."""

_LONGEST = 2_000
_FEW = 20
_CONTRAST = 3.0


def nothing_to_do(more: Iterable[str] = ()) -> Callable[[str], bool]:
    """Tells whether a line of output says that there was nothing to do; raises re.error for a wrong pattern."""
    pattern = re.compile("|".join(f"(?:{each})" for each in (*NOTHING_TO_DO, *more)), re.IGNORECASE)
    return lambda line: pattern.search(line[:_LONGEST]) is not None


@dataclass(slots=True, kw_only=True)
class Costs:
    """What the runs of one entry cost, as far as it is known, and those of them that wrote nothing and did not fail."""

    seconds: Sketch
    silent_seconds: Sketch
    cpu: Sketch
    silent_cpu: Sketch
    said_nothing: int = 0
    spoke: int = 0
    """Runs whose own words were looked at."""


def emptiness(costs: Costs, *, resolution: float, output_known: bool) -> Emptiness | None:
    """The share of runs that found nothing, or None when that cannot be told from these runs.

    A run found nothing when it said so; or when it wrote nothing, did not fail, and cost no more than the floor of the
    entry's own distribution, where other runs of the same entry cost or wrote clearly more. Without that contrast
    nothing is said: a job that always costs the same may always do the same work.
    """
    if costs.said_nothing and costs.said_nothing >= costs.spoke * 0.05:
        n = max(costs.seconds.n, costs.spoke)
        share = costs.said_nothing / n
        return Emptiness(share=share, n=n, confidence="measured", reason=f"{costs.said_nothing} of {n} runs said so themselves")
    if costs.cpu.n >= _FEW:
        return _at_floor(costs.cpu, costs.silent_cpu, what="processor time", resolution=0.005, known=output_known)
    if costs.seconds.n >= _FEW:
        return _at_floor(costs.seconds, costs.silent_seconds, what="duration", resolution=resolution, known=output_known)
    return None


def _at_floor(every: Sketch, silent: Sketch, *, what: str, resolution: float, known: bool) -> Emptiness | None:
    floor = every.quantile(0.05) or 0.0
    limit = max(floor * 1.5, floor + resolution)
    empty = silent.at_most(limit) if known else every.at_most(limit)
    busy = every.n - empty
    contrast = every.high >= max(limit, resolution) * _CONTRAST or (known and silent.n < every.n)
    if not contrast or not busy or not empty:
        return None
    wrote = "wrote nothing and ended" if known else "ended"
    reason = (
        f"{empty} of {every.n} runs {wrote} at the floor of the {what} ({limit:.3g} s); the longest took {every.high:.3g} s"
    )
    confidence = "measured" if known or what == "processor time" else "inferred"
    return Emptiness(share=empty / every.n, n=every.n, confidence=confidence, reason=reason)
