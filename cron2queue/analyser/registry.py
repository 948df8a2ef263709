"""All rules, found in rules/, and the choice among them."""

import difflib
import itertools
from collections.abc import Collection
from functools import lru_cache

from cron2queue.analyser.rule import Rule
from cron2queue.discovery import members
from cron2queue.errors import UsageError


class CodeTaken(TypeError):
    """Two rules have the same code. A programming error."""


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """One instance of each rule, by code."""
    family = members("cron2queue.analyser.rules", Rule)  # type: ignore[type-abstract]
    found = sorted((member() for member in family), key=lambda rule: rule.code)
    for before, after in itertools.pairwise(found):
        if before.code == after.code:
            raise CodeTaken(f"{before.slug()} and {after.slug()} are both {after.code}")
    return tuple(found)


def rule_named(name: str) -> Rule:
    """The rule with this code or slug, in any case; an unknown one is a usage error with the nearest names."""
    wanted = name.strip().lower().replace("_", "-")
    for rule in all_rules():
        if wanted in (rule.code.lower(), rule.slug()):
            return rule
    known = [rule.code.lower() for rule in all_rules()] + [rule.slug() for rule in all_rules()]
    near = [found.upper() if found.startswith("c2q") else found for found in difflib.get_close_matches(wanted, known, n=3)]
    remedy = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"there is no rule {name!r}", remedy=f"{remedy}`cron2queue explain all` lists the rules")


def _fits(rule: Rule, wanted: Collection[str]) -> bool:
    return any(rule.code.lower().startswith(each.lower()) or rule.slug() == each.lower() for each in wanted)


def _check_known(names: Collection[str]) -> None:
    for name in names:
        if not any(_fits(rule, (name,)) for rule in all_rules()):
            rule_named(name)


def chosen_rules(select: Collection[str], ignore: Collection[str]) -> tuple[Rule, ...]:
    """Rules by codes, beginnings of codes (`C2Q3`) or slugs; no selection means all."""
    _check_known([*select, *ignore])
    return tuple(rule for rule in all_rules() if (not select or _fits(rule, select)) and not _fits(rule, ignore))
