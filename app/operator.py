"""The command that makes somebody an operator: the first one, or one who lost their password."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from app.access.names import BadName, clean_name
from app.access.tokens import hash_token, make_token
from app.settings import Settings
from app.storage.accounts import LINK_LASTS, Accounts
from app.storage.audit import Actor
from app.storage.database import MigrationRefused, migrate
from graders.ledger import Database


def main(arguments: Sequence[str], settings: Settings) -> int:
    """Make the account an operator, and print a link that sets its password. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m app operator", description=main.__doc__)
    parser.add_argument("name", help="the name to sign in with; the account is made if there is none")
    try:
        name = clean_name(parser.parse_args(arguments).name)
        migrate(settings.database, settings.data)
    except (BadName, MigrationRefused) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    path = asyncio.run(make_operator(settings, name, datetime.now(UTC)))
    hours = int(LINK_LASTS.total_seconds() // 3600)
    sys.stdout.write(
        f"{name} is an operator. This link sets their password, once, within {hours} hours:\n  "
        f"{settings.address}{path}\n"
    )
    return 0


async def make_operator(settings: Settings, name: str, now: datetime) -> str:
    """The path of the new link. All sessions of the account end."""
    database, actor, token = Database(settings.database), Actor(None, now), make_token()
    try:
        accounts = Accounts(database)
        account = await accounts.find_by_name(name) or await accounts.create(name, None, actor)
        if account is None:
            raise SystemExit(f"The account {name} is closed; choose another name, or erase it on /operator/accounts.")
        await accounts.set_operator(account.id, True, actor)
        await accounts.make_link(account.id, hash_token(token), now + LINK_LASTS, actor)
    finally:
        await database.close()
    return f"/link/{token}"
