"""An application's endpoint for slow work: 202 Accepted with a reference, then polling, each user for their own jobs.

    POST   /exports       {"month": "2026-11"}   202, Location: /jobs/ID, Retry-After
    GET    /jobs          ?before=ID             the user's own jobs, newest first
    GET    /jobs/ID                              200; Retry-After says when to ask again, until the job has ended
    DELETE /jobs/ID                              202; cancelled, or asked to stop

Plain WSGI and the standard library: `python app.py --database sqlite:///jobs.db --tokens tokens.json` serves it on the
loopback interface, and any WSGI server runs `application(store, users)`. Whose a job is, is compared in SQL by JobAccess;
another user's job and no job are the same 404. Only sentences of this file and the jobs' safe messages go out.
"""

import argparse
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.access import JobAccess, JobStatus, NotDone, NotFound
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.store import Store

MOST_BODY = 64 * 1024
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
Environ = Mapping[str, Any]


class Problem(Exception):
    """An answer that is not what was asked for; its sentence is written here and holds nothing of the inside."""

    def __init__(self, status: HTTPStatus, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.answer = Answer(status, {"error": sentence}, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass(frozen=True)
class Answer:
    """Status, JSON body and headers."""

    status: HTTPStatus
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Allowance:
    """A token bucket for each user: so many requests at once, then so many a second."""

    burst: float = 20.0
    rate: float = 2.0
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, user: str) -> float:
        """0 if the user may ask now, else the seconds until they may."""
        with self._lock:
            now = self.clock()
            left, at = self._left.get(user, (self.burst, now))
            left = min(self.burst, left + (now - at) * self.rate)
            allowed = left >= 1
            self._left[user] = (left - 1 if allowed else left, now)
            return 0.0 if allowed else (1 - left) / self.rate


@dataclass(frozen=True)
class Users:
    """Who a bearer token belongs to. The file holds SHA-256 sums, so that reading it gives no access."""

    by_digest: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "Users":
        """From a JSON file {"sha256 of the token": "user"}."""
        return cls(json.loads(path.read_text(encoding="utf-8")))

    def named(self, authorization: str) -> str:
        """The user of an Authorization header; compared in constant time. Raises Problem 401."""
        scheme, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.encode()).hexdigest()
        found = [user for known, user in self.by_digest.items() if hmac.compare_digest(known, digest)]
        if scheme.lower() != "bearer" or not found:
            raise Problem(HTTPStatus.UNAUTHORIZED, "who are you?", WWW_Authenticate="Bearer")
        return found[0]


def application(store: Store, users: Users, allowance: Allowance | None = None) -> Callable[..., Iterable[bytes]]:
    """The WSGI application."""
    allowance = allowance or Allowance()

    def serve(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = _answer(store, users, allowance, environ)
        body = json.dumps(answer.body).encode("ascii")
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **answer.headers,
        }
        start_response(f"{answer.status.value} {answer.status.phrase}", list(headers.items()))
        return [body]

    return serve


def _answer(store: Store, users: Users, allowance: Allowance, environ: Environ) -> Answer:
    try:
        user = users.named(environ.get("HTTP_AUTHORIZATION", ""))
        wait = allowance.take(user)
        if wait:
            raise Problem(HTTPStatus.TOO_MANY_REQUESTS, "you ask too often", Retry_After=str(int(wait) + 1))
        return _route(JobAccess(store, principal=user), environ)
    except Problem as problem:
        return problem.answer
    except NotFound:
        return Problem(HTTPStatus.NOT_FOUND, "no such job").answer
    except UsageError:
        return Problem(HTTPStatus.BAD_REQUEST, "this cannot be done").answer
    except Cron2QueueError:  # a full queue, a database that is away: the reason is for operators
        return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "not just now", Retry_After="30").answer


def _route(jobs: JobAccess, environ: Environ) -> Answer:
    method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
    match method, path.strip("/").split("/"):
        case "POST", ["exports"]:
            return _accept(jobs, _body(environ))
        case "GET", ["jobs"]:
            before = parse_qs(environ.get("QUERY_STRING", "")).get("before", [None])[0]
            return Answer(HTTPStatus.OK, {"jobs": [_shown(job) for job in jobs.list(before=before)]})
        case "GET", ["jobs", public_id]:
            return _status(jobs, public_id)
        case "DELETE", ["jobs", public_id]:
            return Answer(HTTPStatus.ACCEPTED, _shown(jobs.cancel(public_id)))
        case _, ["exports"] | ["jobs"] | ["jobs", _]:
            raise Problem(HTTPStatus.METHOD_NOT_ALLOWED, "this is not done here")
    raise Problem(HTTPStatus.NOT_FOUND, "there is nothing here")


def _body(environ: Environ) -> Any:
    """The request's JSON. Only JSON is taken: a form of a foreign page cannot send it in the user's name."""
    if environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON")
    length = environ.get("CONTENT_LENGTH") or ""
    if not length.isdigit():
        raise Problem(HTTPStatus.LENGTH_REQUIRED, "say how long it is")
    if int(length) > MOST_BODY:
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "this is too long")
    try:
        return json.loads(environ["wsgi.input"].read(int(length)))
    except (ValueError, RecursionError):
        raise Problem(HTTPStatus.BAD_REQUEST, "this is not JSON") from None


def _accept(jobs: JobAccess, body: Any) -> Answer:
    month = body.get("month") if isinstance(body, dict) else None
    if not isinstance(month, str) or not MONTH.fullmatch(month):
        raise Problem(HTTPStatus.BAD_REQUEST, 'ask for a month like {"month": "2026-11"}')
    accepted = jobs.enqueue(NewJob(kind="export", key=f"export {month}", payload={"month": month}))
    where = f"/jobs/{accepted.public_id}"
    body = {"id": accepted.public_id, "status_url": where, "accepted": True, "known_already": accepted.duplicate}
    return Answer(HTTPStatus.ACCEPTED, body, {"Location": where, "Retry-After": "1"})


def _status(jobs: JobAccess, public_id: str) -> Answer:
    job = jobs.status(public_id)
    body = _shown(job)
    try:
        body["result"] = jobs.result(public_id)
    except NotDone:
        body["result"] = None
    again = {} if job.ask_again_seconds is None else {"Retry-After": str(job.ask_again_seconds)}
    return Answer(HTTPStatus.OK, body, again)


def _shown(job: JobStatus) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "state": str(job.state),
        "ended": job.ended,
        "message": job.message,
        "progress": {"fraction": job.fraction, "phase": job.phase},
        "created_at": job.created_at.isoformat(),
        "finished_at": job.finished_at.isoformat() if job.finished_at else None,
    }


class Server(ThreadingMixIn, WSGIServer):
    """A thread for each request, enough for a try; behind a real application, a real WSGI server."""

    daemon_threads = True


class Handler(WSGIRequestHandler):
    """Says nothing on stderr, and does not wait for ever."""

    timeout = 30

    def log_message(self, format: str, *args: object) -> None:
        """Silence: the access log is the business of the server in front."""


def main() -> None:
    """Serve on the loopback interface until stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="sqlite:///jobs.db")
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--port", type=int, default=8080)
    given = parser.parse_args()
    store = Store.open(given.database)
    serve = application(store, Users.read(given.tokens))
    with make_server("127.0.0.1", given.port, serve, server_class=Server, handler_class=Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
