"""Migrations: repeatable after a kill at any statement, equal to the tables, refusing what would lose jobs."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from databases import SERVERS, Database, administrator, need, open_unmigrated, own_database
from sqlalchemy import MetaData, create_engine, inspect

from cron2queue.runtime import migrations
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.limits import SCHEMA
from cron2queue.runtime.migrations import LATEST, STEPS
from cron2queue.runtime.store import Store
from cron2queue.runtime.tables import tables
from cron2queue.runtime.trouble import DatabaseBusy, SchemaMismatch, UnsafeDatabase


def shape(url: str, prefix: str) -> dict[str, Any]:
    """What a server says of our tables: columns with types and nullability, keys, indexes."""
    engine = create_engine(url)
    reader = inspect(engine)
    found = {}
    for name in sorted(name for name in reader.get_table_names() if name.startswith(prefix)):
        found[name.removeprefix(prefix)] = {
            "columns": [(each["name"], str(each["type"]), each["nullable"]) for each in reader.get_columns(name)],
            "key": reader.get_pk_constraint(name)["constrained_columns"],
            "indexes": sorted(_index(each, prefix) for each in reader.get_indexes(name)),
            "options": _options(reader.get_table_options(name)),
        }
    engine.dispose()
    return found


def _index(found: Any, prefix: str) -> tuple[str, tuple[str, ...], bool, str]:
    where = next((str(value) for key, value in found.get("dialect_options", {}).items() if key.endswith("_where")), "")
    name = str(found["name"]).removeprefix(prefix)
    return name, tuple(found["column_names"]), bool(found["unique"]), re.sub(r"[()\s]", "", where).lower()


def _options(found: Any) -> dict[str, str]:
    return {key: str(value).lower() for key, value in found.items() if "auto_increment" not in key and "comment" not in key}


def test_the_schema_from_migrations_is_the_schema_of_the_tables(unmigrated_database: Database) -> None:
    database = unmigrated_database
    database.store().migrate_up()
    migrated = shape(database.url, "c2q_")
    engine = create_engine(database.url)
    declared: MetaData = tables("declared_").metadata
    declared.drop_all(engine)
    declared.create_all(engine)
    try:
        assert shape(database.url, "declared_") == migrated
    finally:
        declared.drop_all(engine)
        engine.dispose()


def test_every_table_that_the_metadata_has_is_in_a_step_and_the_other_way_round() -> None:
    stepped = {f"c2q_{name}" for step in STEPS for name in step.tables}
    assert stepped == set(tables().metadata.tables)


def test_up_is_done_once_and_then_has_nothing_to_do(unmigrated_database: Database) -> None:
    store = unmigrated_database.store()
    assert store.schema_version() == 0
    with pytest.raises(SchemaMismatch, match="missing"):
        store.require_schema()
    assert store.migrate_up() == [step.number for step in STEPS]
    assert store.migrate_up() == []
    assert store.schema_version() == LATEST
    assert {state.state for state in store.migration_status()} == {"applied"}
    store.require_schema()
    store.enqueue(NewJob(kind="k"))


def test_down_takes_everything_away_but_never_jobs_unasked(unmigrated_database: Database) -> None:
    store = unmigrated_database.store()
    store.migrate_up()
    store.enqueue(NewJob(kind="k"))
    with pytest.raises(UnsafeDatabase, match="holds jobs"):
        store.migrate_down(to=0)
    assert store.schema_version() == LATEST
    assert store.migrate_down(to=0, force=True) == [step.number for step in reversed(STEPS)]
    assert shape(unmigrated_database.url, "c2q_") == {}
    assert store.migrate_down(to=0) == []


UP = [sys.executable, "-m", "cron2queue", "migrate", "up", "--database"]


def test_five_that_make_the_tables_at_once_make_them_once(unmigrated_database: Database) -> None:
    """On a new SQLite file all begin with making it WAL, for which each must be alone."""
    line = [*UP, unmigrated_database.url]
    began = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(5)]
    said = sorted(each.communicate(timeout=120)[0].strip() for each in began)
    assert said == ["applied step 1", *["nothing to do"] * 4]
    unmigrated_database.store().require_schema()


TURNS = {
    "mariadb": "SELECT GET_LOCK('c2q_migrate', 0)",
    "mysql": "SELECT GET_LOCK('c2q_migrate', 0)",
    "postgresql": "SELECT pg_advisory_lock(hashtext('c2q_migrate'))",
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_migration_whose_turn_does_not_come_says_that_another_is_running(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "_TURN_SECONDS", 1)
    database = open_unmigrated(name, tmp_path)
    other = database.connect()
    other.cursor().execute(TURNS[name])
    with pytest.raises(UnsafeDatabase, match="another migration is running"):
        database.store().migrate_up()
    other.close()
    assert database.store().migrate_up() == [step.number for step in STEPS]
    database.close()


def test_tables_that_others_hold_are_left_alone_after_a_moment(
    unmigrated_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for a table makes everybody wait who comes later: neither a day nor a minute would do."""
    monkeypatch.setattr(migrations, "_TABLE_SECONDS", 1)
    database = unmigrated_database
    store = database.store(patience=1)
    store.migrate_up()
    user = database.store()
    job = user.enqueue(NewJob(kind="k"))
    held = user.sessions.open()
    user.driver.begin(held.raw)
    held.run("UPDATE {jobs} SET priority = 7 WHERE id = ?", (job.id,))
    with pytest.raises(DatabaseBusy):
        store.migrate_down(to=0, force=True)
    user.driver.rollback(held.raw)
    assert store.migrate_down(to=0, force=True) == [step.number for step in reversed(STEPS)]
    assert shape(database.url, "c2q_") == {}


