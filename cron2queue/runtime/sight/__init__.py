"""The questions that inspection asks of the tables, one module a subject; every one is bounded, none scans a table."""
