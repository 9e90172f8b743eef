"""Whether an id_token is what its provider says about this sign-in, and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

ALGORITHMS = ["RS256", "ES256", "PS256"]
LEEWAY_SECONDS = 60
MAX_TOKEN_BYTES = 64 * 1024
MAX_SUBJECT_CHARACTERS = 255


class BadToken(Exception):
    """The token proves nothing. The message is for the log, never for the person."""


def read_keys(document: Mapping[str, Any]) -> KeySet:
    """The keys that may sign: public RSA and elliptic ones. A symmetric key in the set is never used."""
    keys = [
        key
        for key in document.get("keys", ())
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC") and key.get("use", "sig") == "sig"
    ]
    return KeySet([RSAKey.import_key(key) if key["kty"] == "RSA" else ECKey.import_key(key) for key in keys])


def check_id_token(
    token: str, keys: KeySet, *, issuer: str, client_id: str, nonce: str, now_seconds: int
) -> dict[str, Any]:
    """The claims of a token about a person. Raises BadToken as check_claims does, and for one about nobody."""
    known = {"issuer": issuer, "client_id": client_id, "nonce": nonce}
    claims = check_claims(token, keys, **known, now_seconds=now_seconds, algorithms=ALGORITHMS)
    if not is_subject(claims.get("sub")):
        raise BadToken("the token has no usable sub")
    return claims


def check_claims(
    token: str,
    keys: KeySet,
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    now_seconds: int,
    algorithms: Sequence[str],
) -> dict[str, Any]:
    """The token's claims. Raises BadToken for any other signature, issuer, audience, nonce or time."""
    if len(token) > MAX_TOKEN_BYTES:
        raise BadToken(f"the token has {len(token)} bytes")
    registry = jwt.JWTClaimsRegistry(
        now=now_seconds,
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims = jwt.decode(token, keys, algorithms=list(algorithms)).claims
        registry.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as problem:
        raise BadToken(f"{type(problem).__name__}: {problem}") from problem
    _check_more(claims, client_id)
    return claims


def _check_more(claims: Mapping[str, Any], client_id: str) -> None:
    # The library accepts any list that contains us; a token that others may use too proves less.
    if claims["aud"] not in (client_id, [client_id]):
        raise BadToken("the token is for other audiences too")
    if claims.get("azp", client_id) != client_id:
        raise BadToken("the token was issued to somebody else")


def is_subject(subject: object) -> bool:
    return isinstance(subject, str) and 0 < len(subject) <= MAX_SUBJECT_CHARACTERS
