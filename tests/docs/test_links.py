"""No page of the documentation points to a page that is not there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*/README.md"))


def test_every_example_says_what_its_files_are() -> None:
    assert [page.parent for page in examples()] == sorted(each for each in (ROOT / "examples").iterdir() if each.is_dir())
    for page in examples():
        text = page.read_text(encoding="utf-8")
        named = [each for each in page.parent.iterdir() if not each.name.startswith((".", "__")) and each != page]
        assert [each.name for each in named if each.name not in text] == [], page


def test_every_relative_link_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in (*pages(), *examples())
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("http:", "https:", "mailto:")) and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_index_names_every_hand_written_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    written = [page for page in pages()[1:] if page.parent.name not in {"rules", "commands"} and page.name != "index.md"]
    missing = [str(page.relative_to(ROOT / "docs")) for page in written if str(page.relative_to(ROOT / "docs")) not in index]
    assert missing == []
