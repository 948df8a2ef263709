"""What a worker needs of its host, looked at before it registers: else it would give back what it claims, for ever."""

import os
import resource
from contextlib import suppress
from pathlib import Path

from cron2queue.errors import Refused
from cron2queue.runtime.worker.nursery import Nursery, TemplateFailed

# Measured: up to 17 beside those of the children, of which each has 4.
_OWN_DESCRIPTORS = 32
_DESCRIPTORS_OF_A_CHILD = 4


class UnfitHost(Refused):
    """No child could be made, watched or ended here; nothing was claimed."""


def refuse_unfit(nursery: Nursery, children: int) -> None:
    """UnfitHost, with the remedy, unless children can be made here, and seen and ended whatever they start."""
    _need_processes()
    _need_descriptors(_OWN_DESCRIPTORS + _DESCRIPTORS_OF_A_CHILD * (children + 1))  # one more for kinds that only wait
    _need_a_child(nursery)


def _need_processes() -> None:
    """A /proc of another PID namespace shows this process under another number, and foreign ones under those of children."""
    try:
        shown = str(Path("/proc/self").readlink())
    except OSError:
        shown = ""
    if shown != str(os.getpid()):
        raise UnfitHost(
            "/proc does not show the processes of this worker, which could not see or end what its jobs start",
            remedy="mount it here: mount -t proc proc /proc (in a container, the one of its own PID namespace)",
        )


def _need_descriptors(needed: int) -> None:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise UnfitHost(
            f"only {allowed} files may be open at a time here, and this worker needs {needed}",
            remedy="raise the limit (ulimit -n, or LimitNOFILE= in the unit), or start it with fewer --children",
        )


def _need_a_child(nursery: Nursery) -> None:
    """One is made and ended again: what a kernel, a container or a limit forbids shows here as it would at the first job."""
    try:
        slot = nursery.make()
    except (TemplateFailed, OSError) as trouble:
        raise UnfitHost(
            f"no child process can be made here: {trouble.message if isinstance(trouble, TemplateFailed) else trouble}",
            remedy="see whether processes or memory have run out (ulimit -u, TasksMax=), or a container forbids pidfd_open(2)",
        ) from trouble
    slot.kill()
    with suppress(ChildProcessError):  # where this process takes no orphans yet, another has collected it
        os.waitpid(slot.process.pid, 0)
    slot.close()
