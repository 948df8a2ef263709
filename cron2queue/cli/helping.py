"""How a group of commands tells of them: each in a whole sentence, where typer would cut it off."""

from typing import Any

import typer.core


class Commands(typer.core.TyperGroup):
    """A group whose help shows the first sentence of each command, wrapped."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The table of the commands; hidden ones are left out."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, _sentence(command.help or "")) for name, command in found if command and not command.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _sentence(text: str) -> str:
    """The first sentence of a help text, without its full stop."""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
