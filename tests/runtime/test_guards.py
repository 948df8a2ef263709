"""Guard rails: what would break a promise is refused at start, with what to do about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from databases import Database, open_unmigrated

from cron2queue.discovery import members
from cron2queue.runtime import guards
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.jobs import NewJob, WorkerInfo
from cron2queue.runtime.trouble import SchemaMismatch, UnsafeDatabase


def test_a_sound_database_is_accepted_and_told(database: Database) -> None:
    store = database.store()
    store.refuse_unsafe(connections_needed=2)
    facts = store.server_facts()
    assert facts.backend == database.name
    assert facts.refusals == ()
    assert facts.version
    if database.name != "sqlite":
        assert "READ" in str(facts.isolation).upper()
        assert "COMMITTED" in str(facts.isolation).upper()
        assert facts.bounds[0].most > (facts.connections or 0) > 0


def test_without_tables_nothing_starts(unmigrated_database: Database) -> None:
    with pytest.raises(SchemaMismatch, match="missing"):
        unmigrated_database.store().refuse_unsafe()


@pytest.mark.parametrize("database", ["mariadb", "mysql", "postgresql"], indirect=True)
def test_more_connections_than_the_server_gives_are_refused(database: Database) -> None:
    with pytest.raises(UnsafeDatabase, match="connections") as told:
        database.store().refuse_unsafe(connections_needed=100_000)
    assert "max_connections" in str(told.value.remedy)


def _broken(statement: str) -> Callable[[Any, Any], None]:
    from cron2queue.runtime.database.drivers.mysql import MysqlDriver

    promise = MysqlDriver._promise

    def broken(self: Any, raw: Any) -> None:
        promise(self, raw)
        with raw.cursor() as cursor:
            cursor.execute(statement)

    return broken


@pytest.mark.parametrize("database", ["mariadb", "mysql"], indirect=True)
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "isolation"),
        ("SET sql_mode = ''", "strict"),
        ("SET NAMES latin1", "character set"),
    ],
)
def test_a_session_that_something_has_changed_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch, statement: str, said: str
) -> None:
    from cron2queue.runtime.database.drivers.mysql import MysqlDriver

    monkeypatch.setattr(MysqlDriver, "_promise", _broken(statement))
    with pytest.raises(UnsafeDatabase, match=said) as told:
        database.store().refuse_unsafe()
    assert told.value.remedy
    assert told.value.exit_status == 4


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_session_of_postgresql_in_another_isolation_is_refused(database: Database) -> None:
    store = database.store()
    store.sessions.current().raw.execute("SET default_transaction_isolation = 'serializable'")
    with pytest.raises(UnsafeDatabase, match="isolation"):
        store.refuse_unsafe()


@pytest.mark.parametrize("name", ["mariadb", "mysql"])
def test_tables_in_a_character_set_that_loses_texts_are_refused(name: str, tmp_path: Path) -> None:
    database = open_unmigrated(name, tmp_path)
    store = database.store()
    store.migrate_up()
    database.change("ALTER TABLE {jobs} MODIFY payload LONGTEXT CHARACTER SET latin1 NOT NULL")
    with pytest.raises(UnsafeDatabase, match="latin1"):
        store.refuse_unsafe()
    store.migrate_down(to=0, force=True)
    database.close()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("mysql", ["5.7.44", "8.0.1"], ["8.0.4", "8.0.39-0ubuntu0.22.04.1", "9.7.4-2"]),
        ("mariadb", ["10.5.29-MariaDB", "10.3"], ["10.6.18-MariaDB-log", "11.8.2-MariaDB"]),
        ("postgresql", ["12.22", "9.6"], ["13.0", "17.2"]),
        ("sqlite", ["3.31.1", "3.36.0"], ["3.37.0", "3.45.1"]),
    ],
)
def test_a_server_without_what_the_backend_needs_is_too_old(name: str, old: list[str], new: list[str]) -> None:
    backend = next(each() for each in members("cron2queue.runtime.backends", Backend) if each.name == name)
    assert all(backend.check_server(version) for version in old)
    assert not any(backend.check_server(version) for version in new)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/srv/share/jobs.db", "nfs4"), ("/srv/jobs.db", "ext4"), ("/mnt/a b/jobs.db", "cifs"), ("/srvx/j.db", "ext4")],
)
def test_the_file_system_of_a_file_is_that_of_the_longest_mount(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/vda / ext4 rw 0 0\nnas:/x /srv/share nfs4 rw 0 0\n//nas/y /mnt/a\\040b cifs rw 0 0\ntmpfs /srvx/y tmpfs rw 0 0\n"
    )
    assert guards.file_system_of(path, str(mounts)) == kind
    assert guards.file_system_of(path, str(tmp_path / "none")) is None


def test_sqlite_on_a_network_file_system_is_refused(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "file_system_of", lambda file: "nfs4")
    with pytest.raises(UnsafeDatabase, match="network file system") as told:
        sqlite_database.store().refuse_unsafe()
    assert "local disk" in str(told.value.remedy)


def worker(host: str) -> WorkerInfo:
    return WorkerInfo(token=f"w of {host}"[:60].replace(" ", "-"), host=host, pid=1, version="1", kinds=(), queues=())


def test_sqlite_from_two_hosts_is_refused_while_the_other_is_alive(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    store.refuse_unsafe()
    store.register_worker(worker("another-host"))
    store.refuse_unsafe()  # the same kernel: another container of this host
    sqlite_database.change("UPDATE {controls} SET host = 'another-host 1234'")
    with pytest.raises(UnsafeDatabase, match="another-host"):
        store.refuse_unsafe()
    sqlite_database.change("UPDATE {workers} SET beat_at = beat_at - 121000000")
    store.refuse_unsafe()
    assert str(sqlite_database.value("SELECT host FROM {controls}")).endswith(guards.boot_id())


def test_a_host_that_was_started_anew_is_not_a_second_host(sqlite_database: Database) -> None:
    import socket

    store = sqlite_database.store()
    sqlite_database.change("UPDATE {controls} SET host = ?", (f"{socket.gethostname()} before-the-reboot",))
    store.register_worker(worker(socket.gethostname()))
    store.refuse_unsafe()


def test_a_weaker_durability_that_was_asked_for_is_told_as_a_warning(sqlite_database: Database) -> None:
    store = Database(name="sqlite", url=sqlite_database.url + "?synchronous=normal").store()
    facts = store.server_facts()
    assert [trouble.message[:18] for trouble in facts.warnings] == ["synchronous=NORMAL"]
    store.refuse_unsafe()
    store.enqueue(NewJob(kind="k"))
    store.close()
