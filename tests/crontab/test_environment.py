"""The variables in force at each entry, few and many."""

import sys
from collections.abc import Iterator, Mapping

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.environment import Variables
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse

FEW, MANY = 5, 300


def _filled(count: int) -> Iterator[tuple[Mapping[str, str], dict[str, str]]]:
    """After each assignment what is in force, and what it should be."""
    variables, known = Variables(), dict[str, str]()
    for number in range(count):
        name = f"N{number * 7 % (count * 2 // 3)}"  # some are set twice
        variables.set(name, str(number))
        known[name] = str(number)
        below, above = {"SHELL": "/bin/sh", "N0": "below"}, {"N1": "above", "USER": "u"}
        yield variables.in_force(below, above), {**below, **known, **above}


@pytest.mark.parametrize("count", [FEW, MANY])
def test_what_is_set_later_changes_nothing_for_the_entries_before(count: int) -> None:
    for in_force, expected in list(_filled(count)):
        assert in_force == expected
        assert list(in_force.items()) == list(expected.items())
        assert list(in_force) == list(expected)
        assert len(in_force) == len(expected)
        assert all(in_force[name] == value for name, value in expected.items())


@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_variable_that_is_set_later_or_never_is_not_in_force(count: int) -> None:
    first, _ = next(_filled(count))
    later = list(_filled(count))[-1][0]
    assert "N7" not in first
    assert first.get("N7") is None
    assert "NEVER" not in later


def _parsed(text: str, dialect: str) -> CrontabFile:
    return parse(text.encode(), path="crontab", dialect=dialect_named(dialect), kind=Kind.SYSTEM)


@pytest.mark.parametrize("dialect", ["debian", "cronie", "freebsd", "openbsd", "systemd-cron"])
def test_a_crontab_of_thousands_of_variables_is_not_copied_for_each_entry(dialect: str) -> None:
    file = _parsed("".join(f"VARIABLE{at}={at}\n0 0 * * * root true {at}\n" for at in range(2000)), dialect)
    assert len(file.entries) == 2000
    assert sum(sys.getsizeof(entry.environment) for entry in file.entries) < 2_000_000
    for at in (0, 70, 1999):
        environment = file.entries[at].environment
        assert environment[f"VARIABLE{at}"] == str(at)
        assert f"VARIABLE{at + 1}" not in environment
