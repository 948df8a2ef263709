"""Names out of foreign text are slugs, and no two are alike."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.plan.naming import is_slug, module_name, slug, unique

BAD = ["../../x", "/etc/x", "..", "", "a\0b", "x" * 300, "-rf", "／etc", "Ünï", "a b", "con", "nul", ".hidden", "a\nb"]


@pytest.mark.parametrize("text", BAD)
def test_any_text_becomes_a_slug(text: str) -> None:
    assert is_slug(slug(text))
    assert slug(text) == slug(text)


def test_texts_that_lose_something_do_not_meet() -> None:
    assert len({slug(text) for text in BAD}) == len(BAD)
    assert slug("Export") != slug("EXPORT")


def test_a_slug_stays_as_it_is() -> None:
    assert slug("order-export") == "order-export"


@given(st.lists(st.text(max_size=8), max_size=20))
def test_unique_names_are_slugs_with_unlike_files(texts: list[str]) -> None:
    names = unique(texts)
    assert len(names) == len(texts)
    assert all(map(is_slug, names))
    assert len({module_name(name) for name in names}) == len(names)
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", module_name(name)) for name in names)


def test_names_that_differ_in_dash_and_underscore_do_not_share_a_file() -> None:
    assert unique(["a-b", "a_b", "a-b"]) == ["a-b", "a_b-2", "a-b-3"]
