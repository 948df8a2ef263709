"""Procrastinate on PostgreSQL, its asynchronous worker at its default of one job at a time."""

import asyncio
import os

from procrastinate import App, PsycopgConnector
from tally import Tally

tally = Tally()
app = App(connector=PsycopgConnector(conninfo=os.environ["RIVAL_URL"]))


@app.task(name="noop")
async def noop() -> None:
    """Nothing, counted."""
    tally.add()


async def _filled(jobs: int) -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, jobs, 1000):
            await noop.batch_defer_async(*[{}] * min(1000, jobs - start))


async def _working() -> None:
    async with app.open_async():
        await app.run_worker_async(install_signal_handlers=False)


def fill(jobs: int) -> None:
    """Enqueue."""
    asyncio.run(_filled(jobs))


def work() -> None:
    """Until killed."""
    asyncio.run(_working())
