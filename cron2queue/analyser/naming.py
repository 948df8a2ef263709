"""Readable, unique names for jobs, taken from what the command runs: `order-import`, `magento-cron-run`."""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

from cron2queue.analyser.invocations import Invocation, main_invocation
from cron2queue.expressions import regex
from cron2queue.redaction import MASK, redact

LONGEST = 48

# Options of interpreters whose value stands in the next word; the first other word is the script.
_INTERPRETERS: dict[str, frozenset[str]] = {
    "php": frozenset({"-d", "-c", "-z", "--define"}),
    "python": frozenset({"-W", "-X"}),
    "perl": frozenset({"-I"}),
    "ruby": frozenset({"-I", "-r"}),
    "node": frozenset({"-r", "--require"}),
    "java": frozenset({"-cp", "-classpath", "--class-path"}),
    "sh": frozenset(),
    "bash": frozenset(),
    "dash": frozenset(),
    "ksh": frozenset(),
    "zsh": frozenset(),
}
_VERSIONED = regex(r"(?:[a-z]+-)?(php|python|perl|ruby|node|java)[\d.]*$")
# Programs that only carry a task's name as an argument: the task names the job.
_FRONT_NAMES = """
    console magento artisan manage.py rake drush wp typo3 typo3cms cake yii occ mix npm yarn pnpm make ant gradle
    bundle rails shopware cli.php app n98-magerun n98-magerun2 symfony invoke fab poetry pipenv uv run exec
    gitlab-rake gitlab-rails django-admin flask craft spark composer
"""
_FRONTS = frozenset(_FRONT_NAMES.split())
# Fronts whose own name adds nothing to their task's.
_SILENT_NAMES = "console manage.py rake bundle npm yarn pnpm cli.php app poetry pipenv uv run exec rails make"
_SILENT_FRONTS = frozenset(_SILENT_NAMES.split())
# Script names that say nothing without their folder.
_GENERIC_NAMES = "cron run index main start job jobs task tasks script worker daily hourly weekly monthly"
_GENERIC = frozenset(_GENERIC_NAMES.split())
_BORING_NAMES = "bin sbin scripts script cron crons current htdocs public public_html www html web src app lib . .. ~ $home"
_BORING_FOLDERS = frozenset(_BORING_NAMES.split()) | {""}
_EXTENSION = regex(r"\.(?:sh|bash|php\d?|phar|py|pl|rb|js|mjs|ts|jar|cgi|bin|exe|sql)$")
# Programs whose first word is a bundle of options.
_LETTERED = frozenset({"tar", "ps", "ar", "chmod", "chown"})
_IDENTIFIER = regex(r"[0-9a-f]{8,}(?:-[0-9a-f]+)*|\d{4,}", re.IGNORECASE)
_NOT_SLUG = regex(r"[^a-z0-9]+")
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_PLAIN_WORD = regex(r"[A-Za-z][\w:./-]*$")


def interpreter(invocation: Invocation) -> str | None:
    """`php` for /usr/bin/php8.2, None for a program that is no interpreter."""
    match = _VERSIONED.match(invocation.program)
    name = match[1] if match else invocation.program
    return name if name in _INTERPRETERS else None


def script_and_arguments(invocation: Invocation) -> tuple[str, tuple[str, ...]]:
    """The script that an interpreter runs and its arguments; for other programs the program itself."""
    name = interpreter(invocation)
    if name is None:
        return invocation.path, invocation.words
    words, at = invocation.words, 0
    while at < len(words):
        word = words[at]
        if word in ("-m", "-f", "-jar") and at + 1 < len(words):
            return words[at + 1], words[at + 2 :]
        if word in ("-c", "-e", "-r") and name != "node":
            return invocation.path, ()
        if not word.startswith("-"):
            return word, words[at + 1 :]
        at += 2 if word in _INTERPRETERS[name] else 1
    return invocation.path, ()


def is_front(script: str) -> bool:
    """The script only carries the name of an application's task as an argument: `artisan`, `bin/console`, `manage.py`."""
    return script.rstrip("/").rpartition("/")[2] in _FRONTS


def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and single hyphens, starting with a letter; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = _NOT_SLUG.sub("-", _CAMEL.sub("-", plain).lower()).strip("-")
    return re.sub(r"^[0-9-]+", "", words)[:LONGEST].rstrip("-")


def _base(path: str) -> str:
    folder, _, name = path.partition("?")[0].rstrip("/").rpartition("/")
    base = _EXTENSION.sub("", name)
    if base not in _GENERIC:
        return base
    parent = next((part for part in reversed(folder.split("/")) if part.lower() not in _BORING_FOLDERS), "")
    return f"{parent} {base}" if parent else base


def _of_url(words: tuple[str, ...]) -> str | None:
    url = next((word for word in words if "://" in word), None)
    if url is None:
        return None
    try:
        parts = urlsplit(redact(url).replace(MASK, ""))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    return f"{host.partition('.')[0]} {_IDENTIFIER.sub('', _EXTENSION.sub('', parts.path))}"


def _task(invocation: Invocation) -> str:
    script, arguments = script_and_arguments(invocation)
    base = script.rstrip("/").rpartition("/")[2]
    parts = [] if base in _SILENT_FRONTS else [_base(script)]
    plain = [word for word in arguments if _PLAIN_WORD.match(word)]
    while base in _FRONTS and plain:
        base = plain[0].rpartition("/")[2]
        if base not in _SILENT_FRONTS:
            parts.append(_base(plain[0]) if "/" in plain[0] else plain[0])
        plain = plain[1:]
    first = arguments[0] if arguments else ""
    plain_program = script is invocation.path and base not in _FRONTS and base == invocation.program
    if len(parts) == 1 and plain_program and invocation.program not in _LETTERED and _PLAIN_WORD.match(first):
        parts += [] if "://" in first else [_base(first)]
    return " ".join(parts)


@lru_cache(maxsize=1024)
def job_name(command: str) -> str:
    """The name of the job that a command line is, not yet unique; it stands in file names and metrics, so without secrets."""
    main = main_invocation(command)
    if main is None:
        return "job"
    if main.program in ("curl", "wget", "lynx", "GET", "fetch", "http"):
        return slug(_of_url(main.words) or main.program) or "job"
    if main.program == "run-parts":
        folder = next((word for word in main.words if word.startswith("/")), "")
        return slug(f"run-parts {_base(folder)}") or "job"
    return slug(_task(main)) or slug(_EXTENSION.sub("", main.program)) or "job"


class Names:
    """Gives each name once: one that was given before gets `-2`, `-3` and so on."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counters: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """The name, or its first free successor."""
        chosen = name
        while chosen in self._taken:
            self._counters[name] = self._counters.get(name, 1) + 1
            chosen = f"{name}-{self._counters[name]}"
        self._taken.add(chosen)
        return chosen
