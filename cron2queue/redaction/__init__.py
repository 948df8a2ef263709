"""Secrets out of anything that is shown or stored.

Three readers look at the text, and each names spans: `arguments` knows the shell and the programs, `patterns` knows
URLs, assignments and headers, `shapes` knows what keys of well-known services look like. Whatever only points to a
secret (`$PASS`, `${PASS}`, `$(cat file)`, `--password-file F`) stays readable: that is how it should be done.
"""

from cron2queue.expressions import any_of, regex
from cron2queue.redaction.spans import Span, has_long_run

MASK = "‹secret›"

_WORDS = """
    pass pwd secret token key cred auth dsn cookie session sig= signature identified :// @ bearer basic login
    akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat glpat- xox sk_ rk_ pk_ sk- aiza ya29 eyj npm_ pypi- sg.
    hooks. webhook hf_ dop_v1 hvs. hvb. whsec sql maria mydumper mydump xtrabackup innobackupex redis mongo
    ldap smb cifs rpc ssl 7z zip rar curl ftp ipmi snmp mosquitto bcp expdp impdp rman cqlsh rdesktop freerdp
    swaks sendemail rabbitmqadmin sudo kinit cryptsetup valkey keydb influx rcon winexe
    expect useradd usermod yt-dlp youtube-dl base64
"""
# A text without any of these holds nothing that the readers could find; nearly all ordinary lines end here.
_HINTS = (
    *_WORDS.split(),
    "begin ",
    "exp ",
    "imp ",
    "net ",
    "su ",
)


_HINT = regex(any_of(_HINTS))


def _may_hold_one(text: str) -> bool:
    return _HINT.search(text.lower()) is not None or has_long_run(text)


def redact(text: str) -> str:
    """The text with every recognised secret replaced by a mask, in time linear in its length. Redact before cutting."""
    spans = secret_spans(text)
    return _masked(text, spans) if spans else text


def secret_spans(text: str) -> list[Span]:
    """Where the secrets stand, in order and without overlap, for those who must map columns through the masks."""
    if not _may_hold_one(text):
        return []
    from cron2queue.redaction import arguments, patterns, shapes  # their patterns cost more to build than most programs run

    merged: list[Span] = []
    for start, end in sorted([*arguments.secrets(text), *patterns.secrets(text), *shapes.secrets(text)]):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _masked(text: str, spans: list[Span]) -> str:
    kept: list[str] = []
    done = 0
    for start, end in spans:
        kept += [text[done:start], MASK]
        done = end
    return "".join([*kept, text[done:]])
