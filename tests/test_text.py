"""Foreign text is shown so that nothing can be steered by it."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.text import ascii_text, cut, cut_bytes, safe_text, to_bytes, to_text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\rb\nc\td", r"a\x0db\x0ac\x09d"),
        ("\x00\x07\x08\x7f", r"\x00\x07\x08\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("abc\u202ecba", r"abc\u202ecba"),
        ("\u2066x\u2069\u200f\u061c", r"\u2066x\u2069\u200f\u061c"),
        ("zero\u200bwidth\u200d\ufeff\u2060", r"zero\u200bwidth\u200d\ufeff\u2060"),
        ("soft\xadhyphen, no\xa0break, wide\u3000blank", r"soft\xadhyphen, no\xa0break, wide\u3000blank"),
        ("filler\u3164\u115f\uffa0\u2800", r"filler\u3164\u115f\uffa0\u2800"),
        ("emoji\ufe0f\U000e0101", r"emoji\ufe0f\U000e0101"),
        ("lines\u2028and\u2029paragraphs", r"lines\u2028and\u2029paragraphs"),
        ("\udcff\udc80", r"\xff\x80"),
        ("\ud800", r"\ud800"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("private\ue000", r"private\ue000"),
    ],
)
def test_hostile_characters_are_shown_as_escapes(hostile: str, shown: str) -> None:
    assert safe_text(hostile) == shown


@pytest.mark.parametrize("plain", ["", "plain", "Grüße", "日本語", "café", "cafe\u0301", "naïve – “quotes” …", "🙂", "C:\\x1b"])
def test_ordinary_text_in_any_language_stays_as_it_is(plain: str) -> None:
    assert safe_text(plain) == plain


def test_accents_cannot_pile_up_over_other_lines_nor_sit_on_our_own_text() -> None:
    assert safe_text("a" + "\u0301" * 5) == "a\u0301\u0301" + r"\u0301" * 3
    assert safe_text("\u0301x") == r"\u0301x"


def test_no_character_at_all_comes_out_as_a_control_or_an_invisible_one() -> None:
    everything = "".join(f"a{chr(code)}" for code in range(sys.maxunicode + 1))
    categories = {unicodedata.category(c) for c in safe_text(everything)}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
    assert " " in safe_text(everything)
    assert all(c == " " for c in safe_text(everything) if unicodedata.category(c) == "Zs")


@given(st.text(st.characters(codec=None)))
def test_safe_text_is_safe_already(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)
    assert ascii_text(text).isascii()
    assert ascii_text(text).isprintable()


@given(st.binary())
def test_bytes_survive_being_text(data: bytes) -> None:
    assert to_bytes(to_text(data)) == data


def test_ascii_text_escapes_what_ascii_cannot_hold() -> None:
    assert ascii_text("Größe …\x1b") == r"Gr\xf6\xdfe \u2026\x1b"


@pytest.mark.parametrize(("width", "cut_off"), [(10, "crontab"), (7, "crontab"), (6, "cront…"), (1, "…"), (0, "")])
def test_a_cut_text_is_never_wider_than_asked_and_says_that_it_was_cut(width: int, cut_off: str) -> None:
    assert cut("crontab", width) == cut_off


def test_cutting_bytes_never_splits_a_character() -> None:
    assert cut_bytes("aé", 2) == "a"
    assert cut_bytes("aé", 3) == "aé"
    assert cut_bytes("\udcff!", 9) == "?!"
