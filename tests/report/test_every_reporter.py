"""The suite that every report format passes: no text harms, no secret shows, every count adds up."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from redaction_corpus import CANARY, forms
from report.samples import AT, BERLIN, loaded, nothing, shop, two_hosts, without_evidence

from cron2queue.analyser.audit import Audit, audit
from cron2queue.analyser.finding import Severity
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.report.reporter import RenderOptions, Reporter, all_reporters, reporter_named, reporter_names

HOSTILE = {
    "control": "a\x00b\x07c\x08d\x0be\x0cf\x7fg",
    "ansi": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ \x9b31m",
    "return": "good\r\x1b[2Kevil",
    "newline": "one\n::error file=x::two\nthree\r\nfour\x85five\u2028six\u2029seven",
    "bidi": "\u202etxt.exe\u202c \u2066x\u2069 \u200f\u061c",
    "invisible": "zero\u200bwidth\u200d \ufeff \xad \u3164 \U000e0041",
    "invalid": "bytes \udcff\udc80\udc9b\udcff",
    "rich": "[red]x[/red] [/] [link=http://evil.example]y[/link] [bold :skull: grep [a-z]",
    "html": "<script>alert(1)</script> <img src=x onerror=alert(1)> </style></title></pre></svg> <!-- --> ]]> &lt;",
    "attribute": "\" onmouseover=\"alert(1) ' onload='alert(1) javascript:alert(1)",
    "template": "{{ 7*7 }} {% raw %} ${7*7} #{7*7} <%= 7*7 %>",
    "formula": "=cmd|' /C calc'!A0",
    "formulas": "+1+1 -1 @SUM(A1) \t=1",
    "markdown": "](http://evil.example) ![x](y) `` ` ``` | a | **b** _c_ # d\n# e\n- f www.evil.example @mention <http://evil.example>",
    "percent": "%0A%0D::add-mask::x %{} %s %n",
    "wide": "日本語のコマンド " * 6,
    "accents": "e" + "\u0301" * 40,
    "long": "x" * 3000,
}
SECRET = "hunTer2x9Qz"
SAMPLES = {"shop": shop, "loaded": loaded, "without evidence": without_evidence, "nothing": nothing, "two hosts": two_hosts}
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
OWN_COLORS = re.compile(r"\x1b\[[0-9;]*m")

reporters = pytest.mark.parametrize("reporter", all_reporters(), ids=lambda reporter: reporter.name)
hostile = pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
samples = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())


def infected(payload: str) -> Callable[[str], str]:
    """Both at the beginning, where formulas and markup count, and after the text."""
    return lambda text: f"{payload} {text} {payload}"


@cache
def attacked(payload: str) -> tuple[Audit, RenderOptions]:
    options = RenderOptions(why=True, verbose=True, next_command=f"convert {payload}", unreadable=(f"{payload}: no",))
    return shop(infected(payload), path="/etc/crontab"), options


@cache
def plain() -> tuple[Audit, RenderOptions]:
    return shop(infected("x")), RenderOptions(why=True, verbose=True, next_command="convert x", unreadable=("x: no",))


def tags_of(html: str) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []

    class Collector(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.append((tag, tuple(name for name, _ in attributes)))

        def handle_endtag(self, tag: str) -> None:
            found.append((f"/{tag}", ()))

        def handle_comment(self, data: str) -> None:
            found.append(("comment", ()))

    Collector().feed(html)
    return found


def test_all_eight_formats_are_there_and_each_module_is_named_like_its_format() -> None:
    assert reporter_names() == ["concise", "github", "html", "json", "junit", "markdown", "sarif", "terminal"]
    assert [reporter.name for reporter in all_reporters()] == reporter_names()
    assert [reporter_named(name).name for name in reporter_names()] == reporter_names()


@reporters
@samples
def test_every_sample_is_shown_the_same_twice_and_ends_in_one_line_break(
    reporter: Reporter, sample: Callable[[], Audit]
) -> None:
    text = reporter.render(sample(), RenderOptions())
    assert text == reporter.render(sample(), RenderOptions())
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n"))


@reporters
@hostile
def test_no_foreign_character_can_steer_a_terminal_or_hide(reporter: Reporter, payload: str) -> None:
    hostile_audit, options = attacked(payload)
    text = OWN_COLORS.sub("", reporter.render(hostile_audit, replace(options, color=True)))
    assert {c for c in text if unicodedata.category(c) in INVISIBLE} <= {"\n"}
    assert text.encode("utf-8")
    assert not re.search("[\u0300-\u036f]{3}", text)


@reporters
@hostile
def test_in_ascii_everything_is_ascii(reporter: Reporter, payload: str) -> None:
    hostile_audit, options = attacked(payload)
    text = reporter.render(hostile_audit, replace(options, ascii=True))
    if reporter.name in ("terminal", "concise", "json", "sarif"):
        assert text.isascii()
    assert text.encode("ascii", "backslashreplace")


@reporters
@hostile
def test_no_text_changes_the_structure_of_a_report(reporter: Reporter, payload: str) -> None:
    """Parsed by what reads the format, a hostile report has the same bones as an ordinary one."""
    bones = BONES[reporter.name]
    hostile_audit, hostile_options = attacked(payload)
    calm_audit, calm_options = plain()
    assert bones(reporter.render(hostile_audit, hostile_options)) == bones(reporter.render(calm_audit, calm_options))


def _bones_of_html(text: str) -> object:
    return [tag for tag in tags_of(text) if tag[0] not in ("path", "/path")]


def _bones_of_json(text: str) -> object:
    def bones(value: object) -> object:
        if isinstance(value, dict):
            return {key: bones(each) for key, each in value.items()}
        return [bones(each) for each in value] if isinstance(value, list) else None

    return bones(json.loads(text))


def _bones_of_xml(text: str) -> object:
    return [(element.tag, sorted(element.attrib)) for element in ElementTree.fromstring(text).iter()]


def _bones_of_github(text: str) -> object:
    lines = text.splitlines()
    assert all(re.match(r"::(error|warning|notice) file=[^:,]*,line=\d+,(col=\d+,)?title=[^:,]*::", line) for line in lines)
    return len(lines)


def _bones_of_concise(text: str) -> object:
    assert all(re.search(r":\d+:\d+: C2Q\d{3} (error|warning|note) ", line) for line in text.splitlines())
    return len(text.splitlines())


def _bones_of_markdown(text: str) -> object:
    tokens = MarkdownIt("commonmark", {"linkify": False, "html": True}).enable("table").parse(text)
    inline = [child.type for token in tokens for child in token.children or () if child.type not in ("text", "code_inline")]
    html = [child.content for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert set(html) <= {"<br>"}
    assert not re.search(r"(?i)https?://|www\.|[^`]@\w", re.sub(r"(`+).*?\1(?!`)", "", text))
    return [token.type for token in tokens], inline


def _bones_of_terminal(text: str) -> object:
    return re.findall(
        r"^(cron2queue audit|FINDINGS|EVIDENCE|LOAD|CHAINS|MIGRATION ORDER|NOT READ|INCOMPLETE|FAIL|OK|Next)\b", text, re.M
    )


BONES: dict[str, Callable[[str], object]] = {
    "html": _bones_of_html,
    "json": _bones_of_json,
    "sarif": _bones_of_json,
    "junit": _bones_of_xml,
    "github": _bones_of_github,
    "concise": _bones_of_concise,
    "markdown": _bones_of_markdown,
    "terminal": _bones_of_terminal,
}


WIDTHS = [("terminal", width) for width in (40, 57, 80, 200)] + [(name, 100) for name in reporter_names()]


@pytest.mark.parametrize(("name", "width"), WIDTHS)
def test_secrets_are_masked_before_anything_is_cut(name: str, width: int) -> None:
    reporter = reporter_named(name)
    for frame in (
        "mysql -p{} shop",
        "PASSWORD={} job",
        "https://u:{}@h/x",
        "curl -u bob:{}",
        "--token {} x",
        "x --password='{}'",
    ):
        secret = frame.format(SECRET)
        audit = shop(lambda text, secret=secret: f"{text} {secret}")
        text = reporter.render(
            audit, RenderOptions(width=width, why=True, verbose=True, unreadable=(secret,), next_command=secret)
        )
        joined = re.sub(r"\s+", "", text)
        assert not any(SECRET[:n] in joined for n in range(4, len(SECRET) + 1)), frame


def test_no_secret_of_a_whole_crontab_full_of_them_reaches_any_report() -> None:
    """Not only the reporters: names, evidence, remedies and whatever else the rules and verdicts make of the text."""
    commands = [form for form in forms() if form[0] not in "*0123456789"]
    lines = [f"{n % 60} {n % 24} * * * root {command}" for n, command in enumerate(commands)]
    lines += [form for form in forms() if "=" in form.split(" ", 1)[0]]
    lines += [f"# PASSWORD={CANARY}", f"broken --password={CANARY}", f"61 * * * * root mysql -p{CANARY} shop", ""]
    file = parse("\n".join(lines).encode(), path="/etc/crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    judged = audit([file], EvidenceBook.empty("none"), at=AT, zone=BERLIN)
    assert len(judged.verdicts) > 300
    for reporter in all_reporters():
        text = "".join(reporter.render(judged, RenderOptions(width=60, why=True, verbose=True)).split())
        assert CANARY[:5] not in text, (reporter.name, text[max(0, text.index(CANARY[:5]) - 100) :][:120])


@reporters
def test_every_finding_that_counts_is_shown_and_no_suppressed_one_counts(reporter: Reporter) -> None:
    audit = shop()
    text = reporter.render(audit, RenderOptions(verbose=True))
    for finding in audit.findings:
        if finding.suppressed is None:
            assert finding.code in text
    if reporter.name in ("terminal", "concise", "github", "markdown"):
        assert "C2Q305" not in text


@pytest.mark.parametrize("name", ["terminal", "markdown"])
def test_many_findings_of_one_kind_are_counted_unless_all_are_asked_for(name: str) -> None:
    audit = shop()
    one = next(finding for finding in audit.findings if finding.code == "C2Q202")
    many = replace(audit, findings=tuple(replace(one, message=f"number {n} of them") for n in range(30)))
    text = reporter_named(name).render(many, RenderOptions())
    assert "28 more of" in text
    assert "number 29 of them" not in text
    assert "number 29 of them" in reporter_named(name).render(many, RenderOptions(verbose=True))
    worse = replace(many, findings=tuple(replace(each, severity=Severity.ERROR) for each in many.findings))
    assert "number 29 of them" in reporter_named(name).render(worse, RenderOptions())


def test_an_unknown_format_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Exception, match="no format 'jsn'") as refused:
        reporter_named("jsn")
    assert "json" in str(refused.value)


@reporters
def test_a_line_that_a_daemon_reads_in_pieces_is_quoted_whole_so_that_its_secret_is_known(reporter: Reporter) -> None:
    data = f"mysql -p{CANARY} shop\n* * * * * root mysql -p{CANARY}\n".encode()
    for dialect in ("freebsd", "openbsd", "busybox", "debian"):
        file = parse(data, path="/etc/crontab", dialect=dialect_named(dialect), kind=Kind.SYSTEM)
        judged = audit([file], EvidenceBook.empty("none"), at=AT, zone=BERLIN)
        assert CANARY not in reporter.render(judged, RenderOptions(why=True, verbose=True))


@pytest.mark.parametrize("name", ["terminal", "markdown", "html"])
def test_a_template_is_called_one_and_not_a_file_that_cron_ignores(name: str) -> None:
    text = b"{{ minute }} 3 * * 0 root /opt/a\n0 4 * * 0 root /opt/b\n"
    for path, template in (("deploy/crontab.j2", True), ("deploy/crontab", True), ("deploy/broken", False)):
        data = text if template else text.replace(b"{{ minute }}", b"61")
        file = parse(data, path=path, dialect=dialect_named("debian"), kind=Kind.SYSTEM)
        judged = audit([file], EvidenceBook.empty("none"), at=AT, zone=BERLIN)
        shown = reporter_named(name).render(judged, RenderOptions())
        assert ("a template" in shown, "gnores the" in shown or "gnores this" in shown) == (template, not template)


@reporters
def test_the_line_behind_a_path_that_sounds_like_a_secret_is_shown(reporter: Reporter) -> None:
    text = b"*/7 * * * * root /opt/a.sh\n0 25 * * * root x\n"
    kinds = {"dialect": dialect_named("debian"), "kind": Kind.SYSTEM}
    files = [parse(text, path=path, **kinds) for path in ("/etc/cron.d/token", "/etc/cron.d/db-password")]
    report = reporter.render(audit(files, EvidenceBook.empty("no log"), at=AT, zone=BERLIN), RenderOptions(verbose=True))
    assert "token" in report
    assert "secret›" not in report
