"""Whatever a crontab holds, every format of its audit is well-formed, harmless and as wide as asked."""

from __future__ import annotations

import json
import unicodedata
import xml.etree.ElementTree as ElementTree
from importlib.resources import files

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from report.samples import AT, BERLIN
from report.test_json_and_sarif import check_sarif

from cron2queue.analyser.audit import audit
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.report.columns import columns
from cron2queue.report.reporter import RenderOptions, all_reporters

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((files("cron2queue.report") / "audit.schema.json").read_text(encoding="utf-8"))
)
PIECES = [
    b"* * * * *",
    b"*/5 * * * *", b"0 0 31 2 *", b"@reboot", b"@daily", b"22-2 * * * *", b"60 * * * *", b"1-100000000/7 * * * *",
    b"root", b"%", b"\\%", b"\xff\xfe", b"\x1b[31m", b"[/]", b"<script>", b"mysql -pX9secret8", b"/bin/true", b"PATH=$PATH:/x",
    b"MAILTO=", b"#", b"# cron2queue: ignore[C2Q301] x", b"# cron2queue: takes=20m name=a", b"\t", b"\r", b"\0",
    "é日本\u202e".encode(), b">/dev/null 2>&1", b"&&", b"flock -n /tmp/x", b"=cmd|' /C calc'!A0", b"a" * 3000,
]  # fmt: skip
lines = st.lists(st.sampled_from(PIECES), max_size=5).map(b" ".join)
crontabs = st.tuples(st.lists(lines, max_size=20).map(b"\n".join), st.sampled_from([b"", b"\n"])).map(b"".join)
dialects = st.sampled_from(["debian", "cronie", "busybox", "systemd-cron", "freebsd", "openbsd"])


@settings(deadline=None, max_examples=25)
@given(data=crontabs, dialect=dialects, kind=st.sampled_from(list(Kind)), width=st.integers(40, 200), ascii_only=st.booleans())
def test_every_report_of_any_crontab_is_sound(data: bytes, dialect: str, kind: Kind, width: int, ascii_only: bool) -> None:
    file = parse(data, path="etc/crontab", dialect=dialect_named(dialect), kind=kind)
    judged = audit([file], EvidenceBook.empty("none"), at=AT, zone=BERLIN)
    options = RenderOptions(width=width, ascii=ascii_only, why=True, verbose=True)
    texts = {reporter.name: reporter.render(judged, options) for reporter in all_reporters()}
    for text in texts.values():
        assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn")} <= {"\n"}
        assert "X9secret8" not in text
    assert [line for line in texts["terminal"].splitlines() if columns(line) > width] == []
    assert ElementTree.fromstring(texts["junit"]).tag == "testsuites"
    check_sarif(json.loads(texts["sarif"]))
    SCHEMA.validate(json.loads(texts["json"]))


def test_each_entry_of_a_torn_line_is_told_by_itself() -> None:
    data = b"0 1 * * * /bin/one\0000 2 * * * /bin/two\n"
    file = parse(data, path="etc/crontab", dialect=dialect_named("debian"), kind=Kind.USER)
    judged = audit([file], EvidenceBook.empty("none"), at=AT, zone=BERLIN)
    texts = {reporter.name: reporter.render(judged, RenderOptions()) for reporter in all_reporters()}
    entries = json.loads(texts["json"])["entries"]
    assert {entry["line"] for entry in entries} == {1}
    assert len({entry["id"] for entry in entries}) == 2
    cases = ElementTree.fromstring(texts["junit"]).iter("testcase")
    assert {case.get("name") for case in cases} >= {"line 1 one", "line 1 two"}
