"""Secrets that give themselves away: keys of well-known services, JSON web tokens, PEM blocks, random runs."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from cron2queue.expressions import regex
from cron2queue.redaction.spans import LONG_RUN, Span

_KNOWN = regex(
    r"""(?<![\w-])(?:
      (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])
    | gh[pousr]_[A-Za-z0-9]{16,255}+ | github_pat_\w{20,255}+
    | gl(?:pat|dt|rt|cbt|ptt|soat)-[\w-]{16,100}+
    | xox[abeoprs]-[\w-]{8,255}+ | xapp-[\w-]{16,255}+
    | (?:sk|rk|pk|whsec)_(?:live|test)_\w{8,255}+ | whsec_\w{16,255}+ | sk-[\w-]{20,255}+
    | AIza[\w-]{30,60}+ | ya29\.[\w.-]{20,500}+ | npm_\w{30,100}+ | pypi-[\w-]{30,300}+ | hf_\w{20,100}+
    | SG\.[\w-]{10,100}+\.[\w-]{10,100}+ | dop_v1_\w{20,100}+ | key-[0-9a-f]{32}(?!\w) | AGE-SECRET-KEY-1\w{20,100}+
    | hv[sb]\.[\w-]{20,300}+ | \d{8,10}:AA[\w-]{30,40}+
    | eyJ[\w-]{6,4000}+\.eyJ[\w-]{6,4000}+(?:\.[\w-]{0,4000}+)?
    )""",
    re.X,
)
_HOOK = regex(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/\d{1,30}/|webhook\.office\.com/webhookb2/"
    r"|api\.telegram\.org/bot)(?P<secret>[\w/:@-]{8,300}+)"
)
_PEM = regex(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_ENDS = regex(r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BITS = 4.2  # a character; English and identifiers stay below 4, random base64 of 32 characters is above 4.4


def secrets(text: str) -> Iterator[Span]:
    """Spans of secrets by their own shape."""
    yield from (found.span() for found in _KNOWN.finditer(text))
    yield from (found.span("secret") for found in _HOOK.finditer(text))
    yield from _private_keys(text)
    yield from (found.span() for found in LONG_RUN.finditer(text) if _is_random(found.group()))


def _private_keys(text: str) -> Iterator[Span]:
    begins = _PEM.search(text)
    while begins is not None:
        ends = _PEM_ENDS.search(text, begins.end())
        yield begins.end(), ends.start() if ends else len(text)
        begins = _PEM.search(text, ends.end()) if ends else None


def _is_random(run: str) -> bool:
    if run.count("/") > 1 and not run.endswith("="):
        return False  # a path
    sample = run[:200]
    digits = sum(c.isdigit() for c in sample)
    if digits < 3 or not any(c.islower() for c in sample) or not any(c.isupper() for c in sample):
        return False
    turns = sum(_kind(a) != _kind(b) for a, b in pairwise(sample))
    return turns * 3 >= len(sample) and _entropy(sample) >= _BITS


def _kind(c: str) -> int:
    return 0 if c.isdigit() else 1 if c.isupper() else 2 if c.islower() else 3


def _entropy(text: str) -> float:
    """Bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
