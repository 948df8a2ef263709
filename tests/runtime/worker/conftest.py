"""A bench with real workers on each database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database
from workbench import Workbench


@pytest.fixture
def bench(database: Database, tmp_path: Path) -> Iterator[Workbench]:
    """A plan's folder and an empty job table, on each database in turn."""
    made = Workbench(folder=tmp_path, url=database.url)
    yield made
    made.close()


@pytest.fixture
def sqlite_bench(sqlite_database: Database, tmp_path: Path) -> Iterator[Workbench]:
    """The same on SQLite alone, for what does not depend on the database."""
    made = Workbench(folder=tmp_path, url=sqlite_database.url)
    yield made
    made.close()
