"""Each construct that is told is one that dash really does not know, and what dash runs is not told."""

import subprocess

import pytest

from cron2queue.analyser.bashisms import bashisms
from cron2queue.analyser.finding import Severity

BROKEN = [
    "[[ -f /etc/passwd ]] && echo in",
    "source /etc/profile",
    "let x=1",
    "pushd /tmp",
    "declare x=1",
    "shopt -s nullglob",
    "set -o pipefail; echo after",
    "set -euo pipefail; echo after",
    "export -f f; echo after",
    "echo a |& cat",
    "cat <(echo a)",
    "echo a > >(cat)",
    "a=(1 2 3); echo after",
    "for ((i=0; i<2; i++)); do echo $i; done",
    "function f { echo hi; }; f",
    "x=ab; echo ${x^^}",
    "x=ab; echo ${x/a/b}",
    'x=ab; echo "${x:0:1}"',
    "cat <<< hello",
    "[ a == a ] || exit 1",
    "test a == a || exit 1",
    "x=a; x+=b; echo $x",
    'x=abc; echo "${x: -1}"',
    "echo $(($RANDOM % 600)); echo after",
    "echo $((${RANDOM} % 600)); echo after",
]
OTHER = [
    "echo {1..3}",
    "echo /b/{x,y}",
    "echo -e 'a\\tb'",
    "echo $'a\\tb'",
    "echo $RANDOM",
    "echo $((RANDOM % 600))",
    "echo $HOSTNAME",
    "echo ${EUID}",
]
FINE = [
    "[ -f /etc/passwd ] && echo in",
    ". /etc/profile",
    "set -eu; echo after",
    "echo a 2>&1 | cat",
    "echo a >&2",
    "cat < /dev/null > /dev/null 2>&1",
    "for i in 1 2; do echo $i; done",
    "f() { echo hi; }; f",
    "x=ab; echo ${x:-c} ${x%b} ${x#a} ${#x} ${x:+y}",
    "echo '{1..3} {a,b} ${x^^} <(x) $RANDOM'",
    'bash -c "[[ a == a ]] && echo {1..3}"',
    "find /etc/hostname -exec echo {} \\;",
    "[ a = a ] && echo same",
    "(echo a; echo b) | sort",
    "awk 'BEGIN { print 1, 2 }'",
    "echo $((1 + 2))",
    "echo -n a",
]


def ran(shell: str, command: str) -> tuple[int, str]:
    done = subprocess.run([shell, "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd="/tmp")
    return done.returncode, done.stdout


@pytest.mark.needs("dash")
@pytest.mark.needs("bash")
@pytest.mark.parametrize("command", [*BROKEN, *OTHER])
def test_what_is_told_is_read_otherwise_by_dash_than_by_bash(command: str) -> None:
    told, *_ = bashisms(command)
    assert (told.severity is Severity.ERROR) == (command in BROKEN)
    assert 0 <= told.start < len(command)
    assert "RANDOM" in command or ran("dash", command) != ran("bash", command)
    assert ran("dash", "echo $RANDOM") == (0, "\n")


@pytest.mark.needs("dash")
@pytest.mark.needs("bash")
@pytest.mark.parametrize("command", FINE)
def test_what_dash_runs_as_bash_does_is_not_told(command: str) -> None:
    assert bashisms(command) == ()
    assert ran("dash", command) == ran("bash", command)


@pytest.mark.parametrize("command", ["curl -O https://x.example/{a,b}.csv", "jq '.[] | {a,b}' /x", "mongo --eval '{a:1,b:2}'"])
def test_braces_that_a_program_reads_itself_are_not_told(command: str) -> None:
    assert bashisms(command) == ()


@pytest.mark.parametrize("command", ["echo $((RANDOM % 600))", "echo $((60 + RANDOM % 600))"])
def test_a_name_in_arithmetic_counts_as_0(command: str) -> None:
    assert [told.message for told in bashisms(command)] == ["dash knows no RANDOM: it counts as 0"]


def test_each_kind_is_told_once_and_in_order() -> None:
    told = bashisms("[[ -f /a ]] && source /b; [[ -f /c ]] && sleep $((RANDOM % 9)) &> /d")
    assert [each.start for each in told] == [0, 15, 47, 63]
