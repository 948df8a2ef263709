"""`cron2queue convert`, as a person runs it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run

from cron2queue.cutover import preflight

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"
TEXT = """*/5 * * * * www-data cd /srv/shop && bin/import-orders
0 3 * * * root /srv/backup/files.sh
"""


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    path = tmp_path / "crontab"
    path.write_text(TEXT)
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_shop_is_converted_with_its_logs_and_nothing_else_is_touched(tmp_path: Path) -> None:
    before = tree(SHOP)
    words = ("convert", str(SHOP / "crontab"), "--logs", str(SHOP / "logs"), "--into", "c2q", "--tz", "Europe/Berlin")
    ran = run(*words, cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert "nothing else was changed" in ran.out
    assert "import-orders           */5 * * * *   job -> critical  skip     900 s" in ran.out
    assert [line for line in ran.out.replace(str(tmp_path), "").splitlines() if len(line) > 80] == []
    written = tree(tmp_path)
    assert all(name.startswith("c2q/") for name in written)
    assert {"cron2queue.toml", "REVIEW.md", "crontab.new", "crontab.diff", "PLAN.json"} <= {name[4:] for name in written}
    assert tree(SHOP) == before


def test_a_file_that_cannot_be_written_is_named_with_what_helps(crontab: Path, tmp_path: Path) -> None:
    """What a full disk or a quota says holds no name. -B: half a .pyc would be left to all who come later."""
    small = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    small += "from cron2queue.cli.app import main; main()"
    words = ["convert", str(crontab), "--into", str(tmp_path / "c2q"), "--quiet"]
    ran = subprocess.run([sys.executable, "-B", "-c", small, *words], capture_output=True, text=True)
    assert ran.returncode == 2 and ran.stderr.startswith(f"cron2queue: {tmp_path}/c2q/")
    assert ran.stderr.endswith(
        ": cannot be written: File too large\n  remedy: raise the limit on the size of files (ulimit -f), then try again\n"
    )
    assert [name for name in tree(tmp_path) if "/." in name] == []


def test_check_says_whether_the_folder_is_up_to_date_and_writes_nothing(crontab: Path, tmp_path: Path) -> None:
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--quiet")
    assert run(*words, "--check").status == 1
    assert not (tmp_path / "c2q").exists()
    assert run(*words).status == 0
    before = tree(tmp_path)
    assert run(*words, "--check").status == 0
    crontab.write_text(TEXT + "1 1 * * * root bin/new\n")
    assert run(*words, "--check").status == 1
    crontab.write_text(TEXT)
    assert tree(tmp_path) == before


def test_the_check_does_not_depend_on_the_day(crontab: Path, tmp_path: Path) -> None:
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--quiet")
    assert run(*words, "--at", "2026-11-30").status == 0
    assert run(*words, "--at", "2026-12-24", "--check").status == 0


def test_a_dry_run_shows_and_writes_nothing(crontab: Path, tmp_path: Path) -> None:
    ran = run("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--dry-run")
    assert ran.status == 0
    assert "WOULD WRITE" in ran.out
    assert not (tmp_path / "c2q").exists()


def test_two_folders_of_the_same_things_are_the_same(tmp_path: Path) -> None:
    where = (
        "--set",
        "folder=/opt/c2q",
        "--set",
        "python=/opt/cron2queue/bin/python",
        "--tz",
        "Europe/Berlin",
        "--at",
        "2026-12-01",
    )
    for name in ("one", "two/deeper"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "crontab").write_text(TEXT)
        assert run("convert", "crontab", "--into", "c2q", *where, cwd=tmp_path / name).status == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two/deeper")


def test_standard_input_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "cron2queue", "convert", "-", "--kind", "system", "--into", "c2q"]
    ran = subprocess.run(words, input=TEXT, text=True, capture_output=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    manifest = json.loads((tmp_path / "c2q/PLAN.json").read_text())
    assert manifest["sources"][0]["target"] is None


def test_several_crontabs_have_their_own_new_ones(crontab: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("0 4 * * * deploy bin/nightly\n")
    assert run("convert", str(crontab), str(other), "--into", str(tmp_path / "c2q")).status == 0
    assert (tmp_path / "c2q/crontabs/02.new").read_text() == other.read_text()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["nowhere"], 3, "nowhere"),
        (["--language", "perl", "{crontab}"], 2, "one of python, php, shell, node"),
        (["--engine", "sqlqueu", "{crontab}"], 2, "did you mean 'sqlqueue'"),
        (["--set", "foldr=/x", "{crontab}"], 2, "did you mean 'folder'"),
        (["--set", "folder", "{crontab}"], 2, "KEY=VALUE"),
        (["--set", "prefix=drop table", "{crontab}"], 2, "--set prefix: prefix must be at most 31"),
        (["--set", "timezone=Europe/Berln", "{crontab}"], 2, "there is no time zone 'Europe/Berln'"),
        (["--set", "database=foo://bar", "{crontab}"], 2, "--database: database: this is not the URL"),
        (["--only", "import-order", "{crontab}"], 2, "did you mean 'import-orders'"),
        (["--timezone", "Europe/Berln", "{crontab}"], 2, "Europe/Berlin"),
        (["--dialect", "debain", "{crontab}"], 2, "debian"),
        (["--ask", "{crontab}"], 2, "not a terminal"),
        (["/dev/null"], 3, "not a regular file"),
        (["/etc/hostname"], 2, "no entry to convert"),
    ],
)
def test_mistakes_are_told_in_a_paragraph(
    words: list[str], status: int | None, said: str, crontab: Path, tmp_path: Path
) -> None:
    given = [word.format(crontab=crontab) for word in words]
    ran = subprocess.run(
        [sys.executable, "-m", "cron2queue", "convert", *given, "--into", str(tmp_path / "c2q")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == status
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "c2q").exists()


def test_a_misspelt_key_of_the_plan_is_told_with_its_line(crontab: Path, tmp_path: Path) -> None:
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"))
    assert run(*words).status == 0
    plan = tmp_path / "c2q/cron2queue.toml"
    plan.write_text(plan.read_text().replace("harden =", "hardn ="))
    ran = run(*words)
    assert ran.status == 2
    assert "cron2queue.toml:" in ran.err
    assert "did you mean 'harden'" in ran.err


def test_the_folder_may_not_be_a_link(crontab: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert run("convert", str(crontab), "--into", str(tmp_path / "link")).status == 2
    assert list((tmp_path / "real").iterdir()) == []


def test_a_relative_database_lies_in_the_plans_folder(crontab: Path, tmp_path: Path) -> None:
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--database", "sqlite:///./jobs.db")
    assert run(*words).status == 0
    assert f'database = "sqlite:///{tmp_path}/c2q/jobs.db"' in (tmp_path / "c2q/cron2queue.toml").read_text()


def test_secrets_stay_out_of_what_is_shown_and_reviewed(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("*/5 * * * * root curl https://user:Geheim2019@erp.example/import\n")
    ran = run("convert", str(tmp_path / "crontab"), "--into", str(tmp_path / "c2q"))
    assert "Geheim2019" not in ran.out + ran.err + (tmp_path / "c2q/REVIEW.md").read_text()


def test_answers_given_on_a_terminal_decide_and_are_remembered(crontab: Path, tmp_path: Path) -> None:
    crontab.write_text("*/10 * * * * www-data bin/odd-job\n")
    words = [sys.executable, "-m", "cron2queue", "convert", str(crontab), "--into", str(tmp_path / "c2q")]
    leader, follower = pty.openpty()
    asked = subprocess.Popen([*words, "--ask"], stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(leader, b"y\ny\ny\ny\n")
    out, err = asked.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    assert asked.returncode == 0, err
    assert b"[y/n" in err
    assert b"job ->" in out
    again = subprocess.run(words, capture_output=True, text=True)
    assert "job ->" in again.stdout


@pytest.mark.parametrize("engine", ["systemd", "celery-beat"])
def test_a_crontab_whose_lines_are_all_switched_off_can_go_to_another_engine_and_back(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both keep the times themselves, so that no line is left for cron."""
    monkeypatch.setattr(preflight, "UNIT_FOLDERS", (tmp_path / "c2q/units/systemd",))
    crontab = tmp_path / "crontab"
    crontab.write_text("*/5 * * * * root bin/import-orders\n")
    words = ("convert", "crontab", "--into", "c2q", "--quiet", "--set", f"lock-folder={tmp_path}/c2q/locks")
    assert run(*words, "--engine", engine, "--set", f"python={sys.executable}", cwd=tmp_path).status == 0
    assert run("migrate", "up", "--plan", "c2q/cron2queue.toml", cwd=tmp_path).status == 0
    assert run("apply", "c2q", "--yes", cwd=tmp_path).status == 0
    assert "\n*/5" not in f"\n{crontab.read_text()}"
    again = run(*words, "--engine", "sqlqueue", cwd=tmp_path)
    assert again.status == 0, again.err
    applied = run("apply", "c2q", "--yes", cwd=tmp_path)
    assert applied.status == 0, applied.err
    assert "\n*/5 * * * * root /usr/bin/flock" in crontab.read_text()
    assert run("rollback", "c2q", "--yes", cwd=tmp_path).status == 0
    assert crontab.read_text() == "*/5 * * * * root bin/import-orders\n"


