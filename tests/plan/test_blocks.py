"""Blocks in a crontab: found, undone and told from what people write."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.plan.blocks import Block, found_blocks, numbered_blocks, physical_lines, pieces, replaced, restored

ON = date(2026, 12, 1)
OLD = b"*/5 * * * * root /bin/old\n"
NEW = b"*/5 * * * * root /bin/new\n"


def block(new: bytes | None = NEW, *, old: bytes = OLD, shadow: bool = False) -> Block:
    return Block(name="job", on=ON, old=old, new=new, shadow=shadow)


def test_a_replaced_line_stands_as_a_dated_comment_above_the_new_one() -> None:
    assert block().content == (
        b"# cron2queue replaced the next line on 2026-12-01: job\n#*/5 * * * * root /bin/old\n*/5 * * * * root /bin/new\n"
    )


def test_undoing_every_kind_of_block_gives_the_old_text() -> None:
    original = b"# top\n" + OLD + b"A=b\n" + OLD + OLD
    made = replaced(original, [(2, block()), (4, block(None)), (5, block(shadow=True))])
    assert restored(made) == original
    assert [each.new for each in found_blocks(made)] == [NEW, None, NEW]
    assert [each.shadow for each in found_blocks(made)] == [False, False, True]


def test_in_shadow_the_old_line_stays_alive() -> None:
    lines = block(shadow=True).content.splitlines(keepends=True)
    assert lines[1:] == [OLD, NEW]


def test_in_shadow_the_old_line_may_be_the_recorded_one() -> None:
    recorded = b"*/5 * * * * root /bin/recorder /bin/old\n"
    made = Block(name="job", on=ON, old=OLD, new=NEW, shadow=True, recorded=recorded)
    assert made.content.splitlines(keepends=True)[1:] == [b"#" + OLD, recorded, NEW]
    assert found_blocks(b"A=b\n" + made.content) == [made]
    assert restored(made.content) == OLD
    cut = made.content.replace(NEW, b"")
    assert restored(cut) == cut


def test_a_repaired_line_is_the_crontabs_own_until_it_is_taken_back_by_name() -> None:
    fixed = b"*/5 * * * * root /bin/fixed\n"
    repair = Block(name="job", on=ON, old=OLD, new=fixed, repaired=True)
    text = b"A=b\n" + repair.content + b"# end\n"
    assert found_blocks(text) == [repair]
    assert restored(text) == text
    assert restored(text, {repair.content}) == b"A=b\n" + OLD + b"# end\n"
    assert [number for number, _ in numbered_blocks(text + block().content)] == [6]
    assert [number for number, _ in numbered_blocks(text + block().content, {repair.content})] == [2, 4]


def test_what_replaces_a_repaired_line_is_undone_first() -> None:
    fixed = b"*/5 * * * * root /bin/fixed\n"
    repair = Block(name="job", on=ON, old=OLD, new=fixed, repaired=True)
    built = repair.content.replace(fixed, block(old=fixed).content)
    assert found_blocks(built) == [block(old=fixed)]
    assert restored(built) == repair.content
    assert restored(restored(built), {repair.content}) == OLD


@pytest.mark.parametrize(("old", "new"), [(b"\r\n", b"\n"), (b"MAILTO=\n", b'MAILTO=""\n'), (b"\xef\xbb\xbf# a\n", b"# a\n")])
def test_a_repair_need_not_be_of_an_entry(old: bytes, new: bytes) -> None:
    repair = Block(name="line-1", on=ON, old=old, new=new, repaired=True)
    assert found_blocks(repair.content) == [repair]
    assert restored(repair.content, {repair.content}) == old


def test_hand_edits_around_blocks_stay() -> None:
    text = b"MAILTO=a\n" + block().content + b"0 1 * * * root /bin/hand\n"
    assert restored(text) == b"MAILTO=a\n" + OLD + b"0 1 * * * root /bin/hand\n"


def test_a_block_without_its_new_line_is_no_block() -> None:
    cut = block().content.replace(NEW, b"")
    assert restored(cut) == cut
    commented = block().content.replace(NEW, b"#" + NEW)
    assert restored(commented) == commented


def test_a_marker_with_an_impossible_date_is_a_plain_comment() -> None:
    text = block().content.replace(b"2026-12-01", b"2026-13-41")
    assert restored(text) == text


def test_a_last_line_without_line_break_gets_one() -> None:
    made = replaced(b"*/5 * * * * root /bin/old", [(1, block(old=b"*/5 * * * * root /bin/old"))])
    assert made.endswith(NEW)
    assert restored(made) == OLD


@given(st.binary(max_size=300))
def test_any_bytes_survive_cutting_into_pieces(data: bytes) -> None:
    assert b"".join(piece.content for piece in pieces(data)) == data
    assert b"".join(physical_lines(data)) == data


@given(
    st.lists(st.sampled_from([OLD, NEW, b"# c\n", b"\n", b"#" + OLD, b"A=b\r\n", b"\xff * * * * x\n"]), max_size=8), st.data()
)
def test_replacing_and_restoring_is_the_identity(lines: list[bytes], data: st.DataObject) -> None:
    original = b"".join(lines)
    entries = [at for at, line in enumerate(lines, start=1) if line.strip() and not line.startswith(b"#")]
    chosen = data.draw(st.lists(st.sampled_from(entries), unique=True)) if entries else []
    made = replaced(original, [(at, block(old=lines[at - 1])) for at in chosen])
    assert restored(made) == original
