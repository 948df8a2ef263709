"""docs/reference/dialects.md is what the dialects declare.

After a change, from the project's folder:
    python -c 'import cron2queue.crontab.handbook as page; print(page.reference(), end="")' > docs/reference/dialects.md
"""

from pathlib import Path

from cron2queue.crontab.dialect import dialects
from cron2queue.crontab.handbook import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "dialects.md"


def test_the_reference_is_what_the_dialects_declare() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_dialect_and_every_rule_has_its_place() -> None:
    page = reference()
    for dialect in dialects().values():
        assert f"(`{dialect.name}`)" in page
        assert dialect.blast_radius.split(",")[0] in page.replace("\\", "")
    assert "None" not in page
