"""The site's own keys, with which it signs what it says to learning platforms.

A platform may keep the public keys for a day. So a new key is published a day before it signs, and an old one stays
published for a month after another has taken its place.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey
from pydantic import SecretStr

PUBLISHED_BEFORE = timedelta(days=1)
PUBLISHED_AFTER = timedelta(days=30)
REPLACED_AFTER = timedelta(days=180)


@dataclass(frozen=True)
class SigningKey:
    """A key, and from when on it signs, until a later one does. `locked` is its private part, encrypted."""

    kid: str
    locked: str
    made_at: datetime
    signs_from: datetime


def make_key(secret: SecretStr, now: datetime, *, is_first: bool) -> SigningKey:
    """A new key. The first one signs at once: no platform has read the key set before."""
    key = RSAKey.generate_key(2048)
    kid = key.thumbprint()
    locked = jwe.encrypt_compact({"alg": "dir", "enc": "A256GCM"}, key.as_pem(private=True), _lock(secret))
    return SigningKey(kid, locked, now, now if is_first else now + PUBLISHED_BEFORE)


def unlock_key(key: SigningKey, secret: SecretStr) -> RSAKey | None:
    """The private key, or None if it was locked with another secret."""
    try:
        pem = jwe.decrypt_compact(key.locked, _lock(secret)).plaintext
    except (JoseError, ValueError):
        return None
    return None if pem is None else RSAKey.import_key(pem, {"kid": key.kid, "use": "sig", "alg": "RS256"})


def find_signing_key(keys: Iterable[SigningKey], now: datetime) -> SigningKey | None:
    """The newest that signs already. If none does, because the clock went back, the oldest."""
    known = sorted(keys, key=lambda key: key.signs_from)
    return next((key for key in reversed(known) if key.signs_from <= now), next(iter(known), None))


def find_retired(keys: Iterable[SigningKey], now: datetime) -> tuple[SigningKey, ...]:
    """Keys that nothing signed with for so long that they need not be published any more."""
    known = tuple(keys)
    later = {
        key.kid: min((o.signs_from for o in known if o.signs_from > key.signs_from), default=now) for key in known
    }
    return tuple(key for key in known if now - later[key.kid] > PUBLISHED_AFTER)


def is_due_for_another(keys: Iterable[SigningKey], now: datetime) -> bool:
    newest = max((key.made_at for key in keys), default=None)
    return newest is None or now - newest > REPLACED_AFTER


def publish_keys(keys: Iterable[RSAKey]) -> dict[str, Any]:
    """The key set that platforms read."""
    return dict(KeySet(list(keys)).as_dict(private=False))


def _lock(secret: SecretStr) -> OctKey:
    derived = hmac.new(secret.get_secret_value().encode(), b"the private keys for learning platforms", hashlib.sha256)
    return OctKey.import_key(derived.digest())
