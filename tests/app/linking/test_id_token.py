"""Tokens: one that is as it should be is taken, and each way to be otherwise is refused."""

import time
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from app.linking.id_token import BadToken, check_id_token, read_keys

ISSUER, CLIENT, NONCE = "https://login.example", "unwind", "a nonce"
NOW = int(time.time())
OURS = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
CURVE = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
KEYS = read_keys(KeySet([OURS, CURVE]).as_dict(private=False))
GOOD = {"iss": ISSUER, "aud": CLIENT, "sub": "ada", "exp": NOW + 300, "iat": NOW, "nonce": NONCE}


def sign(claims: dict[str, Any], key: Any = OURS, **header: Any) -> str:
    full = {"alg": "RS256", "kid": "one"} | header
    return jwt.encode({name: value for name, value in full.items() if value is not None}, claims, key, [full["alg"]])


def check(token: str) -> dict[str, Any]:
    return check_id_token(token, KEYS, issuer=ISSUER, client_id=CLIENT, nonce=NONCE, now_seconds=NOW)


@pytest.mark.parametrize(
    "token",
    [
        sign(GOOD),
        sign(GOOD | {"aud": [CLIENT]}),
        sign(GOOD | {"azp": CLIENT}),
        sign(GOOD | {"exp": NOW - 30}),
        sign(GOOD, alg="PS256"),
        sign(GOOD, CURVE, alg="ES256", kid="curve"),
    ],
)
def test_a_good_token_is_taken(token: str) -> None:
    assert check(token)["sub"] == "ada"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


HOSTILE = {
    "another key with our kid": sign(GOOD, OTHER),
    "an unknown kid": sign(GOOD, OTHER, kid="two"),
    "no signature": "eyJhbGciOiJub25lIn0." + sign(GOOD).split(".")[1] + ".",
    "a weaker use of the key": sign(GOOD, alg="RS512"),
    "a symmetric key": sign(GOOD, OctKey.import_key("a shared secret of thirty-two characters"), alg="HS256"),
    "expired": sign(GOOD | {"exp": NOW - 61}),
    "no end": sign(without("exp")),
    "an end in words": sign(GOOD | {"exp": "tomorrow"}),
    "from the future": sign(GOOD | {"iat": NOW + 300}),
    "no beginning": sign(without("iat")),
    "another issuer": sign(GOOD | {"iss": "https://evil.example"}),
    "no issuer": sign(without("iss")),
    "another audience": sign(GOOD | {"aud": "another"}),
    "other audiences too": sign(GOOD | {"aud": [CLIENT, "another"]}),
    "a number as audience": sign(GOOD | {"aud": 7}),
    "no audience": sign(without("aud")),
    "issued to another": sign(GOOD | {"azp": "another"}),
    "another nonce": sign(GOOD | {"nonce": "another"}),
    "no nonce": sign(without("nonce")),
    "no subject": sign(without("sub")),
    "an empty subject": sign(GOOD | {"sub": ""}),
    "a number as subject": sign(GOOD | {"sub": 7}),
    "a long subject": sign(GOOD | {"sub": "s" * 256}),
    "too long": sign(GOOD | {"padding": "p" * 300_000}),
    "not a token": "x.y.z",
    "empty": "",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_token_is_refused(what: str) -> None:
    with pytest.raises(BadToken):
        check(HOSTILE[what])


def test_only_public_keys_that_sign_are_read() -> None:
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}
    sealing = RSAKey.generate_key(2048, {"kid": "sealing", "use": "enc"}).as_dict(private=False)
    document = {"keys": [secret, sealing, "nonsense", CURVE.as_dict(private=False)]}

    assert [key.kid for key in read_keys(document).keys] == ["curve"]
