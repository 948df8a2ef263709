"""Reading whole blocks at once says just what reading line by line says, whatever stands in the log."""

import gc
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cron2queue.crontab.lines import CrontabFile
from cron2queue.evidence.batch import Batch
from cron2queue.evidence.condensing import Condenser
from cron2queue.evidence.gathering import gather
from cron2queue.evidence.helping import worth_help
from cron2queue.evidence.inputs import LogFile
from cron2queue.evidence.pairing import Pairer
from cron2queue.evidence.reading import Formats, SyslogReader, new_formats
from cron2queue.evidence.stamps import Clock

from .looking import NOW, crontab, look

COMMANDS = (
    "poll",
    "import --all",
    "sync %s > /dev/null",
    "[ -f /x ] && work [now]",
    "sleep 70",
    "long " + "x" * 3_000,
    "later &",
)
USERS = ("root", "www-data")
BERLIN = ZoneInfo("Europe/Berlin")
STARTS = (
    datetime(2026, 10, 24, 21, 0, tzinfo=UTC),
    datetime(2025, 12, 31, 15, 0, tzinfo=UTC),
    datetime(2026, 11, 20, tzinfo=UTC),
)
"""Before an hour that is repeated, before a new year, and before nothing."""


def table() -> CrontabFile:
    """An entry for most of the commands: some runs are of nobody."""
    return crontab(
        "".join(f"* * * * * {USERS[n % 2]} {command.replace('%', chr(92) + '%')}\n" for n, command in enumerate(COMMANDS[1:]))
    )


class Host:
    """Lines of a host whose chance is given: everything that a daemon writes, and what stands beside it."""

    def __init__(self, chance: random.Random, style: str) -> None:
        self.chance = chance
        self.style = style
        self.lines: list[tuple[float, int, str]] = []
        self.pid = chance.randrange(300, 900)

    def say(self, at: float, text: str) -> None:
        self.lines.append((at, len(self.lines), text))

    def number(self) -> int:
        self.pid = 300 if self.pid > 900 else self.pid + 1  # so that numbers come again soon
        return self.pid

    def run(self, at: float) -> None:
        kind = self.chance.randrange(len(COMMANDS))
        user, command = USERS[(kind + 1) % 2], COMMANDS[kind]
        parent, child = self.number(), self.number()
        end = at + self.chance.choice((0, 0, 0.4, 1, 2, 30, 59, 61, 400, 4_000))
        if self.chance.random() < 0.03:
            end = float("inf")  # its end is lost
        getattr(self, self.style)(at, end, user, command, parent, child)

    def numbered(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"CRON[{parent}]: ({user}) CMD ([{child}] {command})")
        if self.chance.random() < 0.1:
            self.say(end, f"CRON[{parent}]: (CRON) error (grandchild #{child} failed with exit status 3)")
        if self.chance.random() < 0.1:
            self.say(end, f"CRON[{parent}]: (CRON) info (No MTA installed, discarding output)")
        self.say(end, f"CRON[{parent}]: ({user}) END ([{child}] {command})")

    def with_sessions(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"CRON[{parent}]: pam_unix(cron:session): session opened for user {user}(uid=0) by (uid=0)")
        self.numbered(at, end, user, command, parent, child)
        self.say(end, f"CRON[{parent}]: pam_unix(cron:session): session closed for user {user}")

    def by_session(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"CRON[{parent}]: pam_unix(cron:session): session opened for user {user}(uid=0) by (uid=0)")
        self.say(at, f"CRON[{child}]: ({user}) CMD ({command})")
        self.say(end, f"CRON[{parent}]: pam_unix(cron:session): session closed for user {user}")

    def by_text(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"CROND[{child}]: ({user}) CMD ({command})")
        if self.chance.random() < 0.1:
            self.say(end, f"CROND[{parent}]: ({user}) CMDOUT (nothing to do)")
        self.say(end, f"CROND[{parent}]: ({user}) CMDEND ({command})")

    def starts_only(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"CRON[{child}]: ({user}) CMD ({command})")

    def endless(self, at: float, end: float, user: str, command: str, parent: int, child: int) -> None:
        self.say(at, f"/usr/sbin/cron[{child}]: ({user}) CMD ({command})")

    def aside(self, at: float) -> None:
        """What is rare."""
        self.say(
            at,
            self.chance.choice(
                (
                    "cron[41]: (CRON) INFO (Running @reboot jobs)",
                    "crond[41]: (CRON) STARTUP (1.7.2)",
                    "crontab[90]: (root) REPLACE (www-data)",
                    "anacron[77]: Job `cron.daily' started",
                    "anacron[77]: Job `cron.daily' terminated (exit status: 1)",
                    "crond[44]: user root: process already running: poll",
                    "CRON[500]: (CRON) info (No MTA installed, discarding output)",
                    "CROND[501]: (root) CMDOUT (all up to date)",
                    "CRON[502]: message repeated 2 times: [ (root) CMD (import --all)]",
                    "CRON[503]: [504] (root) CMD (poll)",
                    "sshd[9]: (root) CMD (not cron at all)",
                    "CRON[505]: (root) CMD ([506] cut off in the mid",
                    "CROND[507]: (root) CMDEND (import --al",
                    "CRON[508]: (root) END ([509] import --all)",
                )
            ),
        )


