"""What holds for every command that looks: it fits the terminal, hostile text steers nothing, a closed pipe is no trouble."""

import json
import re
import subprocess
from collections.abc import Callable

import pytest
from command_line import run, start
from databases import Database
from scenes import accept, claim, kill, register

from cron2queue.report.columns import columns

HOSTILE = "\x1b[31mred\x1b[0m \u202etxt.exe [bold]x[/] :skull: \x07\r\n| 100% 注文注文 e\u0301" + "long-word" * 40
LOOKS: dict[str, Callable[[str], list[str]]] = {
    "status": lambda job: ["status"],
    "jobs list": lambda job: ["jobs", "list"],
    "jobs list by state": lambda job: ["jobs", "list", "--state", "dead", "--state", "running", "--state", "ready"],
    "jobs show": lambda job: ["jobs", "show", job, "--payload"],
    "dead list": lambda job: ["dead", "list"],
    "queues list": lambda job: ["queues", "list"],
    "queues show": lambda job: ["queues", "show", "default"],
    "workers list": lambda job: ["workers", "list"],
}


@pytest.fixture
def scene(sqlite_database: Database) -> tuple[str, str]:
    """Hostile text wherever text can come in; the database and a dead job."""
    store = sqlite_database.store()
    accept(store, 3, key=HOSTILE[:200], owner=HOSTILE[:60], payload={"text": HOSTILE})
    accept(store, 4, key=None, queue="a-queue-with-a-long-name-as-frameworks-make-them")
    accept(store, 2, key=None, payload=HOSTILE)
    register(store)
    sqlite_database.change("UPDATE {workers} SET host = ?, version = ?", (HOSTILE[:200], HOSTILE[:60]))
    (dead,) = kill(store, message=HOSTILE, output=HOSTILE * 3)
    (running,) = claim(store)
    store.progress(running, 0.5, HOSTILE)
    store.requeue([dead.public_id], by=HOSTILE)
    kill(store, 2, message=HOSTILE, output=HOSTILE)
    store.pause("default", by=HOSTILE)
    store.set_limit("queue", "default", by=HOSTILE, depth=1, age=0.001)
    return sqlite_database.url, dead.public_id


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", LOOKS)
def test_no_line_is_wider_than_the_terminal_and_nothing_steers_it(scene: tuple[str, str], name: str, width: int) -> None:
    url, job = scene
    ran = run(*LOOKS[name](job), "--database", url, "--width", str(width))
    assert ran.status == 0 and ran.err == ""
    assert max(columns(line) for line in ran.out.splitlines()) <= width
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)


@pytest.mark.parametrize("name", LOOKS)
def test_json_is_ascii_and_holds_the_text_as_it_is(scene: tuple[str, str], name: str) -> None:
    url, job = scene
    ran = run(*LOOKS[name](job), "--database", url, "--format", "json")
    assert ran.status == 0 and ran.out.isascii() and "\x1b" not in ran.out and json.loads(ran.out)


@pytest.mark.parametrize("name", [*LOOKS, "check", "metrics"])
@pytest.mark.parametrize("format", ["terminal", "json"])
def test_a_closed_pipe_ends_it_quietly(scene: tuple[str, str], name: str, format: str) -> None:
    url, job = scene
    words = LOOKS[name](job) if name in LOOKS else [name]
    more = [] if name == "metrics" else ["--format", format]
    process = start(*words, *more, "--database", url, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(120) == 0
    process.stderr.close()
