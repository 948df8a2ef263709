"""`cron2queue status`: one screen, on every terminal, as JSON, as a page, live."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import run, start
from databases import Database
from scenes import KIND, accept, kill, register, shop

from cron2queue.report.columns import columns as columns_of
from cron2queue.runtime.trouble import QueueFull

QUEUE_KEYS = {
    "queue", "paused", "ready", "scheduled", "blocked", "running", "dead", "oldest_ready_seconds", "limit_seconds", "kinds",
}  # fmt: skip
KIND_KEYS = {"kind", "wait_p50", "wait_p95", "run_p50", "run_p95", "succeeded", "failed", "retried", "dead"}
HOSTILE = "\x1b[31mred\x1b[0m \u202etxt.exe [bold]x[/] <script>alert(1)</script> :skull: \x07 | 100%"


def test_the_screen_shows_what_is_wrong_then_queues_kinds_workers_and_the_dead(database: Database) -> None:
    shop(database)
    ran = run("status", "--database", database.url, width=100)
    assert ran.status == 0 and ran.err == ""
    headings = [line.split()[0] for line in ran.out.splitlines() if line[:1].isupper()]
    assert headings == ["QUEUES", "KINDS", "WORKERS", "DEAD"]
    assert "1 warning" in ran.out and re.search(r"W default +2 dead", ran.out)
    assert re.search(r"default +\S+ +- +5 +1 +0 +1 +2", ran.out)
    assert "web1:4711" in ran.out and "40% uploading" in ran.out and "order # is unknown" in ran.out


def test_the_json_has_the_promised_keys(database: Database) -> None:
    shop(database)
    record = run("status", "--database", database.url, "--format", "json").json
    assert record["schema"] == 1
    assert {"schema", "at", "queues", "workers", "unclaimed_kinds", "missed_ticks"} <= record.keys()
    (queue,) = record["queues"]
    assert queue.keys() >= QUEUE_KEYS and queue["kinds"][0].keys() >= KIND_KEYS
    assert (queue["ready"], queue["scheduled"], queue["blocked"], queue["running"], queue["dead"]) == (5, 1, 0, 1, 2)
    (worker,) = record["workers"]
    assert worker.keys() >= {"worker", "host", "pid", "queues", "alive", "running"} and worker["alive"] is True
    assert record["unclaimed_kinds"] == [] and record["missed_ticks"] == []


def test_an_empty_table_is_all_well_and_says_what_to_do(sqlite_database: Database) -> None:
    ran = run("status", "--database", sqlite_database.url)
    assert ran.status == 0
    assert "all well" in ran.out and "cron2queue enqueue" in ran.out and "cron2queue worker" in ran.out


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_line_that_is_not_well_comes_with_what_to_do(sqlite_database: Database, width: int) -> None:
    accept(sqlite_database.store(), 1)
    where = {"CRON2QUEUE_DATABASE_URL": sqlite_database.url}
    troubles = run("status", "--format", "json", **where).json["alerts"]
    assert len(troubles) == 1 and troubles[0]["remedy"]
    screen = " ".join(run("status", width=width, **where).out.split())
    assert f"{troubles[0]['text']} {troubles[0]['remedy']}" in screen and "`cron2queue worker` starts one" in screen


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(sqlite_database: Database, width: int) -> None:
    store = shop(sqlite_database)
    store.pause("default", by="somebody with a very long name at a host with a very long name indeed")
    accept(store, 2, queue="a-queue-with-a-long-name-as-frameworks-make-them", key="注文" * 40)
    ran = run("status", "--database", sqlite_database.url, "--width", str(width))
    assert max(columns_of(line) for line in ran.out.splitlines()) <= width
    assert "QUEUES" in ran.out and "oldest" in ran.out and "dead" in ran.out


@pytest.mark.parametrize("format", ["terminal", "json", "html"])
def test_hostile_text_steers_nothing(sqlite_database: Database, format: str) -> None:
    store = sqlite_database.store()
    accept(store, 2, key=HOSTILE)
    register(store)
    kill(store, message=HOSTILE)
    store.pause("default", by=HOSTILE)
    ran = run("status", "--database", sqlite_database.url, "--format", format)
    assert ran.status == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)
    assert "<script>alert" not in ran.out if format == "html" else "[bold]" in ran.out


def test_colour_only_where_it_is_wanted(sqlite_database: Database) -> None:
    shop(sqlite_database)
    url = sqlite_database.url
    assert "\x1b[" not in run("status", "--database", url).out
    assert "\x1b[" in run("status", "--database", url, "--color", "always").out
    assert "\x1b[" in run("status", "--database", url, FORCE_COLOR="1").out
    assert "\x1b[" not in run("status", "--database", url, "--color", "never", FORCE_COLOR="1").out
    assert run("status", "--database", url, "--color", "blue").status == 2


def test_ascii_is_ascii(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    accept(store, 1, key="ü")
    ran = run("status", "--database", sqlite_database.url, "--ascii")
    assert ran.out.isascii() and "####" in ran.out


def test_secrets_in_errors_are_masked(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    accept(store, 1)
    register(store)
    kill(store, message="cannot reach mysql://shop:hunter2hunter2@db/shop")
    for format in ("terminal", "json", "html"):
        assert "hunter2" not in run("status", "--database", sqlite_database.url, "--format", format).out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--database", "sqlite:////no/such/folder/jobs.db"], 69, "there is no SQLite file"),
        (["--database", "mysql://root@127.0.0.1:1/x"], 69, "does not answer"),
        (["--database", "oracle://x"], 2, "not the URL of a database"),
        (["--database", "sqlite:///x.db", "--format", "xml"], 2, "--format 'xml' is not known"),
        (["--plan", "/no/such/plan.toml"], 3, "the plan cannot be read"),
    ],
)
def test_trouble_is_one_paragraph_with_its_status(arguments: list[str], status: int, said: str, tmp_path: Path) -> None:
    ran = run("status", *arguments, cwd=tmp_path)
    assert ran.status == status and said in ran.err
    assert "Traceback" not in ran.err and ran.out == ""
    assert len(re.findall("^  remedy: ", ran.err, re.MULTILINE)) == 1


def test_old_or_missing_tables_are_told_with_the_remedy(sqlite_database: Database) -> None:
    sqlite_database.change("DROP TABLE {rollups}")
    ran = run("status", "--database", sqlite_database.url)
    assert ran.status == 4 and "cron2queue migrate" in ran.err and ran.out == ""


def test_a_closed_pipe_ends_quietly(sqlite_database: Database) -> None:
    shop(sqlite_database)
    process = start("status", "--database", sqlite_database.url)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == 0
    process.stderr.close()


def test_the_plan_beside_gives_queues_limits_and_database(tmp_path: Path, sqlite_database: Database) -> None:
    accept(sqlite_database.store(), 1, queue="mail")
    file = Path(sqlite_database.address.database)
    project, queue_table = (
        f'[project]\ndatabase = "sqlite:///./{file.name}"\n',
        "[queues.mail]\nage-limit = 600\nconcurrency = 3\n",
    )
    (file.parent / "cron2queue.toml").write_text("format-version = 1\n" + project + queue_table)
    (file.parent / "deep" / "down").mkdir(parents=True)
    (queue,) = run("status", "--format", "json", cwd=file.parent / "deep" / "down").json["queues"]
    assert (queue["queue"], queue["limit_seconds"], queue["concurrency"], queue["ready"]) == ("mail", 600.0, 3, 1)


def test_ticks_that_did_not_come_are_told(sqlite_database: Database, tmp_path: Path) -> None:
    job = '[jobs.{}]\nschedule = "{}"\ncommand = "true"\n'
    plan = tmp_path / "cron2queue.toml"
    jobs = job.format("often", "*/5 * * * *") + job.format("daily", "0 3 * * *") + job.format("never-came", "* * * * *")
    plan.write_text('format-version = 1\n[project]\ntimezone = "UTC"\n' + jobs)
    for name in ("often", "daily"):
        sqlite_database.change("INSERT INTO {ticks} (entry, last_nominal) VALUES (?, {now} - 1800000000)", (name.encode(),))
    ran = run("status", "--plan", str(plan), "--database", sqlite_database.url, "--format", "json")
    missed = {each["entry"]: each["missed"] for each in ran.json["missed_ticks"]}
    assert missed["often"] in (5, 6) and "never-came" not in missed
    assert "MISSED TICKS" in run("status", "--plan", str(plan), "--database", sqlite_database.url).out


def test_kinds_that_are_held_back_are_told(database: Database) -> None:
    store = shop(database)
    store.pause_kind(KIND, 90)
    assert "held back: send-mail for 1m" in run("status", "--database", database.url).out
    record = run("status", "--database", database.url, "--format", "json").json
    assert [each["kind"] for each in record["paused_kinds"]] == [KIND] and 80 < record["paused_kinds"][0]["seconds"] <= 90
    assert "held back: send-mail" in run("status", "--database", database.url, "--format", "html").out


def test_refused_jobs_are_told_on_screen_page_and_in_json(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    store.set_limit("queue", "default", by="ops", depth=1)
    with pytest.raises(QueueFull):
        accept(store, 3)
    store.close()
    arguments = ("status", "--database", sqlite_database.url)
    assert "full, 3 refused in the last hour" in run(*arguments, width=160).out
    (queue,) = run(*arguments, "--format", "json").json["queues"]
    assert (queue["refused"], queue["duplicates"]) == (3, 0)
    assert re.search(r"refused in the hour.*?<[^>]*>3<", run(*arguments, "--format", "html").out, re.DOTALL)


def test_watch_draws_again_and_again_until_it_is_stopped(sqlite_database: Database) -> None:
    store = shop(sqlite_database)
    process = start("status", "--watch", "--every", "0.2", "--format", "json", "--database", sqlite_database.url)
    assert process.stdout is not None
    seen: list[int] = []
    decoder, text = json.JSONDecoder(), ""
    while len(seen) < 2 or seen[-1] == seen[0]:
        text += process.stdout.readline()
        if text.endswith("\n}\n"):
            seen.append(decoder.decode(text)["queues"][0]["ready"])
            text = ""
            if len(seen) == 1:
                accept(store, 1, key="later")
    process.terminate()
    assert process.wait(60) == 143 and seen[-1] == seen[0] + 1
    process.communicate()


def test_watch_on_a_terminal_redraws_in_place_and_gives_the_screen_back(sqlite_database: Database) -> None:
    import pty

    shop(sqlite_database)
    ours, theirs = pty.openpty()
    options = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    process = start(
        "status", "--watch", "--every", "0.2", "--database", sqlite_database.url, **options, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    data = b""
    while data.count(b"QUEUES") < 2:
        data += os.read(ours, 65536)
    process.send_signal(2)
    while True:
        try:
            data += os.read(ours, 65536)
        except OSError:  # the terminal's other end is closed
            break
    assert process.wait(60) == 130
    assert b"\x1b[?1049h" in data and data.rindex(b"\x1b[?1049l") > data.rindex(b"QUEUES")
    assert b"Traceback" not in data
    os.close(ours)


class Page(HTMLParser):
    """Tags and their attributes, and what an address could be fetched from."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href", "action", "style", "onclick")]


