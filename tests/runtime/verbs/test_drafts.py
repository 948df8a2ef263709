"""Drafts: what jobs of one bulk have in common is checked once, and belongs to those jobs only."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cron2queue.runtime.jobs import Forever, NewJob, Period, WhileActive
from cron2queue.runtime.trouble import JobRefused
from cron2queue.runtime.verbs.drafts import Draft, draft, drafts_of

NOW = 1_800_000_000_000_000
LATER = datetime.fromtimestamp(NOW / 1e6, UTC) + timedelta(hours=1)
# For each word of a job another than that of the plain one, and one that is refused (where there is one).
OTHER: dict[str, tuple[Any, Any]] = {
    "kind": ("letter", "le tter"),
    "payload": ({"n": 1}, {1, 2}),
    "key": ("k", "k" * 1025),
    "queue": ("slow", ["slow"]),
    "priority": (7, 2**31),
    "run_at": (LATER, datetime(2027, 1, 1)),  # a naive one
    "max_attempts": (3, 0),
    "unique": (Period(seconds=5), Period(seconds=0)),
    "ordering_key": ("o", "o" * 256),
    "owner": ("ann", "a" * 256),
    "trace_context": ("00-1-2-01", "00-1\n"),
    "limit_key": ("l", "l" * 1025),
    "public_id": ("ab" * 16, "AB" * 16),
}


def job(**words: Any) -> NewJob:
    return NewJob(**{"kind": "mail", "key": "same", **words})


def row(made: Draft) -> tuple[Any, ...]:
    """As it is stored, without what is random in it."""
    return tuple("random" if cell == made.public_id else cell for cell in made.row(now=NOW, has_turn=True))


def test_each_word_of_a_job_is_tried() -> None:
    assert set(OTHER) == set(NewJob._given)


@pytest.mark.parametrize("word", OTHER)
def test_jobs_of_a_bulk_that_differ_in_one_word_are_stored_with_it(word: str) -> None:
    plain, other = job(), job(**{word: OTHER[word][0]})
    bulk = drafts_of([plain, other, plain, other])
    assert [row(each) for each in bulk] == [row(draft(each)) for each in (plain, other, plain, other)]
    assert word == "public_id" or row(bulk[0]) != row(bulk[1])
    assert len({each.public_id for each in bulk}) == (3 if word == "public_id" else 4)


@pytest.mark.parametrize("word", OTHER)
def test_a_job_that_is_out_of_bounds_in_one_word_is_refused_behind_any_number_of_good_ones(word: str) -> None:
    bad = job(**{word: OTHER[word][1]})
    for bulk in ([bad], [job(), job(), bad], [bad, bad]):
        with pytest.raises(JobRefused):
            drafts_of(bulk)


def test_the_same_key_under_another_scope_is_another_one() -> None:
    scopes = (WhileActive(), Period(seconds=5), Forever(), WhileActive())
    active, period, forever, again = [each.dedupe for each in drafts_of([job(unique=scope) for scope in scopes])]
    assert len({active, period, forever}) == 3
    assert active == again


def test_a_row_without_times_is_that_of_its_moment() -> None:
    for made in drafts_of([job(), job(key=None), job(unique=Forever(), owner="ann", limit_key="l", trace_context="00-1-2-01")]):
        timed = made.row(now=NOW, has_turn=False)
        assert made.terms.timeless
        assert made.timeless_row() == tuple(None if cell == NOW else cell for cell in timed)
    assert not any(
        each.terms.timeless for each in drafts_of([job(run_at=LATER), job(ordering_key="o"), job(unique=Period(seconds=5))])
    )
