"""`cron2queue check`: a monitoring plugin, whatever is wrong."""

import json
import os
import re
import signal
import socket
from pathlib import Path

import pytest
from command_line import run, start
from databases import Database
from scenes import accept, kill, register, shop

from cron2queue.cli import checking, watching
from cron2queue.runtime.celery.presence import Presence
from cron2queue.runtime.health import Judgement

PLAN = 'format-version = 1\n[project]\ndatabase = "{}"\n{}'


def plan(folder: Path, database: Database, more: str = "") -> str:
    path = folder / "cron2queue.toml"
    path.write_text(PLAN.format(database.url, more))
    return str(path)


def test_a_healthy_table_is_ok_with_performance_data(database: Database) -> None:
    register(database.store())
    accept(database.store(), 1)
    ran = run("check", "--database", database.url)
    assert ran.status == 0 and ran.err == ""
    line = ran.out.rstrip("\n")
    assert "\n" not in line
    assert re.fullmatch(r"CRON2QUEUE OK - \d+ checks \| ('[^']+'=[\d.]+s?;[\d.]*;[\d.]*;0 ?)+", line)
    assert "'default_waiting'=1;;;0" in line


def test_warnings_and_criticals_have_their_statuses(database: Database) -> None:
    store = shop(database)
    ran = run("check", "--database", database.url)
    assert ran.status == 1 and ran.out.startswith("CRON2QUEUE WARNING - default: 2 dead")
    store.retire_worker("w1")
    ran = run("check", "--database", database.url)
    assert ran.status == 2 and "2 dead" in ran.out
    assert "5 ready, 1 left by a worker that stopped, and no worker is alive" in ran.out


def test_verbose_tells_everything_that_was_looked_at_with_remedies(sqlite_database: Database, tmp_path: Path) -> None:
    shop(sqlite_database)
    more = f'lock-folder = "{tmp_path}/locks"\n[jobs.backup]\nschedule = "@daily"\ncommand = "true"\n'
    ran = run("check", "--verbose", "--plan", plan(tmp_path, sqlite_database, more))
    assert ran.status == 2
    queue = ("oldest-age", "depth", "dead", "refused")
    for check in ("schema", "database", "lock-folder", *queue, "lease-lost", "clock-skew", "producer"):
        assert re.search(rf"^(OK|WARNING|CRITICAL) {check} ", ran.out, re.MULTILINE), check
    assert f"(cron2queue dead list --plan {tmp_path}/cron2queue.toml)" in ran.out and "systemd-tmpfiles" in ran.out
    assert "backup: its producer has not come yet" in ran.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--database", "sqlite:////no/such/folder/jobs.db"], 2, "CRON2QUEUE CRITICAL - database: there is no SQLite file"),
        (
            ["--database", "mysql://root@127.0.0.1:1/x"],
            2,
            "CRON2QUEUE CRITICAL - database: mysql://127.0.0.1:1/x does not answer",
        ),
        (["--database", "oracle://x"], 3, "CRON2QUEUE UNKNOWN - configuration: "),
        (["--plan", "/no/such/plan.toml"], 3, "CRON2QUEUE UNKNOWN - configuration: /no/such/plan.toml: the plan cannot be"),
    ],
)
def test_what_makes_a_look_impossible_is_itself_the_line(arguments: list[str], status: int, said: str, tmp_path: Path) -> None:
    ran = run("check", *arguments, cwd=tmp_path)
    assert ran.status == status and ran.out.startswith(said) and ran.out.count("\n") == 1


def test_missing_tables_are_critical_with_the_remedy(unmigrated_database: Database) -> None:
    unmigrated_database.store().migration_status()
    ran = run("check", "--verbose", "--database", unmigrated_database.url)
    assert ran.status == 2 and "CRITICAL - schema: the tables c2q_* are missing" in ran.out and "migrate up" in ran.out


def test_settings_that_weaken_a_promise_are_told(sqlite_database: Database) -> None:
    ran = run("check", "--database", sqlite_database.url + "?synchronous=normal")
    assert ran.status == 1 and "database: synchronous=NORMAL: a power cut may lose" in ran.out


