"""Frozen values with named fields that cost little to define: one process defines dozens, and most do little else.

A frozen dataclass takes half a millisecond to make and an import of twenty modules before the first. These have its
behaviour (keywords only, slots, equality, hash, repr, pickle), and `dataclasses.replace`, `fields` and `asdict` take them.
Modules that use this base say `from __future__ import annotations`, and may load `typing` for the type checker alone.
"""

from __future__ import annotations

from _operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Literal, Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """At run time nothing."""
        return lambda made: made


_COMPUTED: Any = object()


def computed(*, init: Literal[False] = False) -> Any:
    """A field that `__post_init__` sets from the others, with `object.__setattr__`; it is neither given nor compared."""
    return _COMPUTED


class _Fields:
    """What `dataclasses` asks a class for; made when it asks."""

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import field, make_dataclass
        from functools import partial

        known = owner._defaults
        fields = [
            (name, object, field(default_factory=partial(known.__getitem__, name)) if name in known else field())
            for name in owner._given
        ]
        made: Any = make_dataclass(owner.__name__, fields, frozen=True, kw_only=True)
        owner.__dataclass_fields__ = made.__dataclass_fields__
        return owner.__dataclass_fields__


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(computed,))
class _RecordType(type):
    """Turns the annotations of a class body into slots; those of class variables are none of its fields."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _RecordType:
        said: dict[str, str] = body.get("__annotations__", {}) if bases else {}
        slots = tuple([field for field, kind in said.items() if not kind.startswith("ClassVar")])
        known = {field: body.pop(field) for field in slots if field in body}
        given = tuple([field for field in slots if known.get(field) is not _COMPUTED])
        body["__slots__"], body["_given"], body["_defaults"], body["__match_args__"] = slots, given, known, ()
        body["_values_of"] = attrgetter(*given) if len(given) > 1 else lambda made: tuple([getattr(made, f) for f in given])
        return super().__new__(mcs, name, bases, body)


def _initializer(made: type[Record]) -> Callable[..., None]:
    """Written out, since a loop over the fields would take each value twice as long to make.

    A value is of a like class that is not frozen while it is made: to set its fields past the lock takes three times as
    long, and a bulk makes thousands.
    """
    body = {"__slots__": made.__slots__, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    like: Any = type.__new__(type(made), made.__name__, made.__bases__, body)
    defaults = made._defaults
    given = ["self", *(["*"] if made._given else [])]
    given += [f"{field}=_defaults[{field!r}]" if field in defaults else field for field in made._given]
    steps = ["_set(self, '__class__', _like)", *(f"self.{field} = {field}" for field in made._given), "self.__class__ = _made"]
    steps += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    scope: dict[str, Any] = {"_set": object.__setattr__, "_like": like, "_made": made, "_defaults": defaults}
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(steps), scope)  # noqa: S102 - names of fields only
    written: Callable[..., None] = scope["__init__"]
    return written


class Record(metaclass=_RecordType):
    """Base of frozen values. The annotations of a subclass are its fields; there is no further level of subclasses."""

    if TYPE_CHECKING:
        __slots__: ClassVar[tuple[str, ...]]
        _given: ClassVar[tuple[str, ...]]
        _defaults: ClassVar[dict[str, Any]]
        _values_of: ClassVar[Callable[[Any], tuple[Any, ...]]]
        __dataclass_fields__: ClassVar[dict[str, Any]]
    else:
        __dataclass_fields__ = _Fields()

        def __init__(self, **given):
            """The first of its class has the initializer written: most classes that a module defines make no value."""
            kind = type(self)
            kind.__init__ = _initializer(kind)
            kind.__init__(self, **given)

    def but(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        kind = type(self)
        return kind(**dict(zip(kind._given, kind._values_of(self), strict=True)) | changes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        kind = type(self)
        return kind._values_of(self) == kind._values_of(other) if type(other) is kind else NotImplemented

    def __hash__(self) -> int:
        return hash(type(self)._values_of(self))

    def __repr__(self) -> str:
        kind = type(self)
        fields = zip(kind._given, kind._values_of(self), strict=True)
        return f"{kind.__qualname__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        kind = type(self)
        return _remade, (kind, kind._values_of(self))


def _remade(made: Any, values: tuple[Any, ...]) -> Any:
    return made(**dict(zip(made._given, values, strict=True)))
