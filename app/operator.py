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
    parser.add_argument(
        "--existing", action="store_true", help="the account exists, and its owner is to be an operator"
    )
    try:
        asked = parser.parse_args(arguments)
        name = clean_name(asked.name)
        migrate(settings.database, settings.data)
        path = asyncio.run(make_operator(settings, name, datetime.now(UTC), existing=asked.existing))
    except (BadName, MigrationRefused, SomebodyElses) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    hours = int(LINK_LASTS.total_seconds() // 3600)
    sys.stdout.write(
        f"{name} is an operator. This link sets their password, once, within {hours} hours:\n  "
        f"{settings.address}{path}\n"
    )
    return 0


class SomebodyElses(Exception):
    """The name belongs to a learner, who may have taken it before the operator came."""


async def make_operator(settings: Settings, name: str, now: datetime, *, existing: bool = False) -> str:
    """The path of the new link. All sessions of the account end.

    Raises SomebodyElses for a learner's account unless `existing`: whoever signed up with that name first could have
    linked an identity of another provider to it, and would be the operator.
    """
    database, actor, token = Database(settings.database), Actor(None, now), make_token()
    try:
        accounts = Accounts(database)
        found = await accounts.find_by_name(name)
        if found is not None and not found.is_operator and not existing:
            raise SomebodyElses(
                f"There is an account {name} already, and it is not an operator's. Choose another name; or, if it is "
                f"yours, run `python -m app operator --existing {name}`."
            )
        account = found or await accounts.create(name, None, actor)
        if account is None:
            raise SystemExit(f"The account {name} is closed; choose another name, or erase it on /operator/accounts.")
        await accounts.set_operator(account.id, True, actor)
        await accounts.make_link(account.id, hash_token(token), now + LINK_LASTS, actor)
    finally:
        await database.close()
    return f"/link/{token}"
