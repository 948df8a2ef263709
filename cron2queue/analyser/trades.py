"""What a job's name says of its trade: moving orders, sending mail, cleaning up. Always "inferred", never more."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from cron2queue.analyser.invocations import invocations, main_invocation
from cron2queue.analyser.naming import is_front, script_and_arguments
from cron2queue.expressions import regex


class Trade(NamedTuple):
    """What is usually true of jobs of this kind.

    `lost`: when one run fails, work is lost. `waits`: a person waits for the next run. `clashes`: two copies at once hurt.
    None where the trade says nothing.
    """

    name: str
    lost: bool | None
    waits: bool | None
    clashes: bool | None


PAYMENT = Trade("handles payments or orders", True, True, True)
MAIL = Trade("sends messages", True, True, True)
QUEUE = Trade("works off a queue of its own", True, True, True)
TRANSFER = Trade("moves data between systems", None, None, True)
POLL = Trade("looks for something to do", None, None, True)
INDEX = Trade("builds an index or a cache", False, None, True)
REPORT = Trade("makes a report", False, None, None)
BACKUP = Trade("makes a backup", False, False, True)
CLEANUP = Trade("cleans up", False, False, False)
UPKEEP = Trade("looks after the machine", False, False, False)
MONITOR = Trade("watches something", False, False, False)

# Addresses that only take note that a job ran.
_HEARTBEATS = regex(r"//(?:[\w-]+\.)*(?:hc-ping\.com|healthchecks\.io|cronitor\.(?:io|link)|nosnch\.in|uptimerobot\.com)/")
POPUP = Trade("shows a notice on a screen", False, False, False)

# Programs whose name alone would tell of another trade.
_PROGRAMS = {"zabbix_sender": MONITOR, "send_nsca": MONITOR, "notify-send": POPUP}
# The first trade of which a word is found counts, so that "delete old orders" is cleaning up.
_WORDS: tuple[tuple[Trade, str], ...] = (
    (
        CLEANUP,
        """
        clean cleanup clear purge prune expire expired rotate rotation vacuum tmpwatch tmpreaper sessionclean gc
        trim delete remove truncate housekeeping fstrim logrotate clearsessions flush
        """,
    ),
    (
        BACKUP,
        """
        backup backups dump mysqldump pg_dump pg_dumpall mongodump snapshot snapshots borg borgmatic restic
        duplicity rsnapshot automysqlbackup sanoid syncoid archive bak mysqlhotcopy xtrabackup mariabackup
        """,
    ),
    (
        UPKEEP,
        """
        certbot chown chmod apticron logcheck invoke apt aptitude unattended updatedb mandb e2scrub checkarray mdadm zfs
        zpool btrfs smartctl ntpdate hwclock freshclam geoipupdate letsencrypt acme ddclient renew update
        upgrade restart reload run-parts anacron debsecan popularity sa1 sa2 sysstat mrtg munin awstats
        webalizer atop logwatch rkhunter chkrootkit aide cracklib
        """,
    ),
    (
        PAYMENT,
        """
        order orders payment payments invoice invoices billing charge checkout refund refunds booking bookings
        subscription subscriptions transaction transactions payout payouts
        """,
    ),
    (
        MAIL,
        """
        mail mails email emails newsletter newsletters notify notification notifications sms push send sender
        spool reminder reminders mailing mailer webhook webhooks alert alerts
        """,
    ),
    (
        QUEUE,
        """
        queue queues worker jobs process processor dispatch dispatcher spooler outbox pending consume poll
        poller
        """,
    ),
    (
        POLL,
        """
        poll poller process processor worker jobs
        """,
    ),
    (
        INDEX,
        """
        index indexer reindex cache warmup warm sitemap search thumbnail thumbnails compile rebuild generate
        aggregate
        """,
    ),
    (
        MONITOR,
        """
        monitor check checks watch watchdog health healthcheck heartbeat ping status stats metrics collect
        collector probe keepalive
        """,
    ),
    (
        REPORT,
        """
        report reports statistics summary digest export_stats analytics
        """,
    ),
    (
        TRANSFER,
        """
        import importer export exporter sync synchronize fetch download upload feed feeds rsync stock inventory
        price prices crawl crawler scrape scraper migrate transfer mirror replicate ftp pull stage catalog
        products edi erp crm
        """,
    ),
)
_TRADE_OF = {word: trade for trade, words in _WORDS for word in words.split()}
# Words that a script about something else has as well: `update-prices` is about prices, `push-stock` about stock.
_UPKEEP_VERBS = frozenset({"update", "upgrade", "renew", "restart", "reload"})
_VAGUE = _UPKEEP_VERBS | {"process", "processor", "jobs", "push"}
_SENDING = frozenset({"send", "sender"})  # a figure that is sent is no message: the next run sends the next one
# In an application's own command these are about its records, not about the machine: a snapshot of figures is no backup,
# unless a word says that stored data are meant.
_COPIES = frozenset({"dump", "snapshot", "snapshots", "bak"})
_STORED_NAMES = "db database databases data sql mysql pgsql postgres files media uploads storage volume volumes disk disks"
_STORED = frozenset(_STORED_NAMES.split())
_NOT_OF_TASKS = _UPKEEP_VERBS | _COPIES
_TRADE_OF_TASK = {word: trade for word, trade in _TRADE_OF.items() if word not in _NOT_OF_TASKS} | {"archive": CLEANUP}
# Tasks of known applications that their words do not tell.
_TASKS = {"core:archive": INDEX, "horizon:snapshot": MONITOR, "dumpdata": BACKUP, "dbbackup": BACKUP, "mediabackup": BACKUP}
# A look, and a mail where something is amiss: the next run looks again.
_MAILERS = frozenset({"mail", "mailx", "mutt", "sendmail", "s-nail", "msmtp"})
_LOOKS = frozenset({"[", "[[", "test", "grep", "egrep", "pgrep", "pidof", "df", "diff", "cmp", "ping"})
_TOKEN = regex(r"[A-Z]?[a-z]+\d?|[A-Z]+(?![a-z])")


def _tokens(text: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(text)]


@lru_cache(maxsize=1024)
def trade_of(command: str) -> Trade | None:
    """The trade that the command's own name tells; None when it tells none."""
    main = main_invocation(command)
    if main is None:
        return None
    if main.program in _PROGRAMS:
        return _PROGRAMS[main.program]
    if main.program in ("curl", "wget") and any(_HEARTBEATS.search(word) for word in main.words):
        return MONITOR
    if main.program in _MAILERS and any(each.program in _LOOKS for each in invocations(command)):
        return MONITOR
    script, arguments = script_and_arguments(main)
    words = (main.program, script.rpartition("/")[2], *(word for word in arguments[:4] if "/" not in word))
    found = _of_task(words, arguments) if is_front(script) else _of_words(words)
    return min(found, key=lambda trade: _ORDER[trade.name], default=None)


