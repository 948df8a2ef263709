"""Killed at each system call that changes anything, apply and rollback leave the old crontab or the new one, whole."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cron2queue.cli.switching import perform_apply, perform_rollback
from cron2queue.errors import UsageError

CALLS = "write,fsync,rename,renameat,renameat2,fchmod,fchown,unlinkat,mkdirat,flock"
RUNNER = """
import sys
from pathlib import Path
from cron2queue.cli import switching
getattr(switching, f"perform_{sys.argv[1]}")(Path(sys.argv[2]), [], yes=True)
"""

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def traced(verb: str, folder: Path, inject: tuple[str, int] | None = None) -> subprocess.CompletedProcess[str]:
    kill = ["-e", f"inject={inject[0]}:signal=KILL:when={inject[1]}"] if inject else []
    words = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", *kill]
    return subprocess.run(
        [*words, sys.executable, "-B", "-c", RUNNER, verb, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def points(trace: str) -> list[tuple[str, int]]:
    """Every call of a clean run, as (name, how manieth of its name)."""
    names = re.findall(r"^(?:\[pid +\d+\] )?([a-z0-9]+)\(", trace, re.M)
    return [(name, at) for name, number in Counter(names).items() for at in range(1, number + 1)]


def reset(case: Any, start: Path, text: bytes) -> None:
    """The state before the step, without new inodes for what did not change."""
    shutil.rmtree(case.folder)
    shutil.copytree(start, case.folder)
    case.crontab.write_bytes(text)
    for left in case.crontab.parent.glob(".crontab.*"):
        left.unlink()


def back(case: Any) -> None:
    """Go back whatever happened; that nothing was applied is an answer too."""
    try:
        perform_rollback(case.folder, [], yes=True)
    except UsageError as trouble:
        assert "nothing was applied" in trouble.message


@pytest.mark.parametrize("verb", ["apply", "rollback"])
def test_a_kill_at_each_call_leaves_a_whole_crontab_from_which_both_ways_work(case: Any, verb: str, tmp_path: Path) -> None:
    if verb == "rollback":
        perform_apply(case.folder, [], yes=True)
    old, start = case.live(), tmp_path / "start"
    shutil.copytree(case.folder, start)
    clean = traced(verb, case.folder)
    assert clean.returncode == 0, clean.stderr
    new, seen = case.live(), set()
    assert new != old
    found = points(clean.stderr)
    assert len(found) > 20
    for point in found:
        reset(case, start, old)
        traced(verb, case.folder, point)
        assert case.live() in (old, new), point
        seen.add(case.live())
        back(case)
        assert case.live() == case.original, point
        perform_apply(case.folder, [], yes=True)
        assert case.live() == (new if verb == "apply" else old), point
    assert seen == {old, new}


def test_a_full_disk_keeps_the_old_crontab(case: Any) -> None:
    ran = subprocess.run(
        [
            *("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=ENOSPC:when=1+"),
            *(sys.executable, "-B", "-c", RUNNER, "apply", str(case.folder)),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert ran.returncode != 0
    assert case.live() == case.original
    assert list(case.crontab.parent.glob(".crontab.*")) == []
