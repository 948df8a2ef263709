"""The spool: where a producer puts a job when the database does not answer, if its operator has asked for one.

One JSON line a job, appended under a lock and synced before it is acknowledged. Each line keeps the public id that the
job has from its first try on, so that a replay after an unknown COMMIT, or a replay killed half way, makes no second job.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from cron2queue.errors import InputError
from cron2queue.runtime.jobs import Enqueued, Forever, NewJob, Period, UniqueScope, WhileActive
from cron2queue.runtime.trouble import JobRefused
from cron2queue.runtime.verbs.drafts import draft
from cron2queue.runtime.verbs.producing import ProducerVerbs

LINE_LIMIT: Final = 2 * 1024 * 1024
_BATCH: Final = 200


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """The file, for its owner only, under an exclusive lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        remedy = "name a file with --spool that its user may write, and no link"
        raise InputError(f"the spool cannot be opened: {error.strerror}", place=str(path), remedy=remedy) from error
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def put(path: Path, job: NewJob) -> str:
    """Keep a job for later; its public id. On return it is on the disk."""
    kept = job.but(public_id=job.public_id or secrets.token_hex(16))
    checked = draft(kept)
    line = json.dumps(_fields(kept), ensure_ascii=True).encode() + b"\n"
    with _locked(path) as file:
        end = file.seek(0, os.SEEK_END)
        if end and _last_byte(file, end) != b"\n":  # a writer was killed in its line
            line = b"\n" + line
        file.seek(0, os.SEEK_END)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return checked.public_id


def _last_byte(file: IO[bytes], end: int) -> bytes:
    file.seek(end - 1)
    return file.read(1)


def replay(path: Path, store: ProducerVerbs) -> list[Enqueued]:
    """Enqueue what is kept, oldest first. What is enqueued goes from the file; what cannot be read goes to `FILE.bad`.

    Raises what enqueue raises (the database still away, a queue full): then the rest is kept.
    """
    if not os.path.exists(path) or path.stat().st_size == 0:
        return []
    answers: list[Enqueued] = []
    with _locked(path) as file:
        lines = [line for line in file.read().split(b"\n") if line.strip()]
        done = 0
        try:
            while done < len(lines):
                batch = lines[done : done + _BATCH]
                answers += _enqueue(path, store, batch)
                done += len(batch)
        finally:
            _keep(file, lines[done:])
    return answers


def _enqueue(path: Path, store: ProducerVerbs, lines: list[bytes]) -> list[Enqueued]:
    jobs, bad = [], []
    for line in lines:
        try:
            job = _job(line)
            draft(job)
        except (ValueError, TypeError, KeyError, RecursionError, JobRefused):
            bad.append(line)
        else:
            jobs.append(job)
    answers = store.enqueue_many(jobs)
    if bad:
        with _locked(path.with_name(path.name + ".bad")) as file:
            file.seek(0, os.SEEK_END)
            file.write(b"".join(line + b"\n" for line in bad))
    return answers


def _keep(file: IO[bytes], lines: list[bytes]) -> None:
    """Shorten the file in place. A kill in between leaves lines that were enqueued: their public ids are known."""
    data = b"".join(line + b"\n" for line in lines)
    file.seek(0)
    file.write(data)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _fields(job: NewJob) -> dict[str, Any]:
    names = (
        "kind", "payload", "key", "queue", "priority", "max_attempts", "ordering_key", "owner", "trace_context", "limit_key",
        "public_id",
    )  # fmt: skip
    fields = {name: getattr(job, name) for name in names}
    fields["run_at"] = None if job.run_at is None else job.run_at.isoformat()
    fields["unique"] = "forever" if isinstance(job.unique, Forever) else None
    if isinstance(job.unique, Period):
        fields["unique"] = job.unique.seconds
    return fields


def _job(line: bytes) -> NewJob:
    if len(line) > LINE_LIMIT:
        raise ValueError("too long")
    fields = json.loads(line)
    fields["unique"] = _unique(fields["unique"])
    fields["run_at"] = None if fields["run_at"] is None else datetime.fromisoformat(fields["run_at"])
    return NewJob(**fields)


def _unique(value: Any) -> UniqueScope:
    if value is None:
        return WhileActive()
    return Forever() if value == "forever" else Period(seconds=float(value))
