"""Facts of a host, from a copied tree: read only, links stay inside, nothing odd in it stops the audit."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cron2queue.cli.host import host_facts, in_place
from cron2queue.cli.sources import read
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse

CRONTAB = b"5 4 * * * root /usr/local/bin/report --out /var/out.csv && cd /srv/app/*/x\n6 4 * * * nobody2 missing\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("etc/cron.d", "etc/cron.daily", "usr/local/bin", "usr/sbin", "etc/systemd/system", "usr/lib/systemd/system"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/crontab").write_bytes(CRONTAB)
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nbob:x:1000:1000::/home/bob:/bin/sh\nbroken\n", encoding="ascii"
    )
    (tmp_path / "usr/local/bin/report").write_text("#!/bin/sh\n", encoding="ascii")
    return tmp_path


def crontab(path: str = "/etc/crontab") -> CrontabFile:
    return parse(CRONTAB, path=path, dialect=dialect_named("debian"), kind=Kind.SYSTEM)


def test_users_paths_and_mail_are_those_of_the_tree(tree: Path) -> None:
    facts = host_facts([crontab()], tree)
    assert facts.users == {"root", "bob"}
    assert facts.paths == {"/usr/local/bin/report": True, "/var/out.csv": False}
    assert facts.mail is False
    (tree / "usr/sbin/sendmail").write_text("", encoding="ascii")
    assert host_facts([crontab()], tree).mail is True


def test_a_copy_of_etc_alone_does_not_tell_what_is_installed(tree: Path) -> None:
    shutil.rmtree(tree / "usr")
    facts = host_facts([crontab()], tree)
    assert (facts.paths, facts.mail) == ({}, None)


def test_a_path_behind_a_link_is_looked_up_inside_the_tree(tree: Path) -> None:
    """An absolute link of the other host means that host's root, never this machine's."""
    (tree / "usr/local/bin/report").unlink()
    (tree / "usr/local/bin").rmdir()
    (tree / "usr/local/bin").symlink_to("/opt/bin")
    assert host_facts([crontab()], tree).paths["/usr/local/bin/report"] is False
    (tree / "opt/bin").mkdir(parents=True)
    (tree / "opt/bin/report").write_text("", encoding="ascii")
    assert host_facts([crontab()], tree).paths["/usr/local/bin/report"] is True


def test_scripts_and_timers_are_other_ways_to_start(tree: Path) -> None:
    script = tree / "etc/cron.daily/logrotate"
    script.write_text("#!/bin/sh\n/usr/sbin/logrotate /etc/logrotate.conf\n", encoding="ascii")
    script.chmod(0o755)
    (tree / "etc/cron.daily/README").write_text("not run\n", encoding="ascii")
    (tree / "etc/cron.daily/README").chmod(0o644)
    (tree / "etc/systemd/system/report.timer").write_text("[Timer]\nOnCalendar=daily\nUnit=send.service\n", encoding="ascii")
    (tree / "usr/lib/systemd/system/send.service").write_text("[Service]\nExecStart=-/usr/local/bin/report\n", encoding="ascii")
    (tree / "usr/lib/systemd/system/report.timer").write_text("[Timer]\nUnit=other.service\n", encoding="ascii")
    starts = {(start.origin, start.name): start.command for start in host_facts([crontab()], tree).starts}
    assert starts == {
        ("/etc/cron.daily", "logrotate"): "#!/bin/sh\n/usr/sbin/logrotate /etc/logrotate.conf\n",
        ("systemd timer", "report.timer"): "/usr/local/bin/report",
    }


def test_a_timer_that_the_cron_line_gives_way_to_is_no_second_start(tree: Path) -> None:
    service = tree / "usr/lib/systemd/system/phpsessionclean.service"
    service.write_text("[Service]\nExecStart=/usr/lib/php/sessionclean\n", encoding="ascii")
    (tree / "usr/lib/systemd/system/phpsessionclean.timer").write_text("[Timer]\nOnCalendar=daily\n", encoding="ascii")
    plain = b"9 * * * * root /usr/lib/php/sessionclean\n"
    giving_way = b"9 * * * * root if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi\n"
    for text, starts in ((plain, ["phpsessionclean.timer"]), (giving_way, [])):
        file = parse(text, path="/etc/cron.d/php", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
        assert [start.name for start in host_facts([file], tree).starts] == starts


def test_a_script_that_gives_way_silences_its_timer_and_a_folder_that_was_read_is_not_told_twice(tree: Path) -> None:
    script = tree / "etc/cron.daily/logrotate"
    script.write_text(
        "#!/bin/sh\n[ -d /run/systemd/system ] && exit 0\n/usr/sbin/logrotate /etc/logrotate.conf\n", encoding="ascii"
    )
    script.chmod(0o755)
    (tree / "usr/lib/systemd/system/logrotate.timer").write_text("[Timer]\nOnCalendar=daily\n", encoding="ascii")
    assert [start.name for start in host_facts([crontab()], tree).starts] == ["logrotate"]
    assert host_facts([crontab(), crontab("/etc/cron.daily")], tree).starts == ()


def test_pipes_folders_loops_and_bad_bytes_in_the_tree_stop_nothing(tree: Path) -> None:
    os.mkfifo(tree / "etc/cron.daily/pipe")
    (tree / "etc/cron.daily/folder").mkdir()
    (tree / "etc/cron.daily/loop").symlink_to("loop")
    (tree / "etc/cron.daily/nowhere").symlink_to("/nowhere/at/all")
    (tree / "etc/systemd/system/x.timer").symlink_to("/dev/zero")
    os.mkfifo(tree / "etc/systemd/system/y.timer")
    (tree / "etc/passwd").write_bytes(b"\xff\xfe:\n\0")
    facts = host_facts([crontab()], tree)
    assert [start.command for start in facts.starts] == ["", ""]


def test_a_folder_that_is_told_as_a_crontab_has_no_mode_to_judge(tree: Path) -> None:
    facts = host_facts([crontab(str(tree / "etc/cron.daily")), crontab(str(tree / "etc/crontab"))], tree)
    assert str(tree / "etc/cron.daily") not in facts.files
    if os.geteuid() == 0:
        assert facts.files[str(tree / "etc/crontab")].owner == "root"


def test_only_crontabs_where_the_daemon_reads_them_are_in_place() -> None:
    assert in_place([crontab("/etc/crontab"), crontab("/var/spool/cron/crontabs/bob")])
    assert not in_place([crontab("/etc/crontab"), crontab("deploy/crontab")])
    assert not in_place([])


def test_scripts_of_a_copied_tree_are_named_and_found_as_their_host_does(tree: Path) -> None:
    script = tree / "etc/cron.daily/backup"
    script.write_text("#!/bin/sh\n", encoding="ascii")
    script.chmod(0o755)
    files = read([], root=tree).files
    (entry,) = (entry for file in files if file.path.endswith("cron.daily") for entry in file.entries)
    assert entry.command == "/etc/cron.daily/backup"
    (tree / "usr/bin").mkdir(parents=True, exist_ok=True)
    assert host_facts(files, tree).paths["/etc/cron.daily/backup"] is True
