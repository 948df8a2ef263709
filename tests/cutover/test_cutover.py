"""Apply and rollback on real files: whole, compared before, backed up, and back again with later edits kept."""

import fcntl
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from presence import need_root

from cron2queue.plan.blocks import found_blocks, restored

APPLIED = b"""# the shop
SHELL=/bin/sh
# cron2queue replaced the next line on 2026-12-01: import
#*/5 * * * * root /bin/import --all
*/5 * * * * root /bin/new-import
# cron2queue replaced the next line on 2026-12-01: report
#0 1 * * * root /bin/report
0 1 * * * root /bin/new-report
# end
# cron2queue switched off the next line on 2026-12-01: old
#30 2 * * * root /bin/old
"""


def names(text: bytes) -> list[str]:
    return [block.name for block in found_blocks(text)]


def test_apply_replaces_the_lines_and_keeps_the_old_ones_as_dated_comments(case: Any) -> None:
    ran = case.run("apply")
    assert ran.returncode == 0, ran.stderr
    assert case.live() == APPLIED
    assert "+*/5 * * * * root /bin/new-import" in ran.stdout


def test_diff_shows_the_change_and_makes_none(case: Any) -> None:
    ran = case.run("diff")
    assert ran.returncode == 1
    assert "-30 2 * * * root /bin/old" in ran.stdout
    assert case.live() == case.original
    case.run("apply")
    assert case.run("diff").returncode == 0


def test_rollback_gives_back_every_byte(case: Any) -> None:
    case.run("apply")
    ran = case.run("rollback")
    assert ran.returncode == 0, ran.stderr
    assert case.live() == case.original
    again = case.run("rollback")
    assert again.returncode == 2
    assert "nothing was applied" in again.stderr and "remedy: cron2queue diff" in again.stderr


def test_owner_and_mode_stay(case: Any) -> None:
    case.crontab.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(case.crontab, 12345, 54321)
    before = case.crontab.stat()
    case.run("apply")
    after = case.crontab.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_the_backup_is_for_its_owner_alone(case: Any) -> None:
    case.run("apply")
    backup = case.folder / "cutover" / "0001.crontab"
    assert backup.read_bytes() == case.original
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE((case.folder / "cutover").stat().st_mode) == 0o700


def test_one_entry_at_a_time(case: Any) -> None:
    case.run("apply", "report")
    assert names(case.live()) == ["report"]
    case.run("apply", "import")
    assert names(case.live()) == ["import", "report"]
    case.run("rollback", "report")
    assert names(case.live()) == ["import"]
    case.run("apply")
    assert case.live() == APPLIED
    case.run("rollback")
    assert case.live() == case.original


def test_apply_refuses_a_crontab_that_has_changed_since(case: Any) -> None:
    case.crontab.write_bytes(case.original + b"5 5 * * * root /bin/by-hand\n")
    ran = case.run("apply")
    assert ran.returncode == 4
    assert "changed since the plan" in ran.stderr
    assert case.live() == case.original + b"5 5 * * * root /bin/by-hand\n"


def test_rollback_keeps_edits_made_elsewhere_since(case: Any) -> None:
    case.run("apply")
    edited = case.live().replace(b"# the shop\n", b"# the shop, edited\nMAILTO=ops\n") + b"5 5 * * * root /bin/by-hand\n"
    case.crontab.write_bytes(edited)
    ran = case.run("rollback")
    assert ran.returncode == 0, ran.stderr
    assert case.live() == restored(edited)
    assert b"/bin/by-hand" in case.live()
    assert b"MAILTO=ops" in case.live()
    assert not names(case.live())


def shown(diff: str) -> tuple[list[str], list[str]]:
    """The lines that a diff takes away, and those that it adds."""
    assert diff.startswith("--- as applied\n+++ as it stands\n@@ ")
    body = diff.splitlines()[3:]
    return [line[1:] for line in body if line[0] == "-"], [line[1:] for line in body if line[0] == "+"]


