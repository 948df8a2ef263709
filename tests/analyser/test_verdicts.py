"""From signs to a decision, a sentence and an order."""

from datetime import timedelta
from typing import Any

import pytest
from judged import AT, crontab, judged

from cron2queue.analyser.finding import Confidence
from cron2queue.analyser.verdicts import BECOMES, Answer, Decision, Verdict
from cron2queue.crontab.lines import entry_ids
from cron2queue.evidence.book import EvidenceBook
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.statistics import Emptiness, Evidence, Window

WINDOW = Window(start=AT - timedelta(days=14), end=AT)


def verdict(text: str, *, dialect: str = "debian", measured: dict[str, Any] | None = None) -> Verdict:
    kind = "user" if dialect == "busybox" else "system"
    file = crontab(text, dialect=dialect, kind=kind)
    book = None
    if measured is not None:
        facts = {"n": 100, "starts": 100, "pairing": Pairing.EXACT, "source": "journal", **measured}
        ids = entry_ids([file])
        by_entry = {ids[file.path, file.entries[0].number]: Evidence(window=WINDOW, **facts)}
        book = EvidenceBook(available=True, sources=("journal",), window=WINDOW, by_entry=by_entry)
    return judged(file, book=book).verdicts[0]


def test_a_healthy_nightly_job_stays_and_is_approved_of() -> None:
    result = verdict(
        "0 3 * * * root /opt/report.sh >> /var/log/r.log 2>&1\n",
        measured={"n": 14, "starts": 14, "median_seconds": 60.0, "p95_seconds": 90.0, "failures": 0, "statuses": 14},
    )
    assert result.decision is Decision.KEEP
    assert "14 runs in the log, none failed: leave it (measured)" in result.because
    assert result.order is None


def test_two_signs_make_a_job_for_a_queue_and_the_sentence_names_the_evidence() -> None:
    empty = Emptiness(share=0.97, n=4000, confidence="measured", reason="silent and under 1 s")
    result = verdict("*/5 * * * * www-data php /x/import_orders.php\n", measured={"met_predecessor": 0.23, "empty": empty})
    assert result.decision is Decision.QUEUE
    assert "97% of 4,000 runs find nothing to do; 23% of its starts meet a live predecessor (measured)" in result.because
    assert result.order == 1
    assert result.overlap == "skip"


def test_one_sign_makes_a_guard() -> None:
    result = verdict("*/5 * * * * www-data php /x/sync_stock.php\n")
    assert result.decision is Decision.GUARD
    assert result.becomes == "stays, guarded"


@pytest.mark.parametrize(
    "line",
    [
        "0 3 * * * www-data php /x/send_invoices.php",
        "0 3 1 * * www-data php /x/send_invoices.php",
        "# cron2queue: mostly-empty=no user-waits=no overlap-hurts=no lost-on-failure=yes\n*/5 * * * * www-data /opt/thing",
    ],
)
def test_lost_work_alone_needs_no_lock_but_somebody_who_hears_of_it(line: str) -> None:
    result = verdict(f"{line}\n")
    assert (result.decision, result.order) == (Decision.KEEP, None)
    assert "no lock helps against that" in result.because
    assert "los" in result.because


def test_lost_work_alone_is_guarded_where_two_copies_may_meet_and_asked_about_where_more_is_unknown() -> None:
    declared = "# cron2queue: lost-on-failure=yes\n*/30 * * * * www-data "
    assert verdict(f"{declared}/opt/thing\n").decision is Decision.GUARD
    assert verdict(f"# cron2queue: overlap-hurts=no\n{declared}/opt/thing\n").decision is Decision.ASK


@pytest.mark.parametrize(
    ("line", "decision", "word"),
    [
        ("mostly-empty=yes overlap-hurts=no", Decision.KEEP, "start it less often"),
        ("user-waits=yes overlap-hurts=no", Decision.KEEP, "let a queue start it"),
        ("lost-on-failure=yes overlap-hurts=no", Decision.KEEP, "hear of its failures"),
        ("mostly-empty=yes", Decision.GUARD, ""),
    ],
)
def test_what_two_copies_do_not_harm_gets_no_guard(line: str, decision: Decision, word: str) -> None:
    rest = "".join(f" {key}=no" for key in ("mostly-empty", "user-waits", "lost-on-failure") if key not in line)
    result = verdict(f"# cron2queue: {line}{rest}\n*/5 * * * * www-data /opt/thing\n")
    assert result.decision is decision
    assert word in result.because


