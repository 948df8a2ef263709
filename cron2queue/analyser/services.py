"""Commands that never end: daemons that @reboot starts, and that a service manager would watch over."""

import re
from functools import lru_cache

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.invocations import Invocation, invocations, main_invocation
from cron2queue.expressions import regex

_SERVERS = """
    node nodejs npm yarn pm2 java gunicorn uvicorn hypercorn daphne uwsgi puma unicorn sidekiq resque celery
    rqworker redis-server memcached mongod nginx httpd caddy traefik screen tmux autossh socat ngrok cloudflared
    supervisord forever dotnet deno bun docker-compose watchdog syncthing
"""
SERVERS = frozenset(_SERVERS.split())
_WORDS = regex(
    r"(?:^|[\s/_.-])(?:serve|server|daemon|worker|listen|listener|bot|watch|watcher|consumer|proxy|tunnel|ws|websocket)(?:$|[\s_.-])",
    re.I,
)


def _stays_alive(each: Invocation) -> bool:
    if each.program in ("docker-compose", "docker", "pm2"):
        return False  # they start something that is watched over already, and end
    named = (each.program, *(word.rpartition("/")[2] for word in each.words[:3]))
    return not SERVERS.isdisjoint(named) or bool(_WORDS.search(" ".join((each.path, *each.words[:4]))))


@lru_cache(maxsize=1024)
def is_service(command: str) -> bool:
    """It is sent to the background, or its name says that it serves, listens or watches."""
    line = read_command(command)
    if any(each.after == "&" and each.words for each in line.top):
        return True
    if any(each.wrapped_by("nohup", "setsid") for each in invocations(command)):
        return True
    main = main_invocation(command)
    if main is None:
        return False
    return _stays_alive(main)
