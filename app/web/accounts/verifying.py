"""Whether a name and a password belong together. Failures are counted in the database, for all processes together."""

from datetime import timedelta

from app.access.names import key_of_name
from app.storage.accounts import KnownPassword
from app.storage.records import Account
from app.web.accounts.known_browser import find_known_browser, remember_browser
from app.web.edge.identity import RequestContext
from app.web.edge.signing_in import hash_key

PERIOD = timedelta(minutes=15)
FAILURES_OF_NAME = 10
FAILURES_OF_ADDRESS = 50
FAILURES_OF_BROWSER = 10
"""In a browser that the account was signed in before, where failures elsewhere do not count."""


class SignInRefused(Exception):
    """The message is a sentence for the person who tries."""

    status = 403


class TooManyFailures(SignInRefused):
    status = 429


async def verify_password(context: RequestContext, name: str, password: str) -> Account:
    """The account of this name; the browser is known to it from now on.

    Raises SignInRefused, in the same time and words for an unknown name.
    """
    passwords, accounts = context.site.passwords, context.site.store.accounts
    # Counting, comparing and noting happen under one turn, so that many requests at once cannot outrun the count.
    async with passwords.turns:
        known = await accounts.find_password(name)
        limits = _find_limits(context, name, known)
        failures = await accounts.count_failures(tuple(limits), context.now - PERIOD)
        if any(failures.get(key, 0) >= limit for key, limit in limits.items()):
            raise TooManyFailures(
                "There were too many wrong passwords for this name or from this network. Wait 15 minutes, then try "
                "again. If you forgot your password, ask your instructor or the operator for a one-time link."
            )
        kept = known.secret if known else None
        if not await passwords.matches(password, kept) or known is None:
            await accounts.note_failure(tuple(limits), context.now)
            raise SignInRefused("This name and this password do not belong together. Check both, and try again.")
    if passwords.is_outdated(known.secret):
        known = KnownPassword(known.account, await passwords.make_hash(password))
        await accounts.set_password(known.account.id, known.secret, context.now)
    remember_browser(context, known)
    return known.account


def _find_limits(context: RequestContext, name: str, known: KnownPassword | None) -> dict[str, int]:
    """How many failures are borne under which keys."""
    if (browser := find_known_browser(context, known)) is not None:
        return {hash_key(context, "browser", browser): FAILURES_OF_BROWSER}
    return {
        hash_key(context, "name", key_of_name(name)): FAILURES_OF_NAME,
        hash_key(context, "address", context.address): FAILURES_OF_ADDRESS,
    }
