"""How each cron daemon reads its file: one module a dialect."""
