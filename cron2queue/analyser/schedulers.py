"""Schedulers that applications bring along and hang on one cron line; they are wrapped or kept, never queued."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cron2queue.analyser.invocations import Invocation, invocations
from cron2queue.analyser.naming import script_and_arguments
from cron2queue.expressions import regex

Test = Callable[[str, tuple[str, ...]], bool]


class KnownScheduler(NamedTuple):
    """An application's own scheduler.

    `guard`: whether a lock around the line is right. Where it is not, the scheduler holds locks of its own, and an outer
    lock would make it miss minutes. `advice` says it in one sentence. `every`: seconds between two starts that the
    application asks for, None where it takes any.
    """

    name: str
    guard: bool
    advice: str
    every: int | None = None


_OWN_LOCKS = "it keeps locks of its own for each task, so an outer lock would only make it miss minutes"
_WRAP = "put flock -n around it, so that a long run does not meet the next"

MAGENTO = KnownScheduler("Magento cron:run", True, f"Magento plans its own jobs; {_WRAP}")
LARAVEL = KnownScheduler("Laravel schedule:run", False, f"Laravel decides each minute what is due; {_OWN_LOCKS}", 60)
WORDPRESS = KnownScheduler("WordPress wp-cron", True, f"WordPress runs the events that are due; {_WRAP}")
DRUPAL = KnownScheduler("Drupal cron", False, "Drupal's cron takes a lock of its own in the database")
TYPO3 = KnownScheduler("TYPO3 scheduler", False, f"TYPO3 runs the tasks that are due; {_OWN_LOCKS}")
NEXTCLOUD = KnownScheduler("Nextcloud cron.php", True, f"Nextcloud works off its own job list; {_WRAP}")
SHOPWARE = KnownScheduler("Shopware scheduled tasks", True, f"Shopware plans its own tasks; {_WRAP}")
MOODLE = KnownScheduler("Moodle cron", False, f"Moodle's cron works off its own tasks; {_OWN_LOCKS}")
MEDIAWIKI = KnownScheduler("MediaWiki runJobs", True, f"MediaWiki works off its own job table; {_WRAP}")
YII = KnownScheduler("Yii schedule", False, f"the scheduler decides each minute what is due; {_OWN_LOCKS}")
CRAFT = KnownScheduler("Craft queue", True, f"Craft works off its own queue; {_WRAP}")
SYMFONY = KnownScheduler("Symfony Messenger", False, "it is a worker, not a cron job; run it as a service")
LARAVEL_QUEUE = KnownScheduler("Laravel queue worker", False, SYMFONY.advice)
GENERIC = KnownScheduler("an application's own scheduler", True, f"it decides itself what is due; {_WRAP}")
RUN_PARTS = KnownScheduler("run-parts", False, "it starts a folder's scripts one after another")
MAGENTO_QUEUE = KnownScheduler("Magento queue consumer", False, SYMFONY.advice)
WORKERS = (SYMFONY, LARAVEL_QUEUE, MAGENTO_QUEUE)


def _ends(script: str, *names: str) -> bool:
    return script.rstrip("/").rpartition("/")[2] in names


def _plain(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if not word.startswith("-"))


def _has(words: tuple[str, ...], *wanted: str) -> bool:
    return any(word in wanted for word in words)


_PATTERNS: tuple[tuple[KnownScheduler, Test], ...] = (
    (
        MAGENTO,
        lambda script, words: (
            _ends(script, "magento", "n98-magerun2", "n98-magerun")
            and _has(words, "cron:run", "sys:cron:run", "setup:cron:run")
        ),
    ),
    (MAGENTO, lambda script, words: _ends(script, "cron.sh", "cron.php") and "magento" in script.lower()),
    (LARAVEL, lambda script, words: _ends(script, "artisan") and _has(words, "schedule:run", "schedule:work")),
    (
        WORDPRESS,
        lambda script, words: (
            _ends(script, "wp-cron.php")
            or (_ends(script, "wp", "wp-cli.phar") and _plain(words)[:2] in (("cron", "event"), ("action-scheduler", "run")))
        ),
    ),
    (
        DRUPAL,
        lambda script, words: _ends(script, "drush", "drush.php", "drupal") and _has(words, "cron", "core-cron", "core:cron"),
    ),
    (
        TYPO3,
        lambda script, words: (
            _has(words, "scheduler:run") or (_ends(script, "cli_dispatch.phpsh") and _has(words, "scheduler"))
        ),
    ),
    (NEXTCLOUD, lambda script, words: _ends(script, "cron.php") and any(name in script for name in ("nextcloud", "owncloud"))),
    (SHOPWARE, lambda script, words: _has(words, "scheduled-task:run", "sw:cron:run")),
    (MOODLE, lambda script, words: script.endswith(("admin/cli/cron.php", "admin/cli/adhoc_task.php"))),
    (MEDIAWIKI, lambda script, words: _ends(script, "runJobs.php")),
    (YII, lambda script, words: _ends(script, "yii") and _has(words, "schedule/run")),
    (CRAFT, lambda script, words: _ends(script, "craft") and _has(words, "queue/run")),
    (SYMFONY, lambda script, words: _has(words, "messenger:consume")),
    (LARAVEL_QUEUE, lambda script, words: _has(words, "queue:work", "queue:listen")),
    (LARAVEL_QUEUE, lambda script, words: _ends(script, "artisan") and _has(words, "horizon")),
    (MAGENTO_QUEUE, lambda script, words: _has(words, "queue:consumers:start")),
    (GENERIC, lambda script, words: _has(words, "schedule:run", "cron:run", "scheduler:run", "runcrons", "run_scheduled")),
    (RUN_PARTS, lambda script, words: _ends(script, "run-parts")),
)
_HINT = regex(
    r"cron:run|cron\.sh|schedule:|scheduler|wp-cron|cron event|drush|drupal|cron\.php|scheduled|runJobs|schedule/run|queue/run"
    r"|messenger:|queue:|runcrons|run-parts|adhoc_task|horizon"
)
_URLS: tuple[tuple[str, KnownScheduler], ...] = (
    ("wp-cron.php", WORDPRESS),
    ("/cron.php?cron_key=", DRUPAL),
    ("nextcloud/cron.php", NEXTCLOUD),
)


def _of_invocation(each: Invocation) -> KnownScheduler | None:
    if each.program in ("curl", "wget", "lynx"):
        return next((known for mark, known in _URLS if any(mark in word for word in each.words)), None)
    script, words = script_and_arguments(each)
    return next((known for known, test in _PATTERNS if test(script, words)), None)


@lru_cache(maxsize=1024)
def known_scheduler(command: str) -> KnownScheduler | None:
    """The application's scheduler that the command line starts, if it is one that is known."""
    if not _HINT.search(command):
        return None
    return next((known for each in invocations(command) if (known := _of_invocation(each))), None)
