"""What was observed becomes evidence: exact, with output, processor time and status."""

from dataclasses import replace
from pathlib import Path

from cron2queue.crontab.lines import entry_ids
from cron2queue.evidence.observations import Observation, digest_of, read, write
from cron2queue.evidence.runs import Pairing

from .looking import crontab, look

START = 1_796_036_761.0


def observation(number: int, command: str = "job one", **more: object) -> Observation:
    started = START + 300 * number
    plain = Observation(
        id=str(number),
        entry=None,
        host="web1",
        account="app",
        command=command,
        digest=digest_of(command),
        started=started,
        ended=started + 2.5,
        exit_status=0,
        user_seconds=0.02,
        system_seconds=0.01,
        max_rss_bytes=20_000_000,
        stdout_bytes=0,
        stderr_bytes=0,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def recording(path: Path, *observations: Observation) -> Path:
    for each in observations:
        write(path, each, patience=5)
    return path


def test_a_recording_alone_is_evidence(tmp_path: Path) -> None:
    file = crontab("*/5 * * * * app job one\n")
    busy = [observation(i, user_seconds=3.0, stdout_bytes=100, exit_status=int(i == 20)) for i in range(20, 25)]
    path = recording(tmp_path / "o.db", *(observation(i) for i in range(20)), *busy)
    book, _ = look(observations=path, files=[file])
    (found,) = book.by_entry.values()
    assert (found.n, found.median_seconds, found.pairing, found.source) == (25, 2.5, Pairing.EXACT, "observed")
    assert (found.failures, found.statuses, found.silent, found.outputs) == (1, 25, 0.8, 25)
    assert found.empty is not None
    assert (found.empty.share, found.empty.confidence) == (0.8, "measured")
    assert found.max_rss_bytes == 20_000_000
    assert book.never_seen == ()


def test_a_run_that_never_came_back_is_open(tmp_path: Path) -> None:
    path = recording(tmp_path / "o.db", observation(1, ended=None, exit_status=None))
    book, (run,) = look(observations=path, files=[crontab("*/5 * * * * app job one\n")])
    (found,) = book.by_entry.values()
    assert (found.starts, found.n, found.open) == (1, 0, 1)
    assert run.open


def test_a_run_is_found_by_its_entry_and_else_by_its_text(tmp_path: Path) -> None:
    file = crontab("0 2 * * * app job one\n0 14 * * * app job one\n")
    ids = entry_ids([file])
    named = observation(1, entry=ids["/etc/crontab", 2])
    path = recording(tmp_path / "o.db", named, observation(2, entry="of an older line"))
    book, _ = look(observations=path, files=[file])
    assert book.by_entry[ids["/etc/crontab", 2]].starts in (1, 2)
    assert book.matched == 2


def test_a_masked_secret_does_not_hide_the_entry(tmp_path: Path) -> None:
    command = "fetch https://user:hunter2secret@example.org/"
    path = recording(tmp_path / "o.db", replace(observation(1, command), command="fetch https://user:...@example.org/"))
    assert look(observations=path, files=[crontab(f"0 2 * * * app {command}\n")])[0].matched == 1


def test_a_run_in_the_log_and_in_the_recording_is_counted_once(tmp_path: Path) -> None:
    wrapped = "cron2queue observe --entry=x --shell 'job one'"
    (tmp_path / "syslog").write_text(
        f"Nov 30 11:06:01 web1 CRON[80]: (app) CMD ([82] {wrapped})\n"
        f"Nov 30 11:06:04 web1 CRON[80]: (app) END ([82] {wrapped})\n"
    )
    file = crontab(f"* * * * * app {wrapped}\n")
    alone, _ = look(tmp_path / "syslog", files=[file])
    both, _ = look(tmp_path / "syslog", observations=recording(tmp_path / "o.db", observation(0)), files=[file])
    assert (alone.runs, both.runs, both.matched) == (1, 1, 1)


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "o.db").write_text("something else" * 1000)
    for path in (tmp_path / "o.db", tmp_path / "missing.db"):
        book, _ = look(observations=path)
        assert not book.available
        assert "no recording" in book.skipped[0]


def test_old_observations_are_dropped(tmp_path: Path) -> None:
    path = recording(tmp_path / "o.db", observation(0, started=START - 200 * 86_400), observation(1))
    assert [each.id for each in read(path)] == ["1"]


def test_a_folder_stands_for_the_recordings_of_several_users(tmp_path: Path) -> None:
    recording(tmp_path / "app.db", observation(0), observation(4))
    recording(tmp_path / "www.db", observation(2, "other", account="www"))
    (tmp_path / "broken.db").write_text("something else" * 1000)
    book, runs = look(observations=tmp_path, files=[crontab("* * * * * app job one\n* * * * * www other\n")])
    assert [run.user for run in runs] == ["app", "www", "app"]
    assert (book.runs, book.matched, len(book.by_entry)) == (3, 3, 2)
    assert "broken.db: no recording" in book.skipped[0]
