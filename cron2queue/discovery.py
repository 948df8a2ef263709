"""Finds the members of a family: the one class in each module of a package that fulfils the family's contract."""

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import TypeVar

Contract = TypeVar("Contract")


class CrowdedModule(TypeError):
    """A family's module holds no member, or more than one. This is a programming error, not a user's."""


def _own_members(module: ModuleType, contract: type[Contract]) -> list[type[Contract]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, contract) and value.__module__ == module.__name__
    ]


def members(package: str, contract: type[Contract]) -> list[type[Contract]]:
    """All members in the package's modules, in the order of their module names; exactly one a module."""
    found: list[type[Contract]] = []
    for info in sorted(pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda each: each.name):
        module = importlib.import_module(f"{package}.{info.name}")
        own = _own_members(module, contract)
        if len(own) != 1:
            raise CrowdedModule(f"{module.__name__} must define exactly one {contract.__name__}, found {len(own)}")
        found.append(own[0])
    return found
