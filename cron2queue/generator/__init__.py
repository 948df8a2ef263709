"""Writing: a plan becomes files, and nothing else is touched."""
