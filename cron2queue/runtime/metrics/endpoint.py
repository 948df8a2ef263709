"""A small HTTP server for one thing: GET /metrics. Loopback unless told otherwise; nothing can be changed through it."""

import ipaddress
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from cron2queue.errors import UsageError
from cron2queue.runtime.metrics.exposition import CONTENT_TYPE

SECONDS_PER_CLIENT = 10.0
FRESH_SECONDS = 1.0  # a crowd of scrapers makes one look at the database
MOST_CLIENTS = 16


def address_of(text: str) -> tuple[str, int]:
    """`ADDRESS:PORT`, `[ADDRESS]:PORT`, `:PORT` or `PORT` (both: loopback). Raises UsageError for anything else."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or not 0 <= int(port) <= 65_535:
        raise UsageError(f"{text!r:.80} is no address and port", remedy="write 127.0.0.1:9467")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this host can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Fresh:
    """The text, made anew when it is older than FRESH_SECONDS; one maker at a time."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made_at = float("-inf")
        self._text = ""

    def text(self) -> str:
        with self._lock:
            if time.monotonic() - self._made_at >= FRESH_SECONDS:
                self._text = self._make()
                self._made_at = time.monotonic()
            return self._text


class _Handler(BaseHTTPRequestHandler):
    timeout = SECONDS_PER_CLIENT
    server_version = "cron2queue"
    sys_version = ""
    server: "Endpoint"

    def do_GET(self) -> None:
        """The metrics, or 404."""
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, b"not here: /metrics\n", "text/plain; charset=utf-8")
            return
        self._answer(200, self.server.fresh.text().encode(), CONTENT_TYPE)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def _answer(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """A scrape every some seconds is no news."""


class Endpoint(ThreadingHTTPServer):
    """Serves what `make` returns; `make` must not raise."""

    daemon_threads = True
    allow_reuse_address = True
    _full: ClassVar[bytes] = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def __init__(self, host: str, port: int, make: Callable[[], str]) -> None:
        self.fresh = _Fresh(make)
        self._clients = threading.BoundedSemaphore(MOST_CLIENTS)
        if ":" in host:
            import socket

            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as trouble:
            raise UsageError(f"cannot listen on {host}:{port}: {trouble.strerror}", remedy="choose another --listen") from None

    def process_request_thread(self, request: object, client_address: object) -> None:
        """At most so many at a time; the others are told so at once."""
        if not self._clients.acquire(blocking=False):
            request.sendall(self._full)  # type: ignore[attr-defined]
            self.shutdown_request(request)  # type: ignore[arg-type]
            return
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self._clients.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away in the middle is no trouble of ours."""
