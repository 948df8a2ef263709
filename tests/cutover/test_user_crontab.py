"""A real user's crontab, through the real crontab(1)."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from cron2queue.cutover.live import UserCrontab
from cron2queue.errors import Refused
from cron2queue.plan.blocks import without_heading

USER = "games"


def usable() -> str | None:
    """Why this host cannot show it, or None."""
    if shutil.which("crontab") is None:
        return "crontab(1) is not installed"
    if os.geteuid() != 0:
        return "only root may use the crontab of another user"
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return f"there is no user {USER}"
    held = subprocess.run(["crontab", "-u", USER, "-l"], capture_output=True, check=False)
    return f"{USER} has a crontab of its own" if held.returncode == 0 else None


@pytest.fixture
def user() -> Iterator[UserCrontab]:
    why = usable()
    if why:
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    yield UserCrontab(USER)
    subprocess.run(["crontab", "-u", USER, "-r"], capture_output=True, check=False)


ORIGINAL = (
    b"# the user's own\nSHELL=/bin/sh\n*/5 * * * * /bin/import --all\n0 1 * * * /bin/report\n# end\n30 2 * * * /bin/old\n"
)


def test_what_is_written_is_read_back_without_the_spools_heading(user: UserCrontab) -> None:
    assert user.read() == b""
    user.write(ORIGINAL)
    assert user.read() == ORIGINAL
    spooled = Path("/var/spool/cron/crontabs") / USER
    if spooled.exists():
        assert without_heading(spooled.read_bytes()) == ORIGINAL


def test_a_text_that_crontab_refuses_changes_nothing(user: UserCrontab) -> None:
    user.write(ORIGINAL)
    with pytest.raises(Refused, match="did not take"):
        user.write(b"this is no crontab\n")
    assert user.read() == ORIGINAL


def test_apply_and_rollback_on_a_real_user_crontab(user: UserCrontab, case: Any) -> None:
    case.original, case.user = ORIGINAL, USER
    user.write(ORIGINAL)
    case.plan()
    applied = case.run("apply")
    assert applied.returncode == 0, applied.stderr
    assert b"*/5 * * * * root /bin/new-import\n" in user.read()
    user.write(b"# edited\n" + user.read())
    back = case.run("rollback")
    assert back.returncode == 0, back.stderr
    assert user.read() == b"# edited\n" + ORIGINAL


def test_the_four_commands_on_a_real_user_crontab(user: UserCrontab, open_folder: Path) -> None:
    text = b"# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * /bin/true\n0 0 31 2 * /bin/true never\n"
    user.write(text)
    spooled, folder = f"/var/spool/cron/crontabs/{USER}", str(open_folder / "c2q")
    if not Path(spooled).exists():
        pytest.skip("this cron has its spool elsewhere")
    assert run("convert", spooled, "--into", folder, "--set", "python=/bin/true").status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    owner = pwd.getpwnam(USER).pw_uid
    assert {lock.stat().st_uid for lock in (open_folder / "c2q/locks").iterdir()} == {owner}
    assert run("diff", folder).status == 1
    applied = run("apply", folder, "--yes")
    assert applied.status == 0, applied.err
    assert b"enqueue work" in user.read()
    assert run("convert", spooled, "--into", folder, "--check").status == 0
    assert run("rollback", folder, "--yes").status == 0
    assert user.read() == text


def test_a_user_that_does_not_exist_is_refused() -> None:
    if usable():
        pytest.skip("crontab(1) cannot be used here")
    with pytest.raises(Refused):
        UserCrontab("no-such-user-here").read()
