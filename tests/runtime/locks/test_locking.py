"""Locks: got, held by another, or in trouble; never mixed up."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Database

from cron2queue.errors import UsageError
from cron2queue.runtime.locks import database_locks, locking
from cron2queue.runtime.locks.locking import LockHeld, LockTrouble, Skips


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = locking.open_folder(tmp_path / "locks")
    yield descriptor
    os.close(descriptor)


def test_the_second_is_refused_and_told_who_has_it(folder: int) -> None:
    held = locking.lock_file(folder, "import", wait=False)
    with pytest.raises(LockHeld, match=f"process {os.getpid()}"):
        locking.lock_file(folder, "import", wait=False)
    held.release()
    locking.lock_file(folder, "import", wait=False).release()


def test_other_names_are_other_locks(folder: int) -> None:
    held = [locking.lock_file(folder, name, wait=False) for name in ("import", "Import", "import.2")]
    for each in held:
        each.release()


def test_folder_and_file_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        descriptor = locking.open_folder(tmp_path / "locks")
        locking.lock_file(descriptor, "a", wait=False).release()
    finally:
        os.umask(before)
        os.close(descriptor)
    assert (tmp_path / "locks").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "locks" / "a.lock").stat().st_mode & 0o777 == 0o600


def test_a_lock_file_that_others_can_read_is_closed_to_them(folder: int, tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a.lock"
    path.touch()
    path.chmod(0o666)
    locking.lock_file(folder, "a", wait=False).release()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o720])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks").chmod(mode)
    with pytest.raises(LockTrouble, match="written to by others"):
        locking.open_folder(tmp_path / "locks")


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "locks").symlink_to(tmp_path / "real")
    with pytest.raises(LockTrouble, match="cannot be opened"):
        locking.open_folder(tmp_path / "locks")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("")
    with pytest.raises(LockTrouble, match="cannot be opened"):
        locking.open_folder(tmp_path / "locks")


def test_a_folder_that_cannot_be_made_is_trouble(tmp_path: Path) -> None:
    with pytest.raises(LockTrouble, match="cannot be made"):
        locking.open_folder(tmp_path / "missing" / "locks")


def test_a_link_in_the_place_of_the_lock_file_is_refused_and_its_target_is_not_made(folder: int, tmp_path: Path) -> None:
    (tmp_path / "locks" / "a.lock").symlink_to(tmp_path / "target")
    with pytest.raises(LockTrouble, match="symbolic link"):
        locking.lock_file(folder, "a", wait=False)
    assert not (tmp_path / "target").exists()


def test_a_fifo_in_the_place_of_the_lock_file_hangs_nobody(folder: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "locks" / "a.lock")
    with pytest.raises(LockTrouble, match="no plain file"):
        locking.lock_file(folder, "a", wait=True)


def test_a_folder_in_the_place_of_the_lock_file_is_refused(folder: int, tmp_path: Path) -> None:
    (tmp_path / "locks" / "a.lock").mkdir()
    with pytest.raises(LockTrouble):
        locking.lock_file(folder, "a", wait=False)


@pytest.mark.parametrize("name", ["", "..", ".hidden", "-rf", "a/b", "../x", "a\0b", "a b", "é", "x" * 101, "a\n"])
def test_a_name_that_could_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        locking.checked_name(name)


def test_a_lock_file_that_was_removed_meanwhile_is_not_taken_for_the_lock(folder: int, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from cron2queue.runtime.locks import locking\n"
        "folder = locking.open_folder(Path(sys.argv[1])); print('waiting', flush=True)\n"
        "locking.lock_file(folder, 'a', wait=True); print('got it', flush=True)\n"
    )
    held = locking.lock_file(folder, "a", wait=False)
    waiter = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "locks")], stdout=subprocess.PIPE, text=True)
    assert waiter.stdout is not None
    assert waiter.stdout.readline() == "waiting\n"
    (tmp_path / "locks" / "a.lock").unlink()
    second = locking.lock_file(folder, "a", wait=False)  # the lock that has this name now
    held.release()
    second.release()
    assert waiter.stdout.readline() == "got it\n"
    waiter.stdout.close()
    assert waiter.wait() == 0


def test_the_lock_lives_as_long_as_any_process_that_inherited_it(folder: int) -> None:
    held = locking.lock_file(folder, "a", wait=False)
    child = subprocess.Popen(["sleep", "600"], pass_fds=[held.descriptor])
    held.release()
    with pytest.raises(LockHeld):
        locking.lock_file(folder, "a", wait=False)
    child.kill()
    child.wait()
    locking.lock_file(folder, "a", wait=False).release()


def test_skips_are_counted_in_all_and_in_a_row(folder: int, tmp_path: Path) -> None:
    for expected in (1, 2, 3):
        assert locking.note_skip(folder, "a").in_a_row == expected
    locking.note_run(folder, "a")
    after = locking.note_skip(folder, "a")
    assert (after.total, after.in_a_row) == (4, 1)
    assert locking.skips_in(tmp_path / "locks") == {"a": after}


def test_a_broken_count_starts_anew(folder: int, tmp_path: Path) -> None:
    (tmp_path / "locks" / "a.skips").write_text("[not what it was")
    assert locking.skips_in(tmp_path / "locks") == {"a": Skips()}
    assert locking.note_skip(folder, "a").total == 1


def test_counts_of_a_folder_that_is_missing_are_none(tmp_path: Path) -> None:
    assert locking.skips_in(tmp_path / "none") == {}


def test_names_in_a_server_fit_and_stay_apart() -> None:
    long = ["x" * 99 + "a", "x" * 99 + "b"]
    named = {locking.database_lock_name("c2q_", name) for name in (*long, "a", "A")}
    assert len(named) == 4
    assert all(len(name) <= 64 for name in named)
    assert -(2**63) <= locking.advisory_key("a") < 2**63


def test_in_a_database_the_second_is_refused(database: Database) -> None:
    held = database_locks.take(database.url, "c2q_", "import", wait=False)
    assert held.is_held()
    with pytest.raises(LockHeld):
        database_locks.take(database.url, "c2q_", "import", wait=False)
    database_locks.take(database.url, "c2q_", "other", wait=False).release()
    held.release()
    for _ in range(20):  # let go is let go, not only said
        database_locks.take(database.url, "c2q_", "import", wait=False).release()


def test_in_a_database_a_waiter_gets_it_when_it_is_let_go(database: Database) -> None:
    script = (
        "import sys; from cron2queue.runtime.locks import database_locks\nprint('waiting', flush=True)\n"
        "database_locks.take(sys.argv[1], 'c2q_', 'import', wait=True); print('got it', flush=True)\n"
    )
    held = database_locks.take(database.url, "c2q_", "import", wait=False)
    waiter = subprocess.Popen([sys.executable, "-c", script, database.url], stdout=subprocess.PIPE, text=True)
    assert waiter.stdout is not None
    assert waiter.stdout.readline() == "waiting\n"
    held.release()
    assert waiter.stdout.readline() == "got it\n"
    waiter.stdout.close()
    assert waiter.wait() == 0


@pytest.mark.parametrize("name", ["mariadb", "mysql", "postgresql"])
def test_a_lock_whose_connection_the_server_has_ended_is_not_held(name: str, request: pytest.FixtureRequest) -> None:
    from databases import administrator, need, own_database

    need(name)
    held = database_locks.take(own_database(name), "c2q_", "import", wait=False)
    assert isinstance(held, database_locks._Connected)
    with administrator(name) as cursor:
        if name == "postgresql":
            cursor.execute("SELECT pg_terminate_backend(%s)", (held.raw.info.backend_pid,))
        else:
            cursor.execute(f"KILL {held.raw.thread_id()}")
    assert not held.is_held()
    held.release()


def test_a_lock_outlives_the_minute_after_which_a_silent_client_of_mysql_is_sent_away() -> None:
    """Who holds it may be stopped for a while, and its command with it or not."""
    from databases import need, own_database

    need("mysql")
    held = database_locks.take(own_database("mysql"), "c2q_", "import", wait=False)
    assert isinstance(held, database_locks._Connected)
    assert held.ask("SELECT @@session.wait_timeout = @@global.wait_timeout") == 1
    held.release()


def test_no_answer_about_a_lock_is_neither_yes_nor_no() -> None:
    class Silent(database_locks.MysqlLock):
        def ask(self, query: str, *parameters: object) -> None:
            """GET_LOCK answers NULL when the session is killed or the server is out of memory."""

    with pytest.raises(LockTrouble, match="could not say"):
        Silent(None, None, "import").take(0)  # type: ignore[arg-type]