def gone(old: bytes, new: bytes) -> list[str]:
    """The lines of one text that the other has not."""
    return [line for line in old.decode().splitlines() if line not in new.decode().splitlines()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"*/5 * * * * root /bin/new-import", b"*/9 * * * * root /bin/new-import"),
        (b"#*/5 * * * * root /bin/import --all", b"#*/5 * * * * root /bin/import --some"),
        (b"# cron2queue replaced the next line on 2026-12-01: import\n", b""),
        (b"*/5 * * * * root /bin/new-import\n", b""),
    ],
    ids=["new line", "old line", "marker gone", "new line gone"],
)
def test_rollback_refuses_where_a_replaced_line_was_edited_and_shows_the_edit(case: Any, old: bytes, new: bytes) -> None:
    case.run("apply")
    edited = case.live().replace(old, new, 1)
    assert edited != case.live()
    case.crontab.write_bytes(edited)
    ran = case.run("rollback")
    assert ran.returncode == 4
    assert "import were edited" in ran.stderr
    assert shown(ran.stdout) == (gone(old, new), gone(new, old))
    assert case.live() == edited
    assert case.run("rollback", "report").returncode == 0
    marker = b"# cron2queue replaced the next line on 2026-12-01: report\n"
    block = marker + b"#0 1 * * * root /bin/report\n0 1 * * * root /bin/new-report\n"
    assert case.live() == edited.replace(block, b"0 1 * * * root /bin/report\n")


def test_the_shown_edits_are_those_of_the_whole_crontab(case: Any) -> None:
    case.run("apply")
    edited = (
        case.live().replace(b"# the shop\n", b"# our shop\n").replace(b"\n*/5 *", b"\n*/9 *") + b"1 1 * * * root /bin/own\n"
    )
    case.crontab.write_bytes(edited)
    taken, added = shown(case.run("rollback").stdout)
    assert taken == ["# the shop", "*/5 * * * * root /bin/new-import"]
    assert added == ["# our shop", "*/9 * * * * root /bin/new-import", "1 1 * * * root /bin/own"]


def test_rollback_refuses_an_edited_line_though_the_text_to_compare_with_is_gone(case: Any) -> None:
    case.run("apply")
    (case.folder / "cutover/0001.crontab.new").unlink()
    case.crontab.write_bytes(case.live().replace(b"\n*/5 *", b"\n*/9 *"))
    ran = case.run("rollback")
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "import were edited" in ran.stderr


def test_apply_refuses_while_something_that_the_new_lines_need_is_missing(case: Any, tmp_path: Path) -> None:
    case.needs = (str(tmp_path / "import.lock"),)
    case.plan()
    ran = case.run("apply")
    assert ran.returncode == 4
    assert "import.lock" in ran.stderr
    assert case.live() == case.original
    (tmp_path / "import.lock").touch()
    assert case.run("apply").returncode == 0


def test_apply_refuses_what_the_user_of_the_job_could_not_read(case: Any, open_folder: Path) -> None:
    need_root("changes the crontab of several users")
    plan = open_folder / "plan"
    plan.touch()
    plan.chmod(0o600)
    case.needs, case.runs_as = (str(plan),), "games"
    case.plan()
    ran = case.run("apply")
    assert ran.returncode == 4
    assert f"games cannot read {plan}" in ran.stderr
    plan.chmod(0o644)
    assert case.run("apply").returncode == 0
    case.runs_as = "no-such-user"
    case.plan()
    case.run("rollback")
    assert "there is no user no-such-user" in case.run("apply").stderr


def test_apply_refuses_a_program_that_lies_behind_a_link_where_the_user_may_not_go(case: Any, open_folder: Path) -> None:
    need_root("changes the crontab of several users")
    behind, program = open_folder / "closed", open_folder / "python3"
    behind.mkdir(mode=0o700)
    (behind / "python3").touch(mode=0o755)
    program.symlink_to(behind / "python3")
    case.needs, case.runs_as = (str(program),), "games"
    case.plan()
    ran = case.run("apply")
    assert ran.returncode == 4
    assert f"games cannot run {program}" in ran.stderr
    behind.chmod(0o755)
    assert case.run("apply").returncode == 0


