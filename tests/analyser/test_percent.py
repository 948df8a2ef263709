"""The percent sign: cut commands are errors, input that is meant is a note."""

import pytest
from judged import judged

from cron2queue.analyser.finding import Severity


@pytest.mark.parametrize(
    "command",
    [
        "mysqldump shop > /b/$(date +%F).sql",
        "mysqldump shop > /b/`date +%Y`.sql",
        'mail -s "disk $(date +%F)" root',
        "sleep $((RANDOM % 300)) && x",
        "bash -c 'sleep $((RANDOM % 300)) && x'",
        "find /x -printf %f",
        "awk '{printf \"%s\", $1}' /x",
        "curl -w %T http://x",
        "stat -c %s /x",
        "date +%F >> /x",
        "php /opt/feed.php >> /var/log/feed-%Y.log",
        "php /opt/feed.php %d",
        "cat /x | gzip > /b/x_%F.gz",
        "pg_dump shop | cat > /b/%F",
        "mysql shop < /x.sql %F",
        "echo $(cat /x) %F",
        "python3 /opt/feed.py --day %F",
    ],
)
def test_a_cut_command_is_an_error(command: str) -> None:
    (finding,) = [each for each in judged(f"0 1 * * * root {command}\n").findings if each.code == "C2Q301"]
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "command",
    [
        'mail -s "It\'s 10pm" joe%Joe,%%Where are your kids?%',
        "cat%hello",
        "mysql shop%DELETE FROM x;%",
        "sendmail -t%To: a@b%",
        "(cat) > /tmp/f%x",
        "{ cat; date; } > /tmp/f%x",
        "cat > /tmp/f; chmod 600 /tmp/f%x",
        "cat > /tmp/f && echo done%x",
        "while read -r line; do echo $line; done%a%b%",
        "if test -x /bin/mail; then mail root; fi%hello",
        "sudo -u shop mysql shop%DELETE FROM x%",
        "cat | sort > /tmp/f%b%a",
        "sh%echo hello%",
        "/bin/bash -s%echo hello%",
        "python3 -%print(1)%",
    ],
)
def test_input_that_is_meant_is_a_note(command: str) -> None:
    (finding,) = [each for each in judged(f"0 1 * * * root {command}\n").findings if each.code == "C2Q301"]
    assert finding.severity is Severity.NOTE
