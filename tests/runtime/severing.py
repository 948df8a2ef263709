"""A proxy before a database server that cuts the line at a chosen word, before or after passing it on."""

import select
import socket
import threading
from contextlib import suppress

from cron2queue.runtime.database.address import Address


class Severing:
    """Passes everything on, until `cut` is called: then the next packet that holds `word` ends both connections.

    `after=True` lets it through and swallows the answer: the server has done it, and the client never hears of it.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._word: bytes | None = None
        self._after = False
        self._last: int | None = None
        self.packets = 0  # that clients have sent
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, address: Address) -> str:
        """The address of a database behind this line; PostgreSQL without TLS, so that words can be read in it."""
        user = f"{address.user}:{address.password}@" if address.password else f"{address.user}@"
        plain = "?sslmode=disable" if address.family == "postgresql" else ""
        return f"{address.family}://{user}127.0.0.1:{self.port}/{address.database}{plain}"

    def cut(self, word: bytes, *, after: bool) -> None:
        self._word, self._after = word, after

    def end_at(self, packet: int) -> None:
        """The server is gone when the so-manieth packet is sent, and nobody can connect any more."""
        self._last = packet

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server, suppress(OSError):
            while True:
                readable, _, _ = select.select([client, server], [], [])
                if server in readable:
                    if not (data := server.recv(65536)):
                        return
                    client.sendall(data)
                if client in readable:
                    if not (data := client.recv(65536)) or self._is_cut(data, server):
                        return
                    server.sendall(data)

    def _is_cut(self, data: bytes, server: socket.socket) -> bool:
        self.packets += 1
        if self._last is not None and self.packets >= self._last:
            self.close()
            return True
        if self._word is None or self._word not in data:
            return False
        self._word = None
        self.cuts += 1
        if self._after:
            server.sendall(data)
            server.recv(65536)
        return True
