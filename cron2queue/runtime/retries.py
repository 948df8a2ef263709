"""When a failed job is tried again: a growing gap with jitter, a list of delays, or never."""

from dataclasses import dataclass
from random import Random

from cron2queue.runtime.settings import Retry, RetryRule

JITTER = 0.2  # at most this share is added, so that jobs that failed together do not come back together
_LARGEST_EXPONENT = 30  # the power is capped before it is computed: no overflow can turn a delay into "at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """`base` to the power of the number of failures, in seconds, never above `cap`."""

    base: float = 2.0
    cap: float = 3600.0

    def delay(self, failures: int, random: Random) -> float | None:
        """Seconds until the next attempt after the given number of failures (1 or more)."""
        exponent = min(max(failures, 1), _LARGEST_EXPONENT)
        return _spread(min(self.cap, self.base**exponent), random)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """A delay for each failure in turn; the last one holds for all that follow."""

    seconds: tuple[float, ...]

    def delay(self, failures: int, random: Random) -> float | None:
        """Seconds until the next attempt after the given number of failures (1 or more)."""
        return _spread(self.seconds[min(max(failures, 1), len(self.seconds)) - 1], random)


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """The first failure is the last."""

    def delay(self, failures: int, random: Random) -> float | None:
        """None: there is no next attempt."""
        return None


RetryPolicy = Exponential | Delays | Never


def _spread(seconds: float, random: Random) -> float:
    return seconds * (1.0 + JITTER * random.random())


def policy_of(rule: RetryRule) -> RetryPolicy:
    """The policy that a plan's `retry` names."""
    if isinstance(rule, tuple):
        return Delays(seconds=rule)
    return Exponential() if rule is Retry.EXPONENTIAL else Never()
