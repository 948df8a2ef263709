"""Stock Debian files hardly say a word, and crontabs that grew over years say what is wrong with them and nothing false."""

from pathlib import Path

import pytest
from judged import crontab, judged

from cron2queue.analyser.audit import Audit
from cron2queue.analyser.finding import Severity
from cron2queue.analyser.templates import template_spans
from cron2queue.analyser.verdicts import Decision
from cron2queue.crontab.anacrontab import parse_anacrontab
from cron2queue.crontab.kinds import kind_of_text
from cron2queue.crontab.lines import CrontabFile, Kind

HERE = Path(__file__).parent
DEBIAN = HERE.parent / "data/debian-crontabs"
STOCK = sorted(path for path in (DEBIAN / "etc").rglob("*") if path.is_file() and path.name != "anacrontab")
LEGACY = sorted((HERE / "legacy").iterdir())
SYSTEM = ("webshop.crontab", "sysadmin.crontab", "template.crontab.j2")
# What is wrong in a package's own file: `2-31 * 1-6` fires on nearly every day, not on those that are both.
CAUSES = {"mtpolicyd": {("C2Q203", 3), ("C2Q203", 4)}}
COMMENTS_ONLY = {
    "apt-mirror", "boxbackup-client", "burp", "cedar-backup3", "csync2", "hearse", "john", "lyskom-server", "painintheapt",
    "rancid", "rsnapshot", "sogo",
}  # fmt: skip


def stock_file(path: Path) -> CrontabFile:
    return crontab(path.read_bytes(), path="/" + str(path.relative_to(DEBIAN)))


def of_stock(path: Path) -> Audit:
    return judged(stock_file(path))


def of_legacy(name: str) -> Audit:
    kind = "system" if name in SYSTEM else "user"
    return judged(crontab((HERE / "legacy" / name).read_bytes(), path=name, kind=kind))


def codes(result: Audit, least: Severity = Severity.NOTE) -> set[tuple[str, int | None]]:
    return {(each.code, each.place.line) for each in result.findings if each.severity.rank <= least.rank}


def test_there_is_a_corpus() -> None:
    assert len(STOCK) >= 100
    assert len(LEGACY) >= 6


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.name)
def test_a_stock_file_of_debian_is_read_whole(path: Path) -> None:
    file = stock_file(path)
    assert (file.loaded, file.malformed) == (True, ())
    assert bool(file.entries) == (path.name not in COMMENTS_ONLY)


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.name)
def test_the_text_of_a_stock_file_tells_of_its_user_column(path: Path) -> None:
    told = kind_of_text(path.read_bytes())
    assert told is None or told.value == Kind.SYSTEM


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.name)
def test_a_stock_file_of_debian_has_nothing_above_a_note_without_cause(path: Path) -> None:
    assert codes(of_stock(path), Severity.WARNING) == CAUSES.get(path.name, set())


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.name)
def test_a_stock_file_of_debian_has_few_notes(path: Path) -> None:
    notes = {code for code, _ in codes(of_stock(path))} - {"C2Q303", "C2Q507"}
    assert len(notes) <= 3


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.name)
def test_nothing_of_a_stock_file_is_queued_dropped_or_corrected(path: Path) -> None:
    decisions = {verdict.decision for verdict in of_stock(path).verdicts}
    assert decisions <= {Decision.KEEP, Decision.ASK, Decision.GUARD}


def test_all_stock_files_together_are_judged_without_a_warning_but_the_herd() -> None:
    result = judged(*(stock_file(path) for path in STOCK))
    assert {code for code, _ in codes(result, Severity.WARNING)} <= {"C2Q501", "C2Q203"}
    assert len(result.verdicts) == sum(len(file.entries) for file in result.files)


def test_the_stock_anacrontab_is_judged_without_a_warning() -> None:
    path = DEBIAN / "etc/anacrontab"
    result = judged(parse_anacrontab(path.read_bytes(), path="/etc/anacrontab", dialect="debian"))
    assert codes(result, Severity.WARNING) == set()
    assert len(result.verdicts) == 3


@pytest.mark.parametrize("path", LEGACY, ids=lambda path: path.name)
def test_the_counts_of_a_legacy_file_add_up(path: Path) -> None:
    result = of_legacy(path.name)
    (file,) = result.files
    counts = file.counts
    assert counts["lines"] == sum(number for name, number in counts.items() if name != "lines")
    assert len(result.verdicts) == counts["entries"]
    summary = result.summary
    assert summary.error + summary.warning + summary.note + summary.suppressed == len(result.findings)


