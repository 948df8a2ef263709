"""What each dialect declares: files, owners, modes, names, blast radius; and the facts recorded of the daemons."""

from typing import Any

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import FileFacts, UnknownDialect, dialect_named, dialects
from cron2queue.crontab.lines import CrontabFile, Effect, Kind
from cron2queue.crontab.parser import parse

GOOD = FileFacts(mode=0o644, uid=0)
OWN = FileFacts(mode=0o600, uid=1000)


def read(data: bytes, dialect: str, kind: Kind = Kind.USER, user: str | None = "root") -> CrontabFile:
    return parse(data, path="x", dialect=dialect_named(dialect), kind=kind, user=None if kind is Kind.SYSTEM else user)


def test_the_six_daemons_are_known_by_name() -> None:
    assert sorted(dialects()) == ["busybox", "cronie", "debian", "freebsd", "openbsd", "systemd-cron"]
    with pytest.raises(UnknownDialect) as caught:
        dialect_named("systemdcron")
    assert caught.value.exit_status == 2
    assert "did you mean systemd-cron?" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("dialect", "facts", "refused"),
    [
        ("debian", GOOD, None),
        ("debian", FileFacts(mode=0, uid=0), None),
        ("debian", FileFacts(mode=0o755, uid=0), None),
        ("debian", FileFacts(mode=0o664, uid=0), "INSECURE MODE (group/other writable)"),
        ("debian", FileFacts(mode=0o644, uid=1), "WRONG FILE OWNER"),
        ("debian", FileFacts(mode=0o644, uid=0, links=2), "NUMBER OF HARD LINKS > 1"),
        ("debian", FileFacts(mode=0o644, uid=0, symlink=True, link_uid=1), "WRONG FILE OWNER"),
        ("cronie", GOOD, None),
        ("cronie", FileFacts(mode=0o755, uid=0), "BAD FILE MODE"),
        ("cronie", FileFacts(mode=0, uid=0), "BAD FILE MODE"),
        ("cronie", FileFacts(mode=0o644, uid=0, links=2), None),
        ("cronie", FileFacts(mode=0o644, uid=0, symlink=True, link_uid=1), None),
        ("freebsd", FileFacts(mode=0o666, uid=1), None),
        ("openbsd", FileFacts(mode=0o644, uid=0, symlink=True), "NOT REGULAR"),
        ("openbsd", FileFacts(mode=0o755, uid=0), "BAD FILE MODE"),
        ("systemd-cron", FileFacts(mode=0o666, uid=1), None),
    ],
)
def test_a_system_file_is_refused_for_owner_and_mode_as_the_daemon_does(
    dialect: str, facts: FileFacts, refused: str | None
) -> None:
    assert dialect_named(dialect).refuses_system_file(facts) == refused


@pytest.mark.parametrize(
    ("dialect", "facts", "refused"),
    [
        ("debian", OWN, None),
        ("debian", FileFacts(mode=0o600, uid=0), None),
        ("debian", FileFacts(mode=0o600, uid=7), "WRONG FILE OWNER"),
        ("debian", FileFacts(mode=0o644, uid=1000), "INSECURE MODE (mode 0600 expected)"),
        ("debian", FileFacts(mode=0o600, uid=1000, symlink=True), "SYMLINK"),
        ("cronie", FileFacts(mode=0o644, uid=1000), None),
        ("cronie", FileFacts(mode=0o600, uid=1000, links=2), "BAD LINK COUNT"),
        ("busybox", FileFacts(mode=0o600, uid=0), None),
        ("busybox", OWN, "not owned by root"),
        ("freebsd", FileFacts(mode=0o600, uid=7), "WRONG FILE OWNER"),
        ("openbsd", FileFacts(mode=0o640, uid=1000), "BAD FILE MODE"),
    ],
)
def test_a_spooled_file_is_refused_for_owner_and_mode_as_the_daemon_does(
    dialect: str, facts: FileFacts, refused: str | None
) -> None:
    assert dialect_named(dialect).refuses_user_file(facts, 1000) == refused


@pytest.mark.parametrize(
    ("dialect", "kind", "loaded", "effects"),
    [
        ("debian", Kind.USER, False, {Effect.FILE}),
        ("debian", Kind.SYSTEM, False, {Effect.FILE}),
        ("cronie", Kind.USER, True, {Effect.LINE}),
        ("cronie", Kind.SYSTEM, True, {Effect.LINE}),
        ("openbsd", Kind.USER, False, {Effect.FILE}),
        ("openbsd", Kind.SYSTEM, True, {Effect.LINE}),
        ("freebsd", Kind.USER, True, {Effect.LINE}),
        ("busybox", Kind.USER, True, {Effect.MISREAD}),
        ("systemd-cron", Kind.SYSTEM, True, {Effect.LINE}),
    ],
)
def test_one_bad_line_reaches_as_far_as_the_daemon_lets_it(
    dialect: str, kind: Kind, loaded: bool, effects: set[Effect]
) -> None:
    user = b"root " if kind is Kind.SYSTEM else b""
    file = read(b"0 1 * * * " + user + b"a\n61 * * * * " + user + b"b\n0 2 * * * " + user + b"c\n", dialect, kind)
    assert file.loaded == loaded
    assert {bad.effect for bad in file.malformed} == effects
    assert {entry.command for entry in file.entries} >= {"a", "c"}


