#!/bin/sh
# Writes generated/ anew: what cron2queue makes of this crontab and its logs, for a host that keeps it in /srv/c2q. Between the
# two runs somebody has asked in the plan to be told of trouble.
set -e
made() {
    cron2queue convert crontab --into generated --logs logs --timezone Europe/Berlin --at 2026-11-29T06:00+01:00 \
        --set name=shop --set folder=/srv/c2q --set python=/srv/venv/bin/python --quiet
}
rm -rf generated
made
printf '\n[hooks.mail]\nmail = "ops@shop.example"\n' >> generated/cron2queue.toml
made
