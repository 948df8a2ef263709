"""Switching: the live crontab is changed by apply and restored by rollback."""
