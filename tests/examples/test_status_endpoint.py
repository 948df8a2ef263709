"""The example endpoint, over HTTP, with two users who try each other's ids."""

import hashlib
import http.client
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from databases import Database
from scenes import claim, kill, register, settle

from cron2queue.runtime.jobs import Done

APP = Path(__file__).resolve().parents[2] / "examples/status-endpoint/app.py"
USERS = ("anna", "bob")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: Any
    text: str


@dataclass
class Client:
    """One user of the endpoint."""

    port: int
    user: str | None

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        own = {} if self.user is None else {"Authorization": f"Bearer token of {self.user}"}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = {} if data is None else {"Content-Type": "application/json"}
        connection.request(method, path, body=data, headers={**own, **kind, **given})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Answer(answer.status, answer.headers, json.loads(text), text)

    def export(self, month: str = "2026-11") -> str:
        return str(self.ask("POST", "/exports", {"month": month}).body["id"])


@pytest.fixture
def port(sqlite_database: Database, tmp_path: Path) -> Iterator[int]:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({hashlib.sha256(f"token of {user}".encode()).hexdigest(): user for user in USERS}))
    arguments = [sys.executable, str(APP), "--database", sqlite_database.url, "--tokens", str(tokens), "--port", "0"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield int(process.stdout.readline().rsplit(":", 1)[1].strip("/\n"))
    process.terminate()
    process.wait(30)
    process.stdout.close()


@pytest.fixture
def anna(port: int) -> Client:
    return Client(port, "anna")


@pytest.fixture
def bob(port: int) -> Client:
    return Client(port, "bob")


def test_an_export_is_accepted_with_a_reference_and_polled_to_its_result(anna: Client, sqlite_database: Database) -> None:
    accepted = anna.ask("POST", "/exports", {"month": "2026-11"})
    assert accepted.status == 202 and accepted.headers["Location"] == accepted.body["status_url"]
    assert accepted.headers["Retry-After"] == "1" and accepted.headers["Cache-Control"] == "no-store"
    where = accepted.body["status_url"]
    assert anna.ask("GET", where).body["state"] == "ready"
    store = sqlite_database.store()
    register(store, kinds=["export"])
    (job,) = claim(store, kind="export")
    store.progress(job, 0.5, "rows")
    running = anna.ask("GET", where)
    assert running.body["progress"] == {"fraction": 0.5, "phase": "rows"} and running.headers["Retry-After"] == "1"
    settle(store, job, Done(result_ref="exports/2026-11.csv"), name="done")
    done = anna.ask("GET", where)
    assert (done.body["state"], done.body["ended"], done.body["result"]) == ("succeeded", True, "exports/2026-11.csv")
    assert done.headers["Retry-After"] is None


def test_two_users_never_learn_of_each_others_jobs(anna: Client, bob: Client, sqlite_database: Database) -> None:
    annas, bobs = anna.export(), bob.export()
    assert annas != bobs
    nothing = anna.ask("GET", f"/jobs/{'f' * 32}")
    for client, foreign in ((anna, bobs), (bob, annas)):
        for method, path in (("GET", f"/jobs/{foreign}"), ("DELETE", f"/jobs/{foreign}"), ("GET", f"/jobs?before={foreign}")):
            answer = client.ask(method, path)
            assert (answer.status, answer.text) == (nothing.status, nothing.text) == (404, '{"error": "no such job"}')
    assert [job["id"] for job in anna.ask("GET", "/jobs").body["jobs"]] == [annas]
    assert [job["id"] for job in bob.ask("GET", "/jobs").body["jobs"]] == [bobs]
    assert sqlite_database.rows("SELECT DISTINCT state FROM {jobs}") == [("ready",)]


def test_the_same_export_asked_for_twice_is_one_job(anna: Client) -> None:
    first = anna.ask("POST", "/exports", {"month": "2026-10"}).body
    again = anna.ask("POST", "/exports", {"month": "2026-10"}).body
    assert first["id"] == again["id"] and (first["known_already"], again["known_already"]) == (False, True)


def test_a_user_cancels_their_own(anna: Client) -> None:
    public_id = anna.export()
    assert anna.ask("DELETE", f"/jobs/{public_id}").body["state"] == "cancelled"
    assert anna.ask("GET", f"/jobs/{public_id}").body["ended"] is True


def test_only_the_safe_message_goes_out(anna: Client, sqlite_database: Database) -> None:
    public_id = anna.export()
    store = sqlite_database.store()
    register(store, kinds=["export"])
    kill(store, kind="export", message="the month has no orders", output="/srv/secret canary")
    answer = anna.ask("GET", f"/jobs/{public_id}")
    assert (answer.body["state"], answer.body["message"]) == ("dead", "the month has no orders")
    for inside in ("Traceback", "KeyError", "canary", "w1", "web1", "attempt", "owner", "anna"):
        assert inside not in answer.text


@pytest.mark.parametrize("user", [None, "eve", ""])
def test_without_a_token_there_is_nothing_to_see(port: int, user: str | None) -> None:
    for method, path in (("GET", "/jobs"), ("POST", "/exports"), ("GET", "/nowhere")):
        answer = Client(port, user).ask(method, path)
        assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/exports", {"month": "2026-13"}, {}, 400),
        ("POST", "/exports", ["2026-11"], {}, 400),
        ("POST", "/exports", {"month": {"$gt": ""}}, {}, 400),
        ("POST", "/exports", b"{", {}, 400),
        ("POST", "/exports", b"[" * 50_000, {}, 400),
        ("POST", "/exports", b"x" * 70_000, {}, 413),
        ("POST", "/exports", b"month=2026-11", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", "/jobs", {"month": "2026-11"}, {}, 405),
        ("PUT", "/jobs/x", {}, {}, 405),
        ("GET", "/../etc/passwd", None, {}, 404),
        ("GET", "/jobs/%F0%9F%A4%96", None, {}, 404),
        ("GET", "/jobs/' OR 1=1 --".replace(" ", "%20"), None, {}, 404),
        ("GET", "/jobs/" + "x" * 5000, None, {}, 404),
    ],
)
def test_bad_requests_are_answered_with_a_sentence(
    anna: Client, method: str, path: str, body: object, headers: dict[str, str], status: int
) -> None:
    answer = anna.ask(method, path, body, **headers)
    assert answer.status == status and set(answer.body) == {"error"} and "Traceback" not in answer.text


