"""One module a family of databases: connecting, session settings, the meaning of errors."""
