"""The HTML report: one file that asks for nothing, readable without script, right in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from presence import need_program
from report.samples import loaded, nothing, shop, two_hosts, without_evidence
from report.test_every_reporter import HOSTILE, attacked

from cron2queue.analyser.audit import Audit
from cron2queue.report.page.timelines import PLOT, WEEK_HOURS, day_of, hourly_starts, week_of
from cron2queue.report.reporter import RenderOptions, reporter_named

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VOID = {"meta", "link", "br", "img", "input", "hr"}

# What the browser itself would like to know; it gets no answer, and the page has no part in it.
BROWSERS_OWN = re.compile(r"https?://[\w.-]*\b(?:google|googleapis|gstatic)\.com/")

in_browser = pytest.mark.needs(*BROWSERS)


def html(audit: Audit, **options: object) -> str:
    return reporter_named("html").render(audit, RenderOptions(**options))  # type: ignore[arg-type]


class Document(HTMLParser):
    """Tags that do not nest, attributes, and the text of the page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.misnested: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("sample", [shop, loaded, nothing, two_hosts, without_evidence], ids=lambda sample: sample.__name__)
def test_tags_nest_ids_are_unique_and_references_lead_somewhere(sample: object) -> None:
    page = Document(html(sample()))  # type: ignore[operator]
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert (page.open, page.misnested) == ([], [])
    assert len(ids) == len(set(ids))
    for _, name, value in page.attributes:
        if name == "aria-labelledby":
            assert set((value or "").split()) <= set(ids)


@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_on_the_page_can_run_or_reach_out(payload: str) -> None:
    audit, options = attacked(payload)
    page = Document(reporter_named("html").render(audit, options))
    tags = {tag for tag, _, _ in page.attributes} | set(page.open)
    assert tags.isdisjoint({"script", "iframe", "object", "embed", "form", "img", "base", "a"})
    assert [
        (tag, name) for tag, name, _ in page.attributes if name.startswith("on") or name in ("src", "style", "action")
    ] == []
    assert {value for _, name, value in page.attributes if name == "href"} == {"data:,"}


def test_the_page_allows_itself_only_its_own_style_sheet() -> None:
    policy = next(
        value for _, name, value in Document(html(shop())).attributes if name == "content" and "default-src" in str(value)
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"style-src 'sha256-[A-Za-z0-9+/]{43}='", policy)


def test_a_page_calls_nothing_well_that_was_held_against_no_threshold() -> None:
    audit = shop()
    assert audit.summary.error and 'class="verdict fail"' in html(audit, fail_on="error")
    assert 'class="verdict' not in html(audit, fail_on="never")
    assert "nothing at or above error" in html(nothing(), fail_on="error")


def test_every_entry_finding_and_count_is_on_the_page_as_text() -> None:
    audit = loaded()
    text = " ".join(" ".join(Document(html(audit, next_command="cron2queue convert x")).text).split())
    for verdict in audit.verdicts:
        assert verdict.name in text
        assert verdict.because in text
    for finding in audit.findings:
        assert finding.message in text
    for words in (
        "2 errors",
        "8 warnings",
        "3 notes",
        "2 suppressed",
        "5 to queue",
        "cron2queue convert x",
        "needs raw disks until 2027-03-01",
    ):
        assert words in text


def test_the_day_shows_each_lane_at_its_true_place() -> None:
    day = day_of(loaded().load)
    assert day is not None
    lanes = {row.label: row for row in day.rows}
    backup = lanes["11 backup.sh"].paths[0]
    left, right = (float(n) for n in re.fullmatch(r"M([\d.]+) \d+H([\d.]+)v12H[\d.]+Z", backup).groups())  # type: ignore[union-attr]
    assert left == pytest.approx(2 * PLOT / 24, abs=0.1)
    assert right == pytest.approx((2 + 50 / 60) * PLOT / 24, abs=0.1)
    assert lanes["6 magento cron:run"].paths[0].count("M") == 1
    assert lanes["15 rotate_images.sh"].paths[0].count("M") == 6
    assert (day.peak, day.planned, day.unknown) == (7, 3, 2)
    assert [alive for _, alive in day.hourly] == [6, 6, 7, *[6] * 21]


