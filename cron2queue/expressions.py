"""Regular expressions that are compiled when the first text is shown to them: most commands meet few of those they know."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


def regex(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but later: what is wrong with the expression is raised at its first use."""
    made: Any = _Later(expression, flags)
    return made  # type: ignore[no-any-return]


class _Later:
    def __init__(self, *said: Any) -> None:
        self._said = said

    def __getattr__(self, name: str) -> Any:
        """A method of the compiled expression; asked once for each, since it stands in the instance from then on."""
        found = getattr(re.compile(*self._said), name)
        setattr(self, name, found)
        return found
