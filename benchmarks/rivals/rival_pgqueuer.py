"""PgQueuer on PostgreSQL with batches of 100: the fastest of the queues on an SQL database. Its worker by its Python API."""

import asyncio
import os

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.queries import Queries
from tally import Tally

tally = Tally()


async def _filled(jobs: int) -> None:
    connection = await asyncpg.connect(os.environ["RIVAL_URL"])
    queries = Queries.from_asyncpg_connection(connection)
    await queries.install()
    for start in range(0, jobs, 1000):
        number = min(1000, jobs - start)
        await queries.enqueue(["noop"] * number, [None] * number, [0] * number)
    await connection.close()


async def _working() -> None:
    queue = PgQueuer.from_asyncpg_connection(await asyncpg.connect(os.environ["RIVAL_URL"]))

    @queue.entrypoint("noop")
    async def noop(job: object) -> None:
        tally.add()

    await queue.run(batch_size=100)


def fill(jobs: int) -> None:
    """Enqueue."""
    asyncio.run(_filled(jobs))


def work() -> None:
    """Until killed."""
    uvloop.run(_working())
