"""A test in front of the work shows that runs without any were expected."""

import pytest
from judged import crontab, judged

from cron2queue.analyser.expecting import asks_for_work


@pytest.mark.parametrize(
    ("command", "test"),
    [
        ("[ -s /var/q ] && work", "[ -s /var/q ]"),
        ("cd /x && [ -s q ] && ./work", "[ -s q ]"),
        ("[ -e /x ] || exit 0; work", "[ -e /x ]"),
        ("if [ -s /x ]; then work; fi", "[ -s /x ]"),
        ("if ! test -s /x; then exit; fi; work", "test -s /x"),
        ("! [ -s /x ] || work", "[ -s /x ]"),
        ("[ ! -f /x ] || work", "[ ! -f /x ]"),
        ("( [[ -s /x ]] && work )", "[[ -s /x ]]"),
        ('test -n "$(ls /spool)" && php x', 'test -n "$(ls /spool)"'),
        ("[ \"$(find /in -name '*.csv' | head -1)\" ] && work", "[ \"$(find /in -name '*.csv' | head -1)\" ]"),
    ],
)
def test_a_question_for_work_is_found(command: str, test: str) -> None:
    assert asks_for_work(command) == test


@pytest.mark.parametrize(
    "command",
    [
        "test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )",  # what is installed
        "[ -f /srv/x.sh ] && /srv/x.sh",
        "[ -f /etc/x.conf ] && work",
        "[ -d /x ] && work",
        "[ -e /srv/maintenance ] || work",  # a flag or a lock, without which it always works
        "[ ! -e /run/x.pid ] && work",
        "! [ -s /x ] && work",
        "[ -s /x ] && exit; work",
        "backup; [ $? -eq 0 ] && ping",  # after the work
        "backup; [ -s /x ] && clean",
        '[ "$(date +%d)" = 01 ] && work',  # a schedule
        "echo '[ -s x ] && y'",
        "[ -s /x ]",
        "[",
        "",
    ],
)
def test_no_other_test_is_taken_for_one(command: str) -> None:
    assert asks_for_work(command) is None


def test_it_is_a_sign_of_a_poller_that_nobody_measured_and_of_nothing_that_runs_seldom() -> None:
    text = "*/2 * * * * root [ -s /var/q ] && php send\n0 3 * * * root [ -s /var/q ] && php send\n*/2 * * * * root php send\n"
    signs = [each.signs.mostly_empty for each in judged(crontab(text)).verdicts]
    assert sorted((str(sign.answer), str(sign.confidence)) for sign in signs) == [
        ("no", "inferred"),
        ("unknown", "inferred"),
        ("yes", "inferred"),
    ]
    assert any("[ -s /var/q ] lets it do nothing" in sign.reason for sign in signs)
