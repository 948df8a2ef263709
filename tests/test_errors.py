"""Each error tells what, where and what to do, and knows its exit status."""

import pytest

from cron2queue.errors import Cron2QueueError, DatabaseUnavailable, InputError, Refused, TryAgain, UsageError


def test_an_error_names_place_and_remedy() -> None:
    trouble = UsageError("unknown key `timeuot`", place="cron2queue.toml:12:1", remedy="write `timeout`")
    assert str(trouble) == "cron2queue.toml:12:1: unknown key `timeuot`\n  remedy: write `timeout`"


@pytest.mark.parametrize(
    ("error", "status"),
    [(Cron2QueueError, 2), (UsageError, 2), (InputError, 3), (Refused, 4), (DatabaseUnavailable, 69), (TryAgain, 75)],
)
def test_the_exit_statuses_are_the_documented_ones(error: type[Cron2QueueError], status: int) -> None:
    assert error("x").exit_status == status