def written(host: Host, chance: random.Random, start: datetime, *, stamps: str, disorder: float, name: str = "web1") -> bytes:
    """The lines in order, more or less, in the local time of Berlin."""
    lines = sorted((at, number, text) for at, number, text in host.lines if at != float("inf"))
    shown = []
    for at, _, text in lines:
        moment = (start + timedelta(seconds=at - (30 if chance.random() < disorder else 0))).astimezone(BERLIN)
        stamp = f"{moment:%b} {moment.day:2} {moment:%H:%M:%S}"
        if stamps == "iso" or (stamps == "mixed" and at > 40_000):
            stamp = moment.isoformat(timespec="microseconds")
        shown.append(f"{stamp} {'web2' if chance.random() < disorder / 5 else name} {text}\n")
    return "".join(shown).encode()


STYLES = ("numbered", "with_sessions", "by_session", "by_text", "starts_only", "endless")


def log_of(seed: int, style: str, *, stamps: str = "plain") -> bytes:
    chance = random.Random(seed)
    host = Host(chance, style)
    at, rare, disorder = 0.0, chance.choice((0, 0, 0.01)), chance.choice((0, 0, 0, 0.002))
    for _ in range(1_500):
        at += chance.choice((0, 0, 1, 20, 60, 60, 120))
        if chance.random() < rare:
            host.aside(at)
        else:
            host.run(at)
    return written(host, chance, STARTS[seed % 3], stamps=stamps, disorder=disorder)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each batch was taken as it was."""
    answers: list[bool] = []
    ask = Pairer.take_together

    def asked(self: Pairer, batch: Batch) -> bool:
        answers.append(ask(self, batch))
        return answers[-1]

    monkeypatch.setattr(Pairer, "take_together", asked)
    monkeypatch.setattr("cron2queue.evidence.condensing._REST", 0)
    return answers


@pytest.mark.parametrize("stamps", ["plain", "iso", "mixed"])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(6))
def test_both_ways_give_the_same_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: list[bool], seed: int, style: str, stamps: str
) -> None:
    monkeypatch.setattr("cron2queue.evidence.blocks.BLOCK", 90_000 if style == "starts_only" else 8_000)
    log = tmp_path / "syslog"
    log.write_bytes(log_of(seed, style, stamps=stamps))
    book, _ = look(log, files=[table()], zone=BERLIN)
    assert book.runs > 1_000
    assert any(taken) or style in ("by_session", "by_text", "starts_only")


NOISE = (
    "kernel: eth0: link becomes ready",
    "systemd[1]: Started session 4 of user deploy.",
    "sshd[7]: Accepted publickey for deploy",
    "nginx[812]: 10.1.2.3 GET /cron/orders 200",
)
ODD = (
    "systemd[1]: Started cron.service.",
    "rsyslogd[3]: CRON is here",
    "app[4]: CRON[5]: (root) CMD ([6] poll)",
    "sudo: root : COMMAND=/usr/bin/crontab -l",
    "CRON[7]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
    "CRON[8]: (root) MAIL (mailed 20 bytes of output)",
    "kernel: web1 CRON[9]: pam_unix(cron:session): session closed for user root",
)


@pytest.mark.parametrize("name", ["web1", "cron1", "CRON.example"])
@pytest.mark.parametrize("stamps", ["plain", "iso"])
@pytest.mark.parametrize("style", STYLES)
def test_both_ways_give_the_same_book_among_lines_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: list[bool], style: str, stamps: str, name: str
) -> None:
    monkeypatch.setattr("cron2queue.evidence.blocks.BLOCK", 30_000)
    chance = random.Random(f"{style} {stamps} {name}")
    host = Host(chance, style)
    for minute in range(600):
        host.run(minute * 60.0)
        for _ in range(6):
            host.say(minute * 60 + chance.randrange(60), chance.choice(ODD if chance.random() < 0.01 else NOISE))
    log = tmp_path / "syslog"
    log.write_bytes(written(host, chance, STARTS[2], stamps=stamps, disorder=0, name=name))
    book, _ = look(log, files=[table()], zone=BERLIN)
    assert book.runs == 600
    assert any(taken) or style in ("by_session", "by_text", "starts_only") or name != "web1"


@pytest.mark.parametrize("text", ["CRON" * 15_000, "Cron]cron" * 6_000, "CRON[1]: (" * 6_000, "CRON[" + "1" * 60_000])
def test_a_line_full_of_marks_hides_nothing(tmp_path: Path, taken: list[bool], text: str) -> None:
    log = quiet(tmp_path / "syslog", "with_sessions")
    lines = log.read_bytes().splitlines(keepends=True)
    lines[2_000:2_000] = [b"%s web1 nginx[5]: %s\n" % (lines[2_000][:15], text.encode())] * 3
    log.write_bytes(b"".join(lines))
    assert look(log, files=[table()])[0].runs == 6_000
    assert all(taken)


def quiet(log: Path, style: str) -> Path:
    """A log of runs that are over long before the next begins."""
    chance = random.Random(3)
    host = Host(chance, style)
    for minute in range(6_000):
        getattr(host, style)(minute * 60.0, minute * 60.0 + 5, "root", COMMANDS[minute % 5], 2 * minute + 300, 2 * minute + 301)
    log.write_bytes(written(host, chance, STARTS[2], stamps="plain", disorder=0))
    return log


@pytest.mark.parametrize("style", [style for style in STYLES if style != "by_session"])
def test_all_blocks_of_a_quiet_log_are_taken_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: list[bool], style: str
) -> None:
    monkeypatch.setattr("cron2queue.evidence.blocks.BLOCK", 90_000)
    gather([quiet(tmp_path / "syslog", style)], journal=None, observations=None, files=[table()], zone=UTC, at=NOW)
    assert len(taken) > 3
    assert all(taken)


@pytest.mark.parametrize("style", [style for style in STYLES if style != "by_session"])
def test_a_block_leaves_no_rings_behind_since_nobody_looks_for_them_while_a_log_is_read(tmp_path: Path, style: str) -> None:
    formats, clock = Formats(new_formats()), Clock(UTC, NOW.year, NOW.replace(tzinfo=None))
    condenser = Condenser(SyslogReader(formats, clock), formats, clock)
    block = b"\n" + quiet(tmp_path / "syslog", style).read_bytes()[: 1 << 20].rpartition(b"\n")[0]
    gc.collect()
    gc.disable()
    try:
        assert condenser.batch(block) is not None
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_no_start_is_lost_where_the_stamps_change_at_the_end_of_a_block(tmp_path: Path) -> None:
    host = Host(random.Random(5), "starts_only")
    for minute in range(200):
        host.starts_only(minute * 60.0, 0, "root", "poll", 0, 300 + minute)
    lines = written(host, random.Random(5), STARTS[2], stamps="plain", disorder=0).splitlines(keepends=True)
    host.lines = host.lines[190:]
    lines[190:] = written(host, random.Random(5), STARTS[2], stamps="iso", disorder=0).splitlines(keepends=True)
    log = tmp_path / "syslog"
    log.write_bytes(b"".join(lines))
    book, _ = look(log, files=[table()], zone=BERLIN)
    assert book.runs == 200


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two helpers for each log, however small; the numbers of their processes."""
    for name in ("blocks.BLOCK", "filtering.BLOCK"):
        monkeypatch.setattr(f"cron2queue.evidence.{name}", 8_000)
    monkeypatch.setattr("cron2queue.evidence.helping.helpers", lambda: 2)
    monkeypatch.setattr("cron2queue.evidence.emission.worth_help", lambda *given: True)
    monkeypatch.setattr("cron2queue.evidence.filtering.SMALLEST", 1)
    started: list[int] = []
    start = subprocess.Popen

    def noted(*words: Any, **more: Any) -> "subprocess.Popen[bytes]":
        helper = start(*words, **more)
        if words[0][0] == sys.executable:
            started.append(helper.pid)
        return helper

    monkeypatch.setattr("cron2queue.evidence.helping.subprocess.Popen", noted)
    return started


