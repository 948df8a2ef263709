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
    ],
)
def test_a_cut_command_is_an_error(command: str) -> None:
    (finding,) = [each for each in judged(f"0 1 * * * root {command}\n").findings if each.code == "C2Q301"]
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "command",
    ['mail -s "It\'s 10pm" joe%Joe,%%Where are your kids?%', "cat%hello", "mysql shop%DELETE FROM x;%", "sendmail -t%To: a@b%"],
)
def test_input_that_is_meant_is_a_note(command: str) -> None:
    (finding,) = [each for each in judged(f"0 1 * * * root {command}\n").findings if each.code == "C2Q301"]
    assert finding.severity is Severity.NOTE
