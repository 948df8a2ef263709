"""Reaching a database: its address, its driver, one session with it, and values as it keeps them."""
