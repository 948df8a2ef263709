"""Plain values of the command line: the same as typer's own, without the import of pydantic."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer._coercion import RuntimeParam, build_runtime_param, resolve_type_descriptor
from typer.models import OptionInfo

from cron2queue.cli.coercion import _Quick

WORDS = st.one_of(
    st.none(), st.text(max_size=6), st.integers().map(str), st.floats(allow_nan=False).map(str), st.integers(), st.floats(),
    st.booleans(), st.lists(st.text(max_size=4)), st.lists(st.integers().map(str)),
    st.sampled_from(["-", "1e3", "1_000", " 7", "٣", "/tmp"]),
)  # fmt: skip
OPTIONS = st.sampled_from(
    [OptionInfo(), OptionInfo(min=0, max=9), OptionInfo(exists=True), OptionInfo(dir_okay=False), OptionInfo(parser=str.upper)]
)
KINDS: Any = st.sampled_from([str, int, float, bool, Path, list[str], list[int], list[Path]])


def outcome(runtime: RuntimeParam | _Quick, value: Any, *, multiple: bool) -> tuple[type, object]:
    parameter: Any = SimpleNamespace(multiple=multiple, nargs=1, name="x")
    try:
        found = runtime.coerce(value, parameter, None)  # type: ignore[arg-type]
    except (typer.BadParameter, ValueError, TypeError, AttributeError) as refused:
        return type(refused), str(refused)
    return type(found), repr(found)


@settings(max_examples=300, deadline=None)
@given(KINDS, OPTIONS, WORDS)
def test_a_value_is_taken_and_refused_as_by_typer_itself(kind: Any, option: OptionInfo, value: Any) -> None:
    described = resolve_type_descriptor(kind, option)
    multiple = described.is_list
    assert outcome(_Quick(described), value, multiple=multiple) == outcome(
        build_runtime_param(described), value, multiple=multiple
    )


@pytest.mark.parametrize(
    "arguments",
    [["show", "-", "-n", "3"], ["show", "-", "--format", "json"], ["audit", "-", "--width", "80"], ["explain", "* * * * * x"]],
    ids=" ".join,
)
def test_commands_with_plain_values_leave_pydantic_alone(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from cron2queue.cli.app import main\n"
        f"sys.argv = ['cron2queue', *{arguments!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print([each for each in sys.modules if each.startswith('pydantic')], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input="5 4 * * * x\n", capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "[]", done.stderr
