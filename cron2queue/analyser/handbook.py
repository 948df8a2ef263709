"""The handbook: one page a rule, made from its docstring and examples; `explain` and the reference both show it."""

import inspect
from collections.abc import Iterator

from cron2queue.analyser.daemons import DAEMONS
from cron2queue.analyser.example_evidence import measured
from cron2queue.analyser.registry import all_rules
from cron2queue.analyser.rule import ALL, Example, Rule

SECTIONS = ("Why it matters", "What to do", "Not flagged")
FAMILIES = {
    "1": "Form: what the daemon makes of the lines",
    "2": "Schedule: when entries start",
    "3": "Command and environment: what is run, and how",
    "4": "Evidence: what was measured",
    "5": "The crontab as a whole",
}
_KNOWN = {
    "proven": "proven: follows from the daemon's own rules",
    "measured": "measured: from runs in logs",
    "inferred": "inferred: from the text, by experience",
    "declared": "declared: by a person",
}


def summary(rule: Rule) -> str:
    """The first sentence of the rule's docstring."""
    return (inspect.getdoc(type(rule)) or "").split("\n\n")[0]


def sections(rule: Rule) -> dict[str, str]:
    """The docstring's sections by title, each as one text of paragraphs."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (inspect.getdoc(type(rule)) or "").splitlines():
        if line.strip() in SECTIONS and not line.startswith(" "):
            current = found.setdefault(line.strip(), [])
        else:
            current.append(line.removeprefix("    "))
    return {title: "\n".join(lines).strip() for title, lines in found.items()}


def has_fix(rule: Rule) -> bool:
    """The rule can put a line right without asking."""
    return type(rule).fix is not Rule.fix


def daemons_of(rule: Rule) -> str:
    """The daemons that the rule is about, by name."""
    if rule.dialects == ALL:
        return "all"
    return ", ".join(DAEMONS[name].title for name in DAEMONS if name in rule.dialects)


def _visible(text: str) -> str:
    shown = text.replace("\r", "\\r").replace("\ufeff", "\\ufeff")
    return shown.rstrip("\n") if shown.endswith("\n") else f"{shown}  (no newline here)"


def _example(each: str | Example) -> Iterator[str]:
    example = each if isinstance(each, Example) else Example(each)
    known = []
    if example.dialect != "debian":
        known.append(DAEMONS[example.dialect].title)
    if example.kind == "user":
        known.append("a user's crontab")
    if example.path not in ("/etc/cron.d/shop", "/var/spool/cron/crontabs/root", "/var/spool/cron/crontabs/deploy"):
        known.append(example.path)
    known += measured(example)
    if example.host is not None:
        known.append("on the host itself")
    if example.zone != "Europe/Berlin":
        known.append(example.zone)
    yield f"{'; '.join(known)}:\n" if known else ""
    yield f"```text\n{_visible(example.text)}\n```\n"
    for path, text in example.others:
        yield f"and {path}:\n"
        yield f"```text\n{_visible(text)}\n```\n"


def _examples(title: str, examples: tuple[str | Example, ...]) -> Iterator[str]:
    yield f"## {title}\n"
    for each in examples:
        yield from (part for part in _example(each) if part)


def page(rule: Rule) -> str:
    """The rule's page in Markdown that reads well as it stands."""
    parts = [f"# {rule.code} {rule.slug()}\n", f"{summary(rule)}\n"]
    facts = [
        f"- severity: {rule.severity}",
        f"- how it is known: {_KNOWN[rule.confidence]}",
        f"- daemons: {daemons_of(rule)}",
        f"- safe fix: {'yes' if has_fix(rule) else 'no'}\n",
    ]
    parts.append("\n".join(facts))
    parts += [f"## {title}\n\n{text}\n" for title, text in sections(rule).items()]
    parts += _examples("Flagged", rule.bad)
    parts += _examples("Examples that are not flagged", rule.good)
    return "\n".join(parts)


def index() -> str:
    """All rules by family, with a sentence each."""
    parts = ["# Rules\n"]
    for family, title in FAMILIES.items():
        parts.append(f"## {title}\n")
        rows = [
            f"| [{rule.code}]({rule.code}.md) | {rule.slug()} | {rule.severity} | {summary(rule)} |"
            for rule in all_rules()
            if rule.code[3] == family
        ]
        parts.append("\n".join(["| code | name | severity | meaning |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def overview() -> str:
    """All rules as plain lines, for the terminal."""
    lines = []
    for family, title in FAMILIES.items():
        lines.append(f"\n{title}")
        lines += [f"  {rule.code}  {rule.severity:<8} {rule.slug()}" for rule in all_rules() if rule.code[3] == family]
    return "\n".join(lines).strip() + "\n"