EXPECTED = {
    "webshop.crontab": {
        ("C2Q201", 30), ("C2Q301", 20), ("C2Q203", 26), ("C2Q204", 28), ("C2Q205", 29), ("C2Q305", 17), ("C2Q306", 20),
        ("C2Q307", 14), ("C2Q307", 15), ("C2Q311", 19), ("C2Q501", 14),
    },
    "sysadmin.crontab": {
        ("C2Q202", 8), ("C2Q202", 9), ("C2Q322", 2), ("C2Q206", 16), ("C2Q206", 17), ("C2Q302", 3), ("C2Q317", 14),
        ("C2Q322", 11), ("C2Q501", 2), ("C2Q502", 13),
    },
    "hosting.crontab": {("C2Q318", 5), ("C2Q501", 2)},
    "django.crontab": {("C2Q307", 3), ("C2Q307", 4)},
    "user-rails.crontab": {("C2Q307", 4)},
    "template.crontab.j2": set(),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_legacy_file_is_warned_of_what_is_wrong_with_it_and_nothing_else(name: str) -> None:
    assert codes(of_legacy(name), Severity.WARNING) == EXPECTED[name]


def test_every_legacy_file_has_its_expectation() -> None:
    assert {path.name for path in LEGACY} == set(EXPECTED)


def test_the_decisions_on_the_web_shop_are_those_of_an_experienced_hand() -> None:
    decided = {verdict.entry.number: verdict.decision for verdict in of_legacy("webshop.crontab").verdicts}
    assert {line: decided[line] for line in (8, 9, 14, 15, 19, 20, 22, 26, 28, 29, 30, 31)} == {
        8: Decision.KEEP,
        9: Decision.KEEP,
        14: Decision.QUEUE,
        15: Decision.QUEUE,
        19: Decision.QUEUE,
        20: Decision.FIX,
        22: Decision.KEEP,
        26: Decision.KEEP,
        28: Decision.FIX,
        29: Decision.FIX,
        30: Decision.DROP,
        31: Decision.KEEP,
    }


def test_a_template_is_not_judged_as_if_it_were_a_crontab() -> None:
    result = of_legacy("template.crontab.j2")
    assert any("template" in each.reason for each in result.not_judged)
    assert all("ignores the whole file" not in verdict.because for verdict in result.verdicts)


def test_what_busybox_would_read_into_placeholders_is_not_judged() -> None:
    text = "{{ minute }} {{ hour }} * * * /opt/a\n{% for job in jobs %}\n*/${INTERVAL} * * * * /opt/b\n"
    result = judged(crontab(text, dialect="busybox", kind="user"))
    assert not codes(result, Severity.WARNING)
    assert {verdict.decision for verdict in result.verdicts} == {Decision.KEEP}
    assert len([each for each in result.not_judged if each.code == "C2Q101"]) == 3


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("system", "60 * * * * root cp $HOME/x /y"),
        ("system", "60 * * * * root curl -w %{http_code} https://x"),
        ("user", "60 * * * * ${HOME}/bin/x"),
        ("user", "60 * * * * $HOME/bin/x {{ y }}"),
        ("system", "@dayly root echo $PATH"),
        ("system", "* * * * root echo ${A} ${B}"),
        ("user", "* * * * x; echo $RANDOM"),
        ("user", "if [ -f $HOME/x ]; then y; fi"),
        ("user", "$HOME/bin/x --all"),
    ],
)
def test_a_placeholder_in_the_command_of_a_bad_line_makes_no_template_of_it(kind: str, line: str) -> None:
    result = judged(crontab(f"{line}\n0 3 * * * root /opt/b\n", kind=kind))
    assert ("C2Q101", 1) in codes(result, Severity.ERROR)
    assert not any("template" in each.reason for each in result.not_judged)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("system", "{{ minute }} 3 * * * root /opt/a"),
        ("system", "60 3 * * * {{ user }} /opt/a"),
        ("user", "$MINUTE ${HOUR} * * * /opt/a"),
        ("user", "<%- jobs.each do |job| -%>"),
        ("system", "@@NICKNAME@ root /opt/a"),
        ("user", "{%- for job in jobs %}"),
        ("user", "{# the jobs of the shop #}"),
        ("user", "%{hiera('minute')} * * * * /opt/a"),
    ],
)
def test_a_placeholder_in_the_schedule_or_user_of_a_bad_line_makes_a_template_of_it(kind: str, line: str) -> None:
    result = judged(crontab(f"{line}\n", kind=kind))
    assert not codes(result, Severity.WARNING)
    assert any("template" in each.reason for each in result.not_judged)


@pytest.mark.parametrize("text", ["{{", "{%", "<%", "%{", "${", "{#", "@A", "%%A"])
def test_marks_that_are_never_closed_cost_no_more_than_their_length(text: str) -> None:
    assert template_spans(text * 100_000) == ()


@pytest.mark.parametrize("line", ["export PATH=$PATH:/opt/bin", "set PATH=$PATH:/opt/bin", "export $X"])
def test_a_line_of_the_shell_is_an_error_and_no_template(line: str) -> None:
    result = judged(crontab(f"{line}\n0 3 * * * /opt/b\n", kind="user"))
    assert any(number == 1 for _, number in codes(result, Severity.ERROR))
    assert {verdict.decision for verdict in result.verdicts} == {Decision.FIX}
