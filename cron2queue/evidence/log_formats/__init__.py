"""One module for each log format."""
