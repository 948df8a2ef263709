"""`cron2queue rollback`: the way back, through the command line."""

from pathlib import Path

from command_line import run

TEXT = "# ours\n0 0 31 2 * root bin/never\n0 0 30 2 * root bin/neither\n"


def applied(tmp_path: Path) -> tuple[Path, str]:
    crontab, folder = tmp_path / "crontab", str(tmp_path / "c2q")
    crontab.write_text(TEXT)
    assert run("convert", str(crontab), "--into", folder).status == 0
    assert run("apply", folder, "--yes").status == 0
    assert crontab.read_text() != TEXT
    return crontab, folder


def test_every_byte_comes_back(tmp_path: Path) -> None:
    crontab, folder = applied(tmp_path)
    assert run("rollback", folder, "--yes").status == 0
    assert crontab.read_text() == TEXT


def test_later_edits_stay_and_are_spoken_of(tmp_path: Path) -> None:
    crontab, folder = applied(tmp_path)
    crontab.write_text("MAILTO=ops\n" + crontab.read_text())
    ran = run("rollback", folder, "--yes")
    assert ran.status == 0
    assert "those edits stay" in ran.err
    assert crontab.read_text() == "MAILTO=ops\n" + TEXT


def test_an_edited_block_is_refused_with_the_difference(tmp_path: Path) -> None:
    crontab, folder = applied(tmp_path)
    edited = crontab.read_text().replace("#0 0 31 2 * root bin/never", "#0 0 31 2 * root bin/now-and-then")
    crontab.write_text(edited)
    ran = run("rollback", folder, "--yes")
    assert ran.status == 4
    assert "+#0 0 31 2 * root bin/now-and-then" in ran.out
    assert crontab.read_text() == edited
    assert run("rollback", folder, "--only", "neither", "--yes").status == 0


def test_converting_again_after_apply_still_goes_back(tmp_path: Path) -> None:
    crontab, folder = applied(tmp_path)
    crontab.write_text(crontab.read_text() + "0 5 29 2 * root bin/seldom\n")
    assert run("convert", str(crontab), "--into", folder).status == 0
    assert run("apply", folder, "--yes").status == 0
    assert run("rollback", folder, "--yes").status == 0
    assert crontab.read_text() == TEXT + "0 5 29 2 * root bin/seldom\n"


def test_without_an_apply_there_is_nothing_to_take_back(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text(TEXT)
    assert run("convert", str(tmp_path / "crontab"), "--into", str(tmp_path / "c2q")).status == 0
    assert run("rollback", str(tmp_path / "c2q"), "--yes").status == 2


def test_a_plan_whose_notes_were_damaged_is_converted_again_and_rolled_back(tmp_path: Path) -> None:
    text = "0 0 31 2 * root bin/never\n0 3 * * * root true\n"
    (tmp_path / "crontab").write_text(text)
    convert = ("convert", "crontab", "--kind", "system", "--into", "c2q", "--quiet")
    assert run(*convert, cwd=tmp_path).status == 0
    assert run("apply", "c2q", "--yes", cwd=tmp_path).status == 0
    (tmp_path / "c2q/PLAN.json").write_text("{")
    assert "\n  remedy: move it away, then run convert again" in run(*convert, cwd=tmp_path).err
    (tmp_path / "c2q/PLAN.json").unlink()
    assert run(*convert, cwd=tmp_path).status == 0
    back = run("rollback", "c2q", "--yes", cwd=tmp_path)
    assert (back.status, (tmp_path / "crontab").read_text()) == (0, text), back.err
