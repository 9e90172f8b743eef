"""Talking to learning platforms: their keys, tokens for their services, and requests with such a token."""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey

from app.linking.fetching import Answer, NoAnswer, fetch_capped
from app.linking.id_token import BadToken, read_keys
from app.linking.lti import LaunchRefused, Registration, check_launch

log = logging.getLogger(__name__)

KEYS_AGAIN_SECONDS = 30.0
ASSERTION_SECONDS = 60
EARLIER_SECONDS = 60
"""A token is not used in the last seconds of its life, because the platform's clock may be ahead."""
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class NoToken(Exception):
    """The platform gave no token for its services. The message is for the log and for staff."""


@dataclass
class _Keys:
    keys: KeySet
    at: float


@dataclass
class _Token:
    text: str
    until: float


class Platforms:
    """Keeps each platform's public keys, and the tokens that it gave, in this process's memory."""

    def __init__(self, http: httpx2.AsyncClient, now: Callable[[], float] = time.time) -> None:
        self._http = http
        self._now = now
        self._keys: dict[str, _Keys] = {}
        self._tokens: dict[tuple[str, tuple[str, ...]], _Token] = {}

    async def check(self, registration: Registration, token: str, nonce: str) -> dict[str, Any]:
        """The claims of a launch. Raises LaunchRefused.

        Checked with the keys that are known, and once more with fresh ones: the platform may have replaced them.
        """
        reason = ""
        for again in (False, True):
            keys = await self._read_keys(registration, again=again)
            try:
                return check_launch(token, keys, registration, nonce, int(self._now()))
            except BadToken as problem:
                reason = str(problem)
        raise LaunchRefused(
            f"What {registration.name} sent does not prove that it is from there. Open the link in your course once "
            "more; if it happens again, tell the person who runs this site.",
            reason,
        )

    async def call(
        self,
        registration: Registration,
        key: RSAKey,
        scopes: Sequence[str],
        method: str,
        address: str,
        **more: Any,
    ) -> Answer:
        """One request to a service of the platform. A token that is refused is replaced once.

        Raises NoToken and NoAnswer.
        """
        headers = dict(more.pop("headers", {}))
        for again in (False, True):
            token = await self._read_token(registration, key, tuple(sorted(scopes)), again=again)
            sent = {**headers, "authorization": f"Bearer {token}"}
            answer = await fetch_capped(self._http, method, address, headers=sent, **more)
            if answer.status != 401:
                break
        return answer

    async def _read_keys(self, registration: Registration, *, again: bool) -> KeySet:
        known = self._keys.get(registration.id)
        if known is not None and not (again and self._now() - known.at >= KEYS_AGAIN_SECONDS):
            return known.keys
        try:
            answer = await fetch_capped(self._http, "GET", registration.jwks_url)
            if answer.status != 200:
                raise NoAnswer(f"{registration.jwks_url} answers {answer.status}")
            keys = read_keys(answer.read_json())
        except (NoAnswer, JoseError, ValueError, TypeError, KeyError, AttributeError) as problem:
            raise LaunchRefused(
                f"The keys of {registration.name} cannot be read just now. Try again in a minute.", str(problem)
            ) from problem
        self._keys[registration.id] = _Keys(keys, self._now())
        return keys

    async def _read_token(
        self, registration: Registration, key: RSAKey, scopes: tuple[str, ...], *, again: bool
    ) -> str:
        known = self._tokens.get((registration.id, scopes))
        if known is not None and self._now() < known.until and not again:
            return known.text
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": self._sign_assertion(registration, key),
            "scope": " ".join(scopes),
        }
        try:
            answer = await fetch_capped(self._http, "POST", registration.token_url, data=form)
            found = answer.read_json() if answer.status == 200 else {}
            token, lasts = str(found["access_token"]), float(found.get("expires_in", 0))
        except (NoAnswer, ValueError, TypeError, KeyError, AttributeError) as problem:
            raise NoToken(f"{registration.name} gives no token for its services: {problem}") from problem
        self._tokens[registration.id, scopes] = _Token(token, self._now() + lasts - EARLIER_SECONDS)
        return token

    def _sign_assertion(self, registration: Registration, key: RSAKey) -> str:
        now = int(self._now())
        claims = {
            "iss": registration.client_id,
            "sub": registration.client_id,
            "aud": registration.token_audience or registration.token_url,
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
            "jti": secrets.token_urlsafe(16),
        }
        return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, claims, key)
