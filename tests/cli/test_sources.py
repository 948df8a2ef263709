"""Sources: files, folders, standard input, a host's whole tree; nothing hangs, and what is assumed is told."""

import io
import os
import socket
import stat
from pathlib import Path

import pytest
from command_line import run

from cron2queue.cli.reading.tree import whole_host
from cron2queue.cli.sources import Sources, read
from cron2queue.crontab.dialect import UnknownDialect
from cron2queue.crontab.lines import Kind
from cron2queue.errors import UsageError

LINE = b"*/5 * * * * root /usr/bin/true\n"
OWN = b"*/5 * * * * /usr/bin/true\n"


def write(path: Path, data: bytes = LINE, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def from_stdin(data: bytes, **options: str) -> Sources:
    return read(["-"], stdin=io.BytesIO(data), **options)  # type: ignore[arg-type]


def test_standard_input_is_read_and_what_was_assumed_is_told() -> None:
    file = from_stdin(LINE).files[0]
    assert (file.path, file.kind, file.dialect) == ("-", Kind.SYSTEM, "debian")
    assert file.notes[0].startswith("read as debian: ")
    assert file.notes[1] == (
        "read as a system crontab: its one entry has a user between the schedule and the command (--kind tells otherwise)"
    )


def test_what_was_asked_for_is_not_guessed() -> None:
    file = from_stdin(LINE, dialect="cronie", kind="user", user="me").files[0]
    assert (file.dialect, file.kind, file.notes) == ("cronie", Kind.USER, ())
    assert (file.entries[0].user, file.entries[0].command) == ("me", "root /usr/bin/true")


def test_unknown_words_are_refused_with_a_hint() -> None:
    with pytest.raises(UnknownDialect) as caught:
        from_stdin(LINE, dialect="debain")
    assert "did you mean debian?" in (caught.value.remedy or "")
    with pytest.raises(UsageError):
        from_stdin(LINE, kind="both")


def test_the_kind_is_never_taken_from_the_name_alone(tmp_path: Path) -> None:
    user = read([str(write(tmp_path / "crontab", OWN))]).files[0]
    system = read([str(write(tmp_path / "mine", LINE))]).files[0]
    assert (user.kind, system.kind) == (Kind.USER, Kind.SYSTEM)


def test_a_place_that_disagrees_with_the_content_is_noted(tmp_path: Path) -> None:
    file = read([str(write(tmp_path / "cron.d" / "job", OWN))]).files[0]
    assert file.kind is Kind.SYSTEM
    assert any("but its one entry has the command right after the schedule" in note for note in file.notes)
    assert not file.loaded


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (b"CRON_TZ=UTC\n0 1 * * * x\n", "cronie"),
        (b"0~59 * * * * x\n", "cronie"),
        (b"-*/5 * * * * root x\n", "cronie"),
        (b"@every_minute x\n", "freebsd"),
        (b"0 2 * * * run-parts /etc/periodic/daily\n", "busybox"),
        (b"0 2 * * * root x\n", "debian"),
    ],
)
def test_the_text_may_tell_the_daemon(text: bytes, dialect: str) -> None:
    assert from_stdin(text).files[0].dialect == dialect


# --- things that are no files -------------------------------------------------------------------------------------


def test_what_is_no_regular_file_is_told_and_never_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    names = [fifo, tmp_path / "socket", "/dev/zero", loop, tmp_path / "nothing", tmp_path / ("x" * 300)]
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        found = read([str(name) for name in names])
    reasons = [each.reason for each in found.unreadable]
    assert reasons == [
        "it is a FIFO, not a regular file",
        "it is a socket, not a regular file",
        "it is a character device, not a regular file",
        "its symbolic links go round in a circle",
        "it does not exist",
        "its name is too long",
    ]
    assert all(each.remedy for each in found.unreadable)
    assert found.files == ()


def test_one_unreadable_source_does_not_hide_the_others(tmp_path: Path) -> None:
    found = read([str(tmp_path / "nothing"), str(write(tmp_path / "crontab"))])
    assert len(found.files) == len(found.unreadable) == 1


