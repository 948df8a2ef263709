"""The zone and the moment of a report: as asked, else the host's, never guessed from a broken word."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cron2queue.cli.clock import moment, zone_for
from cron2queue.errors import UsageError

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    return tmp_path


def test_a_named_zone_wins_over_the_host(tree: Path) -> None:
    (tree / "etc/timezone").write_text("Asia/Tokyo\n", encoding="ascii")
    assert zone_for("Europe/Berlin", root=tree) == BERLIN
    assert zone_for(None, root=tree) == ZoneInfo("Asia/Tokyo")


def test_the_link_of_the_local_time_tells_the_zone_where_no_name_is_written(tree: Path) -> None:
    (tree / "etc/localtime").symlink_to("/usr/share/zoneinfo/America/Argentina/Ushuaia")
    assert zone_for(None, root=tree) == ZoneInfo("America/Argentina/Ushuaia")


def test_the_environment_counts_for_this_machine_and_not_for_a_copied_tree(tree: Path) -> None:
    environment = {"TZ": ":Asia/Kathmandu"}
    assert zone_for(None, environment=environment) == ZoneInfo("Asia/Kathmandu")
    assert zone_for(None, root=tree, environment=environment) == ZoneInfo("UTC")


@pytest.mark.parametrize("text", ["", "Nowhere/City\n", "../../etc/passwd", "\udcff", "x" * 500, "Europe/\n"])
def test_a_host_whose_zone_cannot_be_understood_is_taken_for_utc(tree: Path, text: str) -> None:
    (tree / "etc/timezone").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert zone_for(None, root=tree) == ZoneInfo("UTC")


@pytest.mark.parametrize("name", ["Europe/Berlni", "", "../../etc/passwd", "/etc/localtime", "a\0b", "x" * 5000])
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        zone_for(name)
    assert refused.value.place == "--timezone"


def test_a_wall_time_is_one_of_the_zone_and_an_offset_is_kept() -> None:
    assert moment("2026-03-29T12:30", BERLIN).isoformat() == "2026-03-29T12:30:00+02:00"
    assert moment("2026-03-29", BERLIN).isoformat() == "2026-03-29T00:00:00+01:00"
    assert moment("2026-03-29T12:30Z", BERLIN).isoformat() == "2026-03-29T14:30:00+02:00"


def test_without_a_moment_it_is_now_in_the_zone_to_the_second() -> None:
    before = datetime.now(BERLIN).replace(microsecond=0)
    now = moment(None, BERLIN)
    assert before <= now <= datetime.now(BERLIN)
    assert (now.microsecond, now.tzinfo) == (0, BERLIN)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "2026-11-30T25:00", "99999-01-01", "\x1b[31m"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        moment(text, BERLIN)
    assert refused.value.place == "--at"