def test_a_line_that_freebsd_reads_in_pieces_is_counted_once() -> None:
    file = read(b"0 1 * * * a\n45 23 L * * b\n60 5 4 3 2 1 c\n", "freebsd")
    assert len(file.malformed) > 2
    assert (file.counts["lines"], file.counts["entries"], file.counts["malformed"]) == (3, 2, 1)


def test_every_fault_is_told_even_where_the_daemon_stops_at_the_first() -> None:
    file = read(b"61 * * * * a\n* 25 * * * b\n* * 0 * * c\n* * * * * d\n", "debian")
    assert [(bad.number, bad.column, bad.message) for bad in file.malformed] == [
        (1, 1, "bad minute"),
        (2, 3, "bad hour"),
        (3, 5, "bad day-of-month"),
    ]


def test_the_column_points_into_a_long_list() -> None:
    assert read(b"  1,2,99 * * * * a\n", "debian").malformed[0].column == 7
    assert read(b"1,2,99 * * * * a\n", "cronie").malformed[0].column == 5


def test_unknown_users_are_told_only_where_users_are_known() -> None:
    text = b"0 1 * * * shop a\n"
    debian = dialect_named("debian")
    assert parse(text, path="x", dialect=debian, kind=Kind.SYSTEM).loaded
    known = parse(text, path="x", dialect=debian, kind=Kind.SYSTEM, users={"root"})
    assert (known.loaded, known.malformed[0].message) == (False, "bad username")
    impossible = parse(b"0 1 * * * /bin/true x\n", path="x", dialect=debian, kind=Kind.SYSTEM)
    assert impossible.malformed[0].message == "bad username"


def test_a_swallowed_line_is_told_with_the_one_that_swallowed_it() -> None:
    file = read(b"* * * * * root\n* * * * * root b\n0 1 * * * root c\n", "freebsd", Kind.SYSTEM)
    assert [bad.message for bad in file.malformed] == ["bad username", "bad username: read as part of line 1"]
    assert [entry.command for entry in file.entries] == ["c"]


def test_an_ordinary_user_may_not_silence_cronie() -> None:
    assert read(b"-* * * * * a\n", "cronie").entries[0].quiet
    assert read(b"-* * * * * a\n", "cronie", user="shop").malformed[0].message == "bad option"


def test_random_delay_is_noted_for_cronie() -> None:
    assert "up to 30 minutes later" in read(b"RANDOM_DELAY=30\n* * * * * a\n", "cronie").notes[0]
    assert "bad value" in read(b"RANDOM_DELAY=1441\n* * * * * a\n", "cronie").notes[0]


def test_a_step_beyond_the_field_is_noted_with_cronies_warning() -> None:
    notes = read(b"*/90 * * * * a\n", "cronie").notes
    assert notes == ("line 1: Warning: Step size 90 higher than possible maximum of 59",)


def test_busybox_warns_once_of_nicknames_that_kill_it_where_debian_built_it() -> None:
    notes = read(b"0 1 * * * a\n@daily b\n@reboot c\n", "busybox").notes
    assert notes == (
        "line 2: @daily crashes crond itself in Debian's builds of BusyBox; write the five fields where it may run there",
    )
    assert read(b"@daily\n@nope x\n", "busybox").notes == ()


def test_busybox_takes_only_so_many_lines_of_an_ordinary_user() -> None:
    text = b"0 1 * * * a\n" * 300
    assert len(read(text, "busybox", user="shop").entries) == 255
    assert len(read(text, "busybox").entries) == 300


def test_identical_entries_get_ids_of_their_own_and_keep_them_when_lines_move() -> None:
    from cron2queue.crontab.lines import entry_ids

    first = read(b"0 1 * * * a\n0  1 * * * a\n0 1 * * * b\n", "debian")
    ids = entry_ids([first])
    assert ids[("x", 2)] == f"{ids[('x', 1)]}-2"
    moved = entry_ids([read(b"# new\n0 1 * * * b\n0 1 * * * a\n", "debian")])
    assert moved[("x", 3)] == ids[("x", 1)]
    assert moved[("x", 2)] == ids[("x", 3)]