def test_the_next_step_is_told_only_where_there_is_one(tmp_path: Path) -> None:
    folder, crontab = tmp_path / "c2q", tmp_path / "crontab"
    again = ("convert", str(crontab), "--kind", "system", "--into", str(folder))
    crontab.write_text("0 3 * * * root /usr/bin/true\n")
    told = run(*again).out
    assert "nothing is to be applied" in told and "cron2queue apply" not in told
    crontab.write_text("0 0 31 2 * root /usr/bin/true\n")
    assert "cron2queue apply" in run(*again).out
    assert run("apply", str(folder), "--yes").status == 0
    assert "nothing is to be applied" in run(*again).out
    plan = folder / "cron2queue.toml"
    plan.write_text(plan.read_text().replace('decision = "drop"', 'decision = "keep"'))
    assert "cron2queue apply" in run(*again).out  # the old line is to come back


def test_a_plan_that_has_lost_its_notes_takes_an_entry_to_the_queue(tmp_path: Path) -> None:
    folder, crontab = tmp_path / "c2q", tmp_path / "crontab"
    again = ("convert", str(crontab), "--kind", "system", "--into", str(folder))
    crontab.write_text("# cron2queue: name=one user-waits=yes lost-on-failure=yes\n*/5 * * * * root a\n0 3 * * * deploy b\n")
    assert run(*again).status == 0
    (folder / "PLAN.json").unlink()
    plan = folder / "cron2queue.toml"
    plan.write_text(plan.read_text().replace('decision = "keep"', 'decision = "queue"'))
    assert run(*again).status == 0 and "[queues.default" in plan.read_text()
    plan.write_text(plan.read_text().replace('queue = "critical"', 'queue = "nightly"'))
    told = run(*again)
    assert told.status == 2 and "there is no queue 'nightly'" in told.err and "[queues.nightly]" in told.err


