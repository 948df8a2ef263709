"""The worker: a supervisor that claims and settles, and children that run handlers."""
