"""Where a secret stands in a text, and which values are none."""

import re

from cron2queue.expressions import regex

Span = tuple[int, int]

# Only points to a secret, or is a placeholder for one. A default in ${NAME:-default} may be the secret itself.
_REFERENCE = regex(
    r"""\$\w++\Z|\$\{\w++\}\Z|\$\((?!\s*+(?:echo|printf)\b)|\$\Z|`|\{\{|\{%|%\(\w++\)s?\Z|<|\*++\Z|[.]{3}\Z|…|‹|\[(?:redacted|masked|hidden)""",
    re.I,
)
# Long enough for a key; what is not random among these is sorted out later.
LONG_RUN = regex(r"(?<![\w+/=.-])[A-Za-z0-9+/_=-]{32,}+")
_PLAIN = frozenset(
    {"", "true", "false", "yes", "no", "on", "off", "none", "null", "0", "1", "auto", "prompt", "ask", "stdin", "-"}
)


def bare(word: str) -> str:
    """A shell word without the quotes around it."""
    return word.strip("'\"")


def is_reference(value: str) -> bool:
    """True when the value names where the secret is (a variable, a command), or is no value at all."""
    inner = bare(value)
    return inner.lower() in _PLAIN or _REFERENCE.match(inner) is not None


def looks_random(value: str) -> bool:
    """Long enough and mixed enough for a key: what a weak name such as `key` needs before it is masked."""
    inner = bare(value)
    if len(inner) < 8 or inner[0] in "/.~$":
        return False
    sample = inner[:64]
    mixed = any(c.isdigit() for c in sample) and any(c.isalpha() for c in sample)
    return mixed or (len(sample) >= 20 and sample.isalnum() and not sample.isdigit())


def has_long_run(text: str) -> bool:
    """True when the text holds a run of letters and digits that is long enough to be a key."""
    return len(text) >= 32 and LONG_RUN.search(text) is not None
