"""A broker that refuses is told in a sentence, and one that is not there yet is waited for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import Node, free_port, need_rabbitmq
from celery_bench import CeleryBench

from cron2queue.runtime.celery import login
from cron2queue.runtime.celery.application import application

PLAN = """
[jobs.a]
handler = "command"
command = "true"
timeout = 60
"""
NOWHERE = "amqp://guest:guest@127.0.0.1:1//"


@pytest.fixture(scope="module")
def refusing(node: Node) -> Node:
    """With a user who may use no virtual host, and one who may use one and nothing in it."""
    node.control("add_user", "stranger", "S3CRET")
    node.control("add_vhost", "locked")
    node.control("set_permissions", "-p", "locked", "stranger", "", "", "")
    return node


def url(node: Node, user: str, vhost: str) -> str:
    return f"amqp://{user}@127.0.0.1:{node.port}/{vhost}"


REFUSALS = [
    ("guest:S3CRET", "%2F", "refuses the login", "authenticate_user guest"),
    ("nobody:S3CRET", "%2F", "refuses the login", "authenticate_user nobody"),
    ("guest:guest", "absent", "has no virtual host 'absent'", "add_vhost absent"),
    ("stranger:S3CRET", "%2F", "does not let this user in", "set_permissions -p / stranger"),
]


@pytest.mark.parametrize("process", ["work", "relay"])
@pytest.mark.parametrize(("user", "vhost", "said", "remedy"), REFUSALS)
def test_a_refused_login_ends_the_process_with_one_sentence(
    refusing: Node, bench: CeleryBench, process: str, user: str, vhost: str, said: str, remedy: str
) -> None:
    bench.plan(PLAN)
    bench.broker = url(refusing, user, vhost)
    started = bench.work() if process == "work" else bench.relay()
    assert started.wait(60) != 0
    told = bench.log()
    assert told.count(said) == 1 and remedy in told
    assert f"@127.0.0.1:{refusing.port}" in told
    assert "S3CRET" not in told and "Traceback" not in told


def test_a_user_who_may_do_nothing_in_its_virtual_host_is_told_once_and_the_relay_waits(
    refusing: Node, bench: CeleryBench
) -> None:
    bench.plan(PLAN)
    bench.broker = url(refusing, "stranger:S3CRET", "locked")
    relay = bench.relay()
    bench.until(lambda: "the relay waits" in bench.log())
    assert "set_permissions -p locked stranger" in bench.log() and "S3CRET" not in bench.log()
    refusing.control("set_permissions", "-p", "locked", "stranger", ".*", ".*", ".*")
    bench.until(lambda: "the relay goes on" in bench.log())
    assert bench.log().count("the relay waits") == 1
    assert relay.poll() is None


def test_a_login_that_is_refused_later_is_told_in_the_same_words(refusing: Node, bench: CeleryBench) -> None:
    user = f"user-of-{bench.project}"
    refusing.control("add_user", user, "S3CRET")
    refusing.control("set_permissions", user, ".*", ".*", ".*")
    bench.plan(PLAN)
    bench.broker = url(refusing, f"{user}:S3CRET", "%2F")
    worker, relay = bench.work(), bench.relay()
    bench.enqueue("a")
    bench.until(lambda: bench.done(1))
    refusing.control("change_password", user, "another")
    refusing.control("close_all_connections", "test")
    assert worker.wait(60) != 0  # the service manager starts it again, and then it is told as at any start
    bench.until(lambda: "refuses the login" in bench.log(1))
    refusing.control("change_password", user, "S3CRET")
    bench.until(lambda: "the relay goes on" in bench.log(1))
    assert [bench.log(number).count("refuses the login") for number in (0, 1)] == [1, 1]
    assert "S3CRET" not in bench.log(0) + bench.log(1) and "Traceback" not in bench.log(0) + bench.log(1)
    assert relay.poll() is None


def test_the_first_broker_that_answers_decides(refusing: Node, bench: CeleryBench) -> None:
    bench.plan(PLAN)

    def check(*addresses: str) -> None:
        app = application(bench.folder / "cron2queue.toml", environment={"CRON2QUEUE_BROKER_URL": ";".join(addresses)})
        login.check(app)

    bad = url(refusing, "guest:S3CRET", "%2F")
    check(NOWHERE)
    check(refusing.url, bad)
    with pytest.raises(login.LoginRefused):
        check(NOWHERE, bad, refusing.url)


@pytest.fixture
def absent(tmp_path: Path) -> Iterator[Node]:
    need_rabbitmq()
    node = Node(folder=tmp_path / "rabbitmq", port=free_port())
    yield node
    node.kill()


def test_worker_and_relay_wait_for_a_broker_that_comes_later(absent: Node, tmp_path: Path) -> None:
    bench = CeleryBench(tmp_path, f"sqlite:///{tmp_path / 'jobs.db'}", broker=absent.url, project="t")
    try:
        bench.plan(PLAN)
        job = bench.enqueue("a")
        worker, relay = bench.work(), bench.relay()
        bench.until(lambda: "Cannot connect to amqp" in bench.log(0) and "the relay waits" in bench.log(1))
        absent.start()
        bench.until(lambda: bench.done(1))
        assert len(bench.attempts(job)) == 1
        assert (worker.poll(), relay.poll()) == (None, None)
        assert "Traceback" not in bench.log(0) + bench.log(1)
    finally:
        bench.close()
