"""The template of all children: loads the handler modules once, then forks a child whenever the supervisor asks.

It is a process of its own, so that the supervisor imports no foreign code, and a fork copies no connection and no
thread. Each child is handed to the supervisor (a subreaper) by a second fork. When the supervisor is gone, the
template ends what the children could not end themselves.
"""

import gc
import os
import pwd
import signal
import socket
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cron2queue.errors import Cron2QueueError
from cron2queue.given import restore_environment
from cron2queue.runtime.handlers import HandlerOptions, Registry
from cron2queue.runtime.plan_tables import placed
from cron2queue.runtime.settings import Settings, read_settings
from cron2queue.runtime.worker import child, proctree
from cron2queue.runtime.worker.wire import BlockingChannel, Inbox, encoded

_LAST_WAIT_SECONDS = 2.0


def load_registry(plan: Path | None, modules: list[str]) -> Registry:
    """All handlers of a plan, and of modules that the command line names."""
    settings = read_settings(plan) if plan is not None else Settings(folder=Path.cwd())
    if modules:
        from dataclasses import replace

        project = replace(settings.project, handlers=(*settings.project.handlers, *modules))
        settings = replace(settings, project=project)
    with nullcontext() if plan is None else placed(plan):
        return Registry.from_settings(settings, user=_user_name())


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def options_to_wire(options: HandlerOptions) -> dict[str, Any]:
    """A kind's options as JSON."""
    return asdict(options)


def _described(registry: Registry) -> dict[str, Any]:
    return {
        "kinds": [options_to_wire(each.options) for each in registry.handlers.values()],
        "skipped": dict(registry.skipped),
    }


def _fork_child(registry: Registry, ours: socket.socket, descriptors: list[int], supervisor: int) -> int:
    """Fork twice, so that the child's parent is the supervisor; returns the child's pid."""
    jobs, control, pulse = descriptors
    reading, writing = os.pipe2(os.O_CLOEXEC)
    between = os.fork()
    if between == 0:
        try:
            grandchild = os.fork()
            if grandchild:
                os.write(writing, str(grandchild).encode())
                os._exit(0)
            ours.close()
            os.close(reading)
            os.close(writing)
            child.main(socket.socket(fileno=jobs), socket.socket(fileno=control), pulse, registry.handlers, supervisor)
        finally:
            os._exit(1)
    os.close(writing)
    os.waitpid(between, 0)
    pid = int(os.read(reading, 32) or b"0")
    os.close(reading)
    for each in descriptors:
        os.close(each)
    return pid


def serve(ours: socket.socket, registry: Registry, supervisor: int) -> None:
    """Fork a child for each message with three descriptors, until the supervisor is gone."""
    children: list[proctree.Process] = []
    inbox = Inbox()
    channel = BlockingChannel(ours)
    while True:
        data, descriptors, _, _ = socket.recv_fds(ours, 4096, 3, socket.MSG_CMSG_CLOEXEC)
        if not data:
            break
        for _ in inbox.feed(data):
            pid = _fork_child(registry, ours, descriptors, supervisor) if len(descriptors) == 3 else 0
            children = [each for each in children if proctree.is_alive(each)]
            if found := proctree.identity(pid):
                children.append(found)
            channel.send(encoded({"pid": pid}))
    _guard(children)


def _guard(children: list[proctree.Process]) -> None:
    """The supervisor is gone. Children end by themselves; one whose threads are stuck is ended here, tree and all."""
    import time

    until = time.monotonic() + _LAST_WAIT_SECONDS
    while any(proctree.is_alive(each) for each in children) and time.monotonic() < until:
        time.sleep(0.05)
    for each in children:
        if proctree.is_alive(each):
            proctree.kill_tree(each.pid)
            proctree.send(each, signal.SIGKILL)


def main(arguments: list[str]) -> int:
    """The process that the supervisor starts: descriptor of its socket, plan or nothing, modules."""
    ours = socket.socket(fileno=int(arguments[0]))
    ours.set_inheritable(False)
    supervisor = os.getppid()
    restore_environment()
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the supervisor ends it by closing the socket
    try:
        registry = load_registry(Path(arguments[1]) if arguments[1] else None, arguments[2:])
        answer = _described(registry)
    except Cron2QueueError as trouble:
        answer = {"error": trouble.message, "remedy": trouble.remedy, "place": trouble.place}
    try:
        ours.sendall(encoded(answer))
    except OSError:  # the supervisor ended meanwhile
        return 0
    if "error" in answer:
        return 2
    _share_pages()
    serve(ours, registry, supervisor)
    return 0


def _share_pages() -> None:
    """Load what every child needs before it forks, and keep the collector from touching (and copying) those pages."""
    import json  # noqa: F401
    import threading  # noqa: F401

    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
