"""A bench with real workers on each database, for faults."""

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
