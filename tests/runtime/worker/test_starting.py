"""A worker whose database goes away while it starts: it ends with a reason, or it is at work and waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import SERVERS, Database, open_database
from dying import few_of, random
from runtime.severing import Severing
from workbench import Workbench

PORTS = {"mariadb": 3306, "mysql": 3306, "postgresql": 5432}


class Line:
    """Benches whose workers speak to their server through a line that can be cut."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder = database, folder
        self.benches: list[Workbench] = []
        self.proxies: list[Severing] = []

    def bench(self) -> tuple[Workbench, Severing]:
        """An empty table, one kind of job, and a line of its own."""
        self.database.empty()
        address = self.database.address
        proxy = Severing("127.0.0.1", address.port or PORTS[self.database.name])
        folder = self.folder / str(len(self.benches))
        folder.mkdir()
        bench = Workbench(folder=folder, url=self.database.url)
        bench.url = proxy.url(address)
        bench.python("work")
        bench.handlers('@handler("work")\ndef work(job): note("ran")\n')
        self.benches.append(bench)
        self.proxies.append(proxy)
        return bench, proxy

    def close(self) -> None:
        for bench, proxy in zip(self.benches, self.proxies, strict=True):
            bench.close()
            proxy.close()


@pytest.fixture(params=SERVERS)
def line(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Line]:
    database = open_database(request.param, tmp_path)
    opened = Line(database, tmp_path)
    yield opened
    opened.close()
    database.close()


def test_a_database_that_goes_away_at_any_word_of_the_start_is_told_or_waited_for(line: Line) -> None:
    bench, proxy = line.bench()
    worker = bench.start()
    bench.at_work(worker)
    words = proxy.packets
    bench.stop(worker)
    ends = []
    for number in few_of(range(1, words + 1), 4, random()):
        bench, proxy = line.bench()
        proxy.end_at(number)
        worker = bench.start()
        bench.until(lambda bench=bench, worker=worker: worker.poll() is not None or " working " in bench.log())
        if worker.poll() is None:
            bench.stop(worker)
        else:
            assert worker.wait() == 69, (number, bench.log())
            assert "does not answer" in bench.log() and "remedy:" in bench.log()
        assert not any(word in bench.log() for word in ("Traceback", "bug", "\\x")), (number, bench.log())
        ends.append((number, worker.wait()))
    print(f"of {words} words:", ends)


def test_a_worker_that_cannot_listen_for_hints_works_without(line: Line) -> None:
    bench, proxy = line.bench()
    proxy.cut(b"LISTEN", after=False)
    worker = bench.start()
    bench.at_work(worker)
    assert proxy.cuts == (1 if line.database.name == "postgresql" else 0)
    assert ("gives no hints" in bench.log()) is bool(proxy.cuts)
    job = bench.enqueue("work")
    bench.until(lambda: bench.job(job)["state"] == "succeeded")
    bench.stop(worker)
