"""Work done in a process of its own that is killed as it enters its n-th system call, by ptrace(2), the programs it starts
among them. Run as a program, it kills `apply` or `rollback` of a plan's folder at each of these points and tells what is left.
"""

import ctypes
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cron2queue.cutover.live import UserCrontab

_TRACEME, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO = 0, 24, 0x4200, 0x420E
_SYSGOOD, _FORK, _VFORK, _CLONE, _EXEC, _EXITKILL = 1, 2, 4, 8, 16, 1 << 20
_ENTRY = 1
EDIT = b"5 5 * * * root /bin/by-hand\n"
_ANY_CHILD = 0x40000000  # __WALL
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


@dataclass(frozen=True)
class Call:
    """A system call's number, and whether a program that was started by the work made it."""

    number: int
    started: bool


@dataclass(frozen=True)
class Left:
    """What a kill left: whose text the crontab then had, and whether going back and applying again led where it should."""

    at: int
    call: int
    text: str
    back: bool
    again: bool


def _ptrace(request: int, pid: int, address: object = None, data: object = None) -> int:
    result = _libc.ptrace(request, pid, address, data)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def _begin(work: Callable[[], object]) -> int:
    pid = os.fork()
    if pid:
        os.waitpid(pid, _ANY_CHILD)
        _ptrace(_SETOPTIONS, pid, None, _SYSGOOD | _FORK | _VFORK | _CLONE | _EXEC | _EXITKILL)
        return pid
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        _ptrace(_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        work()
    finally:
        os._exit(0)


def _entered(pid: int) -> int | None:
    """The number of the call that it is about to make; None as it comes out of one."""
    info = ctypes.create_string_buffer(88)
    _ptrace(_SYSCALL_INFO, pid, ctypes.c_void_p(len(info)), ctypes.byref(info))
    return int.from_bytes(info.raw[24:32], sys.byteorder) if info.raw[0] == _ENTRY else None


def run(
    work: Callable[[], object],
    kill_at: int | Callable[[Sequence[Call]], bool] | None = None,
    edit: tuple[int, Callable[[], object]] | None = None,
) -> list[Call]:
    """The calls of one run, in their order; whoever makes the one of number `kill_at`, or the one that it answers True to, is
    killed, and all else runs to its end.

    `edit` is done by us while the work stands still before the call of that number.
    """
    first = _begin(work)
    alive, calls = {first}, list[Call]()
    _ptrace(_SYSCALL, first)
    while alive:
        pid, status = os.waitpid(-1, _ANY_CHILD)
        if not os.WIFSTOPPED(status):
            alive.discard(pid)
            continue
        stopped, known = os.WSTOPSIG(status), pid in alive
        alive.add(pid)
        deliver = 0
        if stopped == signal.SIGTRAP | 0x80:
            number = _entered(pid)
            if number is not None:
                calls.append(Call(number, pid != first))
                if edit and len(calls) - 1 == edit[0]:
                    edit[1]()
                if kill_at(calls) if callable(kill_at) else len(calls) - 1 == kill_at:
                    os.kill(pid, signal.SIGKILL)
                    continue
        elif known and stopped not in (signal.SIGTRAP, signal.SIGSTOP):
            deliver = stopped
        try:
            _ptrace(_SYSCALL, pid, None, deliver)
        except ProcessLookupError:
            continue
    return calls


def chosen(calls: Sequence[Call], most: int | None, seed: int) -> list[int]:
    """All points, or so many of them: the first and the last of each kind of call, those around which one program waits for
    another, and a sample of the others.
    """
    everything = range(len(calls))
    if most is None or len(calls) <= most:
        return list(everything)
    first = {call: at for at, call in reversed(list(enumerate(calls)))}
    last = {call: at for at, call in enumerate(calls)}
    turns = [at for at, (one, other) in enumerate(pairwise(calls)) if one.started != other.started]
    near = {at + step for at in turns for step in range(-2, 4) if 0 <= at + step < len(calls)}
    must = {*first.values(), *last.values(), *near}
    rest = [at for at in everything if at not in must]
    return sorted({*must, *random.Random(seed).sample(rest, min(len(rest), max(0, most - len(must))))})


@dataclass(frozen=True)
class Scene:
    """A live crontab and the folder whose plan changes it, as they are before each kill."""

    folder: Path
    kept: Path
    old: bytes
    read: Callable[[], bytes]
    put: Callable[[bytes], None]

    def reset(self) -> None:
        """The state before the step, without new inodes for what did not change."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)
        self.put(self.old)


def kills(verb: str, scene: Scene, original: bytes, most: int | None, seed: int) -> list[Left]:
    """Kill the verb at the points; after each, go back and apply again."""
    from cron2queue.cli import switching
    from cron2queue.errors import UsageError

    def work() -> None:
        getattr(switching, f"perform_{verb}")(scene.folder, [], yes=True)

    def back() -> None:
        try:
            switching.perform_rollback(scene.folder, [], yes=True)
        except UsageError as trouble:
            if "nothing was applied" not in trouble.message:
                raise

    work()  # everything that is imported late is there from now on
    scene.reset()
    calls = run(work)
    new, found = scene.read(), list[Left]()
    for at in chosen(calls, most, seed):
        scene.reset()
        done = run(work, at)
        text = scene.read()
        back()
        undone = scene.read() == original
        switching.perform_apply(scene.folder, [], yes=True)
        applied = new if verb == "apply" else scene.old
        name = "old" if text == scene.old else "new" if text == new else "torn"
        found.append(Left(at, done[-1].number if done else -1, name, undone, scene.read() == applied))
    return found


def edits(scene: Scene, path: Path) -> list[bool]:
    """Whether an edit stands in the end that another hand made, by a new file, while apply stood before each of its calls."""
    from cron2queue.cli import switching

    def work() -> None:
        switching.perform_apply(scene.folder, [], yes=True)

    def edit() -> None:
        mine = path.with_name("mine")
        mine.write_bytes(path.read_bytes() + EDIT)
        mine.rename(path)

    work()
    scene.reset()
    found = []
    for at in range(len(run(work))):
        scene.reset()
        run(work, edit=(at, edit))
        found.append(scene.read().endswith(EDIT))
    return found


def main(verb: str, folder: str, crontab: str, original: str, most: str, seed: str) -> None:
    """`crontab` is a file, or `user:NAME` for one that only crontab(1) writes; `original` a file with the text before."""
    from cron2queue.cutover.live import UserCrontab

    if crontab.startswith("user:"):
        live = UserCrontab(crontab.removeprefix("user:"))
        read, put = live.read, partial(_through, live)
    else:
        path = Path(crontab)
        read, put = path.read_bytes, _rewrite(path)
    kept = Path(f"{folder}.kept")
    shutil.copytree(folder, kept)
    scene = Scene(folder=Path(folder), kept=kept, old=read(), read=read, put=put)
    said = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if verb == "edits":
        os.write(said, json.dumps(edits(scene, Path(crontab))).encode())
        return
    found = kills(verb, scene, Path(original).read_bytes(), None if most == "all" else int(most), int(seed))
    os.write(said, json.dumps([asdict(each) for each in found]).encode())


def _through(live: "UserCrontab", text: bytes) -> None:
    live.write(text, expected=live.read())


def _rewrite(path: Path) -> Callable[[bytes], None]:
    def put(text: bytes) -> None:
        path.write_bytes(text)
        for left in path.parent.glob(f".{path.name}.*"):
            left.unlink()

    return put


if __name__ == "__main__":
    main(*sys.argv[1:])
