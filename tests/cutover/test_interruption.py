"""Killed at any system call, apply and rollback leave the old crontab or the new one, whole, and both ways still work."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cron2queue.cli.switching import perform_apply
from cron2queue.cutover.live import UserCrontab

RUNNER = """
import sys
from pathlib import Path
from cron2queue.cli import switching
getattr(switching, f"perform_{sys.argv[1]}")(Path(sys.argv[2]), [], yes=True)
"""
KILLING = Path(__file__).with_name("killing.py")
SEED = 20261201


def kills(verb: str, case: Any, crontab: str, most: str, tmp_path: Path) -> list[dict[str, Any]]:
    """What each kill left, from a process that may wait for all of its children."""
    original = tmp_path / "original"
    original.write_bytes(case.original)
    words = [verb, str(case.folder), crontab, str(original), most, str(SEED)]
    ran = subprocess.run([sys.executable, "-B", str(KILLING), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("verb", ["apply", "rollback"])
def test_a_kill_at_every_call_leaves_a_whole_crontab_from_which_both_ways_work(case: Any, verb: str, tmp_path: Path) -> None:
    if verb == "rollback":
        perform_apply(case.folder, [], yes=True)
    found = kills(verb, case, str(case.crontab), "all", tmp_path)
    assert [each["at"] for each in found] == list(range(len(found)))
    assert len(found) > 100, "the whole step was walked through, reading calls and all"
    assert [each for each in found if each["text"] == "torn" or not each["back"] or not each["again"]] == []
    texts = [each["text"] for each in found]
    assert texts == sorted(texts, reverse=True), "one moment parts the old text from the new one"
    assert set(texts) == {"old", "new"}


@pytest.mark.parametrize("verb", ["apply", "rollback"])
def test_a_kill_of_apply_or_of_the_crontab_program_leaves_a_users_crontab_whole(
    user: UserCrontab, case: Any, verb: str, tmp_path: Path
) -> None:
    case.original, case.user = case.original.replace(b" root ", b" "), user.user
    user.write(case.original, expected=b"")
    case.plan()
    if verb == "rollback":
        perform_apply(case.folder, [], yes=True)
    found = kills(verb, case, f"user:{user.user}", "150", tmp_path)
    assert len(found) >= 150
    assert [each for each in found if each["text"] == "torn" or not each["back"] or not each["again"]] == []
    assert {each["text"] for each in found} == {"old", "new"}


@pytest.mark.needs("strace")
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
