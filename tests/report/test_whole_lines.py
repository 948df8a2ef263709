"""Findings quote whole lines: those that a daemon reads in pieces, and no more than one of a crontab that is read twice."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cron2queue.analyser.audit import audit
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.report.reporter import with_whole_lines


def quoted(text: bytes, *, dialect: str = "debian", times: int = 1) -> set[str]:
    """The lines that findings quote."""
    files = [parse(text, path="crontab", dialect=dialect_named(dialect), kind=Kind.SYSTEM) for _ in range(times)]
    judged = audit(files, EvidenceBook.empty("none"), at=datetime(2026, 11, 29, tzinfo=UTC), zone=ZoneInfo("UTC"))
    return {each.source_line for each in with_whole_lines(judged).findings if each.source_line is not None}


def test_a_line_that_is_read_in_pieces_is_quoted_whole() -> None:
    line = "61 * * * * root mysqldump -phunter2 shop"
    assert quoted(line.encode() + b"\n", dialect="freebsd") == {line}


def test_a_crontab_that_is_named_twice_is_quoted_once() -> None:
    line = "0 5 * * * root echo $(date +%F) > /tmp/x"
    assert quoted(line.encode() + b"\n", times=2) == {line}