@pytest.mark.parametrize(
    ("text", "place"),
    [(b"", ""), (b"# nothing\n\n", ""), (b"A=1\n61 * * * * x\nfoo\n", ":2:1"), (b"* * 32 * * x\n", ":1:5")],
)
def test_where_nothing_can_be_converted_the_file_and_its_first_mistake_are_named(
    tmp_path: Path, text: bytes, place: str
) -> None:
    (tmp_path / "crontab").write_bytes(text)
    ran = run("convert", "crontab", "--kind", "user", "--dialect", "debian", "--into", "c2q", cwd=tmp_path)
    assert (ran.status, ran.out, [each.name for each in tmp_path.iterdir()]) == (2, "", ["crontab"])
    assert ran.err.startswith(f"cron2queue: crontab{place}: there is no entry to convert")
    assert "\n  remedy: " in ran.err


def test_a_crontab_of_one_line_without_its_newline_is_put_right(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_bytes(b"0 3 * * * true")
    ran = run("convert", "crontab", "--kind", "user", "--dialect", "debian", "--into", "c2q", cwd=tmp_path)
    assert (ran.status, ran.err) == (0, "")
    assert (tmp_path / "c2q/crontab.new").read_bytes().endswith(b"\n#0 3 * * * true\n0 3 * * * true\n")


def test_the_last_entry_that_went_is_shown_as_any_other(crontab: Path, tmp_path: Path) -> None:
    assert run("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--quiet").status == 0
    crontab.write_text("# all of it went to the other host\n")
    ran = run("convert", str(crontab), "--into", str(tmp_path / "c2q"))
    assert (ran.status, ran.out.count("  removed  ")) == (0, 2)


@pytest.mark.parametrize("option", ["--logs", "--journal", "--observations"])
def test_evidence_that_is_none_is_told(crontab: Path, tmp_path: Path, option: str) -> None:
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"), option, str(tmp_path / "noise"))
    ran = run(*words)
    assert ran.status == 0
    assert ran.err.startswith(f"cron2queue: the evidence was of no use: {tmp_path / 'noise'}: ")
    assert "\n  remedy: Debian and Ubuntu: set " in ran.err


def test_what_stands_today_is_the_crontabs_and_what_follows_is_the_plans(tmp_path: Path) -> None:
    hosts = "# cron2queue: name=import user-waits=yes lost-on-failure=yes\n0 * * * * true\n" + "".join(
        f"0 * * * * /usr/bin/true {number}\n" for number in range(9)
    )
    (tmp_path / "crontab").write_text(hosts)
    words = ("convert", "crontab", "--kind", "user", "--dialect", "debian", "--into", "c2q", "--timezone", "UTC")
    out = run(*words, "--spread", cwd=tmp_path).out
    rows = [line.split(maxsplit=7) for line in out.splitlines() if line.lstrip()[:1].isdigit()]
    assert len(rows) == 10
    assert {" ".join(row[2:7]) for row in rows} == {"0 * * * *"}
    moved = [row[7] for row in rows if " * * * *" in row[7]]
    assert moved
    assert all(each.startswith(("at ", "job -> critical, at ")) for each in moved)
    assert run(*words, cwd=tmp_path).out.splitlines()[:13] == out.splitlines()[:13]


def test_a_guard_is_never_proposed_what_only_a_queue_can_keep(tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_text("# cron2queue: name=poll user-waits=yes lost-on-failure=yes\n* * * * * bin/send-mails\n")
    words = ("convert", str(crontab), "--kind", "user", "--dialect", "debian", "--into", str(tmp_path / "c2q"))
    assert "job -> critical  merge" in run(*words).out
    other = run(*words, "--engine", "guard").out
    assert "stays, guarded  skip" in other and "refused" not in other
    plan = tmp_path / "c2q/cron2queue.toml"
    plan.write_text(plan.read_text().replace('overlap = "skip"', 'overlap = "merge"'))
    assert "refused  poll: guard cannot merge: a lock has no memory" in run(*words).out


def answered(text: bytes, *words: str) -> "subprocess.CompletedProcess[str]":
    """Convert with --ask, on a terminal where these answers are typed."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "cron2queue", "convert", *words, "--ask"]
    asked = subprocess.Popen(command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.write(leader, text)
    out, err = asked.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    return subprocess.CompletedProcess(command, asked.returncode, out, err)


def test_later_answers_join_the_earlier_ones(crontab: Path, tmp_path: Path) -> None:
    crontab.write_text("0 * * * * www-data bin/odd-job\n")
    words = (str(crontab), "--into", str(tmp_path / "c2q"))
    first = answered(b"\nmaybe\ny\ny\nq\n", *words)  # a word that is no answer is asked again
    assert (first.returncode, first.stderr.count("does it hurt when two copies")) == (0, 2), first.stderr
    second = answered(b"n\nn\n", *words)
    assert second.returncode == 0, second.stderr
    [answers] = json.loads((tmp_path / "c2q/PLAN.json").read_text())["answers"].values()
    assert answers == {"mostly_empty": False, "overlap_hurts": True, "user_waits": True, "lost_on_failure": False}
    assert "open  " not in second.stdout
    assert run("convert", *words, "--check").status == 0


def test_a_job_that_changes_its_queue_leaves_nothing_for_the_next_run(crontab: Path, tmp_path: Path) -> None:
    several = "# cron2queue: user-waits=yes lost-on-failure=yes\n*/5 * * * * www-data bin/fetch\n"
    crontab.write_text(several + "# cron2queue: user-waits=yes overlap-hurts=yes\n0 * * * * www-data bin/sync\n")
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"))
    assert "job -> critical" in run(*words).out
    crontab.write_text(crontab.read_text().replace("user-waits=yes overlap", "mostly-empty=yes overlap"))
    changed = run(*words)
    assert "job -> imports" in changed.out, changed.out
    assert run(*words, "--check").status == 0


def test_a_timer_that_is_not_wanted_any_more_is_to_be_disabled(tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_text("# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * root true\n")
    words = ("convert", str(crontab), "--kind", "system", "--into", str(tmp_path / "c2q"))
    assert run(*words, "--engine", "systemd").status == 0
    told = run(*words, "--engine", "sqlqueue").out
    assert "units/systemd/cron2queue-c2q-work.timer; disable it as its line comes back, then delete it" in told
    assert "units/systemd/cron2queue-c2q-work.service; delete it when nothing uses it" in told
