"""`migrate up` and `migrate down` are killed as they speak to the database; then `status` tells the truth, running again makes
the schema that is declared or takes all of it away, and rows that stood there stay.

On MySQL and MariaDB each statement of a step is kept as soon as it is done, so that most kills leave half a step.
"""

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from databases import SERVERS, Database, administrator, open_unmigrated
from dying import few_of, killed_at, points, random
from runtime.severing import Severing
from runtime.test_migrations import shape
from sqlalchemy import create_engine

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.migrations import STEPS
from cron2queue.runtime.store import Store
from cron2queue.runtime.tables import tables
from cron2queue.runtime.trouble import SchemaMismatch

PATIENCE_SECONDS = 60.0
FEW = {"sqlite": 12, "mariadb": 4, "mysql": 3, "postgresql": 6}
ROWS = {
    "inbox": ("consumer, message_id, processed_at", (b"c", b"m", 1)),
    "ticks": ("entry, last_nominal", (b"e", 1)),
    "marks": ("name, value, noted_at", (b"n", 1, 1)),
}


def declared(url: str) -> dict[str, Any]:
    """The schema that the tables declare, on this server."""
    engine = create_engine(url)
    metadata = tables("declared_").metadata
    metadata.create_all(engine)
    try:
        return shape(url, "declared_")
    finally:
        metadata.drop_all(engine)
        engine.dispose()


def gone(database: Database) -> None:
    """Wait until the server has noticed that the killed client is gone: until then it may still be at its last statement."""
    if database.name == "sqlite":
        return
    name = database.url.partition("?")[0].rpartition("/")[2]
    own = database.store()
    with administrator(database.name) as cursor:
        ours = own.sessions.read(lambda session: session.value(PROCESS[own.driver.family]))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            cursor.execute(OTHERS[own.driver.family], (name, ours))
            if not cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("the server still knows the client that is gone")


PROCESS = {"mysql": "SELECT CONNECTION_ID()", "postgresql": "SELECT pg_backend_pid()"}
OTHERS = {
    "mysql": "SELECT COUNT(*) FROM information_schema.processlist WHERE db = %s AND id <> %s",
    "postgresql": "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
}


def rows(database: Database, names: list[str]) -> dict[str, set[Any]]:
    """All that stands in these tables."""
    return {name: set(database.rows(f"SELECT * FROM {{{name}}}")) for name in names}


def fill(database: Database, found: dict[str, Any]) -> None:
    """Rows for those of the tables that are there and empty."""
    for name, (columns, values) in ROWS.items():
        if name in found and not database.rows(f"SELECT * FROM {{{name}}}"):
            marks = ", ".join("?" * len(values))
            database.change(f"INSERT INTO {{{name}}} ({columns}) VALUES ({marks})", values)


def check_the_status(database: Database, found: dict[str, Any], whole: dict[str, Any]) -> str:
    """What is said of the step is what an own look at the tables finds."""
    (said,) = database.store().migration_status()
    recorded = "migrations" in found and bool(database.rows("SELECT step FROM {migrations}"))
    assert said.state == ("applied" if recorded else "half" if found else "missing")
    assert found == whole or not recorded, "a step is on record that is not there"
    if said.state == "half":
        with pytest.raises(SchemaMismatch, match="half made"):
            database.store().require_schema()
    return said.state


def up(store: Store) -> object:
    return store.migrate_up()


def down(store: Store) -> object:
    return store.migrate_down(to=0, force=True)


@pytest.mark.parametrize("act", [up, down], ids=lambda act: act.__name__)
def test_a_migration_that_is_killed_as_it_speaks_is_told_of_truly_and_healed_by_running_again(
    unmigrated_database: Database, tmp_path: Path, act: Callable[[Store], object]
) -> None:
    database, by = unmigrated_database, random()
    whole = declared(database.url)
    states = set()

    def begin() -> None:
        database.store()
        database.close()
        if act is down:
            up(database.store())
            database.store().enqueue(NewJob(kind="k"))
            fill(database, whole)
        database.close()  # no connection crosses the fork

    begin()
    _, spoken = killed_at(lambda: act(Store.open(database.url)), None, tmp_path / "report")
    down(database.store())
    for point, heal in few_of(product(points(spoken), (up, down)), FEW[database.name], by):
        begin()
        killed_at(lambda: act(Store.open(database.url)), point, tmp_path / "report")
        gone(database)
        found = shape(database.url, "c2q_")
        states.add(check_the_status(database, found, whole))
        fill(database, found)
        kept = rows(database, [name for name in found if name not in ("migrations", "controls")])
        if heal is up:
            up(database.store())
            assert shape(database.url, "c2q_") == whole, point
            assert check_the_status(database, whole, whole) == "applied"
            assert rows(database, list(kept)) == kept
            assert database.rows("SELECT id, version FROM {controls}") == [(1, 1)]
        down(database.store())
        assert shape(database.url, "c2q_") == {}, point
        database.close()
    print("states that were met:", sorted(states), "of", len(STEPS), "step")


@pytest.mark.parametrize("act", [up, down], ids=lambda act: act.__name__)
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that_goes_away_under_a_migration_is_told_and_it_is_healed_by_running_again(
    name: str, tmp_path: Path, act: Callable[[Store], object]
) -> None:
    database, by = open_unmigrated(name, tmp_path), random()
    whole = declared(database.url)

    def ends(at: int | None) -> tuple[bool, int]:
        """Whether it came to its end, with the server gone at this word; and how many words there were."""
        (down if act is up else up)(database.store())
        database.close()
        line = Severing("127.0.0.1", database.address.port or (5432 if name == "postgresql" else 3306))
        if at is not None:
            line.end_at(at)
        store = Store.open(line.url(database.address))
        try:
            act(store)
        except DatabaseUnavailable:
            return False, line.packets
        finally:
            store.close()
            line.close()
        return True, line.packets

    done, words = ends(None)
    assert done
    for at in few_of(range(1, words + 1), 3, by):
        done, _ = ends(at)
        gone(database)
        found = shape(database.url, "c2q_")
        check_the_status(database, found, whole)
        assert not done or found == (whole if act is up else {}), at
        up(database.store())
        assert shape(database.url, "c2q_") == whole
    database.close()
