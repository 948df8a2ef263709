"""Marks: how far something has come, kept in the database and moved by compare-and-swap, so that of two only one moves it."""

from cron2queue.runtime.store import Store


class Marks:
    """The marks of one database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, name: str) -> int | None:
        """Where the mark stands; None when it was never set."""
        query = "SELECT value FROM {marks} WHERE name = ?"
        found = self._store.sessions.read(lambda session: session.value(query, (_bytes(name),)))
        return None if found is None else int(found)

    def move(self, name: str, old: int | None, new: int) -> bool:
        """Move the mark from `old` to `new`; False when another was faster, and then nothing was changed."""
        if old is None:
            insert = "INSERT INTO {marks} (name, value, noted_at) VALUES (?, ?, {now})"
            backend = self._store.backend
            return self._store.sessions.unit(lambda session: backend.try_write(session, insert, (_bytes(name), new)))
        update = "UPDATE {marks} SET value = ?, noted_at = {now} WHERE name = ? AND value = ?"
        return self._store.sessions.single(lambda session: session.changed(update, (new, _bytes(name), old))) == 1

    def raised(self, prefix: str) -> list[str]:
        """The names of marks that begin so and stand at 1."""
        query = "SELECT name FROM {marks} WHERE name >= ? AND name < ? AND value = 1"
        begin = _bytes(prefix)
        rows = self._store.sessions.read(lambda session: session.rows(query, (begin, begin + b"\xff")))
        return [bytes(row[0]).decode("utf-8", "surrogateescape") for row in rows]


def fitted(name: str) -> str:
    """The name as it is kept: cut to what its column takes."""
    return _bytes(name).decode("utf-8", "surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")[:255]
