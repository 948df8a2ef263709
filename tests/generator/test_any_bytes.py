"""Whatever bytes a crontab holds, convert ends well, and what it wrote can be taken back."""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from cron2queue.crontab.dialect import dialect_named, dialects
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.plan.blocks import found_blocks, restored

Convert = Callable[..., Any]
PIECES = [
    *(b"*/5 * * * *", b"0 3 1,15 * 5", b"@daily", b"@reboot", b"0~59 * * * *", b"30 2 * * *", b"61", b"5-1", b"@every_minute"),
    *(b" ", b"\t", b"\n", b"\r", b"\x01", b"\x00", b"\xff", b"\xc3\xa9", b"\xe2\x80\xae", b"root", b"www-data", b"/bin/work"),
    *(b"%", b"\\%", b"\\\\", b"'", b'"', b"$x", b"&&", b">>/tmp/x", b"2>&1", b"-", b"=", b"#c\n", b"A=b\n", b'MAILTO=""\n'),
    *(b"SHELL=/bin/bash\n", b"CRON_TZ=Asia/Tokyo\n", b"* * * * * root x\n", b"#*/5 * * * * root x\n", b"99999999999"),
    b"# cron2queue replaced the next line on 2026-11-30: work\n",
]
DECISIONS = ("queue", "split", "guard", "drop", "keep", "fix", "ask")


def some_crontab(chance: random.Random) -> bytes:
    parts = (chance.choice(PIECES) + (b" " if chance.random() < 0.6 else b"") for _ in range(chance.randrange(1, 40)))
    return b"".join(parts) + (b"\n" if chance.random() < 0.7 else b"")


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_are_converted_or_left_alone(seed: int, convert: Convert) -> None:
    chance = random.Random(seed)
    data, dialect, kind = some_crontab(chance), chance.choice(sorted(dialects())), chance.choice(list(Kind))
    decision, engine = chance.choice(DECISIONS), chance.choice(["sqlqueue", "systemd", "guard"])
    prepared = convert(
        data,
        dialect=dialect,
        kind=kind,
        engine=engine,
        spread=chance.random() < 0.3,
        edit=lambda plan: re.sub(r'decision = "\w+"', f'decision = "{decision}"', plan),
    )
    new = prepared.draft.crontabs["crontab.new"]
    repairs = {block.content for block in found_blocks(new)}
    assert restored(new, repairs).rstrip(b"\n") == restored(data).rstrip(b"\n")
    read = [parse(text, path="x", dialect=dialect_named(dialect), kind=kind) for text in (restored(data), new)]
    assert read[1].loaded is read[0].loaded
