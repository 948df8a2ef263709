"""Every log format reads its own samples, as they stand and among other lines."""

import re
from pathlib import Path

import pytest

from cron2queue.discovery import members
from cron2queue.evidence.log_format import LogFormat, Sample
from cron2queue.evidence.log_formats.rate_limits import RateLimits
from cron2queue.evidence.runs import Run

from .looking import LOGS, crontab, look, look_at

TABLE = crontab("* * * * * root work\n")
FORMATS = members("cron2queue.evidence.log_formats", LogFormat)
SAMPLES = [
    pytest.param(each, sample, id=f"{each.name} {number}") for each in FORMATS for number, sample in enumerate(each.samples)
]


def shown(run: Run) -> tuple[object, ...]:
    pairing = run.pairing.value if run.ended or run.at_least is not None else None
    return (run.user, run.command, run.seconds, run.exit_status, run.signal, run.output or None, pairing)


def expected(sample: Sample) -> list[tuple[object, ...]]:
    return [
        (run.user, run.command, run.seconds, run.exit_status, run.signal, run.output or None, run.pairing)
        for run in sample.runs
    ]


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_a_format_reads_its_own_samples(tmp_path: Path, each: type[LogFormat], sample: Sample) -> None:
    _, runs = look_at(tmp_path, sample.lines)
    assert sorted(map(shown, runs), key=repr) == sorted(expected(sample), key=repr)
    assert {run.source for run in runs} <= {each.name, "debian", "debian -L 15", "cronie"}


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_a_sample_cut_anywhere_gives_no_traceback(tmp_path: Path, each: type[LogFormat], sample: Sample) -> None:
    for length in range(0, len(sample.lines), 7):
        book, _ = look_at(tmp_path, sample.lines[:length])
        assert book.runs == book.matched + book.unmatched


def test_every_format_tells_what_it_is() -> None:
    assert len({each.name for each in FORMATS}) == len(FORMATS) >= 11
    for each in FORMATS:
        assert each.__doc__
        assert each.samples


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_the_tags_of_a_format_hold_no_groups(each: type[LogFormat]) -> None:
    for tag in each.tags:
        assert re.compile(tag).groups == 0


def test_debian_with_ends_gives_every_duration_and_status() -> None:
    book, runs = look(LOGS / "debian-L15-herd.log")
    assert book.runs == len(runs) == 12
    by_command = {run.command: run for run in runs if run.ended}
    assert by_command["exit 7"].exit_status == 7
    assert by_command["kill -9 $$"].signal == 9
    assert by_command["sleep 2; date +%F # cron.d^Ijob "].seconds == 2


def test_a_herd_at_the_default_level_gives_bounds_that_hold_the_truth() -> None:
    _, runs = look(LOGS / "debian-L1-herd.log")
    truth = {"sleep 3; echo hi": 3, "kill -9 $$": 0, "exit 7": 0, "sleep 2; date +%F # cron.d^Ijob ": 2}
    judged = 0
    for run in runs:
        if run.command not in truth:
            continue
        if run.seconds is not None:
            judged += 1
            assert abs(run.seconds - truth[run.command]) <= 1, run
        elif run.at_least is not None:
            judged += 1
            assert run.at_least <= truth[run.command] + 1, run
            assert run.at_most is None or run.at_most >= truth[run.command], run
    assert judged >= 8


def test_cronie_gives_durations_and_what_wrote_something() -> None:
    _, runs = look(LOGS / "cronie-1.7.2.log")
    ended = [run for run in runs if run.ended]
    assert len(runs) == 175
    assert len(ended) >= 150
    assert all(run.output for run in ended if run.command == "echo hello-stdout")


def test_what_busybox_prints_without_stamps_is_named_as_not_usable() -> None:
    book, runs = look(LOGS / "busybox-crond-d8.log")
    assert runs == []
    assert not book.available
    assert any("no time stamp" in why for why in book.skipped)


def test_what_a_rate_limit_dropped_is_counted_where_it_may_be_of_jobs(tmp_path: Path) -> None:
    (sample,) = RateLimits.samples
    book, _ = look_at(tmp_path, sample.lines)
    dropped = 301 + 236 + 51  # not those of process 2918, which has no job
    assert book.skipped == (
        f"{dropped} messages were kept out of the logs by a rate limit: starts and ends of jobs may be missing",
    )


def supercronic_run(folder: Path, message: str, command: str = '"work"') -> Run:
    fields = f"iteration=0 job.command={command} job.position=0"
    text = f'time="2026-11-30T11:06:00Z" level=info msg=starting {fields}\n'
    text += f'time="2026-11-30T11:06:09Z" level=error msg="error running command: {message}" {fields}\n'
    return look_at(folder, text)[1][0]