def test_the_page_is_self_contained_and_has_nothing_to_press(sqlite_database: Database, tmp_path: Path) -> None:
    shop(sqlite_database)
    target = tmp_path / "status.html"
    ran = run("status", "--database", sqlite_database.url, "--format", "html", "-o", str(target))
    assert ran.status == 0 and ran.out == ""
    page = Page(target.read_text())
    assert not {"script", "form", "button", "input", "a", "iframe"} & set(page.tags)
    assert all(address.startswith("data:image/svg+xml,") for address in page.addresses)
    assert "default-src 'none'" in target.read_text() and 'http-equiv="refresh"' not in target.read_text()


def test_a_page_on_a_wall_does_not_stay_well_when_the_database_is_away(sqlite_database: Database, tmp_path: Path) -> None:
    target = tmp_path / "status.html"
    arguments = ("status", "--format", "html", "-o", str(target), "--database")
    assert run(*arguments, sqlite_database.url).status == 0
    assert "All well" in target.read_text()
    ran = run(*arguments, "mysql://root:hunter2hunter2@127.0.0.1:1/x")
    assert ran.status == 69 and ran.out == ""
    page = target.read_text()
    assert "The job table cannot be looked at" in page and "does not answer" in page and "check that the server runs" in page
    assert "All well" not in page and "No queue yet" not in page and "hunter2" not in page
    assert run(*arguments, sqlite_database.url).status == 0 and "All well" in target.read_text()


