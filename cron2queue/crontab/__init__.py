"""Reading: a crontab's bytes and a dialect become lines, entries and schedules. Pure."""
