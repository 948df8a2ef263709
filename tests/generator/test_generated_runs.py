"""Generated files at work: migrations, producer lines, handlers in every language, and real workers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from databases import Database
from presence import need_program

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.runtime.migrations import LATEST

Convert = Callable[..., Any]
LANGUAGES = {"python": sys.executable, "php": "php", "shell": "/bin/sh", "node": "node"}
SYNTAX = {"php": ["php", "-l"], "sh": ["sh", "-n"], "js": ["node", "--check"], "py": [sys.executable, "-m", "py_compile"]}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    need_program(LANGUAGES[request.param])
    return str(request.param)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "out"


def generated(
    convert: Convert, out: Path, command: str, *, decision: str = "queue", language: str = "python", lines: str = ""
) -> None:
    """A user's crontab with one entry, converted; its lock folder is there."""
    text = f"{lines}*/5 * * * * {command}\n"
    options = {
        "kind": Kind.USER,
        "path": "/home/user/crontab",
        "language": language,
        "python": sys.executable,
        "database": f"sqlite:///{out}/jobs.db",
    }
    name = convert(text, **options).merged.plan.jobs[0].name
    prepared = convert(text, decisions={name: decision}, **options)
    assert not prepared.draft.refused
    (out / "locks").mkdir(exist_ok=True)


def as_cron(out: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """What cron would do with the new crontab's only entry."""
    file = parse((out / "crontab.new").read_bytes(), path="x", dialect=dialect_named("debian"), kind=Kind.USER)
    entry = file.entries[0]
    environment = {**entry.environment, "HOME": str(home), "LOGNAME": "user", "SHELL": "/bin/sh"}
    environment["PATH"] = f"{environment.get('PATH', '/usr/bin:/bin')}:{Path(shutil.which('node') or '/usr/bin/node').parent}"
    return subprocess.run(
        ["/bin/sh", "-c", entry.command], cwd=home, env=environment, input=entry.stdin or "", capture_output=True, text=True
    )


def migrate(out: Path) -> None:
    script = (out / "migrations/sqlite/0001_job_table.up.sql").read_text()
    import sqlite3

    with sqlite3.connect(out / "jobs.db") as connection:
        connection.executescript(script)
    connection.close()


def drain(out: Path, home: Path) -> None:
    """Real workers, until nothing is left."""
    ran = subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "cron2queue.runtime",
            "work",
            "--plan",
            str(out / "cron2queue.toml"),
            "--drain",
            "--quiet",
        ],
        cwd=out,
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr


def states(out: Path) -> list[str]:
    import sqlite3

    with sqlite3.connect(out / "jobs.db") as connection:
        found = [str(row[0]) for row in connection.execute("SELECT state FROM c2q_jobs ORDER BY id")]
    connection.close()
    return found


def check_syntax(out: Path) -> None:
    for path in [*out.glob("handlers/*"), *out.glob("producers/*")]:
        words = SYNTAX.get(path.suffix[1:])
        if words:
            ran = subprocess.run([*words, str(path)], capture_output=True, text=True)
            assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_old_command_runs_unchanged_from_line_to_job(language: str, convert: Convert, out: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    result = tmp_path / "it's done"
    command = f'printf \'\\%s|\' "$A" "$PWD" >> "{result}"; cat >> "{result}"%one%50\\%'
    generated(convert, out, command, language=language, lines=f"A=a 'b' \"c\" $x\nHOME={home}\n")
    check_syntax(out)
    migrate(out)
    ran = as_cron(out, home)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert as_cron(out, home).returncode == 0
    drain(out, home)
    assert result.read_text() == f"a 'b' \"c\" $x|{home}|one\n50%\n"
    assert states(out) == ["succeeded"]


def test_a_split_entry_has_a_producer_and_an_item_handler(language: str, convert: Convert, out: Path, tmp_path: Path) -> None:
    generated(convert, out, f"echo ran >> {tmp_path}/log", decision="split", language=language)
    check_syntax(out)
    migrate(out)
    ran = as_cron(out, tmp_path / "home")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    drain(out, tmp_path / "home")
    assert (tmp_path / "log").read_text() == "ran\n"
    assert states(out) == ["succeeded"]


def test_a_command_that_gives_up_is_not_tried_again(language: str, convert: Convert, out: Path, tmp_path: Path) -> None:
    generated(convert, out, f"echo tried >> {tmp_path}/log; exit 64", language=language)
    migrate(out)
    assert as_cron(out, tmp_path / "home").returncode == 0
    drain(out, tmp_path / "home")
    assert states(out) == ["dead"]
    assert (tmp_path / "log").read_text() == "tried\n"


def test_a_handler_refuses_to_run_as_another_user(convert: Convert, out: Path) -> None:
    text = "*/5 * * * * nobody-here bin/work\n"
    convert(text, language="shell", decisions={"work": "queue"})
    ran = subprocess.run([out / "handlers/work.sh"], input="{}", capture_output=True, text=True)
    assert ran.returncode == 77
    assert "start its worker as that user" in ran.stderr


def test_the_sql_files_make_and_unmake_the_tables(convert: Convert, out: Path, unmigrated_database: Database) -> None:
    convert("*/5 * * * * www-data bin/work\n", decisions={"work": "queue"})
    folder = out / "migrations" / unmigrated_database.name
    execute(unmigrated_database, (folder / "0001_job_table.up.sql").read_text())
    store = unmigrated_database.store()
    assert store.schema_version() == LATEST
    execute(unmigrated_database, (folder / "0001_job_table.up.sql").read_text())
    unmigrated_database.close()
    execute(unmigrated_database, (folder / "0001_job_table.down.sql").read_text())
    assert unmigrated_database.store().schema_version() == 0


def execute(database: Database, script: str) -> None:
    """Statement by statement, as any client does; comments go first."""
    raw = database.connect()
    cursor = raw.cursor()
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    for statement in "\n".join(lines).split(";\n"):
        if statement.strip().rstrip(";"):
            cursor.execute(statement.strip().rstrip(";"))
    raw.commit()
    raw.close()
