"""The audit's lines about which version of the course readers see."""

from app.storage.audit import Actor, write_line
from graders.ledger.database import Database


class Publications:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, version: str, before: str, actor: Actor) -> None:
        """`version` is live now, in place of `before`."""
        await self._database.write(
            lambda connection: write_line(
                connection, actor, "publish the course", version, before=before, after=version
            )
        )
