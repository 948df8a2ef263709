"""What was measured of a rule's example, in the words of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cron2queue.analyser.wording import count, listed
from cron2queue.durations import duration

if TYPE_CHECKING:
    from cron2queue.analyser.rule import Example

_WORDS: Mapping[str, Callable[[Any], str]] = {
    "never_seen": lambda _: "no start was seen",
    "starts": lambda n: count(n, "start"),
    "n": lambda n: count(n, "run"),
    "median_seconds": lambda seconds: f"half of the runs within {duration(seconds)}",
    "p95_seconds": lambda seconds: f"95 of 100 within {duration(seconds)}",
    "max_seconds": lambda seconds: f"the longest {duration(seconds)}",
    "trend_seconds_per_day": lambda seconds: f"each day {duration(seconds)} longer",
    "met_predecessor": lambda share: f"{share:.0%} of the starts met a run that was still alive",
    "statuses": lambda n: f"{n:,} with a known end",
    "failures": lambda n: f"{n:,} failed" if n else "none failed",
    "empty": lambda empty: f"{empty.share:.0%} had nothing to do: {empty.reason}",
    "shares_with": lambda ids: f"counted together with {count(len(ids), 'entry')} that the log cannot tell from it",
}
"""Of each figure of `Evidence` that an example gives, in the order in which they are told."""


def measured(example: Example) -> Iterator[str]:
    """One part of a sentence for each thing that was measured; lines of which the same is known stand together."""
    lines: dict[str, list[str]] = {}
    for line, facts in example.evidence.items():
        if facts:
            lines.setdefault(", ".join(_figures(facts)), []).append(str(line))
    for said, where in lines.items():
        yield f"measured for line{'s' if len(where) > 1 else ''} {listed(where)}: {said}"
    for first, second, met, starts in example.overlaps:
        yield f"measured: {met:,} of {count(starts, 'start')} of line {second} met a run of line {first}"
    for user, command, runs in example.unscheduled:
        yield f"measured: {count(runs, 'run')} of `{command}` by {user}"


def _figures(facts: Mapping[str, Any]) -> Iterator[str]:
    """Raises KeyError for a figure that has no words."""
    order = list(_WORDS)
    for name in sorted(facts, key=order.index):
        yield _WORDS[name](facts[name])
