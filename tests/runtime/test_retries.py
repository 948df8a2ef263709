"""When a failed job is tried again."""

from random import Random

import pytest

from cron2queue.runtime.retries import Delays, Exponential, Never, policy_of
from cron2queue.runtime.settings import Retry


class Highest(Random):
    def random(self) -> float:
        return 1.0


class Lowest(Random):
    def random(self) -> float:
        return 0.0


def test_the_gap_doubles_with_each_failure() -> None:
    assert [Exponential().delay(n, Lowest()) for n in range(1, 6)] == [2, 4, 8, 16, 32]


def test_the_gap_never_grows_above_an_hour_and_its_jitter() -> None:
    assert Exponential().delay(12, Lowest()) == 3600
    assert Exponential().delay(12, Highest()) == pytest.approx(4320)


@pytest.mark.parametrize("failures", [13, 1000, 2**31, 10**30])
def test_no_number_of_failures_overflows_into_at_once(failures: int) -> None:
    assert Exponential().delay(failures, Lowest()) == 3600


@pytest.mark.parametrize("failures", [0, -1])
def test_a_count_below_one_still_waits(failures: int) -> None:
    assert Exponential().delay(failures, Lowest()) == 2
    assert Delays(seconds=(10.0, 30.0)).delay(failures, Lowest()) == 10


def test_jitter_only_ever_adds_and_at_most_a_fifth() -> None:
    random = Random(7)
    gaps = [Exponential().delay(3, random) for _ in range(500)]
    assert all(gap is not None and 8 <= gap <= 9.6 for gap in gaps)
    assert len(set(gaps)) > 400


def test_a_list_is_followed_and_its_last_delay_stays() -> None:
    policy = policy_of((10.0, 30.0, 120.0))
    assert [policy.delay(n, Lowest()) for n in (1, 2, 3, 4, 99)] == [10, 30, 120, 120, 120]


def test_none_means_never() -> None:
    assert policy_of(Retry.NONE) == Never()
    assert Never().delay(1, Lowest()) is None


def test_the_word_exponential_is_the_default_policy() -> None:
    assert policy_of(Retry.EXPONENTIAL) == Exponential(base=2.0, cap=3600.0)
