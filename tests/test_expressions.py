"""Expressions are compiled when they are first used, and are the standard library's from then on."""

import re

import pytest

from cron2queue.expressions import regex


def test_it_answers_as_the_compiled_expression_does() -> None:
    words, data = regex(r"(?P<word>[a-z]+)", re.IGNORECASE), regex(rb"\d+")
    assert [found["word"] for found in words.finditer("One two 3")] == ["One", "two"]
    assert words.fullmatch("One two") is None
    assert data.sub(b"n", b"a1b22") == b"anbn"
    assert (words.pattern, words.flags & re.IGNORECASE) == (r"(?P<word>[a-z]+)", re.IGNORECASE)


def test_a_wrong_expression_is_told_at_its_first_use() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("text")
