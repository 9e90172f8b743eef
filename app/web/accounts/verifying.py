"""Whether a name and a password belong together. Failures are counted in the database, for all processes together."""

from datetime import timedelta

from app.access.names import key_of_name
from app.storage.records import Account
from app.web.edge.identity import RequestContext
from app.web.edge.signing_in import hash_key

PERIOD = timedelta(minutes=15)
FAILURES_OF_NAME = 10
FAILURES_OF_ADDRESS = 50


class SignInRefused(Exception):
    """The message is a sentence for the person who tries."""

    status = 403


class TooManyFailures(SignInRefused):
    status = 429


async def verify_password(context: RequestContext, name: str, password: str) -> Account:
    """The account of this name. Raises SignInRefused, in the same time and words for an unknown name."""
    passwords, accounts = context.site.passwords, context.site.store.accounts
    keys = hash_key(context, "name", key_of_name(name)), hash_key(context, "address", context.address)
    # Counting, comparing and noting happen under one turn, so that many requests at once cannot outrun the count.
    async with passwords.turns:
        failures = await accounts.count_failures(keys, context.now - PERIOD)
        if failures.get(keys[0], 0) >= FAILURES_OF_NAME or failures.get(keys[1], 0) >= FAILURES_OF_ADDRESS:
            raise TooManyFailures(
                "There were too many wrong passwords for this name or from this network. Wait 15 minutes, then try "
                "again. If you forgot your password, ask your instructor or the operator for a one-time link."
            )
        known = await accounts.find_password(name)
        kept = known.secret if known else None
        if not await passwords.matches(password, kept) or known is None:
            await accounts.note_failure(keys, context.now)
            raise SignInRefused("This name and this password do not belong together. Check both, and try again.")
    if passwords.is_outdated(known.secret):
        await accounts.set_password(known.account.id, await passwords.make_hash(password), context.now)
    return known.account
