"""The bundled conversion is what convert makes today, and each of its files is taken by the program that will read it."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"
KEPT = SHOP / "generated"


def tree(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shop = tmp_path_factory.mktemp("host") / "shop"
    shutil.copytree(SHOP, shop, ignore=shutil.ignore_patterns("generated", "__pycache__"))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["./convert.sh"], cwd=shop, env=environment, check=True, capture_output=True)
    return shop / "generated"


def test_the_bundled_tree_is_what_convert_writes(made: Path) -> None:
    assert sorted(tree(made)) == sorted(tree(KEPT))
    assert tree(made) == tree(KEPT)


def test_the_new_crontab_keeps_every_line_that_the_plan_leaves_alone() -> None:
    plan = tomllib.loads((KEPT / "cron2queue.toml").read_text(encoding="utf-8"))
    old, new = (SHOP / "crontab").read_bytes().splitlines(), (KEPT / "crontab.new").read_bytes().splitlines()
    left_alone = {job["line"] for job in plan["jobs"].values() if job["decision"] in {"keep", "ask"}}
    assert len(left_alone) > 10
    assert all(old[line - 1] in new for line in left_alone)


def test_the_new_crontab_is_read_whole_by_the_daemon_it_is_for() -> None:
    data = (KEPT / "crontab.new").read_bytes()
    read = parse(data, path="/etc/crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    assert read.loaded
    assert read.malformed == ()


def test_the_handlers_compile_and_the_sql_runs(tmp_path: Path) -> None:
    for handler in (KEPT / "handlers").glob("*.py"):
        compile(handler.read_text(encoding="utf-8"), str(handler), "exec")
    with sqlite3.connect(tmp_path / "jobs.db") as connection:
        connection.executescript((KEPT / "migrations/sqlite/0001_job_table.up.sql").read_text(encoding="utf-8"))
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert {"c2q_jobs", "c2q_attempts", "c2q_inbox", "c2q_workers", "c2q_queues"} <= tables
