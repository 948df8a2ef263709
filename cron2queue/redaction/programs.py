"""Which options of which programs take a secret, where no name says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from cron2queue.expressions import regex
from cron2queue.record import Record


class Habits(Record):
    """How one program is given secrets on its command line.

    `attached`: options with the secret glued on (`-pSECRET`). `separate`: options whose next word is the secret.
    `pairs`: options whose value is `user SEPARATOR secret`. `headers`: options whose value is an HTTP header.
    `after`: the options count only once this word was seen (`docker login -p`). `last`: the option that makes the
    last word the secret (`htpasswd -b`). `operands`: every operand may be `user/secret@place`.
    """

    attached: tuple[str, ...] = ()
    separate: tuple[str, ...] = ()
    pairs: Mapping[str, str] | None = None
    after: str | None = None
    last: str | None = None
    operands: bool = False
    stdin: bool = False


_MYSQL = Habits(attached=("-p",))
_P = Habits(attached=("-p",), separate=("-p",))
_CAPITAL_P = Habits(attached=("-P",), separate=("-P",))
_W = Habits(attached=("-w",), separate=("-w",))
_REDIS = Habits(attached=("-a",), separate=("-a", "AUTH", "requirepass", "masterauth"))
_SMB = Habits(pairs={"-U": "%", "--user": "%", "-user": "%"})
_LOGIN = Habits(attached=("-p",), separate=("-p",), after="login")
_ORACLE = Habits(operands=True)
_SNMP = Habits(separate=("-A", "-X"))
_STDIN = Habits(stdin=True)

_HABITS: Mapping[str, Habits] = {
    "sshpass": _P, "7z": Habits(attached=("-p",)), "7za": Habits(attached=("-p",)), "7zr": Habits(attached=("-p",)),
    "rar": Habits(attached=("-hp", "-p")), "unrar": Habits(attached=("-p",)), "zip": _CAPITAL_P, "unzip": _CAPITAL_P,
    "mydumper": _P, "myloader": _P, "cqlsh": _P, "rabbitmqadmin": _P, "rdesktop": _P, "rcon": _P, "mcrcon": _P,
    "curl": Habits(
        attached=("-b",),
        separate=("-b", "--cookie"),
        pairs={"-u": ":", "--user": ":", "-U": ":", "--proxy-user": ":", "-E": ":", "--cert": ":"},
    ),
    "lftp": Habits(pairs={"-u": ",", "--user": ","}), "ncftpput": _P, "ncftpget": _P, "ncftp": _P,
    "docker": _LOGIN, "podman": _LOGIN, "nerdctl": _LOGIN, "buildah": _LOGIN, "skopeo": _LOGIN, "az": _LOGIN, "helm": _LOGIN,
    "sqlcmd": _CAPITAL_P, "bcp": _CAPITAL_P, "tsql": _CAPITAL_P, "isql": _CAPITAL_P, "ipmitool": _CAPITAL_P,
    "mosquitto_pub": _CAPITAL_P, "mosquitto_sub": _CAPITAL_P,
    "sqlplus": _ORACLE, "exp": _ORACLE, "imp": _ORACLE, "expdp": _ORACLE, "impdp": _ORACLE,
    "rman": _ORACLE, "sqlldr": _ORACLE, "snmpwalk": _SNMP, "snmpget": _SNMP, "snmpset": _SNMP,
    "htpasswd": Habits(last="b"), "swaks": Habits(separate=("-ap",)), "sendemail": Habits(separate=("-xp",)),
    "smbclient": _SMB, "rpcclient": _SMB, "smbget": _SMB, "net": _SMB,
    "winexe": _SMB,
    "curlftpfs": Habits(pairs={"-o": ":"}),
    "xfreerdp": Habits(attached=("/p:",)), "xfreerdp3": Habits(attached=("/p:",)),
    "openssl": Habits(separate=("-passin", "-passout", "-pass", "-k", "-K")),
    "expect": Habits(separate=("send",)), "useradd": _P, "usermod": _P, "yt-dlp": _P, "youtube-dl": _P,
    "aws": Habits(separate=("aws_secret_access_key", "aws_session_token")),
    "su": _STDIN, "base64": _STDIN, "sudo": _STDIN,
    "passwd": _STDIN, "chpasswd": _STDIN, "smbpasswd": _STDIN, "kinit": _STDIN, "cryptsetup": _STDIN,
}  # fmt: skip

_FAMILIES: tuple[tuple[re.Pattern[str], Habits], ...] = (
    (regex(r"(?:mysql|mariadb)(?!sh\Z)[a-z_-]*\Z|innobackupex\Z|xtrabackup\Z|mariabackup\Z"), _MYSQL),
    (regex(r"mysqlsh\Z|mongo[a-z]*\Z"), _P),
    (regex(r"(?:redis|valkey|keydb)-(?:cli|benchmark)\Z"), _REDIS),
    (regex(r"ldap[a-z]+\Z"), _W),
)


@lru_cache(maxsize=4096)
def habits_of(word: str) -> Habits | None:
    """The habits of the program that this shell word names, by its last path part; None for a word that names none."""
    name = word[word.rfind("/") + 1 :]
    if len(name) > 24:
        return None
    name = name.lower()
    found = _HABITS.get(name)
    if found is not None:
        return found
    return next((habits for pattern, habits in _FAMILIES if pattern.match(name)), None)
