"""Which names (of variables, options, headers, query keys) stand before a secret."""

import re
from enum import IntEnum
from functools import lru_cache

from cron2queue.expressions import regex


class Strength(IntEnum):
    """How sure a name makes it that its value is a secret: a weak one needs a value that looks random."""

    NONE = 0
    WEAK = 1
    STRONG = 2


_PARTS = regex(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|\d++|[A-Z]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STRONG = _words("""
    password passwd passwort passphrase passcode pass pwd pw pswd secret secrets token apikey dsn userpass
    bearer storepass keypass authorization cookie requirepass masterauth
    """)
_STRONG_ENDS = (
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "authkey",
    "secretkey",
)
_WEAK = frozenset(
    {
        "key",
        "auth",
        "sig",
        "signature",
        "sid",
        "session",
        "sessionid",
        "phpsessid",
        "jsessionid",
        "salt",
        "credential",
        "credentials",
        "creds",
        "cred",
    }
)
# What stands before `key` or `auth` and makes it a secret for sure.
_BEFORE_KEY = _words("""
    api access secret private encryption master auth account storage app signing shared service admin user
    client write ingest integration routing smtp redis proxy http
    """)
# What stands before `key` and makes it a public one, a column or a file of the host.
_OPEN_KEYS = frozenset(
    {"encrypt", "sign", "gpg", "ssh", "host", "sort", "primary", "foreign", "group", "partition", "hot", "cache"}
)
# Ends that name something about a secret, or where it lies.
_ABOUT = _words("""
    file files path dir folder fd stdin command cmd name type length len size policy ttl expiry expires expire
    age url uri host env sock method mode enabled required min max count prompt store ring server plugin
    mechanism through field attempts retries algorithm format usage generator reset check limit port
    """)
_TELLER = regex(r"[-_.]?(?:command|cmd)\Z", re.IGNORECASE)
_INNOCENT = _words("""
    bypass compass trespass encompass overpass underpass surpass lowpass highpass bandpass keyboard keyword
    keywords passenger passive author authors monkey turkey hockey whiskey donkey askpass
    """)


@lru_cache(maxsize=512)
def strength(name: str) -> Strength:
    """How likely the value of this name is a secret: `DB_PASSWORD`, `--api-key`, `keyStorePassword`, `X-Auth-Token`."""
    trimmed = name.strip("-_.")
    if trimmed in ("PWD", "OLDPWD") or trimmed.lower() in _INNOCENT or len(trimmed) > 100:
        return Strength.NONE
    parts = [part.lower() for part in _PARTS.findall(trimmed)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts or parts[-1] in _ABOUT or parts[0] == "no" or parts[0] == "public":
        return Strength.NONE
    return _of_parts(parts)


def names_teller(name: str) -> bool:
    """Whether the value is a command that tells the secret: `BORG_PASSCOMMAND`, `--password-command`."""
    trimmed = name.strip("-_.")
    told = _TELLER.sub("", trimmed)
    return told != trimmed and strength(told) is Strength.STRONG


def _of_parts(parts: list[str]) -> Strength:
    last = parts[-1]
    if last in _STRONG or (last.endswith(_STRONG_ENDS) and last not in _INNOCENT):
        return Strength.STRONG
    if last in ("key", "auth") and len(parts) > 1 and parts[-2] in _BEFORE_KEY:
        return Strength.STRONG
    if last == "key" and len(parts) > 1 and parts[-2] in _OPEN_KEYS:
        return Strength.NONE
    if last in _WEAK or last.endswith("key") or any(part in _STRONG for part in parts):
        return Strength.NONE if last in _INNOCENT else Strength.WEAK
    return Strength.NONE
