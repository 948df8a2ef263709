"""Three hundred hostile commands through every target: each does exactly what it said, and nothing breaks out.

Every command prints one fragment into a file of its own. Fragments hold whatever ends a string, a comment, a line or a
template somewhere; where one is taken for code it makes the canary. So: right output, and no canary.
"""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from presence import need_program

from cron2queue.crontab.lines import Kind
from cron2queue.generator.shell import cron_command, sh

Convert = Callable[..., Any]
COUNT = 300
MAKE = "touch CANARY"

BREAKS = [
    f"'; {MAKE}; '",
    f'"; {MAKE}; "',
    f"$({MAKE})",
    f"`{MAKE}`",
    f"${{x:-$({MAKE})}}",
    f"; {MAKE} #",
    f"| {MAKE}",
    f"&& {MAKE} &&",
    f"'\\''; {MAKE}; '\\''",
    f"\\'; {MAKE}; \\'",
    "'); touch('CANARY'); //",
    '"); touch("CANARY"); //',
    "?><?php touch('CANARY'); ?>",
    "*/ touch('CANARY'); /*",
    "{$x}${@touch('CANARY')}",
    '"""; open(\'CANARY\', \'w\'); """',
    "'''+str(open('CANARY','w'))+'''",
    "\\'; open('CANARY','w'); '",
    "{{ self.__init__.__globals__ }}{{ 7*7 }}",
    "{% for x in () %}{% endfor %}{# c #}",
    "${require('fs').writeFileSync('CANARY','')}",
    "'); require('fs').writeFileSync('CANARY',''); ('",
    "`+require('fs').writeFileSync('CANARY','')+`",
    "<%= File.write('CANARY','') %> #{File.write('CANARY','')}",
    "%n%i%h%%%s $HOME ${HOME} $$",
    "-rf --help -c",
    '"""\n[jobs.evil]\ndecision = "drop"'.replace("\n", " "),
    "\\n[Service]\\nUser=root\\n",
    "\\",
    "\\\\'\"\\\\",
]
FRAMES = ["{}", " {}", "{} ", "a{}b", '"{}"', "'{}'", "\\{}", "{}\\n", "#{}", "é{}€"]


def fragments() -> list[str]:
    found = [frame.format(text) if "{}" in frame else text for frame in FRAMES for text in map(escaped, BREAKS)]
    return [text.replace("\x01", "{").replace("\x02", "}") for text in found]


def escaped(text: str) -> str:
    """Braces of a fragment are not those of a frame."""
    return text.replace("{", "\x01").replace("}", "\x02")


FRAGMENTS = fragments()


SIGNS = {"queue": "user-waits=yes lost-on-failure=yes", "guard": "user-waits=no lost-on-failure=no overlap-hurts=yes"}


def crontab(tmp_path: Path, decision: str) -> str:
    """One entry a fragment, written as Debian's cron wants it, with declared signs that decide."""
    folder = tmp_path / "results"
    folder.mkdir()
    lines = ["# cron2queue: ignore-file[C2Q324] some of them look like marks that nobody filled in\n"]
    for number, fragment in enumerate(FRAGMENTS):
        command = cron_command(f"printf %s {sh(fragment)} > {folder}/{number:03d}", doubled=True)
        lines.append(f"# cron2queue: name=job-{number:03d} {SIGNS[decision]}\n*/5 * * * * {command}\n")
    return "".join(lines)


def check(tmp_path: Path, *, refused: set[int] = frozenset()) -> None:  # type: ignore[assignment]
    results = tmp_path / "results"
    for number, fragment in enumerate(FRAGMENTS):
        if number not in refused:
            assert (results / f"{number:03d}").read_text() == fragment, number
    canaries = [*tmp_path.glob("**/CANARY"), *Path.cwd().glob("CANARY"), *Path.home().glob("CANARY")]
    assert canaries == []


def run_all(commands: list[list[str]], tmp_path: Path, stdin: str = "null") -> None:
    def run(words: list[str]) -> None:
        ran = subprocess.run(words, cwd=tmp_path / "here", input=stdin, capture_output=True, text=True)
        assert ran.returncode == 0, (words, ran.stderr)

    (tmp_path / "here").mkdir(exist_ok=True)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, commands))


def converted(convert: Convert, tmp_path: Path, decision: str, **options: Any) -> Any:
    options = {"kind": Kind.USER, "path": "/home/user/crontab", **options}
    prepared = convert(crontab(tmp_path, decision), **options)
    assert [job.decision.lower() for job in prepared.merged.plan.jobs] == [decision] * COUNT
    return prepared


def test_there_are_as_many_fragments_as_promised() -> None:
    assert len(set(FRAGMENTS)) == COUNT


def stubs(convert: Convert, tmp_path: Path, language: str) -> list[str]:
    prepared = converted(convert, tmp_path, "queue", language=language)
    assert prepared.draft.refused == {}
    files = sorted(map(str, (tmp_path / "out/handlers").iterdir()))
    assert len(files) == COUNT
    return files


