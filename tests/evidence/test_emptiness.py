"""That an entry finds nothing to do is said of measured runs."""

import re

import pytest

from cron2queue.evidence.emptiness import Costs, emptiness, nothing_to_do
from cron2queue.evidence.sketch import Sketch


def costs(
    seconds: list[float], *, silent: list[float] | None = None, cpu: list[float] | None = None, said: int = 0, spoke: int = 0
) -> Costs:
    return Costs(
        seconds=Sketch(seconds),
        silent_seconds=Sketch(seconds if silent is None else silent),
        cpu=Sketch(cpu or []),
        silent_cpu=Sketch(cpu or []),
        said_nothing=said,
        spoke=spoke,
    )


def test_silent_runs_at_the_floor_beside_busy_ones_are_empty() -> None:
    found = emptiness(costs([0] * 90 + [40] * 10), resolution=1.0, output_known=True)
    assert found is not None
    assert (found.share, found.n, found.confidence) == (0.9, 100, "measured")
    assert "90 of 100 runs wrote nothing" in found.reason


def test_durations_alone_are_only_an_inference() -> None:
    found = emptiness(costs([0] * 90 + [40] * 10), resolution=1.0, output_known=False)
    assert found is not None
    assert found.confidence == "inferred"


def test_runs_that_always_cost_the_same_may_always_do_the_same_work() -> None:
    assert emptiness(costs([3] * 100), resolution=1.0, output_known=True) is None
    assert emptiness(costs([0] * 100), resolution=1.0, output_known=False) is None


def test_few_runs_say_nothing() -> None:
    assert emptiness(costs([0] * 9 + [40]), resolution=1.0, output_known=True) is None


def test_a_run_that_wrote_something_is_not_empty_however_short() -> None:
    found = emptiness(costs([0] * 100, silent=[0] * 30), resolution=1.0, output_known=True)
    assert found is not None
    assert found.share == 0.3


def test_processor_time_is_preferred_to_duration() -> None:
    found = emptiness(costs([5] * 100, cpu=[0.03] * 80 + [2.5] * 20), resolution=1e-6, output_known=True)
    assert found is not None
    assert found.share == 0.8
    assert "processor time" in found.reason


def test_what_runs_say_themselves_comes_first() -> None:
    found = emptiness(costs([3] * 100, said=60, spoke=100), resolution=1.0, output_known=True)
    assert found is not None
    assert (found.share, found.confidence) == (0.6, "measured")
    assert "said so themselves" in found.reason


@pytest.mark.parametrize(
    "line",
    [
        "Nothing to do.",
        "no new messages",
        "No jobs found",
        "queue is empty",
        "Already up-to-date.",
        "processed: 0",
        "sent 0 of",
        "0 orders",
    ],
)
def test_the_words_of_an_empty_run_are_known(line: str) -> None:
    assert nothing_to_do()(line)


@pytest.mark.parametrize("line", ["sent 5 mails", "processed 10 orders", "no space left on device", "error: no such table", ""])
def test_other_words_are_not_taken_for_them(line: str) -> None:
    assert not nothing_to_do()(line)


def test_a_person_may_add_words() -> None:
    assert nothing_to_do(["keine Arbeit"])("heute keine Arbeit")
    with pytest.raises(re.error):
        nothing_to_do(["("])
