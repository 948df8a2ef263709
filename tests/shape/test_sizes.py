"""Modules and functions stay small enough to be read in one sitting."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_MODULE = 400
LONGEST_FUNCTION = 40


def modules() -> list[Path]:
    found = sorted((ROOT / "cron2queue").rglob("*.py"))
    assert len(found) > 20
    return found


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {path: n for path, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_no_function_is_longer_than_40_lines() -> None:
    long = {f"{path}:{name}": n for path in modules() for name, n in functions(path) if n > LONGEST_FUNCTION}
    assert long == {}
