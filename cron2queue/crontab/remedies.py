"""What to do about each of the daemons' messages: one imperative sentence."""

_REMEDIES = {
    "bad minute": "write the minute as *, 0-59, lists and ranges with steps; a line that is no entry must begin with #",
    "bad hour": "write the hour as *, 0-23, lists and ranges with steps",
    "bad day-of-month": "write the day of the month as *, 1-31, lists and ranges with steps",
    "bad month": "write the month as *, 1-12 or jan-dec",
    "bad day-of-week": "write the day of the week as *, 0-7 or sun-sat; all five time fields must be there",
    "bad command": "write a command after the five time fields (and the user, in a system crontab); it must not begin with *",
    "command too long": "move the command into a script: it may have at most 998 bytes",
    "bad time specifier": "use @reboot, @hourly, @daily, @weekly, @monthly or @yearly, in small letters",
    "bad username": "name an existing user between the time fields and the command; a user's own crontab has no such column",
    "bad option": "use only the options that this daemon knows before the command",
    "bad flags": "use only -n, -q and -s before the command",
}
_DEFAULT = "correct the line, or turn it into a comment"


def remedy_for(message: str) -> str:
    """The remedy for a daemon's message."""
    return _REMEDIES.get(message, _DEFAULT)


MISSING_NEWLINE = "end the last line with a newline"
