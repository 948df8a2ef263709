"""Comments that speak to cron2queue."""

from datetime import date

import pytest
from judged import crontab

from cron2queue.analyser.bitcount import minutes_of
from cron2queue.analyser.comments import duration, remarks


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("45s", 45),
        ("20m", 1200),
        ("1h30m", 5400),
        ("2d", 172800),
        ("1.5h", 5400),
        ("", None),
        ("soon", None),
        ("5x", None),
    ],
)
def test_durations_are_read_in_seconds(text: str, seconds: float | None) -> None:
    assert duration(text) == seconds


def test_a_remark_is_for_the_next_line_that_is_no_comment() -> None:
    file = crontab("# cron2queue: takes=20m\n# another\n0 1 * * * root a\n")
    ((remark, target),) = remarks(file)
    assert target == 3
    assert remark.declarations is not None
    assert remark.declarations.takes == 1200


def test_a_blank_line_parts_a_remark_from_the_entry() -> None:
    ((_, target),) = remarks(crontab("# cron2queue: takes=20m\n\n0 1 * * * root a\n"))
    assert target is None


def test_declarations_know_yes_and_no_and_a_name() -> None:
    text = "# cron2queue: lost-on-failure=yes user-waits=no name=order-export\n0 1 * * * root a\n"
    ((remark, _),) = remarks(crontab(text))
    declared = remark.declarations
    assert declared is not None
    assert (declared.lost_on_failure, declared.user_waits, declared.name) == (True, False, "order-export")


@pytest.mark.parametrize(
    ("window", "minutes"),
    [
        ("01:00-01:20", set(range(60, 81))),
        ("23:59-00:01", {1439, 0, 1}),
        ("00:00-23:59", set(range(1440))),
        ("12:30-12:30", {750}),
    ],
)
def test_a_window_holds_its_first_and_last_minute_and_may_pass_midnight(window: str, minutes: set[int]) -> None:
    ((remark, _),) = remarks(crontab(f"# cron2queue: window={window}\n0 1 * * * root a\n"))
    assert remark.declarations is not None
    assert set(minutes_of(remark.declarations.window or 0)) == minutes


@pytest.mark.parametrize(
    "word", ["takes=soon", "name=Böse;rm", "name=../x", "colour=red", "user-waits=perhaps", "takes", "window=1-5"]
)
def test_what_is_not_understood_is_kept_as_unread(word: str) -> None:
    ((remark, _),) = remarks(crontab(f"# cron2queue: {word}\n0 1 * * * root a\n"))
    assert remark.unread == (word,)
    assert remark.declarations is None


def test_an_ignore_has_codes_a_reason_and_a_last_day() -> None:
    text = "# cron2queue: ignore[C2Q301, c2q303] agreed with ops until=2027-03-01\n0 1 * * * root a\n"
    ((remark, _),) = remarks(crontab(text))
    ignore = remark.ignore
    assert ignore is not None
    assert ignore.codes == {"C2Q301", "C2Q303"}
    assert (ignore.reason, ignore.until, ignore.trouble) == ("agreed with ops", date(2027, 3, 1), None)
    assert not ignore.expired(date(2027, 3, 1))
    assert ignore.expired(date(2027, 3, 2))


@pytest.mark.parametrize(
    "text", ["ignore[C2Q301]", "ignore[] why", "ignore[x] why", "ignore[C2Q301] why until=tomorrow", "ignore[C2Q301] -- "]
)
def test_an_ignore_without_reason_code_or_real_date_has_trouble(text: str) -> None:
    ((remark, _),) = remarks(crontab(f"# cron2queue: {text}\n0 1 * * * root a\n"))
    assert remark.ignore is not None
    assert remark.ignore.trouble
