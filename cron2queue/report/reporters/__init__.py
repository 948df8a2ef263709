"""One module for each report format."""