def test_what_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path, other = write(tmp_path / "a"), write(tmp_path / "b", OWN)
    found = read([str(path), f"{tmp_path}/./a", str(tmp_path), str(tmp_path / "none"), str(tmp_path / "none"), str(tmp_path)])
    assert [file.path for file in found.files] == [str(path), str(other)]
    assert [each.path for each in found.unreadable] == [str(tmp_path / "none")]


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as stream:
        stream.truncate(10**12)
    assert read([str(huge)]).unreadable[0].reason.startswith("it has 1000000000000 bytes")


def test_a_link_to_a_crontab_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(write(tmp_path / "crontab"))
    assert len(read([str(link)]).files[0].entries) == 1


def test_what_the_shell_opened_is_read(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, LINE)
    os.close(writer)
    try:
        assert len(read([f"/dev/fd/{reader}"]).files[0].entries) == 1
    finally:
        os.close(reader)


# --- folders ------------------------------------------------------------------------------------------------------


def test_a_folder_of_crontabs_is_read_with_all_below_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "web1" / "crontab")
    write(tmp_path / "web2" / "root", OWN)
    write(tmp_path / "README.md", b"Nothing to run here.\n")
    write(tmp_path / "logo.png", b"\x89PNG\0\0* * * * * x\n")
    write(tmp_path / ".git" / "config", LINE)
    write(tmp_path / "web1" / "crontab~", LINE)
    (tmp_path / "web1" / "round").symlink_to(tmp_path)
    found = read([str(tmp_path)])
    assert [Path(file.path).parent.name for file in found.files] == ["web1", "web2"]
    assert [Path(path).name for path in found.skipped] == ["README.md", "logo.png"]


@pytest.mark.parametrize(
    ("dialect", "ignored"),
    [
        ("debian", {"my.app", "x~", "a+b"}),
        ("cronie", {"x~", "job.rpmsave", "#lock"}),
        ("systemd-cron", {"x~", "job.rpmsave", "job.dpkg-old", "0anacron"}),
        ("freebsd", set()),
    ],
)
def test_names_in_cron_d_count_as_for_the_daemon(tmp_path: Path, dialect: str, ignored: set[str]) -> None:
    names = {"my.app", "x~", "a+b", "job.rpmsave", "job.dpkg-old", "#lock", "0anacron", "good-one_2"}
    files = [str(write(tmp_path / "cron.d" / name)) for name in sorted(names)]
    found = read(files, dialect=dialect).files
    named = {Path(file.path).name for file in found if file.why and "name" in file.why}
    assert named >= ignored
    assert "good-one_2" not in named
    assert {Path(file.path).name for file in found if not file.loaded} >= ignored


# --- a copied tree ------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "web1"
    write(root / "etc/crontab", b"17 * * * * root cd / && run-parts --report /etc/cron.hourly\n25 6 * * * root x\n")
    write(root / "etc/cron.d/app", LINE)
    write(root / "etc/cron.d/.placeholder", b"# none\n")
    write(root / "etc/hostname", b"web1\n")
    write(root / "etc/passwd", b"root:x:0:0::/root:/bin/sh\nshop:x:1000:1000::/srv/shop:/bin/sh\n")
    write(root / "var/spool/cron/crontabs/shop", OWN, 0o600)
    write(root / "usr/sbin/cron", b"")
    return root


def test_a_copied_tree_is_read_as_its_host_would(tree: Path) -> None:
    found = read([], root=tree)
    assert [str(Path(file.path).relative_to(tree)) for file in found.files] == [
        "etc/crontab",
        "etc/cron.d/app",
        "var/spool/cron/crontabs/shop",
    ]
    assert {file.host for file in found.files} == {"web1"}
    assert {file.dialect for file in found.files} == {"debian"}
    shop = found.files[-1].entries[0]
    assert (shop.user, shop.environment["HOME"], shop.environment["LOGNAME"]) == ("shop", "/srv/shop", "shop")


def test_a_tree_or_an_etc_that_is_named_as_a_source_is_read_by_root_instead(tree: Path) -> None:
    for source in (tree, tree.parent, tree / "etc"):
        found = read([str(source)])
        assert [found.files, found.skipped] == [(), ()]
        (told,) = found.unreadable
        assert told.path == str(source if source != tree.parent else tree)
        assert told.remedy.endswith(f"--root {tree}") and "of a host" in told.reason
    (tree / "etc").rename(tree.parent / "web1-etc")
    assert "let its name be etc" in read([str(tree.parent / "web1-etc")]).unreadable[0].remedy
    assert whole_host(write(tree.parent / "repository" / "crontab").parent) is None


