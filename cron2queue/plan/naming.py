"""Names out of foreign text: slugs that are safe as file names, table keys, kinds and unit names."""

import re
from collections.abc import Iterable
from hashlib import sha256

LONGEST = 48
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}\Z")
# What a file system, a shell or Windows would take for something else.
_RESERVED = frozenset({"con", "prn", "aux", "nul", "all", "none", "default", "command"})


def is_slug(name: str) -> bool:
    """Whether a name may stand in paths and commands without quoting."""
    return bool(_SLUG.match(name))


def slug(text: str) -> str:
    """`[a-z0-9][a-z0-9_-]*`, at most 48 characters; texts that lose something by it get a short hash of the whole."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")
    if plain and plain == text and len(plain) <= LONGEST and plain not in _RESERVED:
        return plain
    digest = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return f"{plain[: LONGEST - 7].strip('-_') or 'job'}-{digest}"


def _same(name: str) -> str:
    """What two names must not share: handlers are Python files, in which `-` becomes `_`."""
    return name.replace("-", "_")


def unique(names: Iterable[str]) -> list[str]:
    """The names as slugs, later ones of equal sound numbered -2, -3, ..."""
    taken: set[str] = set()
    following: dict[str, int] = {}  # so that a thousand lines of one name do not each count from 2
    result = []
    for name in names:
        first = chosen = name if is_slug(name) and name not in _RESERVED else slug(name)
        number = following.get(first, 2)
        while _same(chosen) in taken:
            chosen, number = f"{first}-{number}", number + 1
        following[first] = number
        taken.add(_same(chosen))
        result.append(chosen)
    return result


def module_name(name: str) -> str:
    """A Python identifier for a slug."""
    word = _same(name)
    return f"job_{word}" if word[0].isdigit() else word
