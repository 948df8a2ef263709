"""Telling one hook one event: in a process group of its own, within its time, whatever it does."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from typing import IO

from cron2queue.redaction import redact
from cron2queue.runtime.hooks import mail
from cron2queue.runtime.hooks.hook import Event, Hook
from cron2queue.text import safe_text

_TAIL = 2000  # bytes of what a failed hook wrote that are worth telling
_LOADER = """\
import json, runpy, sys
path, name = sys.argv[1:]
runpy.run_path(path, run_name="cron2queue_hook")[name](json.load(sys.stdin))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How it went; `problem` is empty when the hook ended with 0 in time."""

    hook: str
    problem: str = ""


def deliver(hook: Hook, event: Event) -> Delivery:
    """Tell the hook, with secrets masked, and wait at most its timeout; never raises for anything that the hook does."""
    try:
        process = subprocess.Popen(
            _arguments(hook),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=hook.folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as trouble:
        return Delivery(hook=hook.name, problem=f"cannot be started: {safe_text(str(trouble))}")
    return Delivery(hook=hook.name, problem=_attended(process, _input(hook, _masked(event)), hook.timeout))


def _masked(event: Event) -> Event:
    subject, text = redact(event.subject), redact(event.text)
    return replace(event, subject=subject, text=text, output=redact(event.output), remedy=redact(event.remedy))


def _arguments(hook: Hook) -> list[str]:
    if hook.mail:
        return mail.command(hook.mail, hook.sendmail)
    if hook.function is not None:
        path, _, name = hook.function.rpartition(":")
        return [sys.executable, "-c", _LOADER, str(hook.folder / path), name]
    return list(hook.command)


def _input(hook: Hook, event: Event) -> bytes:
    if hook.mail:
        return mail.message(hook.mail, f"cron2queue: {event.subject}: {event.text}", letter(event))
    return json.dumps(event.record()).encode("ascii") + b"\n"


def letter(event: Event) -> str:
    """The body of a mail: the sentence, what to do, the ids, then what the job printed."""
    parts = [f"{event.subject}: {event.text}", f"at {event.at}"]
    if event.suppressed:
        parts.append(f"{event.suppressed} more were not told in the hour before")
    if event.remedy:
        parts.append(f"to do: {event.remedy}")
    parts += [f"job {each}" for each in event.jobs]
    if event.output:
        parts += ["", event.output]
    return "\n".join(parts)


def _attended(process: subprocess.Popen[bytes], data: bytes, timeout: float) -> str:
    tail = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(process.stdin, data), daemon=True),
        threading.Thread(target=_keep_tail, args=(process.stderr, tail), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        status = process.wait(timeout)
        problem = "" if status == 0 else f"ended with {status}"
    except subprocess.TimeoutExpired:
        problem = f"took longer than {timeout:g} s and was killed"
        _kill_group(process)
    threads[1].join(1.0)
    said = safe_text(redact(bytes(tail).decode("utf-8", "replace").strip().replace("\n", " / ")))
    return f"{problem}: {said}" if problem and said else problem


def _feed(stream: IO[bytes] | None, data: bytes) -> None:
    assert stream is not None
    with contextlib.suppress(OSError), stream:  # a hook need not read its input
        stream.write(data)


def _keep_tail(stream: IO[bytes] | None, tail: bytearray) -> None:
    assert stream is not None
    with contextlib.suppress(OSError, ValueError), stream:
        while block := os.read(stream.fileno(), 65536):
            tail += block
            del tail[:-_TAIL]


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """The hook and everything that it started; it is not reaped yet, so the number cannot be somebody else's."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
