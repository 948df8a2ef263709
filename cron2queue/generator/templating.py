"""Templates: layout and prose only. Foreign text is a value in them, never their source."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from cron2queue.bundled import data_root
from cron2queue.generator import shell

FILTERS: Mapping[str, Callable[..., str]] = {
    "sh": shell.sh,
    "php": shell.php,
    "js": shell.js,
    "python": shell.python,
    "unit_word": shell.unit_word,
    "unit_program": shell.unit_program,
    "unit_assignment": lambda pair: shell.unit_assignment(*pair),
    "unit_text": shell.unit_text,
    "comment": shell.comment,
    "md": shell.markdown,
    "code": shell.markdown_code,
    "cell": lambda text: shell.markdown_code(text).replace("|", "\\|"),
}


class Templates:
    """The bundled templates; a file of the same name in the user's own folder is used instead."""

    def __init__(self, overrides: Path | None = None) -> None:
        folders = [str(overrides)] if overrides else []
        self._environment = SandboxedEnvironment(
            loader=FileSystemLoader([*folders, str(data_root("templates"))]),
            undefined=StrictUndefined,
            autoescape=False,  # each target language has its own filter; none of them is HTML
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.clear()
        self._environment.filters.update(FILTERS)

    def render(self, name: str, model: Any) -> str:
        """The template `name` filled from the fields of one frozen dataclass."""
        values = {each.name: getattr(model, each.name) for each in fields(model)}
        return self._environment.get_template(name).render(values)
