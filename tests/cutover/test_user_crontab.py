"""A real user's crontab, through the real crontab(1)."""

import pwd
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from presence import absent, need_root

from cron2queue.crontab.spool import without_heading
from cron2queue.cutover.live import UserCrontab
from cron2queue.errors import Refused

ORIGINAL = (
    b"# the user's own\nSHELL=/bin/sh\n*/5 * * * * /bin/import --all\n0 1 * * * /bin/report\n# end\n30 2 * * * /bin/old\n"
)


def test_what_is_written_is_read_back_without_the_spools_heading(user: UserCrontab) -> None:
    assert user.read() == b""
    user.write(ORIGINAL, expected=user.read())
    assert user.read() == ORIGINAL
    spooled = Path("/var/spool/cron/crontabs") / user.user
    if spooled.exists():
        assert without_heading(spooled.read_bytes()) == ORIGINAL


def test_a_text_that_crontab_refuses_changes_nothing(user: UserCrontab) -> None:
    user.write(ORIGINAL, expected=user.read())
    with pytest.raises(Refused, match="did not take"):
        user.write(b"this is no crontab\n", expected=user.read())
    assert user.read() == ORIGINAL


def test_apply_and_rollback_on_a_real_user_crontab(user: UserCrontab, case: Any) -> None:
    case.original, case.user = ORIGINAL, user.user
    user.write(ORIGINAL, expected=user.read())
    case.plan()
    applied = case.run("apply")
    assert applied.returncode == 0, applied.stderr
    assert b"*/5 * * * * root /bin/new-import\n" in user.read()
    user.write(b"# edited\n" + user.read(), expected=user.read())
    back = case.run("rollback")
    assert back.returncode == 0, back.stderr
    assert user.read() == b"# edited\n" + ORIGINAL


def test_the_four_commands_on_a_real_user_crontab(user: UserCrontab, open_folder: Path) -> None:
    text = b"# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * /bin/true\n0 0 31 2 * /bin/true never\n"
    user.write(text, expected=user.read())
    spooled, folder = f"/var/spool/cron/crontabs/{user.user}", str(open_folder / "c2q")
    if not Path(spooled).exists():
        absent("this cron has its spool elsewhere")
    assert run("convert", spooled, "--into", folder, "--set", "python=/bin/true").status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    owner = pwd.getpwnam(user.user).pw_uid
    assert {lock.stat().st_uid for lock in (open_folder / "c2q/locks").iterdir()} == {owner}
    assert run("diff", folder).status == 1
    refused = run("apply", folder, "--yes")
    assert (refused.status, f"{user.user} cannot write" in refused.err) == (4, True)
    (own := open_folder / "own").mkdir()
    assert run("convert", spooled, "--into", folder, "--database", f"sqlite:///{own}/jobs.db").status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    for path in (own, *own.iterdir()):
        shutil.chown(path, user.user)
    applied = run("apply", folder, "--yes")
    assert applied.status == 0, applied.err
    assert b"enqueue work" in user.read()
    assert run("convert", spooled, "--into", folder, "--check").status == 0
    assert run("rollback", folder, "--yes").status == 0
    assert user.read() == text


@pytest.mark.needs("crontab")
def test_a_user_that_does_not_exist_is_refused() -> None:
    need_root("asks for another user's crontab")
    with pytest.raises(Refused):
        UserCrontab("no-such-user-here").read()
