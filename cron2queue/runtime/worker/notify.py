"""Speaks to the service manager: ready, status, watchdog, stopping (sd_notify(3)); silent where there is none."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceManager:
    """`address` of its datagram socket, or None; `watchdog` seconds within which it wants to hear from us, or None."""

    address: str | None = None
    watchdog: float | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], pid: int) -> "ServiceManager":
        """Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; what is not meant for this process is left alone."""
        address = environment.get("NOTIFY_SOCKET") or None
        if address is not None and address[0] not in "@/":
            address = None
        watchdog = None
        text = environment.get("WATCHDOG_USEC", "")
        if address and text.isascii() and text.isdecimal() and environment.get("WATCHDOG_PID", str(pid)) == str(pid):
            watchdog = int(text) / 1e6 or None
        return cls(address=address, watchdog=watchdog)

    def say(self, *lines: str) -> None:
        """Send assignments such as READY=1. Never fails: a manager that is gone changes nothing for the jobs."""
        if self.address is None:
            return
        name = "\0" + self.address[1:] if self.address[0] == "@" else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as end:
            end.sendto("\n".join(lines).encode(), name)