def test_the_week_counts_every_start_of_every_entry_that_cron_reads() -> None:
    audit = loaded()
    week = week_of(audit)
    assert week is not None
    by_label = {row.label: row for row in week.rows}
    assert by_label["6 magento cron:run"].count == "10,080×"
    assert by_label["11 backup.sh"].count == "7×"
    assert "17 ws.js" not in by_label
    assert by_label["all entries"].count == f"{sum(int(row.count[:-1].replace(',', '')) for row in week.rows[1:]):,}×"
    assert week_of(shop()) is None
    first = audit.at.replace(hour=0, tzinfo=None)
    assert all(len(hourly_starts(verdict, first)) == WEEK_HOURS for verdict in audit.verdicts)


def test_with_very_many_entries_the_page_stays_small_and_says_what_it_leaves_out() -> None:
    audit = loaded()
    assert audit.load is not None
    many = replace(audit, load=replace(audit.load, lanes=audit.load.lanes * 100), verdicts=audit.verdicts * 10)
    page = html(many)
    assert len(page) < 600_000
    assert "less busy entries are not drawn" in page
    assert "more entries are not drawn" in page


def browse(source: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    page = tmp_path / "report.html"
    page.write_text(source, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    return subprocess.run(
        [need_program(*BROWSERS), *flags, *arguments, page.as_uri()], capture_output=True, text=True, timeout=120
    )


@in_browser
def test_a_real_browser_shows_it_without_a_request_an_error_or_a_script(tmp_path: Path) -> None:
    log = tmp_path / "net.json"
    everything = "".join(HOSTILE.values()).replace("x" * 3000, "")
    audit, options = attacked(everything)
    ran = browse(reporter_named("html").render(audit, options), tmp_path, "--dump-dom", f"--log-net-log={log}")
    assert ran.returncode == 0, ran.stderr
    assert "CONSOLE" not in ran.stderr, ran.stderr
    assert ran.stdout.count("<script") == 0
    assert len(re.findall(r"<svg\b", ran.stdout)) == 1
    events = log.read_text(encoding="utf-8", errors="replace")
    asked = set(re.findall(r'"url":"((?:https?|wss?|ftp)://[^"]*)"', events))
    assert {url for url in asked if not BROWSERS_OWN.match(url)} == set()


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_real_browser_paints_light_and_dark(tmp_path: Path, scheme: str) -> None:
    picture = tmp_path / "page.png"
    dark = ["--force-dark-mode"] if scheme == "dark" else []
    ran = browse(html(loaded()), tmp_path, "--hide-scrollbars", "--window-size=1240,900", f"--screenshot={picture}", *dark)
    assert ran.returncode == 0, ran.stderr
    red, green, blue = corner(picture)
    assert (min(red, green, blue) > 230) if scheme == "light" else (max(red, green, blue) < 60)


def corner(picture: Path) -> tuple[int, int, int]:
    """The colour of the first pixel of a PNG: in its first row every filter adds nothing to it."""
    import struct
    import zlib

    data = picture.read_bytes()
    position, packed = 8, b""
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        if data[position + 4 : position + 8] == b"IDAT":
            packed += data[position + 8 : position + 8 + length]
        position += length + 12
    pixels = zlib.decompress(packed)
    return pixels[1], pixels[2], pixels[3]


def test_the_page_needs_jinja_only_when_it_is_asked_for() -> None:
    program = (
        "import sys; from cron2queue.report.reporter import reporter_named; reporter_named('terminal'); reporter_named('json');"
        "print(json.dumps([m for m in ('jinja2', 'croniter', 'sqlalchemy') if m in sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-c", f"import json; {program}"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []
