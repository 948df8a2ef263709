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


def module_names(package: str) -> list[str]:
    """The names of the package's modules, in order; none of them is imported."""
    return sorted(info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__))


def member(package: str, contract: type[Contract], module_name: str) -> type[Contract]:
    """The one member in that module, which alone is imported."""
    module = importlib.import_module(f"{package}.{module_name}")
    own = _own_members(module, contract)
    if len(own) != 1:
        raise CrowdedModule(f"{module.__name__} must define exactly one {contract.__name__}, found {len(own)}")
    return own[0]


def members(package: str, contract: type[Contract]) -> list[type[Contract]]:
    """All members in the package's modules, in the order of their module names; exactly one a module."""
    return [member(package, contract, name) for name in module_names(package)]
