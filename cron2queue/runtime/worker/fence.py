"""Whether this worker's leases are still good, by a clock that also counts a suspended machine."""

import time
from dataclasses import dataclass, field


def boot_seconds() -> float:
    """CLOCK_BOOTTIME: goes on while the machine is suspended, and no wall clock can move it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(slots=True)
class Fence:
    """Closed when no beat has gone through for `limit` seconds: then others may soon take this worker's jobs."""

    limit: float
    renewed_at: float = field(default_factory=boot_seconds)

    def renew(self, began_at: float) -> None:
        """A beat that began at `began_at` has gone through."""
        self.renewed_at = max(self.renewed_at, began_at)

    def is_closed(self) -> bool:
        """Whether the worker has to end its children."""
        return boot_seconds() - self.renewed_at > self.limit