@pytest.mark.parametrize(("language", "words"), [("shell", ["sh"]), ("php", ["php", "-n"])])
def test_handlers_run_every_command_as_it_was(language: str, words: list[str], convert: Convert, tmp_path: Path) -> None:
    need_program(words[0])
    run_all([[*words, path] for path in stubs(convert, tmp_path, language)], tmp_path)
    check(tmp_path)


NODE = """
const fs = require('node:fs');
for (const file of process.argv.slice(1)) {
  const ended = { ...process, exit(status) { throw { status }; } };
  const code = fs.readFileSync(file, 'utf8').replace(/^#!.*/, '');
  try { new Function('require', 'process', code)(require, ended); } catch (thrown) {
    if (thrown.status !== 0) throw thrown;
  }
}
"""


@pytest.mark.needs("node")
def test_node_handlers_run_every_command_as_it_was(convert: Convert, tmp_path: Path) -> None:
    """All in one Node: to start it three hundred times would take most of a minute."""
    run_all([["node", "-e", NODE, *stubs(convert, tmp_path, "node")]], tmp_path)
    check(tmp_path)


def test_python_handlers_run_every_command_and_have_one_shape(convert: Convert, tmp_path: Path) -> None:
    converted(convert, tmp_path, "queue", language="python")
    shapes = set()
    for path in sorted((tmp_path / "out/handlers").iterdir()):
        tree = ast.parse(path.read_text())
        constants = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
        command = ast.literal_eval(constants["COMMAND"])
        subprocess.run(["/bin/sh", "-c", command], check=True, cwd=tmp_path)
        shapes.add(re.sub(r"job_\d+|job-\d+", "NAME", re.sub(r"value='.*", "", ast.dump(tree.body[-1]))))
        shapes.add(" ".join(type(node).__name__ for node in ast.walk(tree)))
    assert len(shapes) == 2
    check(tmp_path)


def test_guarded_lines_run_every_command_as_it_was(convert: Convert, tmp_path: Path) -> None:
    prepared = converted(convert, tmp_path, "guard")
    (tmp_path / "out/locks").mkdir(exist_ok=True)
    commands = [["/bin/sh", "-c", entry.command] for entry in entries(tmp_path)]
    assert len(commands) == COUNT - len(prepared.draft.refused)
    run_all(commands, tmp_path)
    check(tmp_path, refused={int(name[4:]) for name in prepared.draft.refused})
    assert len(prepared.draft.refused) == 0


def entries(tmp_path: Path) -> Iterator[Any]:
    from cron2queue.crontab.dialect import dialect_named
    from cron2queue.crontab.parser import parse

    file = parse((tmp_path / "out/crontab.new").read_bytes(), path="x", dialect=dialect_named("debian"), kind=Kind.USER)
    assert file.loaded
    assert not file.malformed
    assert len(file.entries) == COUNT
    yield from file.entries


@pytest.mark.needs("crontab")
def test_debians_own_crontab_program_takes_the_new_crontab(convert: Convert, tmp_path: Path) -> None:
    converted(convert, tmp_path, "guard")
    ran = subprocess.run(["crontab", "-n", str(tmp_path / "out/crontab.new")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.needs("systemd-analyze")
def test_units_hold_the_settings_of_their_template_and_nothing_else(convert: Convert, tmp_path: Path) -> None:
    prepared = converted(convert, tmp_path, "queue", engine="systemd", path="/var/spool/cron/crontabs/games")
    assert prepared.draft.refused == {}
    services = sorted((tmp_path / "out/units/systemd").glob("*.service"))
    assert len(services) == COUNT
    shapes = {tuple(line.partition("=")[0] for line in path.read_text().splitlines() if "=" in line) for path in services}
    assert len({tuple(name for name in shape if not name.startswith("#")) for shape in shapes}) <= 3
    for path in services:
        lines = [line for line in path.read_text().splitlines() if line.startswith("ExecStart=")]
        assert len(lines) == 1
        assert lines[0].startswith('ExecStart=/bin/sh -c "')
    ran = subprocess.run(["systemd-analyze", "verify", *map(str, services)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_plan_and_the_review_hold_every_command_and_nothing_else(convert: Convert, tmp_path: Path) -> None:
    import tomllib

    prepared = converted(convert, tmp_path, "queue")
    plan = tomllib.loads((tmp_path / "out/cron2queue.toml").read_text())
    assert set(plan["jobs"]) == {f"job-{number:03d}" for number in range(COUNT)}
    assert {job["decision"] for job in plan["jobs"].values()} == {"queue"}
    for job in prepared.merged.plan.jobs:
        assert plan["jobs"][job.name]["command"] == job.verdict.entry.command
    review = (tmp_path / "out/REVIEW.md").read_text()
    headings = [line for line in review.splitlines() if line.startswith("### ")]
    assert len(headings) == COUNT
    assert not re.search("[\x00-\x08\x0b-\x1f]", review)
