"""Secrets that the text around them gives away: URLs, NAME=value anywhere, headers, SQL, netrc."""

import re
from collections.abc import Iterator

from cron2queue.expressions import regex
from cron2queue.redaction.names import Strength, strength
from cron2queue.redaction.spans import Span, is_reference, looks_random

_URL_TOKEN = regex(r"[^\s'\"<>]++")
_AUTHORITY_ENDS = regex(r"[/?#]")
# Drupal's key to its cron page stands in the path: letters of both cases and digits.
_CRON_KEY = regex(r"/cron/(?P<secret>(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*[0-9])[\w-]{20,200}+)(?![\w./-])")
_ORDINARY_USER = regex(r"[a-z][a-z._-]{0,15}\Z")

_NAME = regex(r"(?<![\w.-])(?P<name>[\w.-]++)(?P<gap>(?:\\?['\"\]]){0,2}[ \t]{0,4}(?P<sign>=>|:=|=(?!=)|:)[ \t]{0,4})")
_VALUE = regex(r"""(?:\\["'][^"'\\]*+|"(?>[^"\\]++|\\.)*+"?|'[^']*+'?|[^\s&;,'"<>|()\[\]{}]++)""", re.S)
# How much of a value is looked at to decide; only a masked one is read to its end, and then left behind for good.
_JUDGED = 300
_LINE_OF_HEADER = regex(r"[^'\"\n]++")
_AUTHORIZATION = regex(
    r"authorization['\"]?[ ]{0,4}[:=][ ]{0,4}['\"]?"
    r"(?:(?:basic|bearer|token|digest|negotiate|apikey|key)[ =:]{1,4})?(?P<secret>[^'\"\n]++)",
    re.I,
)
_SCHEME = regex(r"\b(?P<scheme>bearer|basic)[ ]{1,4}(?P<secret>[\w.~+/=-]{8,}+)", re.I)
_SQL = regex(
    r"(?:identified\s{1,4}(?:with\s{1,4}\S{1,60}\s{1,4})?(?:by|as)|\bpassword)\s{1,4}(?P<secret>'[^']*+'?|\"[^\"]*+\"?)", re.I
)
_NETRC = regex(r"\blogin\s{1,4}\S{1,80}\s{1,4}password\s{1,4}(?P<secret>\S++)", re.I)
_AT_HOST = regex(
    r"(?<![\w./:@-])(?!mailto:|sip:|xmpp:)[A-Za-z][\w.-]{0,60}:(?P<secret>[^\s:@/'\"]{1,100})@(?!sha\d)(?=[\w.-]{2})"
)


def secrets(text: str) -> Iterator[Span]:
    """Spans of secrets by what stands around them."""
    if "://" in text:
        for token in _URL_TOKEN.finditer(text):
            yield from _urls(text, token.start(), token.end())
        yield from (found.span("secret") for found in _CRON_KEY.finditer(text))
    yield from _assignments(text)
    for pattern in (_AUTHORIZATION, _SQL, _NETRC, _AT_HOST):
        yield from (m.span("secret") for m in pattern.finditer(text) if not is_reference(m["secret"]))
    for found in _SCHEME.finditer(text):
        if looks_random(found["secret"]) or found["secret"].endswith("="):
            yield found.span("secret")


def _urls(text: str, start: int, end: int) -> Iterator[Span]:
    """The userinfo of each URL in one token; a password may hold `@`, `:` and `/`, so its last `@` counts."""
    opening = text.find("://", start, end)
    while opening >= 0:
        following = text.find("://", opening + 3, end)
        yield from _userinfo(text, start, opening, following if following >= 0 else end)
        opening = following


def _userinfo(text: str, start: int, opening: int, end: int) -> Iterator[Span]:
    begin = opening + 3
    stops = _AUTHORITY_ENDS.search(text, begin, end)
    authority_end = stops.start() if stops else end
    scheme_is_web = text[max(start, opening - 5) : opening].lower().endswith(("http", "https"))
    last = text.rfind("@", begin, end)
    inner = text.rfind("@", begin, authority_end)
    colon = text.find(":", begin, last if last >= 0 else begin)
    if last < 0 or (inner < 0 and (colon < 0 or colon > authority_end)):
        return
    if inner < 0 and scheme_is_web and text[colon + 1 : authority_end].isdigit():
        return  # host:port/path/@somebody
    if colon < 0 or colon > (inner if inner >= 0 else last):
        yield from _lone_user(text, begin, inner, scheme_is_web)
        return
    yield from _password(text, begin, colon, last)


def _password(text: str, begin: int, colon: int, at: int) -> Iterator[Span]:
    secret = text[colon + 1 : at]
    if secret in ("", "x-oauth-basic", "x"):  # the token stands where the user's name does
        yield from _lone_user(text, begin, colon, scheme_is_web=True)
    elif not is_reference(secret):
        yield colon + 1, at


def _lone_user(text: str, begin: int, end: int, scheme_is_web: bool) -> Iterator[Span]:
    user = text[begin:end]
    if scheme_is_web and not _ORDINARY_USER.match(user) and not is_reference(user):
        yield begin, end


def _assignments(text: str) -> Iterator[Span]:
    found = _NAME.search(text)
    while found is not None:
        value = _assigned(text, found)
        if value is not None:
            yield value
        found = _NAME.search(text, value[1] if value is not None else found.end())


def _assigned(text: str, found: re.Match[str]) -> Span | None:
    sure = strength(found["name"])
    if sure is Strength.NONE:
        return None
    a_header = found["sign"] == ":" and "-" in found["name"].strip("-") and sure is Strength.STRONG
    form = _LINE_OF_HEADER if a_header else _VALUE
    value = form.match(text, found.end(), found.end() + _JUDGED)
    if value is None or not _is_secret(sure, found["sign"], found["gap"], value.group()):
        return None
    whole = form.match(text, found.end())
    return whole.span() if whole is not None else None


def _is_secret(sure: Strength, sign: str, gap: str, value: str) -> bool:
    if is_reference(value):
        return False
    if sure is Strength.WEAK:
        return looks_random(value)
    if "=" in sign:
        return True
    # `password: needed by mysql` is prose; a quoted value or one that is no plain word is none.
    return (
        value[0] in "'\""
        or gap[0] in "'\""
        or (gap[-1] == ":" and not value.startswith("/"))
        or not value.strip(".,").isalpha()
    )
