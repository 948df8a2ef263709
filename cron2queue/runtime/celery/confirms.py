"""Publisher confirms, awaited for many messages at once: one by one, each would wait for its own write to the broker's disk."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Confirms:
    """The confirms of one channel, counted from its first message. `refused` holds the numbers of what was not taken."""

    connection: Any
    published: int = 0
    open: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, connection: Any, channel: Any) -> "Confirms":
        """Ask a fresh channel for confirms."""
        confirms = cls(connection)
        channel.confirm_select()
        channel.events["basic_ack"].add(confirms._acked)
        channel.events["basic_nack"].add(confirms._nacked)
        return confirms

    def expect(self) -> int:
        """One more message is on its way; its number."""
        self.published += 1
        self.open.add(self.published)
        return self.published

    def wait(self, seconds: float) -> None:
        """Until the broker has answered for every message. Raises TimeoutError when it says nothing for so long."""
        while self.open:
            self.connection.drain_events(timeout=seconds)

    def _acked(self, tag: int, multiple: bool) -> None:
        self._answered(tag, multiple)

    def _nacked(self, tag: int, multiple: bool) -> None:
        self.refused |= self._answered(tag, multiple)

    def _answered(self, tag: int, multiple: bool) -> set[int]:
        told = {number for number in self.open if number <= tag} if multiple else {tag}
        self.open -= told
        return told
