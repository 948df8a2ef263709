"""Secrets out of anything that is shown or stored."""

import re

MASK = "‹secret›"

_URL_USERINFO = re.compile(r"(?P<head>[a-z][a-z0-9+.-]{1,20}://)(?P<user>[^\s/:@]{0,200}):(?P<secret>[^\s/]{1,200})@", re.I)


def redact(text: str) -> str:
    """The text with every recognised secret replaced by a mask. Redact before cutting."""
    return _URL_USERINFO.sub(lambda m: f"{m['head']}{m['user']}:{MASK}@", text)
