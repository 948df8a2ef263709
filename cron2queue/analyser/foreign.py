"""Files that are given for a crontab and are something else: told once, and not line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cron2queue.analyser.templates import is_template_line, is_template_path
from cron2queue.expressions import regex
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile

_FIRST_LINES = 400
_SHEBANG = regex(rb"#!\s*(?:\S*/)?(?P<name>[a-z]+)[\d.]*(?:\s+(?P<by_env>[a-z]+))?")
_SCRIPTS = {"sh": "shell", "bash": "shell", "dash": "shell", "ksh": "shell", "zsh": "shell", "python": "Python"} | {
    "perl": "Perl",
    "php": "PHP",
    "ruby": "Ruby",
    "node": "Node.js",
}
_YAML_LINE = regex(
    rb"[ \t]*(?:- +)?(?:[\w./$-]+|\"[^\"]*\"|'[^']*') *:(?:[ \t\r\n]|$)|[ \t]*- +\S|---[ \t\r]*$|[ \t]*[\]})\[{]"
)
_AS_A_LINE = "for cron write each schedule and its command as one line"


class Foreign(Record):
    """What a file is in place of a crontab, and where that belongs."""

    what: str
    remedy: str


def _has(*patterns: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(regex(pattern, re.MULTILINE) for pattern in patterns)


_YAML = (
    (
        _has(rb"^apiVersion:", rb"^kind:"),
        Foreign(what="a Kubernetes manifest", remedy=f"give it to kubectl apply; {_AS_A_LINE}"),
    ),
    (
        _has(rb"^[\"']?on[\"']?:", rb"^jobs:|^[ \t]+schedule:"),
        Foreign(what="a GitHub workflow", remedy=f"put it into .github/workflows; {_AS_A_LINE}"),
    ),
    (_has(rb"^services:"), Foreign(what="a Compose file", remedy=f"give it to docker compose; {_AS_A_LINE}")),
    ((), Foreign(what="a YAML file", remedy=_AS_A_LINE)),
)
_OTHERS = (
    (
        _has(rb"^\[(?:Unit|Timer|Service|Socket|Path|Install)\][ \t\r]*$"),
        Foreign(what="a systemd unit", remedy=f"put it into /etc/systemd/system; {_AS_A_LINE}"),
    ),
    (_has(rb"\A\s*\[[^\]\n]{1,200}\][ \t\r]*$"), Foreign(what="an INI file", remedy=_AS_A_LINE)),
    (
        _has(rb"(?i)\A\s*<(?:!doctype html|html)\b"),
        Foreign(what="a page of HTML", remedy="fetch the file itself, not its page"),
    ),
    (_has(rb"\A\s*<\?xml\b"), Foreign(what="an XML file", remedy=_AS_A_LINE)),
    (_has(rb"\A\s*<\?php\b"), Foreign(what="a PHP program", remedy="write a line that starts it: 0 3 * * * php /PATH/TO/IT")),
    (_has(rb"\A\s*(?:\{\s*[\"}]|\[\s*[\"{\]])"), Foreign(what="a JSON file", remedy=_AS_A_LINE)),
    (
        _has(rb"(?i)\A\s*(?:@echo[ \t]+off|rem)\b"),
        Foreign(what="a Windows batch file", remedy="Windows' Task Scheduler starts it; cron runs Unix commands"),
    ),
)
_SHELL_LINE = regex(
    rb"[ \t]*(?:(?:set|if|for|while|until|case|cd|echo|export|cat|exit|fi|done|do|then|else|esac|function|local|return|source"
    rb"|trap)\b|import\b|from\b|def\b|use\b|my\b|require\b|[\w-]+ *\(\)|[\w./-]+[ \t]*$|[\w./-]+[ \t]+[-\"'$/|&<>])"
)


def foreign(file: CrontabFile) -> Foreign | None:
    """What the file is instead, where most of it is refused and its text tells; None for a crontab or a template."""
    refused = {line.number for line in file.malformed}
    sound = sum(entry.number not in refused for entry in file.entries)
    if not file.editable or sound >= len(refused):
        return None
    raws = file.to_bytes().split(b"\n", _FIRST_LINES)[:_FIRST_LINES]
    found = _by_text(raws)
    return None if found is None or _is_template(file, raws) else found


def _is_template(file: CrontabFile, raws: Sequence[bytes]) -> bool:
    """It is rendered before use; the `${{ }}` of a workflow is no template's."""
    return is_template_path(file.path) or any(is_template_line(file, raw) for raw in raws if b"${{" not in raw)


def _by_text(raws: Sequence[bytes]) -> Foreign | None:
    script = _script(raws)
    if script is not None:
        return script
    told = [raw for raw in raws if raw.strip() and not raw.lstrip().startswith(b"#")]
    text = b"\n".join(told)
    for patterns, found in _OTHERS:
        if all(pattern.search(text) for pattern in patterns):
            return found
    return _yaml(told, text)


def _script(raws: Sequence[bytes]) -> Foreign | None:
    """A shebang alone makes no script: some put one above their crontab."""
    match = _SHEBANG.match(raws[0].removeprefix(b"\xef\xbb\xbf")) if raws else None
    if match is None or not any(_SHELL_LINE.match(raw) for raw in raws[1:]):
        return None
    name = (match["by_env"] if match["name"] == b"env" and match["by_env"] else match["name"]).decode()
    remedy = (
        "make it executable, and write a line that starts it: 0 3 * * * /PATH/TO/SCRIPT, with the user before it where needed"
    )
    kind = _SCRIPTS.get(name)
    return Foreign(what=f"a {kind} script" if kind else "a script", remedy=remedy)


def _yaml(told: Sequence[bytes], text: bytes) -> Foreign | None:
    """Keys with a colon, and items: nearly all lines of it."""
    alike = sum(_YAML_LINE.match(raw) is not None for raw in told)
    keys = sum(b":" in raw for raw in told)
    if alike * 5 < len(told) * 3 or keys < 2:
        return None
    return next(found for patterns, found in _YAML if all(pattern.search(text) for pattern in patterns))
