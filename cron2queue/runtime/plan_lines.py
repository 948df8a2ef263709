"""Where in the text of a plan a key stands, so that a mistake can be told with its line."""

import re

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[=.]""")


def line_of(text: str, table: str, key: str | None = None) -> int | None:
    """The number of the line that holds a key of a table (dotted name), or the table's header; None when not found."""
    current = ""
    for number, line in enumerate(text.split("\n"), start=1):
        header = _HEADER.match(line)
        if header:
            current = re.sub(r"""["'\s]""", "", header.group(1))
            if (key is None and current == table) or (not table and current.partition(".")[0] == key):
                return number
        found = _KEY.match(line)
        if found and not header and current == table and key in found.groups():
            return number
    return None