def test_under_celery_a_relay_has_to_be_at_work(database: Database, tmp_path: Path) -> None:
    """The other engines have none, and then it is no sign of trouble."""
    store = database.store()
    register(store)
    accept(store, 2)
    for engine, status in (("sqlqueue", 0), ("celery", 2), ("celery-beat", 2)):
        assert run("check", "--plan", plan(tmp_path, database, f'engine = "{engine}"\n')).status == status
    celery = plan(tmp_path, database, 'engine = "celery"\n')
    told = run("check", "--verbose", "--plan", celery).out
    assert "CRITICAL no-relay default: 2 ready, and no relay is at work" in told
    assert "no relay is at work" in run("status", "--plan", celery, "--format", "html").out
    assert run("check", "--plan", plan(tmp_path, database, 'engine = "celery"\n[alerts]\nno-worker = false\n')).status == 0
    Presence(store=store, every=1.0).tell()
    celery = plan(tmp_path, database, 'engine = "celery"\n')
    assert run("check", "--plan", celery).status == 0
    seen = run("status", "--plan", celery, "--width", "120").out
    assert "1 worker alive" in seen and " relay " in seen


def test_limits_by_queue_come_from_the_plan(sqlite_database: Database, tmp_path: Path) -> None:
    shop(sqlite_database)
    quiet = run("check", "--plan", plan(tmp_path, sqlite_database, "[alerts]\ndead = false\n"))
    assert quiet.status == 0
    loud = run("check", "--plan", plan(tmp_path, sqlite_database, "[alerts.queues.default]\ndead = 1\ndepth = 1\n"))
    assert loud.status == 2 and "2 dead" in loud.out and "6 jobs wait, limit 1" in loud.out
    wrong = run("check", "--plan", plan(tmp_path, sqlite_database, "[alerts]\nded = 1\n"))
    assert wrong.status == 3 and "unknown key 'ded' in [alerts]" in wrong.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[alerts]\nded = 1\n", r":5: unknown key 'ded' in \[alerts\]\n  remedy: did you mean 'dead'\?"),
        ("[alerts.queues.mail]\ndead = -1\n", r":5: alerts.queues.mail.dead must be a number, .*\n  remedy: write a number"),
        ("[hooks.page]\n", r":4: \[hooks.page\] needs exactly one of .*\n  remedy: leave one of them"),
        ('[hooks.page]\nmail = "a b"\n', r":5: hooks.page.mail must be addresses .*\n  remedy: write addresses"),
    ],
)
def test_a_mistake_in_alerts_or_hooks_is_told_with_its_line_and_remedy(
    sqlite_database: Database, tmp_path: Path, more: str, said: str
) -> None:
    path = plan(tmp_path, sqlite_database, more)
    ran = run("check", "--notify", "--every", "1", "--plan", path)
    assert ran.status == 2 and re.search(said, ran.err), ran.err
    assert ran.err.startswith(f"cron2queue: {path}:")


def test_a_limit_above_the_cap_of_counting_is_judged(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "COUNT_CAP", 2)
    shop(sqlite_database)
    ran = run("check", "--plan", plan(tmp_path, sqlite_database, "[alerts]\ndepth = [3, 5]\n"))
    assert ran.status == 2 and "6 jobs wait, limit 5" in ran.out


def test_json_tells_level_status_and_every_check(sqlite_database: Database) -> None:
    shop(sqlite_database)
    ran = run("check", "--database", sqlite_database.url, "--format", "json")
    assert (ran.status, ran.json["level"], ran.json["status"]) == (1, "warning", 1)
    assert {"level", "check", "subject", "text", "remedy"} == set(ran.json["checks"][0])


