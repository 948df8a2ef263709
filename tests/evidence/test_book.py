"""The book says what is not known."""

from datetime import UTC, datetime, timedelta

from cron2queue.evidence.book import EvidenceBook, Overlap
from cron2queue.evidence.runs import Run
from cron2queue.evidence.statistics import Evidence, Window

START = datetime(2026, 11, 30, 11, 0, tzinfo=UTC)


def test_an_empty_book_says_why_and_how_to_get_evidence() -> None:
    book = EvidenceBook.empty("no log was given")
    assert not book.available
    assert book.how_to_get_evidence.startswith("no log was given. ")
    assert "-L 15" in book.how_to_get_evidence


def test_what_is_not_known_of_a_run_is_none_and_not_zero() -> None:
    run = Run(started=START)
    assert run.seconds is None
    assert run.failed is None
    assert Run(started=START, ended=START + timedelta(seconds=3), exit_status=0).failed is False
    assert Run(started=START, signal=9).failed is True


def test_a_failure_share_needs_known_statuses() -> None:
    window = Window(start=START, end=START + timedelta(days=2))
    assert Evidence(window=window, starts=5).failure_share is None
    assert Evidence(window=window, starts=5, failures=1, statuses=4).failure_share == 0.25
    assert window.days == 2


def test_an_overlap_is_found_by_its_two_entries() -> None:
    met = Overlap(first="a", then="b", met=1, starts=4)
    book = EvidenceBook(available=True, overlaps=(met,))
    assert book.overlap("a", "b") is met
    assert book.overlap("b", "a") is None
    assert met.share == 0.25
