"""What a program printed, kept as head and tail."""

import random

from cron2queue.runtime.worker.output import HeadAndTail, storable


def kept(*pieces: bytes, head: int = 100, tail: int = 200) -> HeadAndTail:
    output = HeadAndTail(head_bytes=head, tail_bytes=tail)
    for piece in pieces:
        output.feed(piece)
    return output


def test_what_fits_is_kept_whole() -> None:
    assert kept(b"one\n", b"two\n").text() == "one\ntwo"


def test_nothing_printed_is_nothing() -> None:
    assert kept().text() == ""


def test_of_a_flood_the_head_and_the_tail_stay_and_the_rest_is_counted() -> None:
    lines = [f"line {n}\n".encode() for n in range(10_000)]
    text = kept(*lines).text()
    assert text.startswith("line 0\nline 1\n")
    assert text.endswith("line 9998\nline 9999")
    assert "bytes left out" in text
    left_out = int(text.split("[... ")[1].split(" ")[0])
    shown = text.replace(f"\n[... {left_out} bytes left out ...]\n", "\n")
    assert len(shown.encode()) + 1 + left_out == sum(map(len, lines))


def test_memory_stays_within_its_bounds_whatever_the_size_of_the_pieces() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    sizes = random.Random(seed)
    output = kept()
    for _ in range(2000):
        output.feed(b"x" * sizes.randrange(1000))
        assert len(output._head) <= 100
        assert len(output._tail) <= 400 + 1000


def test_invalid_bytes_and_controls_are_shown_safely() -> None:
    assert kept(b"a\xff\x1b[31mb\tc\r\n").text() == "a\\xff\\x1b[31mb\tc\\x0d"


def test_secrets_are_masked() -> None:
    text = kept(b"connecting to mysql://app:hunter2@db/shop\n").text()
    assert "hunter2" not in text


def test_a_secret_that_the_cut_runs_through_is_not_shown_in_part() -> None:
    secret = b"mysql://app:hunter2hunter2hunter2@db/shop"
    for at in range(0, 400, 3):
        data = b"." * at + b"\n" + secret + b"\n" + b"x" * 40 + b"\n" + b"y" * 500 + b"\n" + secret + b"\n" + b"." * at + b"\n"
        assert "hunter2" not in kept(data).text(), at


def test_one_endless_line_does_not_show_what_stood_at_the_cut() -> None:
    data = b"a" * 90 + b"SECRETWORD" * 30 + b"b" * 5000
    assert "SECRETWORD" not in HeadAndTail(head_bytes=300, tail_bytes=600).text()
    assert "SECRETWORD" not in kept(data, head=300, tail=600).text()


def test_stored_messages_are_masked_before_they_are_cut_by_bytes() -> None:
    text = storable("ä" * 100 + " mysql://app:hunter2@db", 60)
    assert len(text.encode()) <= 60
    assert "hunter2" not in storable("mysql://app:hunter2@db/x", 16)


def test_a_lone_surrogate_can_be_stored() -> None:
    assert storable("bad \udcff byte", 100) == "bad \\xff byte"
