"""Speaking: the command line."""
