"""`cron2queue diff`: what apply would change, and nothing else."""

import os
import pwd
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crontab").write_text("0 0 31 2 * root bin/never\n0 3 * * * root bin/nightly https://u:Geheim2019@x.example/\n")
    assert run("convert", str(tmp_path / "crontab"), "--into", str(tmp_path / "c2q")).status == 0
    return tmp_path / "c2q"


def test_a_difference_is_shown_and_ends_with_1(folder: Path) -> None:
    ran = run("diff", str(folder))
    assert ran.status == 1
    assert "-0 0 31 2 * root bin/never" in ran.out
    assert "+#0 0 31 2 * root bin/never" in ran.out
    assert "Geheim2019" not in ran.out


def test_without_a_difference_it_ends_with_0(folder: Path) -> None:
    assert run("apply", str(folder), "--yes").status == 0
    ran = run("diff", str(folder))
    assert (ran.status, ran.out) == (0, "")


def test_a_crontab_that_changed_is_refused(folder: Path) -> None:
    (folder.parent / "crontab").write_text("0 0 31 2 * root bin/other\n")
    ran = run("diff", str(folder))
    assert ran.status == 4
    assert "run convert again" in ran.err


@pytest.mark.parametrize("command", ["diff", "apply", "rollback"])
def test_a_folder_that_convert_has_not_made_is_told_as_that_and_nothing_is_made_there(command: str, tmp_path: Path) -> None:
    ran = run(command, str(tmp_path))
    assert (ran.status, list(tmp_path.iterdir())) == (2, [])
    assert "convert has not made this folder" in ran.err and "--into" in ran.err
    assert run(command, str(tmp_path / "nowhere")).status == 2


ME = pwd.getpwuid(os.geteuid()).pw_name  # a worker that is not root serves its own user's jobs only
MINUTES = ("2026-11-01T12:00", "2026-11-01T12:05", "2026-11-01T12:10", "2026-11-01T12:15")


@pytest.fixture
def shadow(tmp_path: Path) -> Path:
    """A plan whose one queue entry stands in shadow since noon of 1 November, with the job table made."""
    text = f"# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * {ME} /bin/true --all\n"
    (tmp_path / "crontab").write_text(text + f"0 3 * * * {ME} /bin/true\n")
    folder = tmp_path / "c2q"
    places = ("--timezone", "UTC", "--set", f"lock-folder={folder}/locks", "--set", f"python={sys.executable}")
    assert run("convert", str(tmp_path / "crontab"), "--kind", "system", "--into", str(folder), "--shadow", *places).status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    applied = run("apply", str(folder), "--yes")
    assert applied.status == 0, applied.err
    journal = folder / "cutover/journal.jsonl"
    journal.write_text(re.sub(r'"at": "[^"]*"', '"at": "2026-11-01T11:59:00+00:00"', journal.read_text()))
    return folder


def tick(folder: Path, *minutes: str) -> None:
    """What the producer's line does at each of these minutes, in processes of their own; a worker takes each job."""
    plan = str(folder / "cron2queue.toml")
    for minute in minutes:
        words = ["-m", "cron2queue.runtime", "enqueue", "work", "--plan", plan, "--tick", "--nominal", f"{minute}:00+00:00"]
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [sys.executable, "-P", "-m", "cron2queue.runtime", "work", "--plan", plan, "--drain", "--quiet"], check=True
        )


def log(folder: Path, *minutes: str) -> str:
    path = folder.parent / "syslog"
    lines = [f"{minute}:02+00:00 web1 CRON[{4000 + at}]: ({ME}) CMD (/bin/true --all)" for at, minute in enumerate(minutes)]
    path.write_text("\n".join([*lines, "2026-11-01T12:30:01+00:00 web1 CRON[4100]: (root) CMD (/bin/other)", ""]))
    return str(path)


def test_in_shadow_both_sides_are_alike_when_each_start_has_its_job(shadow: Path) -> None:
    tick(shadow, *MINUTES)
    ran = run("diff", str(shadow), "--shadow", "--logs", log(shadow, *MINUTES))
    assert ran.status == 0, ran.out
    assert "alike: each start by cron has its job" in ran.out
    assert re.search(r"work +4 +4 +4 +0 +0 +0 ", ran.out)


def test_in_shadow_what_only_one_side_did_is_shown_with_its_time(shadow: Path) -> None:
    tick(shadow, *MINUTES[:3])
    path = log(shadow, MINUTES[0], *MINUTES[2:])
    ran = run("diff", str(shadow), "--shadow", "--logs", path)
    assert ran.status == 1
    assert "cron ran it and no job was made: 2026-11-01 12:15:02" in " ".join(ran.out.split())
    assert "a job was made and cron's run was not seen: 2026-11-01 12:05:00" in " ".join(ran.out.split())
    (entry,) = run("diff", str(shadow), "--shadow", "--logs", path, "--format", "json").json["entries"]
    assert (entry["cron"], entry["queue"], entry["both"]) == (3, 3, 2)
    assert entry["only_cron"] == ["2026-11-01T12:15:02.000000+00:00"]
    later = run("diff", str(shadow), "--shadow", "--logs", path, "--since", "2026-11-01T12:08", "--only", "work")
    assert "only" in later.out and "12:05:00" not in later.out


def test_a_comparison_without_evidence_without_shadow_or_with_a_log_of_nothing_is_refused(shadow: Path, tmp_path: Path) -> None:
    nothing = run("diff", str(shadow), "--shadow")
    assert (nothing.status, "--journal live" in nothing.err) == (2, True)
    path = log(shadow, *MINUTES)
    assert run("convert", str(tmp_path / "crontab"), "--kind", "system", "--into", str(tmp_path / "other")).status == 0
    never = run("diff", str(tmp_path / "other"), "--shadow", "--logs", path)
    assert (never.status, "no entry stands in shadow" in never.err) == (2, True)
    assert "did you mean 'work'" in run("diff", str(shadow), "--shadow", "--logs", path, "--only", "wrk").err
    assert "is for --shadow" in run("diff", str(shadow), "--logs", path).err
    Path(path).write_text("")
    empty = run("diff", str(shadow), "--shadow", "--logs", path)
    assert (empty.status, "cron's side cannot be read" in empty.err) == (3, True)


def test_jobs_of_other_kinds_hide_none_of_the_entry(shadow: Path) -> None:
    tick(shadow, *MINUTES)
    plan, file = str(shadow / "cron2queue.toml"), shadow / "cron2queue.db"
    assert run("enqueue", "--kind", "other", "--plan", plan).status == 0
    with closing(sqlite3.connect(file)) as connection, connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(c2q_jobs)") if row[1] not in ("id", "public_id")]
        columns = ", ".join(names)
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)"
            f" INSERT INTO c2q_jobs (public_id, {columns}) SELECT printf('%032x', i), {columns} FROM c2q_jobs, n"
            " WHERE kind = 'other'"
        )
    ran = run("diff", str(shadow), "--shadow", "--logs", log(shadow, *MINUTES))
    assert ran.status == 0, ran.out
    assert re.search(r"work +4 +4 +4 ", ran.out)
