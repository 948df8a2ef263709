"""The producer that cron starts: lean, idempotent by tick, and with a spool for the time without a database."""

import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from databases import Database

from cron2queue.errors import UsageError
from cron2queue.runtime import producer, spool
from cron2queue.runtime.database.instants import to_micros
from cron2queue.runtime.jobs import Done, Forever, NewJob, Period, Settlement
from cron2queue.runtime.producer import options_of, wish_of
from cron2queue.runtime.settings import Missed, Overlap
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import QueueFull
from cron2queue.runtime.verbs.ticking import Tick, to_catch_up

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
PLAN = """
format-version = 1
[project]
name = "shop"
database = "{url}"
[jobs.order-export]
kind = "order-export"
queue = "exports"
priority = 30
max-attempts = 3
schedule = "*/5 * * * *"
command = "true"
overlap = "{overlap}"
scope = "{scope}"
"""


# Without `site`, whose own imports are the machine's and not the producer's.
PATHS = f"import sys; sys.path[:0] = {[str(Path(__file__).resolve().parents[2])]}\n"


def run(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> "subprocess.CompletedProcess[str]":
    ran = subprocess.run(
        [sys.executable, "-m", "cron2queue.runtime", "enqueue", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **(environment or {})},
        input=stdin,
        capture_output=True,
        timeout=60,
    )
    return subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def plan(database: Database, folder: Path, *, overlap: str = "skip", scope: str = "database") -> Path:
    path = folder / "cron2queue.toml"
    path.write_text(PLAN.format(url=database.url, overlap=overlap, scope=scope))
    return path


def test_a_job_goes_in_by_kind_and_its_public_id_comes_out(database: Database, tmp_path: Path) -> None:
    ran = run("--kind", "mail", "--key", "Jörg", "--payload", '{"n": [1]}', "--database", database.url, folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    (row,) = database.rows("SELECT public_id, kind, job_key, payload, queue FROM {jobs}")
    assert (ran.stdout.strip(), row[1], bytes(row[2]).decode(), row[3], row[4]) == (
        row[0],
        "mail",
        "Jörg",
        '{"n":[1]}',
        "default",
    )
    again = run("--kind", "mail", "--key", "Jörg", "--database", database.url, folder=tmp_path)
    assert (again.returncode, again.stdout.strip()) == (0, f"{row[0]} duplicate")


def test_by_hand_a_job_waits_for_the_one_before_as_its_overlap_rule_wants(database: Database, tmp_path: Path) -> None:
    for overlap, state, ticked in (("skip", "blocked", "skipped"), ("parallel", "ready", "")):
        database.change("DELETE FROM {jobs}")
        path = str(plan(database, tmp_path, overlap=overlap))
        for extra in ((), (), ("--payload", "[1]"), ("--key", "order 7")):
            assert run("order-export", *extra, "--plan", path, folder=tmp_path).returncode == 0
        states = [row[0] for row in database.rows("SELECT state FROM {jobs} ORDER BY id")]
        assert states == ["ready", state, "ready", "ready"]
        assert run("order-export", "--tick", "--plan", path, folder=tmp_path).stdout.startswith(ticked)


def test_the_producer_imports_neither_sqlalchemy_nor_anything_of_the_toolkit(sqlite_database: Database, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from cron2queue.runtime.__main__ import main\n"
        "status = main(['enqueue', *sys.argv[1:]])\n"
        "heavy = {'sqlalchemy', 'typer', 'rich', 'jinja2', 'click', 'tomlkit', 'psutil', 'pymysql', 'psycopg', 'asyncio'}\n"
        "heavy |= {'argparse', 'dataclasses', 'inspect', 'logging', 'threading', 'socket', 'cron2queue.runtime.runs'}\n"
        "heavy |= {'cron2queue.runtime.tables', 'cron2queue.cli', 'cron2queue.runtime.worker', 'cron2queue.crontab'}\n"
        "print(sorted(heavy & set(sys.modules)), status)"
    )
    path = plan(sqlite_database, tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", code, "order-export", "--plan", str(path), "--tick", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[] 0", "")
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 1


def test_a_line_without_a_plan_loads_what_it_needs_and_no_more(sqlite_database: Database, tmp_path: Path) -> None:
    """Each of these costs as much as the INSERT. Told by modules, since a time would depend on the machine."""
    code = (
        "import sys\n"
        "from cron2queue.runtime.__main__ import main\n"
        "status = main(['enqueue', *sys.argv[1:]])\n"
        "dear = {'argparse', 'dataclasses', 'enum', 'hashlib', 'inspect', 'json', 'logging', 'pathlib', 're', 'socket'}\n"
        "dear |= {'threading', 'typing', 'urllib', 'weakref'}\n"
        "own = sum(1 for name in sys.modules if name.startswith('cron2queue'))\n"
        "print(sorted(dear & set(sys.modules)), own <= 32, status)"
    )
    arguments = ["--kind", "mail", "--database", sqlite_database.url, "-q"]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PATHS + code, *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[] True 0", "")
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 1


@pytest.mark.parametrize(
    "line",
    [
        "--kind mail", "import-orders --plan c2q.toml --tick --quiet", "a --tick -q --spool /var/spool/x --prefix c_",
        "--kind k --key --delay", "--kind k --priority 5", "--kind k --priority -5", "--kind=k", "--kin k", "a b", "--what",
        "--kind", "a --payload -", "--kind k --delay 1.5 --max-attempts 3", "-qq", "-- a", "", "--payload {} --kind k a",
        "--kind k --unique forever --owner me --queue q --ordering-key o --limit-key l --run-at 2030-01-01T00:00Z",
        "a --nominal 2030-01-01T00:00Z --database sqlite:///x --key k",
    ],
)  # fmt: skip
def test_what_is_read_without_argparse_is_what_argparse_reads(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = line.split()
    try:
        expected = vars(producer._parser().parse_args(arguments))
    except SystemExit as refused:
        with pytest.raises(SystemExit) as same:
            options_of(arguments)
        assert same.value.code == refused.code == 2
    else:
        assert vars(options_of(arguments)) == expected
    capsys.readouterr()


@pytest.mark.parametrize("name", ["mysql", "postgresql"])
def test_a_database_loads_its_own_driver_and_nothing_else(name: str) -> None:
    code = (
        "import sys\nfrom cron2queue.runtime.store import Store\n"
        f"Store.open('{name}://127.0.0.1:1/x')\n"
        "print([each for each in ('sqlalchemy', 'pymysql', 'psycopg', 'sqlite3') if each in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "sqlalchemy" not in ran.stdout


def test_a_planned_job_takes_its_kind_queue_and_priority_from_the_plan(sqlite_database: Database, tmp_path: Path) -> None:
    plan(sqlite_database, tmp_path)
    assert run("order-export", folder=tmp_path).returncode == 0
    assert run("order-export", "--queue", "other", "--priority", "5", "--max-attempts", "1", folder=tmp_path).returncode == 0
    rows = sqlite_database.rows("SELECT kind, queue, priority, max_attempts FROM {jobs} ORDER BY id")
    assert rows == [("order-export", "exports", 30, 3), ("order-export", "other", 5, 1)]


def test_the_payload_may_come_from_standard_input_and_the_database_from_the_environment(
    sqlite_database: Database, tmp_path: Path
) -> None:
    environment = {"CRON2QUEUE_DATABASE_URL": sqlite_database.url}
    ran = run("--kind", "k", "--payload", "-", folder=tmp_path, environment=environment, stdin='{"ü":1}'.encode())
    assert ran.returncode == 0, ran.stderr
    assert sqlite_database.value("SELECT payload FROM {jobs}") == '{"ü":1}'


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 2), (["nothing-like-it"], 2), (["order-exprt"], 2), (["--kind", "k", "--payload", "{"], 2), (["--kind", "a b"], 2),
        (["--kind", "k", "--run-at", "tomorrow"], 2), (["--kind", "k", "--run-at", "2030-01-01T00:00:00"], 2),
        (["--kind", "k", "--unique", "often"], 2), (["--kind", "k", "--tick"], 2), (["--kind", "k", "--delay", "1e30"], 2),
        (["order-export", "--plan", "missing.toml"], 3), (["--kind", "k", "--database", "sqlite:////no/such/folder/x.db"], 69),
        (["--kind", "k", "--database", "postgresql://nobody@127.0.0.1:1/x"], 69), (["--kind", "k", "--database", "ftp://x"], 2),
        (["--kind", "k", "--database", "mysql://127.0.0.1:1/x"], 69), (["--kind", "k", "--unique", "-1", "--key", "k"], 2),
        (["--kind", "k", "--payload", "[" * 100_000], 2), (["--kind", "k", "--database", "mysql://u:p@h:port/x"], 2),
    ],
    ids=lambda each: str(each)[:60],
)  # fmt: skip
def test_trouble_is_one_paragraph_and_the_right_exit_status(
    sqlite_database: Database, tmp_path: Path, arguments: list[str], status: int
) -> None:
    plan(sqlite_database, tmp_path)
    ran = run(*arguments, folder=tmp_path)
    assert ran.returncode == status
    assert "Traceback" not in ran.stderr
    assert ran.stderr.startswith("cron2queue: ")
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 0


def test_a_full_queue_is_try_again(sqlite_database: Database, tmp_path: Path) -> None:
    sqlite_database.store().set_limit("queue", "default", by="x", depth=0)
    ran = run("--kind", "k", "--database", sqlite_database.url, folder=tmp_path)
    assert ran.returncode == 75
    assert "queue default" in ran.stderr


def test_a_cron_line_that_is_refused_or_finds_its_job_there_has_counted_it(database: Database, tmp_path: Path) -> None:
    arguments = ("--kind", "mail", "--key", "7", "--database", database.url)
    assert run(*arguments, folder=tmp_path).returncode == 0
    assert run(*arguments, folder=tmp_path).stdout.endswith(" duplicate\n")
    database.store().set_limit("queue", "default", by="ops", depth=1)
    assert run(*arguments, folder=tmp_path).returncode == 75
    counted = database.rows("SELECT series, n FROM {rollups} WHERE period = 0 AND kind = 'mail' ORDER BY series")
    assert [(series, int(n)) for series, n in counted] == [("duplicates", 1), ("refused", 1)]


def test_options_win_over_the_environment_and_both_over_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cron2queue.toml").write_text(PLAN.format(url="sqlite:///of-plan.db", overlap="skip", scope="database"))
    for arguments, environment, url in (
        (["order-export"], {}, f"sqlite:///{tmp_path}/of-plan.db"),
        (["order-export"], {"CRON2QUEUE_DATABASE_URL": "sqlite:///of-env.db"}, "sqlite:///of-env.db"),
        (
            ["order-export", "--database", "sqlite:///x.db"],
            {"CRON2QUEUE_DATABASE_URL": "sqlite:///of-env.db"},
            "sqlite:///x.db",
        ),
    ):
        assert wish_of(options_of(arguments), environment=environment, now=NOON).url == url


# ---- ticks


def ticked(store: Store, nominal: datetime, overlap: Overlap = Overlap.SKIP, place: str | None = None) -> str:
    answer = store.tick(Tick(name="export", nominal=nominal, overlap=overlap, place=place), NewJob(kind="mail"))
    if answer.enqueued is None:
        return "skipped"
    return "duplicate" if answer.enqueued.duplicate else "new"


def finish(store: Store) -> int:
    jobs = store.claim("default", kinds=("mail",), limit=10, worker="w")
    store.settle([Settlement(job=job, outcome=Done()) for job in jobs])
    return len(jobs)


def test_the_same_tick_on_two_hosts_is_one_job_even_when_it_was_done_in_between(database: Database) -> None:
    one, two = database.store(), database.store()
    assert [ticked(one, NOON), ticked(two, NOON)] == ["new", "duplicate"]
    assert finish(one) == 1
    assert ticked(two, NOON + timedelta(0)) == "duplicate"
    assert ticked(two, NOON + timedelta(minutes=5)) == "new"


def test_hosts_with_a_place_of_their_own_make_a_job_each(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    assert [ticked(store, NOON, place="web1"), ticked(store, NOON, place="web2")] == ["new", "new"]
    assert finish(store) == 2


@pytest.mark.parametrize(
    ("overlap", "answers", "runs_beside"),
    [
        (Overlap.SKIP, ["new", "skipped", "skipped"], 0), (Overlap.MERGE, ["new", "new", "skipped"], 0),
        (Overlap.WAIT, ["new", "new", "new"], 0), (Overlap.QUEUE, ["new", "new", "new"], 0),
        (Overlap.PARALLEL, ["new", "new", "new"], 2),
    ],
)  # fmt: skip
def test_a_tick_while_the_job_before_still_runs_does_what_its_overlap_rule_says(
    database: Database, overlap: Overlap, answers: list[str], runs_beside: int
) -> None:
    store = database.store()
    said = [ticked(store, NOON, overlap)]
    assert len(store.claim("default", kinds=("mail",), limit=1, worker="w")) == 1
    said += [ticked(store, NOON + timedelta(minutes=minute), overlap) for minute in (1, 2)]
    assert said == answers
    assert len(store.claim("default", kinds=("mail",), limit=5, worker="w")) == runs_beside


def test_merge_keeps_one_job_only_while_none_has_begun(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    assert [ticked(store, NOON + timedelta(minutes=minute), Overlap.MERGE) for minute in range(3)] == [
        "new",
        "skipped",
        "skipped",
    ]


def test_replace_cancels_what_waits_and_asks_what_runs_to_stop(database: Database) -> None:
    store = database.store()
    assert ticked(store, NOON, Overlap.REPLACE) == "new"
    assert ticked(store, NOON + timedelta(minutes=1), Overlap.REPLACE) == "new"
    (job,) = store.claim("default", kinds=("mail",), limit=5, worker="w")
    assert ticked(store, NOON + timedelta(minutes=2), Overlap.REPLACE) == "new"
    states = [row[0] for row in database.rows("SELECT state FROM {jobs} ORDER BY id")]
    assert states == ["cancelled", "cancel_requested", "blocked"]
    store.settle([Settlement(job=job, outcome=Done())])
    assert finish(store) == 1


def test_the_newest_nominal_time_is_remembered(database: Database) -> None:
    store = database.store()
    tick = Tick(name="export", nominal=NOON)
    assert store.last_tick(tick) is None
    ticked(store, NOON + timedelta(minutes=5))
    ticked(store, NOON)
    assert store.last_tick(tick) == NOON + timedelta(minutes=5)


def test_a_tick_of_the_command_line_is_one_job_a_minute(sqlite_database: Database, tmp_path: Path) -> None:
    plan(sqlite_database, tmp_path)
    arguments = ("order-export", "--tick", "--nominal", "2026-07-01T14:00:31+02:00")
    first, second = run(*arguments, folder=tmp_path), run(*arguments, folder=tmp_path)
    assert (first.returncode, second.returncode) == (0, 0)
    assert second.stdout == f"{first.stdout.strip()} duplicate\n"
    later = run("order-export", "--tick", "--nominal", "2026-07-01T12:05:00+00:00", folder=tmp_path)
    assert (later.returncode, later.stdout) == (0, "skipped: the order-export before is not done yet\n")
    assert bytes(sqlite_database.value("SELECT job_key FROM {jobs}")) == b"order-export 2026-07-01T12:00:00Z"


FIRES = [NOON - timedelta(minutes=5 * back) for back in range(6)]


@pytest.mark.parametrize(
    ("policy", "last", "late", "most", "expected"),
    [
        (Missed.SKIP, 25, 0, 10, [0]), (Missed.SKIP, 25, 2, 10, []), (Missed.ONCE, 25, 0, 10, [0]),
        (Missed.ONCE, 25, 2, 10, [0]),
        (Missed.ALL, 25, 2, 10, [20, 15, 10, 5, 0]), (Missed.ALL, 25, 0, 2, [5, 0]), (Missed.ALL, 25, 0, 0, []),
        (Missed.ALL, 0, 0, 10, []), (Missed.ALL, None, 0, 10, [0]), (Missed.ONCE, None, 2, 10, []),
        (Missed.SKIP, None, 0, 10, [0]),
    ],
)  # fmt: skip
def test_missed_ticks_are_skipped_run_once_or_all_of_them(
    policy: Missed, last: int | None, late: int, most: int, expected: list[int]
) -> None:
    before = None if last is None else NOON - timedelta(minutes=last)
    found = to_catch_up(FIRES, before, NOON + timedelta(minutes=late), policy, most)
    assert [(NOON - fire) // timedelta(minutes=1) for fire in found] == expected


# ---- spool


def test_that_a_job_is_kept_is_one_line_whatever_the_driver_says(tmp_path: Path) -> None:
    """psycopg tells in two lines, and with a tabulator, that a server refuses connections."""
    pytest.importorskip("psycopg")
    url = "postgresql+psycopg://u:pw1pw1pw1@127.0.0.1:1/jobs"
    away = run("--kind", "k", "--database", url, "--spool", "spool\x1b[2J", folder=tmp_path)
    assert away.returncode == 0
    (line,) = away.stderr.splitlines()
    assert "Connection refused Is the server running" in line and line.endswith("kept in spool\\x1b[2J")
    assert "pw1" not in line


def test_without_a_database_a_job_is_kept_and_replayed_once_it_is_there(tmp_path: Path) -> None:
    url, file = f"sqlite:///{tmp_path}/folder/jobs.db", tmp_path / "spool"
    away = run("--kind", "k", "--key", "a", "--database", url, "--spool", str(file), folder=tmp_path)
    assert (away.returncode, away.stdout.split()[1]) == (0, "spooled")
    assert "kept in" in away.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    (tmp_path / "folder").mkdir()
    store = Store.open(url)
    store.migrate_up()
    back = run("--kind", "k", "--key", "b", "--database", url, "--spool", str(file), folder=tmp_path)
    assert back.returncode == 0
    jobs = store.claim("default", kinds=("k",), limit=9, worker="w")
    assert [(job.key, job.public_id) for job in jobs] == [("a", away.stdout.split()[0]), ("b", back.stdout.strip())]
    assert file.stat().st_size == 0
    store.close()


def test_a_spooled_tick_is_the_same_job_as_the_one_of_another_host(sqlite_database: Database, tmp_path: Path) -> None:
    file = tmp_path / "spool"
    tick = Tick(name="export", nominal=NOON)
    spool.put(file, tick.job(NewJob(kind="mail")))
    store = sqlite_database.store()
    assert ticked(store, NOON) == "new"
    finish(store)
    assert [answer.duplicate for answer in spool.replay(file, store)] == [True]


def test_a_replay_that_was_killed_half_way_makes_no_second_job(sqlite_database: Database, tmp_path: Path) -> None:
    file, store = tmp_path / "spool", sqlite_database.store()
    for number in range(3):
        spool.put(file, NewJob(kind="mail", payload=number))
    kept = file.read_bytes()
    assert len(spool.replay(file, store)) == 3
    finish(store)
    file.write_bytes(kept)
    assert len(spool.replay(file, store)) == 3
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 3


def test_what_cannot_be_read_goes_aside_and_does_not_stop_the_rest(sqlite_database: Database, tmp_path: Path) -> None:
    file, store = tmp_path / "spool", sqlite_database.store()
    spool.put(file, NewJob(kind="mail", key="first"))
    with file.open("ab") as lines:
        lines.write(b'{"kind": "mail", "un\n\xff\xfe\n[1]\n{}\n{"kind":"a b"}\n' + b"[" * 50_000 + b"\nkilled in its li")
    spool.put(file, NewJob(kind="mail", key="last"))
    assert len(spool.replay(file, store)) == 2
    assert sorted(bytes(row[0]).decode() for row in sqlite_database.rows("SELECT job_key FROM {jobs}")) == ["first", "last"]
    assert len((tmp_path / "spool.bad").read_bytes().splitlines()) == 7
    assert file.stat().st_size == 0


def test_a_full_queue_keeps_the_spool(sqlite_database: Database, tmp_path: Path) -> None:
    file, store = tmp_path / "spool", sqlite_database.store()
    spool.put(file, NewJob(kind="mail"))
    store.set_limit("queue", "default", by="x", depth=0)
    with pytest.raises(QueueFull):
        spool.replay(file, store)
    store.set_limit("queue", "default", by="x", depth=None)
    assert len(spool.replay(file, store)) == 1


def test_everything_about_a_job_survives_the_spool(sqlite_database: Database, tmp_path: Path) -> None:
    file, store = tmp_path / "spool", sqlite_database.store()
    given = [
        NewJob(
            kind="mail", payload={"ü": "\ud800"}, key="k\0\udcff", queue="q", priority=-3, run_at=NOON, max_attempts=2,
            unique=Forever(), ordering_key="o", owner="w", trace_context="t", limit_key="l",
        ),
        NewJob(kind="mail", key="p", unique=Period(seconds=3)),
    ]  # fmt: skip
    for job in given:
        spool.put(file, job)
    spool.replay(file, store)
    (job,) = store.claim("q", kinds=("mail",), limit=1, worker="w")
    assert json.loads(job.payload_text) == {"ü": "\ud800"}
    assert (job.key, job.priority, job.max_attempts) == ("k\0\udcff", -3, 2)
    assert sqlite_database.value("SELECT run_at FROM {jobs} WHERE queue = 'q'") == to_micros(NOON)
    assert (job.ordering_key, job.owner, job.trace_context, job.limit_key) == ("o", "w", "t", "l")


def test_a_spool_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    (tmp_path / "spool").symlink_to(tmp_path / "target")
    from cron2queue.errors import InputError

    with pytest.raises(InputError):
        spool.put(tmp_path / "spool", NewJob(kind="k"))


def test_a_job_that_could_never_be_stored_is_refused_before_it_is_kept(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        spool.put(tmp_path / "spool", NewJob(kind="a b"))
    assert not (tmp_path / "spool").exists()