@pytest.mark.parametrize("stamps", ["plain", "iso", "mixed"])
@pytest.mark.parametrize("style", ["numbered", "with_sessions", "by_session", "by_text"])
@pytest.mark.parametrize("seed", range(3))
def test_helpers_give_the_same_book(tmp_path: Path, helpers: list[int], seed: int, style: str, stamps: str) -> None:
    log = tmp_path / "syslog"
    log.write_bytes(log_of(seed, style, stamps=stamps))
    look(log, files=[table()], zone=BERLIN)
    assert len(helpers) == 2
    assert not [number for number in helpers if Path(f"/proc/{number}").exists()]


@pytest.mark.parametrize(("style", "worth"), [("numbered", True), ("with_sessions", True), ("by_session", False)])
def test_help_is_asked_for_where_it_can_be_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, worth: bool
) -> None:
    log = quiet(tmp_path / "syslog", style)
    file, block = LogFile(path=log, size=log.stat().st_size), b"\n" + log.read_bytes()[:100_000].rpartition(b"\n")[0]
    clock = Clock(BERLIN, 2026, datetime(2026, 12, 1))
    monkeypatch.setattr("cron2queue.evidence.helping.helpers", lambda: 2)
    assert not worth_help(file, block, Formats(new_formats()), clock)  # it is small
    monkeypatch.setattr("cron2queue.evidence.helping.SMALLEST", 1)
    assert worth_help(file, block, Formats(new_formats()), clock) is worth
    monkeypatch.setattr("cron2queue.evidence.helping.helpers", lambda: 0)
    assert not worth_help(file, block, Formats(new_formats()), clock)