def test_polling_is_limited_for_each_user_alone(anna: Client, bob: Client) -> None:
    answers = [anna.ask("GET", "/jobs") for _ in range(40)]
    limited = [answer for answer in answers if answer.status == 429]
    assert limited and limited[0].headers["Retry-After"] == "1"
    assert bob.ask("GET", "/jobs").status == 200


def test_a_full_queue_and_a_database_that_is_away_are_503(anna: Client, sqlite_database: Database) -> None:
    sqlite_database.store().set_limit("queue", "default", by="t", depth=1)
    anna.export()
    full = anna.ask("POST", "/exports", {"month": "2026-09"})
    assert full.status == 503 and full.headers["Retry-After"] == "30" and full.body == {"error": "not just now"}
    sqlite_database.change("ALTER TABLE {jobs} RENAME TO gone")
    assert anna.ask("GET", "/jobs").status == 503


def test_an_allowance_comes_back_with_time() -> None:
    spec = importlib.util.spec_from_file_location("status_endpoint_app", APP)
    assert spec is not None and spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = app
    spec.loader.exec_module(app)
    now = [100.0]
    allowance = app.Allowance(burst=2, rate=1, clock=lambda: now[0])
    assert [allowance.take("anna") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert allowance.take("bob") == 0.0
    now[0] += 1.5
    assert allowance.take("anna") == 0.0 and allowance.take("anna") == 0.5
