"""Small crontab files through each daemon's real loader: entries, environment, messages, and whether it was loaded."""

import re
from typing import Any

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Effect, Entry, Kind
from cron2queue.crontab.parser import parse
from cron2queue.text import to_bytes

# The users of the machine on which the answers were recorded, as far as the inputs name them.
USERS = frozenset({"root", "daemon", "nobody"})


def long_input(case: dict[str, Any]) -> bytes:
    """Long inputs are recorded by name, head and length."""
    name = case["id"]
    length = case["input_len"]
    tail = b"* * * * * a\n"
    if match := re.fullmatch(r"env_(\d+|long_ok)", name):
        return b"FOO=" + b"x" * (length - len(tail) - 5) + b"\n" + tail
    if match := re.fullmatch(r"cmd_len_(\d+)", name):
        return b"* * * * * " + b"x" * int(match[1]) + b"\n* * * * * tail\n"
    if name.startswith("lines_"):
        return b"# x\n" * ((length - len(tail)) // 4) + tail
    if name.startswith("entries_"):
        return tail * (length // len(tail))
    if name.startswith("envs_"):
        last = b"* * * * * root a\n" if case["crontab"] == "system" else tail
        return b"".join(b"A%d=1\n" % number for number in range(1001)) + last
    if name.startswith("comment_block"):
        last = b"* * * * * root a\n" if case["crontab"] == "system" else tail
        return (b"#" + b"x" * 79 + b"\n") * ((length - len(last)) // 81) + last
    assert name == "many_values"
    return b",".join([b"5"] * 300) + b" * * * * a\n"


def input_of(case: dict[str, Any]) -> bytes:
    data = case["input"].encode("latin-1") if case["input"] is not None else long_input(case)
    assert len(data) == case["input_len"], case["id"]
    return data


def read(case: dict[str, Any], dialect: str) -> CrontabFile:
    kind = Kind(case["crontab"])
    user = "root" if kind is Kind.USER else None
    return parse(input_of(case), path="x", dialect=dialect_named(dialect), kind=kind, user=user, users=USERS)


def cases() -> list[Any]:
    return [
        pytest.param(case, dialect, id=f"{dialect}-{case['id']}")
        for case in truth.load("line-vectors")
        for dialect in truth.MEASURED
        if dialect in case["dialects"]
    ]


def latin(text: str) -> str:
    return to_bytes(text).decode("latin-1")


def same(recorded: str, found: str) -> bool:
    """Long texts are recorded by their head and length."""
    shortened = re.fullmatch(r"(?s)(.*)…<(\d+) chars>", recorded)
    if shortened:
        return found.startswith(shortened[1]) and len(found) == int(shortened[2])
    return recorded == found


def entries_before_the_end(file: CrontabFile, facts: dict[str, Any]) -> list[Entry]:
    """Of a file that is dropped the daemon shows only what it had read until then; we read on to tell of more."""
    return list(file.entries) if file.loaded else list(file.entries)[: len(facts["entries"])]


@pytest.mark.parametrize(("case", "dialect"), cases())
def test_a_file_is_loaded_as_the_daemon_loads_it(case: dict[str, Any], dialect: str) -> None:
    facts = truth.answer(case["dialects"], dialect)
    file = read(case, dialect)
    assert file.to_bytes() == input_of(case)
    assert file.loaded == facts.get("crontab_loaded", True)
    assert (file.why is None) == file.loaded
    entries = entries_before_the_end(file, facts)
    assert len(entries) == facts.get("entries_count", len(facts["entries"]))
    for entry, recorded in zip(entries, facts["entries"], strict=False):
        assert same(recorded["cmd"], latin(entry.command_text))
        assert entry.user == recorded["user"]
        assert entry.quiet == recorded.get("dont_log", False)
        assert ("-n" in entry.options) == recorded.get("mail_when_err", False)
        assert ("-s" in entry.options) == recorded.get("single_job", False)


@pytest.mark.parametrize(("case", "dialect"), cases())
def test_a_file_is_complained_of_in_the_daemons_words(case: dict[str, Any], dialect: str) -> None:
    facts = truth.answer(case["dialects"], dialect)
    file = read(case, dialect)
    recorded = [error["msg"] for error in facts.get("errors", ())]
    said = [bad.message for bad in file.malformed if bad.message.startswith(("bad ", "command too long"))]
    own = [message for message in said if "read as part of" not in message]
    assert own[: len(recorded)] == recorded
    if file.loaded:
        assert own == recorded
    for line in facts.get("stderr", ()):
        assert latin_message(line) in [latin(bad.message) for bad in file.malformed if bad.effect is Effect.MISREAD]


def latin_message(line: str) -> str:
    return line.removeprefix("crond: user root: ")


@pytest.mark.parametrize(("case", "dialect"), cases())
def test_the_environment_is_the_daemons(case: dict[str, Any], dialect: str) -> None:
    facts = truth.answer(case["dialects"], dialect)
    file = read(case, dialect)
    if "env_lines" in facts:
        set_here = [f"{latin(line.name)}={latin(line.value)}" for line in file.assignments][: len(facts["env_lines"])]
        assert all(same(recorded, found) for recorded, found in zip(facts["env_lines"], set_here, strict=True))
    elif dialect != "busybox":
        assert not file.assignments
    if "last_entry_env" in facts and file.entries:
        entry = entries_before_the_end(file, facts)[-1]
        recorded = {pair.split("=", 1)[0]: pair for pair in facts["last_entry_env"]}
        in_force = {latin(name): latin(value) for name, value in entry.environment.items()}
        assert recorded.keys() == in_force.keys() or len(recorded) == 20  # the first twenty are recorded
        assert all(same(pair, f"{name}={in_force[name]}") for name, pair in recorded.items())