def test_helpers_tell_of_a_quiet_log_in_short(tmp_path: Path, helpers: list[int], taken: list[bool]) -> None:
    log = quiet(tmp_path / "syslog", "numbered")
    book, _ = look(log, files=[table()])
    assert book.runs == 6_000
    assert len(helpers) == 2
    assert len(taken) > 90
    assert all(taken)


def test_a_helper_that_dies_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: list[int]) -> None:
    monkeypatch.setattr("cron2queue.evidence.helping._PROGRAM", "raise SystemExit(1)")
    log = tmp_path / "syslog"
    log.write_bytes(log_of(1, "numbered"))
    look(log, files=[table()], zone=BERLIN)
    assert len(helpers) == 2


def test_a_zone_that_cannot_be_sent_is_read_without_helpers(tmp_path: Path, helpers: list[int]) -> None:
    class Local(tzinfo):
        def utcoffset(self, when: datetime | None) -> timedelta:
            return timedelta(hours=1)

        def dst(self, when: datetime | None) -> timedelta:
            return timedelta(0)

        def tzname(self, when: datetime | None) -> str:
            return "here"

    log = tmp_path / "syslog"
    log.write_bytes(log_of(2, "numbered"))
    book, _ = look(log, files=[table()], zone=Local())
    assert book.runs > 1_000


@pytest.mark.parametrize("size", [100, 70_000, 200_000])
def test_a_long_line_does_not_hide_its_neighbours_from_helpers(tmp_path: Path, helpers: list[int], size: int) -> None:
    lines = log_of(4, "numbered").splitlines(keepends=True)
    lines.insert(700, lines[700].rstrip(b"\n") + b"x" * size + b"\n")
    log = tmp_path / "syslog"
    log.write_bytes(b"".join(lines))
    book = gather([log], journal=None, observations=None, files=[table()], zone=BERLIN, at=NOW)
    log.write_bytes(b"".join(lines[:700] + lines[701:]))
    assert 0 <= book.runs - gather([log], journal=None, observations=None, files=[table()], zone=BERLIN, at=NOW).runs <= 1


def test_output_that_stands_among_runs_taken_together_is_that_of_its_run(tmp_path: Path) -> None:
    """Of cronie, whose ends are known by their text: every third run writes something."""
    lines = []
    for minute in range(60):
        pid = 400 + 10 * minute
        said = [f"CROND[{pid + 1}]: (root) CMD (poll)", f"CROND[{pid}]: (root) CMDEND (poll)"]
        said[1:1] = [] if minute % 3 else [f"CROND[{pid}]: (root) CMDOUT (nothing to do)"]
        lines += [f"Nov 30 11:{minute:02}:01 web1 {each}\n" for each in said]
    path = tmp_path / "cron"
    path.write_text("".join(lines))
    book, runs = look(path, files=[crontab("* * * * * root poll\n")])
    (found,) = book.by_entry.values()
    assert (found.silent, found.outputs, len(runs)) == (40 / 60, 60, 60)
    assert found.empty is not None
    assert found.empty.share == 20 / 60
