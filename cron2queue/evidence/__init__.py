"""Observing: logs and records become runs, and runs become evidence for entries."""