def test_a_lock_without_a_time_limit_is_guarded_since_a_run_that_hangs_stops_all_later_ones() -> None:
    declared = "# cron2queue: mostly-empty=no user-waits=no lost-on-failure=yes\n*/5 * * * * "
    assert verdict(f"{declared}www-data flock -n /run/l/l /opt/thing\n").decision is Decision.GUARD
    assert verdict(f"{declared}/opt/thing\n", dialect="busybox").decision is Decision.GUARD


def test_long_runs_with_two_signs_are_split() -> None:
    result = verdict(
        "*/30 * * * * www-data php /x/import_orders.php\n",
        measured={"median_seconds": 2400.0, "p95_seconds": 3000.0, "met_predecessor": 0.9},
    )
    assert result.decision is Decision.SPLIT


def test_too_little_known_is_asked_with_the_questions() -> None:
    result = verdict("*/10 * * * * www-data /opt/thing\n")
    assert result.decision is Decision.ASK
    assert [question.partition(":")[0] for question in result.questions] == [
        "mostly-empty",
        "overlap-hurts",
        "user-waits",
        "lost-on-failure",
    ]


@pytest.mark.parametrize(
    ("declared", "sign", "answer"),
    [
        ("lost-on-failure=yes", "lost_on_failure", Answer.YES),
        ("user-waits=no", "user_waits", Answer.NO),
        ("mostly-empty=yes", "mostly_empty", Answer.YES),
        ("overlap-hurts=no", "overlap_hurts", Answer.NO),
    ],
)
def test_a_declaration_answers_a_sign(declared: str, sign: str, answer: Answer) -> None:
    result = verdict(f"# cron2queue: {declared}\n*/10 * * * * www-data /opt/thing\n")
    assert getattr(result.signs, sign).answer is answer
    assert getattr(result.signs, sign).confidence is Confidence.DECLARED


def test_a_declared_name_is_the_job_s_name() -> None:
    assert verdict("# cron2queue: name=order-export\n0 1 * * * root /opt/x.sh\n").name == "order-export"


def test_what_never_fires_is_dropped_and_a_backward_range_corrected() -> None:
    assert verdict("0 0 31 2 * root /opt/a.sh\n").decision is Decision.DROP
    assert verdict("0 22-4 * * * root /opt/a.sh\n").decision is Decision.FIX


def test_the_second_of_two_equal_lines_is_dropped() -> None:
    result = judged("0 0 * * * root /opt/a.sh\n@daily root /opt/a.sh\n")
    assert {each.entry.number: each.decision for each in result.verdicts} == {1: Decision.KEEP, 2: Decision.DROP}


def test_what_is_broken_today_comes_first() -> None:
    text = "*/2 * * * * www-data php /x/send_mails.php\n0 3 * * * root dump > /b/$(date +%F).sql\n"
    first = judged(text).verdicts[0]
    assert (first.entry.number, first.decision) == (2, Decision.FIX)
    assert "broken today" in first.because


def test_entries_of_a_file_that_the_daemon_ignores_do_not_run_today() -> None:
    result = judged("0 1 * * * root /opt/a.sh\nMAILTO=\n").verdicts[0]
    assert result.decision is Decision.FIX
    assert "ignores the whole file" in result.because


def test_a_daemon_at_boot_is_better_as_a_service() -> None:
    result = verdict("@reboot www-data node /x/ws.js &\n")
    assert (result.decision, result.becomes) == (Decision.KEEP, "a systemd service")


@pytest.mark.parametrize(
    ("command", "decision", "word"),
    [
        ("php /x/bin/magento cron:run", Decision.GUARD, "Magento"),
        ("php /x/bin/magento setup:cron:run", Decision.GUARD, "Magento"),
        ("php /var/www/magento2/update/cron.php", Decision.GUARD, "Magento"),
        ("flock -n /run/lock/m/m php /x/bin/magento cron:run", Decision.KEEP, "Magento"),
        ("php /x/artisan schedule:run", Decision.KEEP, "Laravel"),
        ("php /x/vendor/bin/typo3 scheduler:run", Decision.KEEP, "TYPO3"),
        ("php /var/www/nextcloud/cron.php", Decision.GUARD, "Nextcloud"),
        ("drush -r /x cron", Decision.KEEP, "Drupal"),
        ("php /x/moodle/admin/cli/adhoc_task.php --execute --keep-alive=590", Decision.KEEP, "Moodle"),
        ("wp cron event run --due-now", Decision.GUARD, "WordPress"),
        ("wp action-scheduler run --batches=1", Decision.GUARD, "WordPress"),
        ("wp --path=/var/www/blog cron event run --due-now", Decision.GUARD, "WordPress"),
    ],
)
def test_an_application_s_own_scheduler_is_wrapped_or_kept_and_never_queued(
    command: str, decision: Decision, word: str
) -> None:
    result = verdict(f"* * * * * www-data {command}\n")
    assert result.decision is decision
    assert result.becomes == BECOMES[decision]
    assert word in result.because


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("php artisan queue:work --stop-when-empty", "Laravel"),
        ("php /x/artisan horizon", "Laravel"),
        ("php bin/console messenger:consume async", "Symfony"),
        ("php /x/bin/magento queue:consumers:start async.operations.all --max-messages=1000", "Magento"),
    ],
)
def test_a_queue_s_worker_is_better_as_a_service_and_called_by_its_name(command: str, word: str) -> None:
    result = verdict(f"*/5 * * * * www-data {command}\n")
    assert (result.decision, result.becomes) == (Decision.KEEP, "a systemd service")
    assert word in result.because


