"""Finding and reading crontabs: what is regular, small enough and permitted is read; nothing is waited for."""
