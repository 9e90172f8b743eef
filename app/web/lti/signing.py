"""The site's key for learning platforms: the one that signs now, and its replacement in time."""

from joserfc.jwk import RSAKey
from pydantic import SecretStr

from app.linking.keys import find_retired, find_signing_key, is_due_for_another, make_key, unlock_key
from app.storage.audit import Actor
from app.storage.lti_registrations import LtiRegistrations


async def replace_key(registrations: LtiRegistrations, secret: SecretStr, actor: Actor) -> None:
    """Make a key that signs from tomorrow on, or at once if none of the others can be used."""
    known = await registrations.keys()
    is_first = not any(unlock_key(key, secret) for key in known)
    retired = [key.kid for key in find_retired(known, actor.at)]
    await registrations.add_key(make_key(secret, actor.at, is_first=is_first), actor, retired)


async def prepare_keys(registrations: LtiRegistrations, secret: SecretStr, actor: Actor) -> None:
    """Make a key if there is none, if the newest is old, or if the site's secret has changed since it was made."""
    usable = [key for key in await registrations.keys() if unlock_key(key, secret)]
    if is_due_for_another(usable, actor.at):
        await replace_key(registrations, secret, actor)


async def read_public_keys(registrations: LtiRegistrations, secret: SecretStr) -> list[RSAKey]:
    """Every key that can still be used, whether it signs already or not."""
    return [key for known in await registrations.keys() if (key := unlock_key(known, secret))]


async def get_signing_key(registrations: LtiRegistrations, secret: SecretStr, actor: Actor) -> RSAKey:
    """The key that signs now; makes one if there is none."""
    await prepare_keys(registrations, secret, actor)
    usable = {key.kid: opened for key in await registrations.keys() if (opened := unlock_key(key, secret))}
    known = [key for key in await registrations.keys() if key.kid in usable]
    newest = find_signing_key(known, actor.at)
    assert newest is not None, "prepare_keys makes a first key that signs at once"
    return usable[newest.kid]