def test_users_are_looked_up_on_the_host_itself_only(tree: Path) -> None:
    write(tree / "etc/cron.d/app", b"0 1 * * * nobody-knows-me /bin/true\n")
    assert read([], root=tree).files[1].loaded


@pytest.mark.parametrize(
    ("program", "target", "dialect"),
    [
        ("usr/sbin/crond", None, "cronie"),
        ("usr/sbin/crond", "/bin/busybox", "busybox"),
        ("usr/lib/systemd/system-generators/systemd-crontab-generator", None, "systemd-cron"),
    ],
)
def test_the_daemon_is_told_by_what_is_installed(tree: Path, program: str, target: str | None, dialect: str) -> None:
    (tree / "usr/sbin/cron").unlink()
    path = tree / program
    path.parent.mkdir(parents=True, exist_ok=True)
    if target:
        path.symlink_to(target)
    else:
        path.touch()
    write(tree / "var/spool/cron/shop", OWN, 0o600)
    assert {file.dialect for file in read([], root=tree).files} == {dialect}


def test_links_of_a_copied_tree_stay_in_the_tree(tree: Path) -> None:
    (tree / "etc/crontab").unlink()
    (tree / "etc/crontab").symlink_to("/etc/crontabs/main")
    write(tree / "etc/crontabs/main", b"0 9 * * * root inside\n")
    (tree / "etc/cron.d/outside").symlink_to("/../../../../etc/passwd")
    found = read([], root=tree)
    assert found.files[0].entries[0].command == "inside"
    assert all("etc/passwd" not in file.path or str(tree) in file.path for file in found.files)


def test_a_linked_crontab_of_a_tree_is_judged_by_the_place_and_the_name_of_its_link(tree: Path) -> None:
    write(tree / "srv/app/cron.conf", b"0 9 * * * shop run\n")
    (tree / "etc/cron.d/linked").symlink_to("/srv/app/cron.conf")
    (tree / "etc/cron.d/linked.conf").symlink_to("/srv/app/cron.conf")
    (tree / "etc/cron.d/gone").symlink_to("/srv/app/nothing")
    found = read([], root=tree)
    files = {Path(file.path).name: file for file in found.files}
    assert (files["linked"].kind, files["linked"].loaded) == ("system", True)
    assert not files["linked.conf"].loaded
    assert [(Path(each.path).name, each.reason) for each in found.unreadable] == [("nothing", "it does not exist")]


def test_links_in_a_circle_are_told(tree: Path) -> None:
    (tree / "etc/cron.d/a").symlink_to("b")
    (tree / "etc/cron.d/b").symlink_to("a")
    found = read([], root=tree)
    assert [each.reason for each in found.unreadable] == ["its symbolic links go round in a circle"] * 2


def test_owners_and_modes_count_when_they_are_the_hosts_own(tree: Path) -> None:
    (tree / "etc/cron.d/app").chmod(0o664)
    (tree / "var/spool/cron/crontabs/shop").chmod(0o644)
    _, app, shop = read([], root=tree).files
    kept = os.geteuid() == 0
    assert app.why == ("INSECURE MODE (group/other writable)" if kept else None)
    assert shop.why == ("INSECURE MODE (mode 0600 expected)" if kept else None)


def test_scripts_of_run_parts_are_entries_with_the_schedule_of_the_line_that_runs_them(tree: Path) -> None:
    write(tree / "etc/cron.hourly/clean", b"#!/bin/sh\n", 0o755)
    write(tree / "etc/cron.hourly/clean.bak", b"#!/bin/sh\n", 0o755)
    write(tree / "etc/cron.hourly/notes", b"", 0o644)
    write(tree / "etc/cron.hourly/.placeholder", b"")
    write(tree / "etc/cron.weekly/tidy", b"#!/bin/sh\n", 0o755)
    hourly, weekly = read([], root=tree).files[-2:]
    assert [(entry.schedule_text, entry.user) for entry in hourly.entries] == [("17 * * * *", "root")]
    assert hourly.entries[0].command == "/etc/cron.hourly/clean"
    assert [bad.message.split(":")[0] for bad in hourly.malformed] == ["clean.bak", "notes"]
    assert hourly.notes[0].endswith("etc/crontab, line 1")
    assert not hourly.editable
    assert "assumed" in weekly.notes[0]


