"""What a unit takes away from its job, by level and by what the job's command visibly needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cron2queue.plan.model import Hardening

_BASIC = (
    "NoNewPrivileges=yes",
    "RestrictSUIDSGID=yes",
    "PrivateTmp=yes",
    "ProtectSystem=full",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "RestrictRealtime=yes",
    "LockPersonality=yes",
    "SystemCallArchitectures=native",
)
_STRICT = (
    "CapabilityBoundingSet=",
    "ProtectHome=read-only",
    "PrivateDevices=yes",
    "ProtectProc=invisible",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
    "RestrictNamespaces=yes",
    "SystemCallFilter=@system-service",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A word in a command, the settings that it cannot live with, and why."""

    words: str
    settings: tuple[str, ...]
    why: str


_NEEDS = (
    Need(
        words=r"sudo|su|sendmail|mailx?|postdrop|msmtp|ping|passwd|crontab|runuser",
        settings=("NoNewPrivileges", "RestrictSUIDSGID", "CapabilityBoundingSet"),
        why="set-user-id and set-group-id programs",
    ),
    Need(words=r"/tmp/\S+", settings=("PrivateTmp",), why="files in /tmp that others may share"),
    Need(
        words=r"/(?:usr|etc|boot)/\S{1,300}\.(?:log|conf|txt|sql|gz|db)",
        settings=("ProtectSystem",),
        why="files below /usr or /etc",
    ),
    Need(words=r"/(?:home|root)/\S+|~/\S*", settings=("ProtectHome",), why="files in a home directory"),
    Need(
        words=r"docker|podman|mount|umount|modprobe|sysctl|hwclock|ntpdate|chronyc|iptables|nft|ip|systemctl|service|shutdown",
        settings=(
            *("ProtectKernelTunables", "ProtectKernelModules", "ProtectClock", "ProtectControlGroups", "PrivateDevices"),
            *("CapabilityBoundingSet", "RestrictNamespaces", "RestrictAddressFamilies", "SystemCallFilter", "ProtectSystem"),
        ),
        why="the machine itself",
    ),
)


def _needs(commands: Iterable[str]) -> list[Need]:
    text = "\n".join(commands)
    return [need for need in _NEEDS if re.search(rf"(?:^|[\s;&|(/]|(?=/))(?:{need.words})(?=$|[\s;&|)'\"])", text, re.M)]


def hardening(level: Hardening, commands: Iterable[str]) -> tuple[str, ...]:
    """The lines for the [Service] section; what had to be left out is said in a comment."""
    if level is Hardening.OFF:
        return ()
    wanted = _BASIC if level is Hardening.BASIC else (*_BASIC, *_STRICT)
    needs = _needs(commands)
    left_out = {name for need in needs for name in need.settings}
    lines = [line for line in wanted if line.partition("=")[0] not in left_out]
    reasons = [f"# Left out for {need.why}: {', '.join(need.settings)}" for need in needs]
    return (*reasons, *lines)