@pytest.mark.parametrize("dialect", ["cronie", "debian", "freebsd", "openbsd"])
def test_each_entry_of_a_line_that_nul_bytes_part_has_an_id_of_its_own(dialect: str) -> None:
    from cron2queue.crontab.lines import entry_ids

    ids = entry_ids([read(b"0 1 * * * a\0000 2 * * * b\0000 1 * * * a\n0 3 * * * c\n", dialect)])
    assert list(ids) == [("x", 1), ("x", 1, 2), ("x", 1, 3), ("x", 2)]
    assert len(set(ids.values())) == 4
    assert ids["x", 1, 3] == f"{ids['x', 1]}-2"


FACTS: dict[str, dict[str, Any]] = {fact["id"]: fact["answer"] for fact in truth.load("line-facts")["facts"]}


def commands(text: bytes, dialect: str) -> list[str]:
    file = read(text, dialect)
    return [entry.command for entry in file.entries] if file.loaded else []


@pytest.mark.parametrize("dialect", truth.MEASURED)
def test_facts_of_comments_ends_and_joins_hold(dialect: str) -> None:
    busybox, freebsd = dialect == "busybox", dialect == "freebsd"
    assert commands(b"* * * * * a # note\n", dialect) == (["a"] if busybox else ["a # note"])
    assert commands(b"* * * * * a \r\n", dialect) == ["a \r"]
    assert commands(b"* * * * * a b  \n", dialect) == (["a b"] if busybox else ["a b  "])
    joined = commands(b"* * * * * a \\\n0 1 * * * b\n", dialect)
    assert joined == (["a 0 1 * * * b"] if busybox else ["a \\", "b"])
    assert commands(b"* * * * * a", dialect) == (["a"] if busybox else [])
    assert commands(b"\r\n* * * * * a\n", dialect) == ([] if dialect in ("debian", "openbsd") else ["a"])
    starred = commands(b"* * * * * * a\n", dialect)
    assert starred == (["* a"] if busybox or freebsd else [])
    assert len(FACTS) == 84


@pytest.mark.parametrize("dialect", truth.MEASURED)
def test_facts_of_the_environment_hold(dialect: str) -> None:
    def value(text: bytes) -> str | None:
        file = read(text + b"\n* * * * * a\n", dialect)
        return file.assignments[0].value if file.assignments else None

    if dialect == "busybox":
        assert value(b'MAILTO=""') == '""'
        assert value(b"SHELL=/bin/bash x") == "/bin/bash"
        assert value(b"FOO=bar") is None
        return
    assert value(b'FOO="  keep  "') == ("  keep" if dialect == "debian" else "  keep  ")
    assert value(b"FOO=") == ("" if dialect == "cronie" else None)
    assert value(b"FOO=$HOME/x%y # z") == "$HOME/x%y # z"
    assert value(b"  NAME\t= value \r") == "value"
    assert value(b"0 = 5") == "5"
    assert value(b'FOO="a" b') is None
    long = value(b"FOO=" + b"x" * 5000)
    limits = {"debian": 994, "cronie": 5000, "openbsd": 995, "freebsd": None}
    assert (None if long is None else len(long)) == limits[dialect]


@pytest.mark.parametrize("dialect", truth.MEASURED)
def test_facts_of_who_sets_which_variable_hold(dialect: str) -> None:
    entry = read(b"LOGNAME=x\nUSER=y\nHOME=/h\n* * * * * a\n", dialect, user="shop").entries[0]
    assert entry.environment["LOGNAME"] == "shop"
    assert entry.environment["USER"] == ("y" if dialect == "debian" else "shop")
    assert entry.environment.get("HOME") == (None if dialect == "busybox" else "/h")


@pytest.mark.parametrize(
    ("text", "loaded"),
    [  # as Debian's cron took them in a root of its own
        (b"#\n" * 10_002 + b"* * * * * a\n", True),
        (b"#\n" * 10_003 + b"* * * * * a\n", False),
        (b"* * * * * a\n" + b"#\n" * 10_003, True),
        (b"* * * * * a\n" * 10_003, True),
        (b"* * * * * a\n" * 10_004, False),
    ],
)
def test_debian_takes_no_entry_beyond_line_10003(text: bytes, loaded: bool) -> None:
    assert read(text, "debian").loaded == loaded


@pytest.mark.parametrize(
    ("text", "message"),
    [  # likewise
        (b"* * * * * root * x\n", None),
        (b"@daily root * x\n", None),
        (b"* * * * * root\n", "bad command"),
        (b"* * * * * * x\n", "bad username"),
        (b"@daily * x\n", "bad username"),
    ],
)
def test_debian_looks_for_the_user_before_the_command_in_a_system_crontab(text: bytes, message: str | None) -> None:
    assert [bad.message for bad in read(text, "debian", Kind.SYSTEM).malformed] == ([message] if message else [])
