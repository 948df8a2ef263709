"""`metrics`: one look as Prometheus text, to stdout, into a textfile, or for whoever scrapes."""

import socket
from pathlib import Path

import psutil

from cron2queue.cli.operation import Operation
from cron2queue.cli.schedules import missed_ticks
from cron2queue.cli.screens.canvas import put
from cron2queue.cli.trouble import say
from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.metrics.collecting import Facts, down, families
from cron2queue.runtime.metrics.endpoint import Endpoint, address_of, is_loopback
from cron2queue.runtime.metrics.exposition import render, write_textfile
from cron2queue.runtime.sight.views import WorkerView

COUNTED = 100_000  # of each queue and state: a graph of depth needs more than a screen


def text_of(operation: Operation) -> str:
    """The metrics now."""
    with operation.inspection() as inspection:
        planned = operation.settings.queues if operation.settings else None
        status = inspection.status(planned=planned, missed=missed_ticks(operation, inspection), cap=COUNTED)
        totals, enqueued = inspection.totals()
        ticks = inspection.ticks()
    with operation.store() as store:
        connections = store.server_facts().connections
    facts = Facts(
        totals=totals, last_ticks=ticks, enqueued=enqueued, connections=connections, cpu_seconds=cpu_seconds(status.workers)
    )
    return render(families(status, facts))


def cpu_seconds(workers: tuple[WorkerView, ...]) -> dict[str, float]:
    """What this host's living workers and their children have used; nothing can be said of other hosts."""
    host = socket.gethostname()
    own = [worker.pid for worker in workers if worker.alive and worker.host == host]
    return {host: sum(_used(pid) for pid in own)} if own else {}


def _used(pid: int) -> float:
    try:
        process = psutil.Process(pid)
        times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    except psutil.Error:  # it ended just now, or belongs to another container
        return 0.0
    ended = times[0].children_user + times[0].children_system
    return float(ended + sum(each.user + each.system for each in times))


def once(operation: Operation, textfile: Path | None) -> None:
    """One look. While the database is away, the text says so, and the exit status too."""
    try:
        text, trouble = text_of(operation), None
    except Cron2QueueError as away:
        text, trouble = render(down()), away
    if textfile is None:
        put(text)
    else:
        try:
            write_textfile(textfile, text)
        except OSError as cannot:
            raise UsageError(f"cannot write {textfile}: {cannot.strerror}", remedy="name a writable file") from None
    if trouble is not None:
        raise trouble


def listen(operation: Operation, address: str) -> None:
    """Answer scrapes until stopped."""
    host, port = address_of(address)
    endpoint = Endpoint(host, port, lambda: _always(operation))
    where = f"http://{host}:{endpoint.server_address[1]}/metrics"
    warning = "" if is_loopback(host) else "; everybody who reaches this address can read it"
    say(f"metrics at {where}{warning}")
    endpoint.serve_forever()


def _always(operation: Operation) -> str:
    try:
        return text_of(operation)
    except Cron2QueueError as away:
        say(away.message)
        return render(down())
