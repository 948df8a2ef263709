"""Families are found by looking, and a module that breaks the rule of one member is refused."""

import sys
from pathlib import Path

import pytest

from cron2queue import discovery
from cron2queue.discovery import CrowdedModule, members


class Animal:
    pass


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    name = f"zoo_{request.node.name[:20]}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "animal_contract", sys.modules[__name__])
    return package


def member(folder: Path, module: str, *classes: str) -> None:
    body = "".join(f"class {name}(Animal):\n    pass\n" for name in classes)
    (folder / f"{module}.py").write_text(f"from animal_contract import Animal\n{body}", encoding="utf-8")


def test_members_come_in_the_order_of_their_modules(zoo: Path) -> None:
    member(zoo, "wolf", "Wolf")
    member(zoo, "ape", "Ape")
    assert [each.__name__ for each in members(zoo.name, Animal)] == ["Ape", "Wolf"]


def test_a_module_with_two_members_is_refused(zoo: Path) -> None:
    member(zoo, "pair", "Cat", "Dog")
    with pytest.raises(CrowdedModule, match=r"pair must define exactly one Animal, found 2"):
        members(zoo.name, Animal)


def test_a_module_without_a_member_is_refused(zoo: Path) -> None:
    member(zoo, "nobody")
    with pytest.raises(CrowdedModule, match="found 0"):
        members(zoo.name, Animal)


def test_one_member_is_found_without_importing_the_others(zoo: Path) -> None:
    member(zoo, "wolf", "Wolf")
    member(zoo, "broken", "Cat", "Dog")
    assert discovery.module_names(zoo.name) == ["broken", "wolf"]
    assert discovery.member(zoo.name, Animal, "wolf").__name__ == "Wolf"
    assert f"{zoo.name}.broken" not in sys.modules
