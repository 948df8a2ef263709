"""Frozen values with named fields that cost little to define: a process that cron starts each minute defines a dozen.

A frozen dataclass takes half a millisecond to make and an import of twenty modules before the first. These have its
behaviour (keywords only, slots, equality, hash, repr, pickle), and `dataclasses.replace`, `fields` and `asdict` take them.
Modules that use this base say `from __future__ import annotations`, and load `typing` for the type checker alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """At run time nothing."""
        return lambda made: made


class _Fields:
    """What `dataclasses` asks a class for; made when it asks."""

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import field, make_dataclass
        from functools import partial

        known = owner._defaults
        fields = [
            (name, object, field(default_factory=partial(known.__getitem__, name)) if name in known else field())
            for name in owner.__slots__
        ]
        made: Any = make_dataclass(owner.__name__, fields, frozen=True, kw_only=True)
        owner.__dataclass_fields__ = made.__dataclass_fields__
        return owner.__dataclass_fields__


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _RecordType(type):
    """Turns the annotations of a class body into slots and an initializer."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _RecordType:
        fields = tuple(body.get("__annotations__", ())) if bases else ()
        defaults = {field: body.pop(field) for field in fields if field in body}
        body["__slots__"] = fields
        if not fields:
            return super().__new__(mcs, name, bases, body)
        # A value is of a like class that is not frozen while it is made: to set its fields past the lock takes three times
        # as long, and a bulk makes thousands.
        open_class = super().__new__(
            mcs, name, bases, {"__slots__": fields, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
        )
        body["_defaults"], body["__match_args__"] = defaults, ()
        scope: dict[str, Any] = {"_set": object.__setattr__, "_open": open_class, "_defaults": defaults}
        body["__init__"] = _initializer(fields, scope)
        made = scope["_frozen"] = super().__new__(mcs, name, bases, body)
        return made


def _initializer(fields: tuple[str, ...], scope: dict[str, Any]) -> Callable[..., None]:
    """Written out, since a loop over the fields would take each value twice as long to make."""
    defaults = scope["_defaults"]
    given = ", ".join(f"{field}=_defaults[{field!r}]" if field in defaults else field for field in fields)
    body = "".join(f"    self.{field} = {field}\n" for field in fields)
    body = f"    _set(self, '__class__', _open)\n{body}    self.__class__ = _frozen"
    exec(f"def __init__(self, *, {given}):\n{body}", scope)  # noqa: S102 - names of fields, from class bodies of this package
    made: Callable[..., None] = scope["__init__"]
    return made


class Record(metaclass=_RecordType):
    """Base of frozen values. The annotations of a subclass are its fields; there is no further level of subclasses."""

    if TYPE_CHECKING:
        __slots__: ClassVar[tuple[str, ...]]
        _defaults: ClassVar[dict[str, Any]]
        __dataclass_fields__: ClassVar[dict[str, Any]]
    else:
        __dataclass_fields__ = _Fields()

    def but(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return type(self)(**dict(zip(type(self).__slots__, self._values(), strict=True)) | changes)

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, field) for field in type(self).__slots__])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = zip(type(self).__slots__, self._values(), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self._values())


def _remade(made: Any, values: tuple[Any, ...]) -> Any:
    return made(**dict(zip(made.__slots__, values, strict=True)))
