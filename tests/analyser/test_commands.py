"""The shell reader: what it takes apart, and that no text can stall it."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.analyser.commands import DEEPEST, LONGEST, here_document, read_command

SHELL_LIKE = st.text(alphabet=string.ascii_letters + " \t'\"\\$`;&|<>(){}#%=!*/-.~\n", max_size=120)


def words(text: str) -> list[tuple[str, ...]]:
    return [each.texts for each in read_command(text).commands if each.words]


def test_operators_separate_simple_commands() -> None:
    line = read_command("cd /x && a b || c; d & e | f")
    assert words("cd /x && a b || c; d & e | f") == [("cd", "/x"), ("a", "b"), ("c",), ("d",), ("e",), ("f",)]
    assert [each.after for each in line.commands] == ["&&", "||", ";", "&", "|", ""]
    assert [each.before for each in line.commands] == ["", "&&", "||", ";", "&", "|"]


def test_quotes_keep_operators_and_blanks_in_one_word() -> None:
    assert words("""a 'b; c' "d && e" f\\ g""") == [("a", "b; c", "d && e", "f g")]


def test_assignments_stand_before_the_command() -> None:
    command = read_command("A=1 B='x y' run C=3").commands[0]
    assert command.assignments == (("A", "1"), ("B", "x y"))
    assert command.texts == ("run", "C=3")


def test_redirects_know_descriptor_operator_and_target() -> None:
    command = read_command("run 2>&1 >> /var/log/a.log < in 3>x").commands[0]
    assert [(each.fd, each.operator, each.target) for each in command.redirects] == [
        (2, ">&", "1"),
        (None, ">>", "/var/log/a.log"),
        (None, "<", "in"),
        (3, ">", "x"),
    ]
    assert command.texts == ("run",)


def test_a_copied_descriptor_ends_where_the_next_redirect_begins() -> None:
    command = read_command("x 2>&1>file").commands[0]
    assert [(each.fd, each.operator, each.target) for each in command.redirects] == [(2, ">&", "1"), (None, ">", "file")]


def test_a_digit_inside_a_word_is_no_descriptor() -> None:
    command = read_command("run file2>out").commands[0]
    assert command.texts == ("run", "file2")
    assert command.redirects[0].fd is None


def test_redirects_of_a_group_make_a_command_without_words() -> None:
    line = read_command("(a; b) > /log 2>&1")
    assert [each.words == () for each in line.commands] == [False, False, True]
    assert line.commands[2].redirects[0].target == "/log"


def test_reserved_words_are_no_commands() -> None:
    assert words("if [ -x /a ]; then /a; else b; fi") == [("[", "-x", "/a", "]"), ("/a",), ("b",)]
    assert words("test -x /a || { cd / && run-parts /b; }") == [("test", "-x", "/a"), ("cd", "/"), ("run-parts", "/b")]


def test_substitutions_are_commands_of_their_own_at_a_deeper_level() -> None:
    line = read_command('a "x $(b `c` d)" > f-$(date +F)')
    inner = [(each.texts[0], each.depth) for each in line.commands if each.substitution]
    assert sorted(inner) == [("b", 1), ("c", 2), ("date", 1)]
    assert [each.texts[0] for each in line.top] == ["a"]


def test_a_comment_begins_at_a_word_and_not_inside_one() -> None:
    assert read_command("run # note; rm x").comment == 4
    assert words("run # note; rm x") == [("run",)]
    assert read_command("run a#b").comment is None
    assert read_command("run '#x'").comment is None


@pytest.mark.parametrize("text", ["echo 'open", 'echo "open', "x $(", "x `y", "a\\"])
def test_an_unfinished_text_is_said_to_be_incomplete(text: str) -> None:
    assert not read_command(text).complete


def test_positions_point_into_the_text() -> None:
    text = "A=1 run 'a b' >> out"
    command = read_command(text).commands[0]
    assert text[command.words[0].start : command.words[0].end] == "run"
    assert text[command.words[1].start : command.words[1].end] == "'a b'"
    assert text[command.redirects[0].start :].startswith(">> out")


@given(SHELL_LIKE)
def test_any_text_is_read_without_trouble_and_positions_stay_inside(text: str) -> None:
    for command in read_command(text).commands:
        assert 0 <= command.start <= command.end <= len(text)
        for word in command.words:
            assert 0 <= word.start < word.end <= len(text)


@pytest.mark.parametrize("piece", ["$(", "`", '"', "(", "a'", "$((", "\\", "${", '"$(', "a;", "<<", "2>&1 "])
def test_hostile_repetition_is_read_within_bounds(piece: str) -> None:
    line = read_command(piece * (LONGEST + 1))
    assert not line.complete
    assert all(command.depth <= DEEPEST + 1 for command in line.commands)


@pytest.mark.parametrize("piece", ["${", '"${', "a=${", "2>&1 ", "((<<a ", "<<a ", "((", "[ $a", "$(("])
def test_hostile_repetition_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        read_command.cache_clear()
        read_command(text)
        here_document(text)
        return time.process_time() - began

    def at_best(length: int) -> float:
        return min(seconds(length) for _ in range(3))

    assert at_best(LONGEST) < 0.05 + 30 * at_best(LONGEST // 10)


def test_a_variable_that_nothing_closes_takes_the_rest() -> None:
    line = read_command("run ${a:-${b}} c ${d e; f")
    assert [command.texts for command in line.commands] == [("run", "${a:-${b}}", "c", "${d e; f")]
    assert not line.complete
    assert not read_command('run "a ${b" c').complete
    assert read_command("run ${a} b").complete


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        ("cat <<E", True),
        ("((x << 1))", False),
        ("(( (1) << 2 ))", True),
        ("((1)); cat <<E", True),
        ("(cat <<E", True),
        ("f() { (cat <<E", True),
        ("echo ( (cat <<E", True),
    ],
)
def test_a_here_document_is_told_from_arithmetic_by_the_brackets_before_it(command: str, begins: bool) -> None:
    assert (here_document(command) is not None) == begins
