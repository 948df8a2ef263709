"""C2Q302."""

from collections.abc import Iterator

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import Invocation, main_invocation
from cron2queue.analyser.naming import interpreter, script_and_arguments
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry

_SBIN_NAMES = """
    service shutdown reboot halt poweroff iptables ip6tables nft logrotate ntpdate hwclock nginx apachectl apache2ctl postfix
    postsuper sendmail tcpdump zpool zfs mdadm smartctl fstrim useradd usermod ifconfig route sysctl modprobe xfs_fsr
    e2scrub_all rabbitmqctl exim4 ldconfig
"""
_LOCAL_NAMES = (
    "composer wp drush kubectl terraform helm node npm npx yarn pnpm pm2 deno bun symfony n98-magerun2 certbot-auto acme.sh"
)
SBIN, LOCAL = frozenset(_SBIN_NAMES.split()), frozenset(_LOCAL_NAMES.split())


class RelativeCommand(EntryRule):
    """A program is called by a name or a path that cron looks up elsewhere than your shell does.

    Why it matters
        Cron starts with a short PATH, on Debian `/usr/bin:/bin`, and in the user's home. What works at the prompt is "not
        found" at night: programs in /usr/sbin and /usr/local/bin, and scripts given by a relative path.

    What to do
        Write absolute paths, or set PATH at the top of the file, or begin with `cd /the/folder &&`.

    Not flagged
        Names that live in /usr/bin as a rule, files whose PATH names the folder, and relative paths after a `cd`.
    """

    code = "C2Q302"
    severity = Severity.WARNING
    confidence = Confidence.INFERRED
    bad = (
        "0 4 * * * root service nginx reload\n",
        "0 4 * * * www-data wp cron event run --due-now --path=/var/www/blog\n",
        Example("*/5 * * * * php cron/import.php\n", kind="user", path="/var/spool/cron/crontabs/deploy"),
    )
    good = (
        "0 4 * * * root /usr/sbin/service nginx reload\n",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n0 4 * * * root service nginx reload\n",
        "*/5 * * * * www-data cd /var/www/shop && php cron/import.php\n",
        "0 4 * * * root rsync -a /a /b\n",
        "@reboot root /bin/bash -c 'perms=(`/usr/sbin/dpkg-statoverride --list /run/munin`); chown ${perms[0]} /run/munin'\n",
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The job's own program, and the script that an interpreter is given."""
        main, home = main_invocation(entry.command), entry.environment.get("HOME") or "the user's home"
        if main is None or main.wrapped_by("ssh", "docker", "podman", "docker-compose", "chroot", "su", "sudo", "runuser"):
            return
        path = entry.environment.get("PATH") or daemon(file.dialect).path
        told = self._program(main, path) or self._script(main, entry.command, home)
        if told is not None:
            message, remedy, severity = told
            yield self.at_entry(
                subject,
                file,
                entry,
                message,
                remedy,
                severity=severity,
                evidence=f"PATH={path}, folder: {home}",
            )

    def _program(self, main: Invocation, path: str) -> tuple[str, str, Severity] | None:
        if "/" in main.path:
            return None
        folders = path.split(":")
        if main.path in SBIN and not any(folder.endswith("/sbin") for folder in folders):
            return (
                f"{main.path} lives in an sbin folder, which is not in cron's PATH",
                "write its absolute path",
                Severity.WARNING,
            )
        if main.path in LOCAL and not any("/local" in folder or "/opt" in folder or "/home" in folder for folder in folders):
            message = f"{main.path} is seldom in cron's PATH ({path})"
            return message, "write its absolute path, or set PATH at the top of the file", Severity.WARNING
        return None

    def _script(self, main: Invocation, command: str, home: str) -> tuple[str, str, Severity] | None:
        script, _ = script_and_arguments(main)
        relative = "/" in script and not script.startswith(("/", "~", "$", "`", "-", "http"))
        lonely = interpreter(main) is not None and script is not main.path and "/" not in script and "." in script
        if not (relative or lonely) or any(each.texts[:1] == ("cd",) for each in read_command(command).commands):
            return None
        if interpreter(main) == "python" and "-m" in main.words:
            return None
        return (
            f"{script} is looked for in {home}",
            "write its absolute path, or begin with cd /FOLDER &&",
            Severity.NOTE,
        )