def test_a_crontab_that_is_a_link_is_refused(case: Any, tmp_path: Path) -> None:
    real = tmp_path / "real"
    case.crontab.rename(real)
    case.crontab.symlink_to(real)
    ran = case.run("apply")
    assert ran.returncode == 4
    assert real.read_bytes() == case.original


def test_a_crontab_with_other_hard_links_is_refused(case: Any, tmp_path: Path) -> None:
    os.link(case.crontab, tmp_path / "twin")
    ran = case.run("apply")
    assert ran.returncode == 4
    assert "hard links" in ran.stderr
    assert case.live() == case.original


def test_only_names_that_the_plan_knows(case: Any) -> None:
    ran = case.run("apply", "imprt")
    assert ran.returncode == 2
    assert "did you mean 'import'" in ran.stderr
    refused = case.run("apply", "odd")
    assert refused.returncode == 4
    assert "it cannot be done" in refused.stderr


def test_an_entry_that_the_plan_leaves_alone_again_gets_its_old_line_back(case: Any) -> None:
    case.run("apply")
    case.plan(leave=("import",))
    ran = case.run("apply")
    assert ran.returncode == 0, ran.stderr
    assert names(case.live()) == ["report", "old"]
    assert b"\n*/5 * * * * root /bin/import --all\n" in case.live()
    case.plan(leave=("import", "report", "old"))
    assert case.run("apply", "report").returncode == 0
    assert names(case.live()) == ["old"]
    assert case.run("apply").returncode == 0
    assert case.live() == case.original


def test_a_second_apply_at_the_same_time_is_told_to_wait(case: Any) -> None:
    case.run("diff")
    with (case.folder / "cutover/lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = case.run("apply")
    assert ran.returncode == 75
    assert case.live() == case.original


def test_a_folder_without_plan_says_so(tmp_path: Path, case: Any) -> None:
    case.folder = tmp_path / "empty"
    case.folder.mkdir()
    ran = case.run("apply")
    assert ran.returncode == 2
    assert "convert has not made this folder" in ran.stderr


def test_damaged_files_are_told_of_by_name(case: Any) -> None:
    case.run("apply")
    (case.folder / "cutover/0001.crontab").write_bytes(b"somebody was here")
    ran = case.run("rollback")
    assert ran.returncode == 2
    assert "0001.crontab" in ran.stderr
    journal = case.folder / "cutover/journal.jsonl"
    good = journal.read_bytes()
    journal.write_bytes(good + b"[1]\n")
    assert f"journal.jsonl:{len(good.splitlines()) + 1}: the journal is damaged" in case.run("rollback").stderr
    journal.write_bytes(good)
    for text, place in (("{\n]", "PLAN.json:2:1: "), ("{}", "PLAN.json: "), ("[1]", "PLAN.json: ")):
        (case.folder / "PLAN.json").write_text(text)
        assert f"{place}PLAN.json is damaged" in case.run("rollback").stderr
    assert case.live() == APPLIED


def test_bytes_that_are_not_utf8_go_there_and_back(case: Any) -> None:
    case.original = case.original.replace(b"--all", b"--caf\xe9")
    case.crontab.write_bytes(case.original)
    case.plan()
    assert case.run("apply").returncode == 0
    assert b"#*/5 * * * * root /bin/import --caf\xe9\n" in case.live()
    case.crontab.write_bytes(case.live() + b"# \xff edited\n")
    assert case.run("rollback").returncode == 0
    assert case.live() == case.original + b"# \xff edited\n"


def test_secrets_are_masked_in_what_is_shown(case: Any) -> None:
    case.original = case.original.replace(b"--all", b"https://u:Geheim2019@erp.example/")
    case.crontab.write_bytes(case.original)
    case.plan()
    ran = case.run("apply")
    assert "Geheim2019" not in ran.stdout + ran.stderr
    assert b"Geheim2019" in case.live()


def test_the_journal_tells_what_was_done(case: Any) -> None:
    case.run("apply", "report")
    case.run("rollback")
    lines = [json.loads(line) for line in (case.folder / "cutover/journal.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["state"]) for line in lines] == [
        ("apply", "begun"),
        ("apply", "done"),
        ("rollback", "begun"),
        ("rollback", "done"),
    ]