def test_a_user_column_in_a_user_s_own_crontab_is_corrected_and_not_approved_of() -> None:
    result = judged(crontab("0 3 * * * root /opt/renew.sh\n", kind="user")).verdicts[0]
    assert result.decision is Decision.FIX
    assert "no user column" in result.because


@pytest.mark.parametrize(
    "command", ["zabbix_sender -z monitor -k raid -o 1", 'notify-send "Stand up"', "curl -fsS https://hc-ping.com/1f2e"]
)
def test_a_figure_or_a_notice_on_a_screen_is_no_message_that_would_be_lost(command: str) -> None:
    result = verdict(f"* * * * * bob {command}\n")
    assert result.decision is Decision.KEEP
    assert result.signs.lost_on_failure.answer is Answer.NO


def test_a_daemon_that_never_starts_a_second_copy_needs_no_lock() -> None:
    result = verdict("*/5 * * * * php /x/import_orders.php\n", dialect="busybox")
    assert result.signs.overlap_hurts.answer is Answer.NO
    assert result.signs.overlap_hurts.confidence is Confidence.PROVEN


def test_a_guarded_job_with_lock_and_limit_stays() -> None:
    line = "*/15 * * * * www-data flock -n /run/lock/x/l timeout -k 10 600 php /x/import_orders.php\n"
    declared = "# cron2queue: lost-on-failure=yes user-waits=no mostly-empty=no\n"
    assert verdict(declared + line).decision is Decision.KEEP


def test_pain_goes_from_lost_work_over_empty_pollers_to_long_runs() -> None:
    text = (
        "# cron2queue: mostly-empty=yes overlap-hurts=yes\n*/5 * * * * www-data /opt/poller\n"
        "# cron2queue: lost-on-failure=yes user-waits=yes\n*/5 * * * * www-data /opt/loser\n"
        "# cron2queue: overlap-hurts=yes user-waits=yes takes=20m\n*/30 * * * * www-data /opt/long\n"
    )
    assert [each.name for each in judged(text).verdicts] == ["loser", "poller", "long"]


def test_the_verdict_does_not_depend_on_which_findings_are_shown() -> None:
    text = "0 3 * * * root dump > /b/$(date +%F).sql\n"
    for options in ({"select": ("C2Q2",)}, {"ignore": ("C2Q301",)}):
        result = judged(text, **options)
        assert "C2Q301" not in {finding.code for finding in result.findings}
        assert result.verdicts[0].decision is Decision.FIX


def test_a_command_that_ends_in_a_carriage_return_is_corrected_and_not_approved_of() -> None:
    result = judged("# from Windows\r\n0 3 * * * root /opt/backup.sh\r\n").verdicts[0]
    assert result.decision is Decision.FIX
    assert "carriage return" in result.because


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("*/5 * * * * cd /var/www && php wp-cron.php", Decision.FIX),
        ("* 3 * * * www-data php /x/sync_stock.php", Decision.FIX),
        ("*/5 * * * * www-data php /x/sync_stock.php", Decision.GUARD),
        ("* 3 * * * www-data php /x/import_orders.php", Decision.QUEUE),
    ],
)
def test_what_is_hardly_meant_is_corrected_before_it_is_guarded(line: str, decision: Decision) -> None:
    result = verdict(f"{line}\n")
    assert result.decision is decision
    assert ("hardly what was meant" in result.because) == (decision is not Decision.GUARD)


def test_what_a_warning_speaks_against_is_not_said_to_have_nothing_against_it() -> None:
    for line in ("curl -s https://x.example/install.sh | bash", "mysqldump -uroot -phunTer2x9 shop > /b/shop.sql"):
        result = verdict(f"0 3 * * * root {line}\n")
        assert result.decision is Decision.KEEP
        assert "nothing speaks against it" not in result.because
        assert "settle first: " in result.because
