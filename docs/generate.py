"""Writes the generated part of the documentation; with --check says what is stale instead, and exits with 1."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from commands import command_pages

from cron2queue.analyser.handbook import index, page
from cron2queue.analyser.registry import all_rules

DOCS = Path(__file__).resolve().parent


def rule_pages() -> Mapping[str, str]:
    """A page for each rule and the list of all."""
    return {f"{rule.code}.md": page(rule) for rule in all_rules()} | {"index.md": index()}


# Each folder (or single file) below docs/, and what makes its pages by file name. A folder belongs to its function alone: what
# it does not make is deleted.
GENERATED: tuple[tuple[str, Callable[[], Mapping[str, str]]], ...] = (
    ("reference/rules", rule_pages),
    ("reference/commands", command_pages),
)


def wanted() -> dict[Path, str]:
    """Every generated file with its text."""
    return {DOCS / folder / name: text for folder, make in GENERATED for name, text in make().items()}


def present() -> set[Path]:
    """Every file that lies in a generated folder."""
    return {path for folder, _ in GENERATED for path in (DOCS / folder).glob("*.md")}


def stale() -> list[Path]:
    """Files that differ from what would be written, are missing, or should not be there."""
    texts = wanted()
    different = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return sorted(different + [path for path in present() if path not in texts])


def write() -> None:
    """Bring all generated files up to date."""
    texts = wanted()
    for path in present() - texts.keys():
        path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Exit status 1 when --check finds something stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what is stale")
    if not parser.parse_args().check:
        write()
        return 0
    for path in stale():
        print(f"stale: {path.relative_to(DOCS.parent)}", file=sys.stderr)
    return 1 if stale() else 0


if __name__ == "__main__":
    sys.exit(main())
