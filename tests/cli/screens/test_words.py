"""Numbers in the words of a screen."""

from datetime import UTC, datetime

import pytest

from cron2queue.cli.screens.words import moment, share, shown, size


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (44_000_000, "44 MB"), (10**18, "1000000.0 TB")],
)
def test_a_size_has_a_unit(count: int | None, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0%"), (0.0512, "5.1%"), (0.4, "40%"), (1.0, "100%"), (0.0004, "<0.1%")]
)
def test_a_share_is_in_per_cent(value: float | None, text: str) -> None:
    assert share(value) == text


def test_today_needs_no_date() -> None:
    now = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
    assert moment(now.replace(hour=3), now) == "03:00:00"
    assert moment(now.replace(day=29), now) == "2026-11-29 14:00"


def test_foreign_text_is_masked_and_made_safe() -> None:
    assert shown("\x1b[2J mysql://shop:hunter2hunter2@db/x") == "\\x1b[2J mysql://shop:‹secret›@db/x"
    assert shown(None) == shown("") == "-"
