"""The store: the verbs of the job table, for producers, workers and operators.

Lean: opening one imports the standard library and the database's own driver, nothing else.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cron2queue.runtime import guards, migrations
from cron2queue.runtime.verbs.operating import OperatorVerbs
from cron2queue.runtime.verbs.producing import ProducerVerbs
from cron2queue.runtime.verbs.working import WorkerVerbs

if TYPE_CHECKING:
    from cron2queue.runtime.guards import ServerFacts
    from cron2queue.runtime.migrations import StepState


class Store(ProducerVerbs, WorkerVerbs, OperatorVerbs):
    """All verbs on one database. Threads may share it: each has its own connection; a fork gets new ones."""

    # ---- schema

    def migrate_up(self, *, to: int | None = None) -> list[int]:
        """Apply the steps that are missing (all, or up to `to`); the numbers of those applied. Safe to repeat after a kill."""
        return migrations.up(self.sessions, self.prefix, to=to)

    def migrate_down(self, *, to: int, force: bool = False) -> list[int]:
        """Take steps back down to `to`. Refused while jobs would be lost, unless forced."""
        return migrations.down(self.sessions, self.prefix, to=to, force=force)

    def migration_status(self) -> "Sequence[StepState]":
        """Each step: applied, missing, or half done."""
        return migrations.status(self.sessions, self.prefix)

    def schema_version(self) -> int:
        """The last step that is applied without a gap before it; 0 without tables."""
        return migrations.version(self.sessions, self.prefix)

    def require_schema(self) -> None:
        """SchemaMismatch unless the tables are ones that this release can work with."""
        migrations.require(self.sessions, self.prefix)

    # ---- guard rails

    def server_facts(self) -> "ServerFacts":
        """What the server and this session really are: versions, isolation, character set, strictness, connections."""
        return guards.facts(self.sessions, self.backend)

    def refuse_unsafe(self, *, connections_needed: int = 1) -> None:
        """UnsafeDatabase or SchemaMismatch, with the remedy, if a promise could not be kept on this database."""
        self.require_schema()
        guards.refuse(self.server_facts(), connections_needed=connections_needed)
        guards.claim_file(self.sessions)