def test_a_disk_that_is_full_is_told_and_is_no_bug(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    full = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)); sys.argv = sys.argv[1:]; "
    # -B: half a .pyc would be left to all who come later.
    ran = subprocess.run([sys.executable, "-B", "-c", full + MAIN, *UP[2:], url], capture_output=True, text=True)
    assert ran.returncode == 69 and "remedy:" in ran.stderr and "bug" not in ran.stderr
    assert subprocess.run([*UP, url], capture_output=True, text=True).stdout == "applied step 1\n"


MAIN = "from cron2queue.cli.app import main; sys.exit(main())"


@contextmanager
def _weak_user(name: str, url: str) -> Iterator[str]:
    """Somebody who may look into the database, and make nothing in it."""
    database = url.partition("?")[0].rpartition("/")[2]
    weak, place = f"weak_{database}"[:30], "" if name == "postgresql" else "@'%'"
    with administrator(name) as cursor:
        cursor.execute(f"CREATE ROLE {weak} LOGIN" if name == "postgresql" else f"CREATE USER {weak}@'%'")
        if name != "postgresql":
            cursor.execute(f"GRANT SELECT ON {database}.* TO {weak}@'%'")
        try:
            yield re.sub(r"//\w+@", f"//{weak}@", url)
        finally:
            cursor.execute(f"DROP ROLE {weak}" if name == "postgresql" else f"DROP USER {weak}{place}")


@pytest.mark.parametrize("name", SERVERS)
def test_a_user_without_the_rights_is_told_which(name: str) -> None:
    need(name)
    with _weak_user(name, own_database(name, "rights")) as url:
        ran = subprocess.run([*UP, url], capture_output=True, text=True)
    assert ran.returncode == 69 and "give the database user its rights" in ran.stderr, ran.stderr


def test_a_newer_schema_is_worked_with_until_it_says_that_it_needs_a_newer_release(unmigrated_database: Database) -> None:
    database = unmigrated_database
    store = database.store()
    store.migrate_up()
    insert = "INSERT INTO {migrations} (step, name, needs, applied_at) VALUES (?, ?, ?, 0)"
    database.change(insert, (LATEST + 1, "expands", LATEST))
    store.require_schema()
    store.enqueue(NewJob(kind="k"))
    database.change(insert, (LATEST + 2, "contracts", LATEST + 1))
    with pytest.raises(SchemaMismatch, match="newer release"):
        store.require_schema()
    for work in (
        lambda new: new.enqueue(NewJob(kind="k")),
        lambda new: new.claim("default", kinds=("k",), limit=1, worker="w"),
    ):
        with pytest.raises(SchemaMismatch, match="newer release"):
            work(database.store())
    assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'ready'") == 1


def test_what_producers_compare_the_schema_with_is_the_latest_step() -> None:
    assert SCHEMA == LATEST


def test_columns_that_a_newer_release_has_added_do_not_disturb_this_one(unmigrated_database: Database) -> None:
    """Expand: the last release goes on beside the next one, whose columns it does not name."""
    database = unmigrated_database
    store = database.store()
    store.migrate_up()
    database.change("ALTER TABLE {jobs} ADD COLUMN of_the_next_release INTEGER")
    store.enqueue(NewJob(kind="k", key="k"))
    (job,) = store.claim("default", kinds=("k",), limit=1, worker="w")
    assert store.release([job]) == [True]


def test_two_prefixes_live_side_by_side(unmigrated_database: Database) -> None:
    database = unmigrated_database
    one, two = database.store(prefix="one_"), database.store(prefix="two_")
    one.migrate_up()
    two.migrate_up()
    try:
        one.enqueue(NewJob(kind="k"))
        assert two.claim("default", kinds=("k",), limit=1, worker="w") == []
        assert len(one.claim("default", kinds=("k",), limit=1, worker="w")) == 1
    finally:
        one.migrate_down(to=0, force=True)
        two.migrate_down(to=0, force=True)


def test_the_script_for_people_who_run_their_own_does_the_same(unmigrated_database: Database) -> None:
    database = unmigrated_database
    text = migrations.script(database.address.family, "c2q_")
    store = database.store()
    for _ in range(2):
        _run_script(database, text)
    assert store.schema_version() == LATEST
    store.enqueue(NewJob(kind="k"))
    _run_script(database, migrations.script(database.address.family, "c2q_", direction="down"))
    assert store.schema_version() == 0


def _run_script(database: Database, text: str) -> None:
    raw = database.connect()
    cursor = raw.cursor()
    for statement in re.sub(r"^--.*$", "", text, flags=re.MULTILINE).split(";\n"):
        if statement.strip():
            cursor.execute(statement)
    raw.commit()
    raw.close()


@pytest.mark.parametrize("family", ["sqlite", "mysql", "postgresql"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_step_has_its_files_and_can_be_taken_back(family: str, step: migrations.Step) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", step.name)
    assert step.kind in ("expand", "switch", "contract")
    assert step.needs <= step.number
    for direction in ("up", "down"):
        assert migrations.statements(family, step, direction, "x_")
        assert "c2q_" not in " ".join(migrations.statements(family, step, direction, "x_"))


def test_no_file_of_a_step_is_forgotten() -> None:
    folder = Path(migrations.__file__).parent / "sql"
    expected = {f"{step.number:04}_{step.name}.{way}.sql" for step in STEPS for way in ("up", "down")}
    for family in ("sqlite", "mysql", "postgresql"):
        assert {path.name for path in (folder / family).iterdir()} == expected


def test_a_missing_schema_is_told_by_every_verb_with_its_remedy(unmigrated_database: Database) -> None:
    store: Store = unmigrated_database.store()
    with pytest.raises(SchemaMismatch) as told:
        store.enqueue(NewJob(kind="k"))
    assert "migrate up" in str(told.value.remedy)
