"""Alert limits are read from the plan, or refused with the name of the key."""

import tomllib

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.alerts import OFF, AlertSettings, Threshold, alert_settings


def read(text: str) -> AlertSettings:
    return alert_settings(tomllib.loads(text))


def test_without_a_table_the_defaults_hold() -> None:
    assert read("") == AlertSettings()
    assert read("").of("any").dead == Threshold(1, None)


def test_one_number_is_critical_a_pair_is_warning_and_critical_false_is_off() -> None:
    alerts = read("[alerts]\noldest-age = 900\ndead = [1, 100]\nmissed-tick = false\n")
    assert alerts.of("mail").oldest_age == Threshold(None, 900)
    assert alerts.of("mail").dead == Threshold(1, 100)
    assert alerts.of("mail").missed_tick == OFF


def test_a_queue_of_its_own_starts_from_the_general_limits() -> None:
    alerts = read("[alerts]\ndead = 5\n[alerts.queues.mail]\nno-worker = false\n")
    assert alerts.of("mail").dead == Threshold(None, 5)
    assert (alerts.of("mail").no_worker, alerts.of("other").no_worker) == (False, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[alerts]\nold-age = 3\n", "unknown key 'old-age' in \\[alerts\\]"),
        ("[alerts.queues.mail]\nclock-skew = 1\n", "unknown key 'clock-skew' in \\[alerts.queues.mail\\]"),
        ("[alerts]\ndead = [5, 1]\n", "alerts.dead must be"),
        ("[alerts]\ndead = true\n", "alerts.dead must be"),
        ("[alerts]\ndead = -1\n", "alerts.dead must be"),
        ("[alerts]\nno-worker = 1\n", "alerts.no-worker must be true or false"),
        ("alerts = 1\n", "alerts must be a table"),
        ("[alerts]\nqueues = 1\n", "\\[alerts.queues\\] must hold one table a name"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(text)


def test_jobs_are_counted_as_far_as_the_highest_limit_of_any_queue() -> None:
    assert read("[alerts]\ndead = [1, 20000]\ndepth = false\n[alerts.queues.mail]\ndepth = 50000.5\n").counted_to == 50_001
    assert read("[alerts]\ndead = false\n").counted_to == 0
