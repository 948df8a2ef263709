"""What `show` tells: a crontab as its daemon understood it, as a record and as a screen."""
