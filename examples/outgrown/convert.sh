#!/bin/sh
# Writes generated/ anew for hosts that keep it in /srv/c2q. The plan in it was edited by hand and is kept: the decisions, scope
# "database" since three hosts share the crontab, and the engine of close-day, whose time beat would move in spring.
plan=$(mktemp) && cp generated/cron2queue.toml "$plan" && rm -rf generated && mkdir generated && mv "$plan" generated/cron2queue.toml
exec cron2queue convert crontab --into generated --timezone Europe/Berlin --at 2026-11-29T06:00+01:00 --quiet
