"""The terminal report at the widths that people have, in colour, without, in ASCII, and its figures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from report.samples import AT, BERLIN, loaded, nothing, shop, two_hosts, without_evidence
from report.test_every_reporter import HOSTILE, OWN_COLORS, attacked

from cron2queue.analyser.audit import Audit, audit
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.report.columns import columns
from cron2queue.report.reporter import RenderOptions, reporter_named

SCREENS = Path(__file__).parent / "screens"
NEXT = "cron2queue convert /etc/crontab --into c2q     writes files only, changes nothing else"


def screen(audit: Audit, **options: object) -> str:
    return reporter_named("terminal").render(audit, RenderOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "sample", "options"),
    [
        ("shop-100", shop, {"width": 100}),
        ("shop-80-ascii", shop, {"width": 80, "ascii": True}),
        ("shop-40", shop, {"width": 40}),
        ("shop-200-why", shop, {"width": 200, "why": True, "verbose": True}),
        ("two-hosts-100", two_hosts, {"width": 100}),
        ("without-evidence-100", without_evidence, {"width": 100}),
        ("quiet-100", loaded, {"width": 100, "quiet": True}),
        ("nothing-80", nothing, {"width": 80}),
    ],
)
def test_the_whole_screen_is_as_it_was_agreed(name: str, sample: Callable[[], Audit], options: dict[str, object]) -> None:
    assert screen(sample(), next_command=NEXT, **options) == (SCREENS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 41, 59, 60, 79, 80, 100, 120, 131, 200, 400])
@pytest.mark.parametrize("sample", [shop, two_hosts, without_evidence, nothing], ids=lambda sample: sample.__name__)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_screen(width: int, sample: Callable[[], Audit], ascii_only: bool) -> None:
    text = screen(sample(), width=width, ascii=ascii_only, why=True, verbose=True, next_command=NEXT, unreadable=("x" * 300,))
    assert [line for line in text.splitlines() if columns(line) > width] == []


@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_hostile_line_is_wider_than_the_screen(payload: str, width: int) -> None:
    audit, options = attacked(payload)
    text = reporter_named("terminal").render(audit, replace(options, width=width))
    assert [line for line in text.splitlines() if columns(line) > width] == []


@pytest.mark.parametrize("sample", [shop, two_hosts, nothing], ids=lambda sample: sample.__name__)
@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_colour_adds_only_colour(sample: Callable[[], Audit], width: int) -> None:
    colored = screen(sample(), width=width, color=True, next_command=NEXT)
    assert "\x1b[" in colored
    assert OWN_COLORS.sub("", colored) == screen(sample(), width=width, next_command=NEXT)


def test_severity_is_never_told_by_colour_alone() -> None:
    assert re.findall(r"^ ([EWN]) C2Q\d{3}", screen(shop()), re.M) == ["E", "E", "E", "W", "W", "N", "N"]


def test_square_brackets_of_a_command_are_neither_markup_nor_dropped() -> None:
    audit = shop(lambda text: text.replace("mysqldump shop", "[bold]find -name [ab]* [/]"))
    assert "[bold]find -name [ab]* [/] | gzip" in screen(audit, width=200, color=True)


def test_the_caret_stands_under_the_character_that_is_meant() -> None:
    lines = screen(shop(), width=100).splitlines()
    at = next(n for n, line in enumerate(lines) if line.lstrip().startswith("12 |"))
    assert lines[at][lines[at + 1].index("^")] == "%"


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_caret_stays_in_place_behind_masks_escapes_and_wide_characters(width: int) -> None:
    audit = shop(lambda text: text.replace("mysqldump shop", "mysqldump -phunTer2x9hunTer2x9 日本 \x1b[1m shop"))
    finding = next(each for each in audit.findings if each.code == "C2Q301")
    moved = replace(finding, place=replace(finding.place, column=(finding.source_line or "").index("%F") + 1))
    lines = screen(replace(audit, findings=(moved,)), width=width).splitlines()
    at = next(n for n, line in enumerate(lines) if line.lstrip().startswith("12 |"))
    caret = columns(lines[at + 1][: lines[at + 1].index("^")])
    seen = 0
    for character in lines[at]:
        if seen == caret:
            assert character == "%"
            break
        seen += columns(character)
    else:
        pytest.fail("the caret stands beyond the line")


def test_the_counts_of_lines_and_of_decisions_add_up() -> None:
    text = screen(shop(), width=200)
    total, parts = re.search(r"(\d+) lines = (.+)", text).groups()  # type: ignore[union-attr]
    assert sum(int(n) for n in re.findall(r"\d+", parts)) == int(total) == 18
    decided = re.search(r"^  \d+ entr.*$", text, re.M)
    assert decided is not None
    assert sum(int(n) for n in re.findall(r"\d+", decided.group())) == 12


def test_the_peak_of_the_load_is_in_the_picture_at_every_width() -> None:
    for width in (40, 60, 80, 100, 140, 200):
        fine, plain = screen(shop(), width=width), screen(shop(), width=width, ascii=True)
        assert "█" in fine
        assert re.search(r"^ +7 \|[ #]*#", plain, re.M)


def test_what_was_never_measured_is_not_given_a_number() -> None:
    text = screen(without_evidence(), width=100)
    assert "evidence: none" in text
    assert "none is invented" in text
    assert 'EXTRA_OPTS="-L 15"' in text
    table = text[text.index("MIGRATION ORDER") :]
    assert not re.search(r"\d+m\d\ds", table)


def test_several_files_are_told_apart_by_the_shortest_end_of_their_paths() -> None:
    text = screen(two_hosts(), width=200)
    assert "web1/etc/crontab:18" in text
    assert "web2/etc/crontab:12" in text


def test_equal_notes_are_folded_to_a_count_and_unfolded_on_request() -> None:
    assert "line 11  output goes to mail" in screen(shop())  # and only this line's goes there
    assert "and 1 more like it: line 15" in screen(shop())
    assert "output goes to nobody" not in screen(shop())
    assert "output goes to nobody" in screen(shop(), verbose=True)


def test_fail_ok_and_the_exit_status_follow_the_threshold() -> None:
    assert re.search(r"^FAIL 3 errors, threshold --fail-on=error +exit status 1$", screen(shop()), re.M)
    assert re.search(r"^FAIL 14 findings of note or worse", screen(shop(), fail_on="note"), re.M)
    assert re.search(
        r"^OK   nothing at or above --fail-on=never +exit status 0$",
        screen(shop(), fail_on="never"),
        re.M,
    )
    unread = screen(nothing(), unreadable=("/x: no",))
    assert re.search(r"^INCOMPLETE nothing at or above --fail-on=error; 1 source not read +exit status 3$", unread, re.M)


def test_of_very_many_entries_that_stay_only_the_number_is_told() -> None:
    audit = shop()
    keep = next(verdict for verdict in audit.verdicts if verdict.decision == "KEEP")
    many = replace(audit, verdicts=(*audit.verdicts, *[keep] * 100))
    assert "and 82 more entries to leave alone" in screen(many)
    assert screen(many).count("report.php") < 25 < 100 < screen(many, verbose=True).count("report.php")


def of_many_files(bad: int) -> Audit:
    texts = [b"61 * * * * root x\n"] * bad + [b"PATH=/bin\n0 3 * * * root x\n# y\n"] * (30 - bad)
    paths = [f"etc/cron.d/f{number}" for number in range(30)]
    files = [
        replace(parse(text, path=path, dialect=dialect_named("debian"), kind=Kind.SYSTEM), notes=("read as debian",))
        for text, path in zip(texts, paths, strict=True)
    ]
    return audit(files, EvidenceBook.empty("none"), at=AT, zone=BERLIN)


def test_of_many_files_those_are_named_that_cron_does_not_read_and_the_others_add_up() -> None:
    text = screen(of_many_files(2))
    assert "etc/cron.d/f0  debian, system  1 line = 1 malformed" in text
    assert "etc/cron.d/f1  debian, system" in text
    assert "etc/cron.d/f2  debian" not in text
    sums = "28 more files; --verbose shows each debian, system 84 lines = 28 entries + 28 assignments + 28 comments"
    assert sums in " ".join(text.split())
    assert text.count("read as debian") == 3
    assert "  30 files; --verbose shows each  debian, system  90 lines" in screen(of_many_files(0))


def test_all_of_many_files_are_named_when_asked() -> None:
    text = screen(of_many_files(2), verbose=True)
    assert all(f"etc/cron.d/f{number} " in text for number in range(30))
