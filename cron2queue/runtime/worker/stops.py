"""Why a worker ends a job before its own end. In a module of its own: the supervisor needs nothing else of what runs jobs."""

CANCEL = "cancel"
TIMEOUT = "timeout"
SHUTDOWN = "shutdown"
MEMORY = "memory"
FENCED = "fenced"
LOST = "lost"