def test_hostile_names_stay_within_the_line(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    accept(store, 1)
    store.pause("default", by="evil|x=1\n\x1b[2J")
    ran = run("check", "--database", sqlite_database.url)
    assert ran.out.count("\n") == 1 and ran.out.count("|") == 1 and "\x1b" not in ran.out


@pytest.mark.parametrize(("mode", "problem"), [(0o1777, ""), (0o777, "lets everybody delete"), (None, "cannot be used")])
def test_the_lock_folder_is_looked_at(sqlite_database: Database, tmp_path: Path, mode: int | None, problem: str) -> None:
    folder = tmp_path / "locks"
    if mode is not None:
        folder.mkdir()
        folder.chmod(mode)
    ran = run("check", "--verbose", "--plan", plan(tmp_path, sqlite_database, f'lock-folder = "{folder}"\n'))
    assert ran.status == (2 if problem else 0)
    assert (problem or "is there") in ran.out


def test_notify_tells_the_plans_hooks_what_is_new_once(sqlite_database: Database, tmp_path: Path) -> None:
    told = tmp_path / "told"
    more = f'[hooks.page]\ncommand = ["/bin/sh", "-c", "cat >> {told}"]\n'
    path = plan(tmp_path, sqlite_database, more)
    store = sqlite_database.store()
    register(store)
    accept(store, 2)
    assert run("check", "--notify", "--plan", path).status == 0
    sqlite_database.change("UPDATE {marks} SET value = value - 60000000 WHERE value > 1000000000000000")
    kill(store)
    sqlite_database.change("UPDATE {jobs} SET finished_at = finished_at - 10000000 WHERE state = 'dead'")
    ran = run("check", "--notify", "--verbose", "--plan", path)
    assert "OK hook page: was told" in ran.out
    run("check", "--notify", "--plan", path)
    (event,) = [json.loads(line) for line in told.read_text().splitlines()]
    assert (event["occasion"], event["count"], event["kind"]) == ("dead", 1, "send-mail")


def test_a_hook_that_fails_is_a_warning_and_stops_nothing(sqlite_database: Database, tmp_path: Path) -> None:
    more = '[queues.default]\ndepth-limit = 1\n[hooks.page]\ncommand = ["/bin/sh", "-c", "echo no route >&2; exit 3"]\n'
    register(sqlite_database.store())
    accept(sqlite_database.store(), 1)
    ran = run("check", "--notify", "--plan", plan(tmp_path, sqlite_database, more))
    assert ran.status == 2 and "page: ended with 3: no route" in ran.out


def test_notify_stays_and_tells_again_and_again(sqlite_database: Database, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    more = (
        f'[queues.default]\ndepth-limit = 2\n[hooks.page]\non = ["over-limit"]\ncommand = ["/bin/sh", "-c", "cat > {told}"]\n'
    )
    store = sqlite_database.store()
    register(store)
    process = start("check", "--notify", "--every", "1", "--plan", plan(tmp_path, sqlite_database, more))
    try:
        accept(store, 2)
        assert json.loads(told.read_text())["text"] == "2 jobs wait, limit 2"
    finally:
        process.terminate()
        assert process.wait(60) == 143
        process.communicate()


def test_every_alone_makes_no_sense(sqlite_database: Database) -> None:
    ran = run("check", "--every", "5", "--database", sqlite_database.url)
    assert ran.status == 3 and "--every is for --notify" in ran.out


def test_a_look_that_takes_too_long_is_unknown(sqlite_database: Database) -> None:
    """The database accepts the connection and never answers, as a host behind a silent firewall does."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"mysql+pymysql://root@127.0.0.1:{silent.getsockname()[1]}/x"
        ran = run("check", "--timeout", "1", "--database", url)
    assert ran.status == 3 and ran.out == "CRON2QUEUE UNKNOWN - time: no answer within 1 s\n"


def test_no_alarm_is_running_while_hooks_are_told(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []

    def told(*_: object) -> list[Judgement]:
        left.append(signal.getitimer(signal.ITIMER_REAL)[0])
        return []

    monkeypatch.setattr(checking, "told", told)
    register(sqlite_database.store())
    assert run("check", "--notify", "--timeout", "3000", "--plan", plan(tmp_path, sqlite_database)).status == 0
    assert left == [0.0]
