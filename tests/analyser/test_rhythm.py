"""How often an entry runs, in words that are true of its days."""

import pytest
from judged import crontab

from cron2queue.analyser.rhythm import rhythm


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("* * * * *", "runs every 1m"),
        ("*/5 * * * *", "runs every 5m"),
        ("0 */2 * * *", "runs every 2h"),
        ("0 9,17 * * *", "runs 2 times a day"),
        ("0 9,17 * * 1-5", "runs 2 times a day, 5 days a week"),
        ("*/5 * * * 1-5", "runs every 5m, 5 days a week"),
        ("*/5 * * * 0", "runs every 5m, 1 day a week"),
        ("*/5 * * 12 *", "runs every 5m, in 1 month a year"),
        ("0 3 * * *", "runs once a day"),
        ("0 3 2-31 * 1", "runs once a day"),
        ("0 4 * * 0", "runs once a week"),
        ("0 4 * * 1,3,5", "runs 3 times a week"),
        ("0 0 * 1-6 1-5", "runs 5 times a week, in 6 months a year"),
        ("0 0 1 * *", "runs once a month"),
        ("0 0 1,15 * *", "runs 2 times a month"),
        ("0 0 1-13 * *", "runs 13 times a month"),
        ("0 0 */2 * *", "runs 16 times a month"),
        ("0 0 13 * 5", "runs 5 times a month"),
        ("0 0 1-7 * 1", "runs 10 times a month"),
        ("0 0 * 1 *", "runs once a day, in 1 month a year"),
        ("0 0 1 */3 *", "runs once a month, in 4 months a year"),
        ("0 0 1 1 *", "runs once a year"),
        ("@yearly", "runs once a year"),
        ("0 6,18 1 1 *", "runs every 12h, 1 day a month, in 1 month a year"),
        ("0 0 29 2 *", "runs less than once a year"),
    ],
)
def test_the_rhythm_is_told_as_it_is(schedule: str, words: str) -> None:
    assert rhythm(crontab(f"{schedule} root /opt/a\n").entries[0]) == words


def test_an_interval_is_told_as_it_is() -> None:
    assert rhythm(crontab("@300 /opt/a\n", dialect="freebsd", kind="user").entries[0]) == "runs every 5m"
