"""`cron2queue metrics`: once, into a textfile, over HTTP."""

import http.client
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from command_line import run, start
from databases import Database
from scenes import KIND, accept, fail, register, shop

AWAY = "sqlite:////no/such/folder/jobs.db"


def values(text: str) -> dict[str, float]:
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}


def test_the_text_tells_queues_workers_and_what_was_rolled_up(database: Database) -> None:
    store = shop(database)
    assert store.roll_up() > 0
    ran = run("metrics", "--database", database.url)
    assert ran.status == 0 and ran.err == ""
    found = values(ran.out)
    labels = f'queue="default",kind="{KIND}"'
    assert found["cron2queue_up"] == 1
    assert found['cron2queue_jobs{queue="default",state="ready"}'] == 5
    assert found['cron2queue_workers{queue="default"}'] == 1
    assert found["cron2queue_enqueued_total"] >= 10
    assert found[f'cron2queue_attempts_total{{{labels},outcome="permanent"}}'] == 2
    assert (found[f"cron2queue_dead_total{{{labels}}}"], found[f"cron2queue_retried_total{{{labels}}}"]) == (2, 1)
    assert found[f'cron2queue_foreign_errors_total{{{labels},cause="503"}}'] == 1
    assert (found[f"cron2queue_run_seconds_count{{{labels}}}"], found[f"cron2queue_run_seconds_sum{{{labels}}}"]) == (4, 4.0)
    assert found[f'cron2queue_run_seconds_bucket{{{labels},le="1"}}'] == 4


def test_what_is_rolled_up_twice_is_added(database: Database) -> None:
    store = database.store()
    accept(store, 2)
    register(store)
    for _ in range(2):
        fail(store)
        store.roll_up()
    assert store.roll_up() == 0
    found = values(run("metrics", "--database", database.url).out)
    assert found[f'cron2queue_retried_total{{queue="default",kind="{KIND}"}}'] == 2


def test_no_label_names_a_job_a_key_or_an_owner(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    store.roll_up()
    text = run("metrics", "--database", sqlite_database.url).out
    names = set(re.findall(r'([a-z_]+)="', text))
    assert names <= {"queue", "kind", "state", "outcome", "cause", "le", "host", "entry"}
    assert "anna" not in text and '"k1"' not in text


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_nothing_to_say(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    store.roll_up()
    text = run("metrics", "--database", sqlite_database.url).out
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout + checked.stderr == ""


def test_a_textfile_is_written_at_once_and_says_when_the_database_is_away(sqlite_database: Database, tmp_path: Path) -> None:
    target = tmp_path / "cron2queue.prom"
    assert run("metrics", "--textfile", str(target), "--database", sqlite_database.url).status == 0
    assert "cron2queue_up 1" in target.read_text()
    ran = run("metrics", "--textfile", str(target), "--database", AWAY)
    assert ran.status == 69 and "there is no SQLite file" in ran.err
    assert values(target.read_text()) == {"cron2queue_up": 0}
    assert [each.name for each in tmp_path.glob("*.prom*")] == ["cron2queue.prom"]


def test_trouble_is_told(sqlite_database: Database, tmp_path: Path) -> None:
    ran = run("metrics", "--textfile", "/no/such/folder/x.prom", "--database", sqlite_database.url)
    assert ran.status == 2 and "cannot write" in ran.err
    for address in ("nonsense", "127.0.0.1:99999", ":-1", "127.0.0.1:"):
        assert run("metrics", "--listen", address, "--database", sqlite_database.url).status == 2
    ran = run("metrics", "--listen", ":1", "--textfile", "x", "--database", sqlite_database.url)
    assert ran.status == 2 and "two ways" in ran.err
    ran = run("metrics", "--database", AWAY)
    assert ran.status == 69 and "cron2queue_up 0" in ran.out


def test_a_port_in_use_is_told(sqlite_database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("metrics", "--listen", f":{taken.getsockname()[1]}", "--database", sqlite_database.url)
    assert ran.status == 2 and "cannot listen" in ran.err


def test_the_endpoint_answers_on_the_loopback_only_and_with_nothing_else(sqlite_database: Database) -> None:
    shop(sqlite_database)
    process = start("metrics", "--listen", ":0", "--database", sqlite_database.url)
    assert process.stderr is not None
    try:
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/metrics$", process.stderr.readline().strip())[0])

        def ask(path: str, method: str = "GET") -> tuple[int, str, str]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request(method, path)
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
            return answer.status, answer.headers.get("Content-Type", ""), body

        status, content_type, body = ask("/metrics")
        assert status == 200 and content_type.startswith("text/plain; version=0.0.4") and "cron2queue_up 1" in body
        assert ask("/metrics?x=1", "HEAD")[0::2] == (200, "")
        assert ask("/")[0] == ask("/../etc/passwd")[0] == 404
        assert ask("/metrics", "POST")[0] == ask("/metrics", "DELETE")[0] == 501
        with socket.create_connection(("127.0.0.1", port)) as rude:
            rude.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert ask("/metrics")[0] == 200
    finally:
        process.terminate()
        assert process.wait(60) == 143
        process.communicate()


def test_the_endpoint_says_0_while_the_database_is_away_and_recovers(sqlite_database: Database) -> None:
    from cron2queue.cli.measuring import _always
    from cron2queue.cli.operation import Operation

    file = Path(sqlite_database.address.database)
    sqlite_database.close()
    where = Operation(url=sqlite_database.url, prefix="c2q_", settings=None, document={})
    assert "cron2queue_up 1" in _always(where)
    file.rename(file.with_suffix(".away"))
    assert values(_always(where)) == {"cron2queue_up": 0}
    file.with_suffix(".away").rename(file)
    assert "cron2queue_up 1" in _always(where)
