"""Templates are layout: strict, without globals, and with the reader's own ones first."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from jinja2 import TemplateNotFound, UndefinedError
from jinja2.exceptions import SecurityError

from cron2queue.generator.templating import Templates


@dataclass(frozen=True, kw_only=True)
class Page:
    text: str


def render(tmp_path: Path, source: str, text: str = "x") -> str:
    (tmp_path / "page.j2").write_text(source)
    return Templates(tmp_path).render("page.j2", Page(text=text))


def test_a_name_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError):
        render(tmp_path, "{{ txet }}")


@pytest.mark.parametrize("text", ["{{ 7*7 }}", "{% include 'x' %}", "{# gone #}", "${7*7}"])
def test_a_value_is_never_a_template(text: str, tmp_path: Path) -> None:
    assert render(tmp_path, "[{{ text }}]", text) == f"[{text}]"


def test_there_are_no_globals_and_no_way_into_python(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError):
        render(tmp_path, "{{ range(3) }}")
    with pytest.raises((SecurityError, UndefinedError)):
        render(tmp_path, "{{ text.__class__.__mro__[1].__subclasses__() }}")


def test_a_file_of_ones_own_comes_first_and_the_bundled_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "_shared").mkdir()
    (tmp_path / "_shared/logrotate.conf.j2").write_text("mine {{ text }}")
    templates = Templates(tmp_path)
    assert templates.render("_shared/logrotate.conf.j2", Page(text="x")) == "mine x"
    with pytest.raises(TemplateNotFound):
        templates.render("../outside.j2", Page(text="x"))
