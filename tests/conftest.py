"""Fixtures for everybody: job tables on every database that answers."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import NAMES, Database, open_database, open_unmigrated
from presence import need_program

# A suite started in the background (`nohup`, `&` in a script) inherits that these are ignored, and so would every program
# that it starts; the programs are tested as a person or a service manager starts them.
for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for the whole suite, which waits for servers, clocks and kills most of the time; else none beside."""
    return 2 if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.needs("php")`: the test runs that program; several names are kinds of the same."""
    for mark in item.iter_markers("needs"):
        need_program(*mark.args)


@pytest.fixture(params=NAMES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty job table, on each database in turn."""
    opened = open_database(request.param, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """An empty job table in a SQLite file."""
    opened = open_database("sqlite", tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=NAMES)
def unmigrated_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without tables, on each kind in turn."""
    opened = open_unmigrated(request.param, tmp_path)
    yield opened
    opened.close()
