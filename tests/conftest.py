"""Fixtures for everybody: job tables on every database that answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import NAMES, Database, open_database, open_unmigrated


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
