"""Whether an entry itself holds a password, so that no copy of its command may be made that others can read."""

from collections.abc import Mapping

from cron2queue.redaction import redact


def holds_secret(command: str | None, stdin: str | None, environment: Mapping[str, str]) -> bool:
    """Whether a password, a token or the like is recognised in any of the three."""
    assignments = (f"{name}={value}" for name, value in environment.items())
    return any(redact(text) != text for text in (command or "", stdin or "", *assignments))
