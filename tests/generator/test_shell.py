"""Quoting: what goes in comes out again, in the target language itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cron2queue.generator.shell import (
    NotWritable,
    comment,
    cron_command,
    js,
    markdown,
    markdown_code,
    php,
    python,
    sh,
    unit_assignment,
    unit_program,
    unit_word,
)

NASTY = [
    "",
    "plain",
    "it's",
    "a'b'\"c\"",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary #",
    "*/ ?> <?php -->",
    "back\\slash\\",
    "\\'",
    "${x} #{y} {{7*7}} {% raw %} <%= 1 %>",
    "-rf",
    "!history",
    "tab\there",
    "line\nbreak",
    "cr\rhere",
    "ünïcödé € 😀",
    "\u2028\u2029",
    "%n %i %% $$ $HOME",
    "NUL-free \x01\x1b[31m",
]


def printed(*command: str, stdin: bytes | None = None) -> bytes:
    ran = subprocess.run(command, input=stdin, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("text", NASTY)
def test_sh_gives_the_shell_the_same_word(text: str) -> None:
    assert printed("/bin/sh", "-c", f"printf %s {sh(text)}") == text.encode()


def test_sh_keeps_bytes_that_are_not_utf8() -> None:
    word = b"caf\xe9".decode("utf-8", "surrogateescape")
    script = f"printf %s {sh(word)}".encode("utf-8", "surrogateescape")
    assert printed("/bin/sh", stdin=script) == b"caf\xe9"


@pytest.mark.needs("php")
def test_php_reads_the_same_strings() -> None:
    array = ",".join(map(php, NASTY))
    out = printed("php", "-n", "-r", f"echo json_encode([{array}]);")
    assert json.loads(out) == NASTY


@pytest.mark.needs("node")
def test_node_reads_the_same_strings() -> None:
    array = ",".join(map(js, NASTY))
    assert json.loads(printed("node", "-e", f"console.log(JSON.stringify([{array}]))")) == NASTY


@given(st.text(st.characters(exclude_characters="\0"), max_size=40))
@settings(max_examples=200)
def test_python_reads_the_same_string_from_ascii(text: str) -> None:
    literal = python(text)
    assert literal.isascii()
    assert eval(literal) == text


@pytest.mark.parametrize("quote", [sh, php, js], ids=lambda each: each.__name__)
def test_a_nul_byte_is_refused(quote: object) -> None:
    with pytest.raises(NotWritable):
        quote("a\0b")  # type: ignore[operator]


@pytest.mark.parametrize("control", ["\n", "\r", "\0", "\x1b", "\x7f"])
def test_cron_refuses_control_characters(control: str) -> None:
    with pytest.raises(NotWritable, match="control character"):
        cron_command(f"echo a{control}b")


def test_cron_escapes_percent_signs_in_command_and_input() -> None:
    assert cron_command("date '+%F'", "50%\nrest\n") == "date '+\\%F'%50\\%%rest"


@pytest.mark.parametrize("stdin", ["", "\n", "a\n", "a\n\n", "\na\n", "a%b\n", "\n\n"])
def test_cron_input_is_read_back_by_debian(stdin: str) -> None:
    from cron2queue.crontab.percent import split_percent

    assert split_percent(cron_command("cat", stdin).encode(), collapse=True) == ("cat", stdin)


def test_cron_refuses_a_command_that_debian_would_cut() -> None:
    assert cron_command("x" * 998) == "x" * 998
    with pytest.raises(NotWritable, match="998"):
        cron_command("x" * 999)
    with pytest.raises(NotWritable, match="998"):
        cron_command("%" * 500)


@pytest.mark.needs("systemd-analyze")
def test_unit_words_survive_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "probe.service"
    words = [word for word in NASTY if word and not any(ord(each) < 32 and each != "\t" for each in word)]
    lines = "\n".join(f"ExecStart=/bin/echo {unit_word(word)}" for word in words)
    unit.write_text(f"[Service]\nType=oneshot\n{lines}\n")
    ran = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "probe.service" not in ran.stderr, ran.stderr


def test_a_unit_word_can_never_begin_another_line() -> None:
    for bad in ("a\nUser=root", "a\rb", "a\0b"):
        with pytest.raises(NotWritable):
            unit_word(bad)


@pytest.mark.parametrize("path", ["+/bin/true", "-/bin/true", "@/bin/true", "!/bin/true", ":/bin/true", "bin/true", "/bin/a b"])
def test_a_unit_program_is_a_plain_absolute_path(path: str) -> None:
    with pytest.raises(NotWritable):
        unit_program(path)


def test_environment_names_that_systemd_lacks_are_refused() -> None:
    assert unit_assignment("A", 'x"%$') == '"A=x\\"%%$"'
    with pytest.raises(NotWritable):
        unit_assignment("@daily", "x")


@pytest.mark.parametrize("text", NASTY)
def test_a_comment_stays_one_line_and_ends_no_comment(text: str) -> None:
    made = comment(text)
    assert not set(made) & set("\n\r\u2028\u2029\0")
    assert "*/" not in made
    assert "?>" not in made


def test_markdown_masks_secrets_and_holds_no_markup() -> None:
    assert "Geheim" not in markdown_code("curl https://user:Geheim@host/")
    assert markdown_code("a`b``c") == "```a`b``c```"
    assert markdown("<b>*x*</b>") == "\\<b\\>\\*x\\*\\</b\\>"


def test_python_literals_survive_a_script() -> None:
    ran = printed(sys.executable, "-c", f"import sys; sys.stdout.write(ascii({python(NASTY)}))")
    assert ran.decode() == ascii(NASTY)
