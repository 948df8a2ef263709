"""Each error tells what, where and what to do, and knows its exit status."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from cron2queue.errors import Cron2QueueError, DatabaseUnavailable, InputError, Refused, TryAgain, UsageError

ROOT = Path(__file__).resolve().parents[1]


def test_an_error_names_place_and_remedy() -> None:
    trouble = UsageError("unknown key `timeuot`", place="cron2queue.toml:12:1", remedy="write `timeout`")
    assert str(trouble) == "cron2queue.toml:12:1: unknown key `timeuot`\n  remedy: write `timeout`"


@pytest.mark.parametrize(
    ("error", "status"),
    [(Cron2QueueError, 2), (UsageError, 2), (InputError, 3), (Refused, 4), (DatabaseUnavailable, 69), (TryAgain, 75)],
)
def test_the_exit_statuses_are_the_documented_ones(error: type[Cron2QueueError], status: int) -> None:
    assert error("x").exit_status == status


def _classes(trees: Iterable[ast.Module]) -> dict[str, ast.ClassDef]:
    """The tree of errors, by name, as it is written in the whole package."""
    every = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found: dict[str, ast.ClassDef] = {}
    while more := [each for each in every if each.name not in found and _bases(each) & {"Cron2QueueError", *found}]:
        found |= {each.name: each for each in more}
    return found


def _bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}


def _brings_its_own(node: ast.ClassDef) -> bool:
    """Its constructor hands a remedy over by itself."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and ast.unparse(each.func) == "super().__init__")
    return any(_has_remedy(each) and ast.unparse(_remedy(each)) != "remedy" for each in calls)


def _remedy(call: ast.Call) -> ast.expr:
    return next(word.value for word in call.keywords if word.arg == "remedy")


def _has_remedy(call: ast.Call) -> bool:
    """A remedy is given, and it is not None in some case."""
    given = [word.value for word in call.keywords if word.arg == "remedy"]
    return bool(given) and not any(isinstance(each, ast.Constant) and each.value is None for each in ast.walk(given[0]))


# Why one entry stays in cron as it is: told in REVIEW.md, beside what can be done about it.
REASONS = {"CannotConvert", "NotWritable"}


def _trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "cron2queue").rglob("*.py"))}


def test_every_error_that_is_raised_anywhere_has_a_remedy() -> None:
    trees = _trees()
    classes = _classes(trees.values())
    assert {"UsageError", "QueueFull", "LockHeld", "NotFound"} <= classes.keys() and classes.keys() >= REASONS
    names = {"Cron2QueueError", *classes} - REASONS - {name for name, node in classes.items() if _brings_its_own(node)}
    raised = [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names
    ]
    assert len(raised) > 150
    assert [place for place, node in raised if not _has_remedy(node)] == []


def _remedies(tree: ast.Module) -> Iterator[ast.expr]:
    """Whatever is handed over as a remedy, or is given a name like that first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg == "remedy")
        if isinstance(node, ast.Assign) and any("remed" in ast.unparse(target).lower() for target in node.targets):
            yield node.value


def _texts(node: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """The texts that an expression may come to, with `{}` where another value stands in them."""
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.JoinedStr():
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        case ast.IfExp():
            yield from (*_texts(node.body, constants), *_texts(node.orelse, constants))
        case ast.Name() if node.id in constants:
            yield from _texts(constants[node.id], {})


NAMES = ("Windows", "BusyBox")  # what a sentence may begin with in capitals wherever it stands


def test_every_remedy_is_an_order_in_one_style() -> None:
    """It follows `remedy:` or a colon: it begins small and has no full stop."""
    told: list[tuple[str, str]] = []
    for path, tree in _trees().items():
        constants = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
        texts = [text for node in _remedies(tree) for text in _texts(node, constants)]
        told += [(str(path.relative_to(ROOT)), text) for text in texts]
    assert len(told) > 250
    capital = [each for each in told if each[1][0].isupper() and each[1][:2].istitle() and not each[1].startswith(NAMES)]
    assert capital == []
    assert [each for each in told if each[1].endswith(".") and not each[1].endswith("..")] == []
