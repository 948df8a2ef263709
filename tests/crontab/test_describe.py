"""Words for a schedule: from its sets, so that what is said is what happens."""

import cron_truth as truth
import pytest

from cron2queue.crontab.describe import describe

SAID = {
    "* * * * *": "every minute",
    "*/5 * * * *": "every 5 minutes",
    "3-59/15 * * * *": "every 15 minutes from minute 3",
    "0 * * * *": "every hour at minute 0",
    "*/90 * * * *": "every hour at minute 0",
    "*/25 * * * *": "at minutes 0, 25 and 50 of every hour",
    "0 */2 * * *": "every 2 hours at minute 0",
    "0-59 2 * * *": "every minute from 02:00 to 02:59",
    "30 2,14 * * *": "at 02:30 and 14:30 every day",
    "*/10 8-18 * * mon-fri": "every 10 minutes from 08:00 to 18:59 from Monday to Friday",
    "0 0 13 * 5": "at 00:00 on the 13th of the month, and also on Fridays",
    "0 0 */2 * 1": "at 00:00 on odd days of the month if it is a Monday",
    "0 0 1-31 * 1": "at 00:00 every day",
    "0 0 5#3 * *": "at 00:00 on the 5th of the month",
    "0 0 * * 5#3": "at 00:00 on Fridays",
    "0 0 1 */3 *": "at 00:00 on the 1st of the month in January, April, July and October",
    "0 0 * 6-8 *": "at 00:00 every day from June to August",
    "0 0 30 2 *": "never: no such date exists",
    "0 22-4 * * *": "never: no hour is left",
    "0 0 * * sat-sun": "never: no day of the week is left",
    "0 0 1 nov-feb *": "never: no month is left",
    "@daily": "at 00:00 every day",
    "@reboot": "once at boot",
}


@pytest.mark.parametrize("expression", SAID)
def test_debian_is_described_as_it_runs(expression: str) -> None:
    assert describe(truth.read_line(expression, "debian").entries[0].schedule) == SAID[expression]


@pytest.mark.parametrize(
    ("dialect", "expression", "said"),
    [
        ("busybox", "0 3 * * 7", "at 03:00 every day"),
        ("busybox", "0 24 * * *", "every hour at minute 0"),
        ("busybox", "0 0 */2 * *", "at 00:00 on even days of the month"),
        ("freebsd", "5/10 * * * *", "every 10 minutes from minute 5"),
        ("freebsd", "@30", "30 seconds after the last run ended"),
        ("cronie", "10~20 * * * *", "every hour at minute 15, drawn at each load of the crontab from minutes 10 to 20"),
        (
            "cronie",
            "0 5 * * 5~",
            "at 05:00 on Saturdays, drawn at each load of the crontab from days of the week 5 to 7",
        ),
        ("cronie", "10~20 5 * * 7", "at 05:15 on Sundays, drawn at each load of the crontab from minutes 10 to 20"),
        ("systemd-cron", "0 0 13 * 5", "at 00:00 on the 13th of the month if it is a Friday"),
        ("systemd-cron", "0 0 * * 5L", "at 00:00 in the last 7 days of the month if it is a Friday"),
    ],
)
def test_each_daemon_is_described_as_it_runs(dialect: str, expression: str, said: str) -> None:
    assert describe(truth.read_line(expression, dialect).entries[0].schedule) == said


def test_the_zone_of_an_entry_is_said() -> None:
    from cron2queue.crontab.dialect import dialect_named
    from cron2queue.crontab.lines import Kind
    from cron2queue.crontab.parser import parse

    file = parse(b"CRON_TZ=Asia/Tokyo\n0 9 * * * a\n", path="x", dialect=dialect_named("cronie"), kind=Kind.USER)
    assert describe(file.entries[0].schedule) == "at 09:00 every day, Asia/Tokyo time"


def test_every_recorded_schedule_has_words_and_only_what_never_fires_is_called_never() -> None:
    for vector in truth.vectors():
        for dialect in truth.MEASURED:
            for entry in truth.read_line(vector["expr"], dialect).entries:
                words = describe(entry.schedule)
                assert words == words.strip()
                assert words.startswith("never: ") == entry.schedule.never_fires