def test_the_run_parts_beside_cronie_takes_any_name_and_what_packages_leave_is_told_of_nowhere(tree: Path) -> None:
    for name in ("man-db.cron", "man-db.cron.rpmsave", "logrotate.dpkg-old", "notes~"):
        write(tree / "etc/cron.daily" / name, b"#!/bin/sh\n", 0o755)
    (cronie,) = (file for file in read([], root=tree, dialect="cronie").files if file.path.endswith("cron.daily"))
    assert [entry.command.rpartition("/")[2] for entry in cronie.entries] == ["man-db.cron"]
    (debian,) = (file for file in read([], root=tree, dialect="debian").files if file.path.endswith("cron.daily"))
    assert [bad.message.split(":")[0] for bad in debian.malformed] == ["man-db.cron"]
    assert not cronie.malformed


def test_anacron_jobs_are_entries_without_a_time_of_day(tree: Path) -> None:
    text = (
        b"SHELL=/bin/bash\n# period delay id command\n1\t5\tcron.daily\tnice run-parts /etc/cron.daily\n@monthly 45 m x\nbad\n"
    )
    write(tree / "etc/anacrontab", text)
    write(tree / "etc/cron.daily/backup", b"#!/bin/sh\n", 0o755)
    found = read([], root=tree).files
    anacron = next(file for file in found if file.path.endswith("anacrontab"))
    assert anacron.to_bytes() == text
    assert [(entry.schedule_text, entry.fields[2]) for entry in anacron.entries] == [("1", "cron.daily"), ("@monthly", "m")]
    assert [bad.number for bad in anacron.malformed] == [5]
    assert found[-1].entries[0].schedule_text == "1"


def test_an_empty_tree_has_no_crontabs_which_is_told(tmp_path: Path) -> None:
    found = read([], root=tmp_path)
    assert (found.files, [each.path for each in found.unreadable]) == ((), [str(tmp_path)])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_spool_is_told(tree: Path) -> None:
    spool = tree / "var/spool/cron/crontabs"
    spool.chmod(0)
    try:
        assert [each.reason for each in read([], root=tree).unreadable] == ["Permission denied"]
    finally:
        spool.chmod(stat.S_IRWXU)


HEADING = (
    b"# DO NOT EDIT THIS FILE - edit the master and reinstall.\n"
    b"# (/tmp/crontab.x/crontab installed on Mon Nov 30 12:00:00 2026)\n"
    b"# (Cron version -- $Id: crontab.c,v 2.13 1994/01/17 03:20:37 vixie Exp $)\n"
)


def test_lines_of_the_spool_are_counted_as_their_user_sees_them(tmp_path: Path) -> None:
    (file,) = read([str(write(tmp_path / "var/spool/cron/crontabs/bob", HEADING + b"# mine\n" + OWN))]).files
    assert (file.entries[0].number, file.to_bytes()) == (2, b"# mine\n" + OWN)
    assert any("as crontab -e shows them" in note for note in file.notes)


def test_a_spooled_crontab_without_a_heading_and_a_heading_elsewhere_stay_as_they_are(tmp_path: Path) -> None:
    spooled, copied = write(tmp_path / "var/spool/cron/bob", OWN), write(tmp_path / "copy", HEADING + OWN)
    for path, number in ((spooled, 1), (copied, 4)):
        (file,) = read([str(path)]).files
        assert (file.entries[0].number, file.to_bytes()) == (number, path.read_bytes())
        assert not any("crontab -e" in note for note in file.notes)


@pytest.mark.parametrize("command", ["audit", "show", "convert"])
def test_a_root_that_is_no_folder_is_told(tmp_path: Path, command: str) -> None:
    (tmp_path / "crontab").write_bytes(LINE)
    for root in ("nowhere", "crontab"):
        ran = run(command, "crontab", "--root", root, cwd=tmp_path)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(f"cron2queue: --root: {root} is no folder\n  remedy: ")