def _of_words(words: tuple[str, ...]) -> list[Trade]:
    return _telling(_said(words), _TRADE_OF)


def _telling(said: Iterable[str], trades: Mapping[str, Trade]) -> list[Trade]:
    """The trades of the words that tell one; vague words count only where nothing else does."""
    known = [word for word in said if word in trades]
    clear = [word for word in known if word not in _VAGUE]
    if any(trades[word] is MONITOR for word in clear):
        clear = [word for word in clear if word not in _SENDING]
    return [trades[word] for word in clear or known]


def _of_task(words: tuple[str, ...], arguments: tuple[str, ...]) -> list[Trade]:
    """What the task of an application is about; the application's own front tells nothing."""
    known = next((_TASKS[word] for word in arguments if word in _TASKS), None)
    if known is not None:
        return [known]
    said = set(_said(words))
    if (said & _COPIES and said & _STORED) or said >= {"db", "export"}:
        return [BACKUP]
    return _telling(said, _TRADE_OF_TASK)


def _said(words: tuple[str, ...]) -> list[str]:
    said = " ".join(words)
    return [*_tokens(said), *said.lower().split()]


_ORDER = {trade.name: at for at, (trade, _) in enumerate(_WORDS)}


@lru_cache(maxsize=1024)
def writes_nothing(command: str) -> bool:
    """Every program of the line only looks or pauses, so that two copies at once do no harm."""
    harmless = {"test", "[", "echo", "true", ":", "date", "sleep", "uptime", "df", "free", "ping", "logger", "cat", "printf"}
    return all(each.program in harmless for each in invocations(command))
