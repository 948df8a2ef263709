"""One module for each target engine."""