@pytest.mark.parametrize(
    ("message", "status", "signal"),
    [
        ("exit status 3", 3, None),
        ("signal: killed", None, 9),
        ("signal: segmentation fault (core dumped)", None, 11),
        ("signal: broken pipe", None, 13),
        ("signal: bus error", None, 7),
        ("fork/exec /bin/nosh: no such file or directory", 1, None),
    ],
)
def test_supercronic_tells_how_a_job_failed_in_the_words_of_go(
    tmp_path: Path, message: str, status: int | None, signal: int | None
) -> None:
    run = supercronic_run(tmp_path, message)
    assert (run.exit_status, run.signal, run.failed) == (status, signal, True)


@pytest.mark.parametrize(
    ("quoted", "command"),
    [
        (r'"a \"b\" \\c"', 'a "b" \\c'),
        (r'"a\tb"', "a\tb"),
        (r'"tab\x01\u00e9"', "tab\x01é"),
        (r'"\U0010ffff"', "\U0010ffff"),
        (r'"\Uffffffff"', "�"),
        ("plain", "plain"),
    ],
)
def test_supercronic_commands_are_read_as_go_quotes_them(tmp_path: Path, quoted: str, command: str) -> None:
    assert supercronic_run(tmp_path, "exit status 1", quoted).command == command


def test_an_overlapping_job_of_supercronic_is_not_taken_for_a_start_that_was_skipped(tmp_path: Path) -> None:
    fields = "iteration=0 job.command=work job.position=0"
    late = 'msg="{}: job is still running since 2026-11-30 11:06:00 +0000 UTC (1m0s elapsed)"'
    text = f'time="2026-11-30T11:06:00Z" level=info msg=starting {fields}\n'
    both = []
    for how in ("overlapping jobs", "not starting"):
        more = f'time="2026-11-30T11:07:00Z" level=warning {late.format(how)} {fields}\n'
        both.append(look_at(tmp_path, text + more, files=[TABLE])[0])
    assert [evidence.starts for book in both for evidence in book.by_entry.values()] == [1, 2]


def test_the_longest_user_name_of_solaris_may_be_the_beginning_of_the_true_one(tmp_path: Path) -> None:
    text = ">  CMD: /opt/poll\n>  {0} 4711 c Mon Nov 30 11:06:00 2026\n<  {0} 4711 c Mon Nov 30 11:06:05 2026\n"
    file = crontab("* * * * * application /opt/poll\n")
    assert look_at(tmp_path, text.format("applicat"), files=[file])[0].matched == 1
    assert look_at(tmp_path, text.format("applica"), files=[file])[0].matched == 0
    twins = crontab("* * * * * applicat /opt/poll\n* * * * * application /opt/poll\n")
    (only,) = look_at(tmp_path, text.format("applicat"), files=[twins])[0].by_entry.values()
    assert only.shares_with == ()


def test_a_backslash_that_freebsd_takes_away_does_not_hide_the_entry(tmp_path: Path) -> None:
    text = "Nov 30 11:06:00 fbsd /usr/sbin/cron[812]: (root) CMD (printf 'a\\n' %F)\n"
    book, _ = look_at(tmp_path, text, files=[crontab("* * * * * root printf 'a\\\\n' \\%F\n", dialect="freebsd")])
    assert book.matched == 1


def test_output_that_could_not_be_mailed_was_written_all_the_same(tmp_path: Path) -> None:
    text = "Nov 30 11:06:01 web1 CRON[78]: (root) CMD ([82] job)\n"
    text += "Nov 30 11:06:02 web1 CRON[78]: (root) MAIL (mailed 12 bytes of output; but got status 0x004b, from MTA\n)\n"
    text += "Nov 30 11:06:02 web1 CRON[78]: (root) END ([82] job)\n"
    assert [run.output for run in look_at(tmp_path, text)[1]] == [True]


GENERATED = (
    ('*/5 * * * * root /usr/bin/poll --all "a b" >> /tmp/x 2>&1', '*/5 * * * * root /usr/bin/poll --all "a b" >> /tmp/x 2>&1'),
    ("0 3 * * * www-data cd /srv && ./night.sh 100\\% done", "0 3 * * * www-data cd /srv && ./night.sh 100\\% done"),
    ("@daily root echo hi", "@daily root echo hi"),
    ("30 4 * * 1\troot\ttabbed   spaces", "30 4 * * 1 root tabbed spaces"),
    ('* * * * * root echo "quoted"', '* * * * * root echo "quoted"'),
)
"""Lines of a crontab, and what the generator of systemd-cron 1.15.19 made of them in a description, as systemd logs it."""


@pytest.mark.parametrize(("line", "description"), GENERATED)
def test_the_descriptions_that_systemd_cron_generates_name_their_lines(tmp_path: Path, line: str, description: str) -> None:
    unit = f'cron-crontab-root-0.service - [Cron] "{description}"'
    text = f"Nov 30 11:06:00 web1 systemd[1]: Starting {unit}...\nNov 30 11:06:02 web1 systemd[1]: Finished {unit}.\n"
    book, runs = look_at(tmp_path, text, files=[crontab(line + "\n", dialect="systemd-cron")])
    assert book.matched == 1
    assert [run.seconds for run in runs] == [2]
