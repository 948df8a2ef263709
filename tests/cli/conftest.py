"""The commands are tested on SQLite and one server; what they read and write is proven on all of them in tests/runtime."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database, open_database


@pytest.fixture(params=("sqlite", "mariadb"))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty job table, on a file and on a server."""
    opened = open_database(request.param, tmp_path)
    yield opened
    opened.close()