def test_a_watched_page_says_so_while_the_database_is_away_and_comes_back(sqlite_database: Database, tmp_path: Path) -> None:
    target, file = tmp_path / "status.html", Path(sqlite_database.address.database)
    os.mkfifo(target)  # each page is read as it is written
    file.rename(file.with_name("away.db"))
    process = start(
        "status", "--watch", "--every", "0.2", "--format", "html", "-o", str(target), "--database", sqlite_database.url
    )
    try:
        first = target.read_text()
        assert "cannot be looked at" in first and 'http-equiv="refresh"' in first
        file.with_name("away.db").rename(file)
        while "All well" not in target.read_text():
            pass
    finally:
        process.terminate()
        process.communicate()
    assert process.returncode == 143


def test_an_output_that_cannot_be_written_is_told(sqlite_database: Database) -> None:
    ran = run("status", "--database", sqlite_database.url, "--format", "html", "-o", "/no/such/folder/x.html")
    assert ran.status == 2 and "/no/such/folder/x.html: cannot be written" in ran.err


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [500, 1400])
def test_a_browser_shows_the_page_without_a_complaint_and_without_scrolling_sideways(
    sqlite_database: Database, tmp_path: Path, width: int
) -> None:
    store = shop(sqlite_database)
    kill(store, message=HOSTILE)
    accept(store, 1, queue="a-queue-with-a-long-name-as-frameworks-make-them", key="x")
    text = run("status", "--database", sqlite_database.url, "--format", "html").out
    probe = "<script>document.title = 'wide ' + document.documentElement.scrollWidth + ' of ' + innerWidth</script>"
    page = tmp_path / "status.html"
    # The page forbids scripts: the probe runs in a frame-less copy whose policy is taken out.
    page.write_text(
        re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text).replace("</body>", probe + "</body>")
    )
    arguments = [f"--window-size={width},900", f"--user-data-dir={tmp_path}/profile", "--dump-dom", page.as_uri()]
    assert CHROMIUM is not None
    ran = subprocess.run([CHROMIUM, *FLAGS, *arguments], capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>wide (\d+) of (\d+)</title>", ran.stdout)
    assert title is not None and int(title[1]) <= int(title[2])
    assert KIND in ran.stdout and "alert(#)" in ran.stdout and "<script>alert" not in ran.stdout
