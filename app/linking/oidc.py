"""OpenID Connect: where to send a person to sign in, and who came back. One client for each provider.

The code flow with PKCE. What binds an answer to a browser (state and cookie) is the caller's; see
app/web/accounts/providers.py.
"""

import base64
import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx2
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.linking.fetching import NoAnswer, fetch_capped, is_encrypted
from app.linking.id_token import BadToken, check_id_token, read_keys
from app.linking.providers import Provider

log = logging.getLogger(__name__)

METADATA_SECONDS = 3600.0
KEYS_AGAIN_SECONDS = 30.0
SCOPE = "openid profile email"
PERSONAL_CLAIMS = ("name", "preferred_username", "email", "email_verified")


class ProviderRefused(Exception):
    """Nobody is signed in. The message is a sentence for the person who tried."""


@dataclass(frozen=True)
class Person:
    """Who came back. Only `issuer` and `subject` identify them; `display` is shown, and is never compared."""

    issuer: str
    subject: str
    name: str
    display: str


@dataclass(frozen=True)
class Flow:
    """The secrets of one sign-in, and where its answer arrives."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str


class OidcClient:
    """Talks to one provider, and keeps what the provider publishes about itself for a while."""

    def __init__(self, provider: Provider, http: httpx2.AsyncClient, now: Callable[[], float] = time.time) -> None:
        self.provider = provider
        self._http = http
        self._now = now
        self._metadata: Mapping[str, Any] = {}
        self._metadata_until = 0.0
        self._keys: KeySet | None = None
        self._keys_at = 0.0

    async def begin(self, flow: Flow) -> str:
        """The address to send the person to. Raises ProviderRefused if the provider does not answer."""
        metadata = await self._read_metadata()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(flow.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "response_mode": "query",
            "client_id": self.provider.client_id,
            "redirect_uri": flow.redirect_uri,
            "scope": SCOPE,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        endpoint = _get_endpoint(metadata, "authorization_endpoint")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def finish(self, flow: Flow, answer: Mapping[str, str]) -> Person:
        """Who answers, from the parameters of the callback. Raises ProviderRefused."""
        metadata = await self._read_metadata()
        if "error" in answer:
            raise ProviderRefused(f"{self.provider.label} did not sign you in. Try again, or sign in another way.")
        announced = metadata.get("authorization_response_iss_parameter_supported") is True
        if (announced or "iss" in answer) and answer.get("iss") != self.provider.issuer:
            raise self._refuse("the answer names another issuer")
        tokens = await self._fetch_tokens(metadata, flow, answer.get("code", ""))
        claims = await self._check(metadata, str(tokens.get("id_token", "")), flow.nonce)
        claims = claims | await self._read_userinfo(metadata, tokens, claims)
        self._check_allowed(claims)
        return _describe(self.provider.issuer, claims)

    async def _fetch_tokens(self, metadata: Mapping[str, Any], flow: Flow, code: str) -> dict[str, Any]:
        if not code:
            raise self._refuse("the answer has no code")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect_uri,
            "code_verifier": flow.verifier,
        }
        secret = self.provider.client_secret.get_secret_value()
        # RFC 6749 encodes both before they are joined; a provider decodes them again.
        names = [urlencode({"": part})[1:] for part in (self.provider.client_id, secret)]
        auth = httpx2.BasicAuth(names[0], names[1])
        return await self._fetch("POST", _get_endpoint(metadata, "token_endpoint"), data=form, auth=auth)

    async def _check(self, metadata: Mapping[str, Any], token: str, nonce: str) -> dict[str, Any]:
        """Check with the keys at hand, and once more with fresh ones: a provider may have replaced them."""
        for again in (False, True):
            keys = await self._read_keys(metadata, again=again)
            try:
                return check_id_token(
                    token,
                    keys,
                    issuer=self.provider.issuer,
                    client_id=self.provider.client_id,
                    nonce=nonce,
                    now_seconds=int(self._now()),
                )
            except BadToken as problem:
                reason = str(problem)
        raise self._refuse(reason)

    async def _read_userinfo(
        self, metadata: Mapping[str, Any], tokens: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What the provider says besides, where the token has no name; only about the same person."""
        if "name" in claims or "userinfo_endpoint" not in metadata or "access_token" not in tokens:
            return {}
        headers = {"authorization": f"Bearer {tokens['access_token']}"}
        more = await self._fetch("GET", _get_endpoint(metadata, "userinfo_endpoint"), headers=headers)
        if more.get("sub") != claims["sub"]:
            raise self._refuse("userinfo is about somebody else")
        return {
            name: more[name] for name in ("name", "preferred_username", "email", "email_verified") if name in more
        }

    def _check_allowed(self, claims: Mapping[str, Any]) -> None:
        domain = str(claims.get("email", "")).rpartition("@")[2].casefold()
        domains = [allowed.casefold() for allowed in self.provider.email_domains]
        verified = claims.get("email_verified") is True
        lacks = [name for name, value in self.provider.required_claims.items() if claims.get(name) != value]
        if lacks or (domains and not (verified and domain in domains)):
            raise ProviderRefused(
                f"{self.provider.label} knows you, but this site lets in only some of its people. "
                "Ask the person who runs this site."
            )

    async def _read_metadata(self) -> Mapping[str, Any]:
        if self._now() >= self._metadata_until:
            address = f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration"
            metadata = await self._fetch("GET", address)
            if metadata.get("issuer") != self.provider.issuer:
                raise self._refuse("its metadata names another issuer")
            self._metadata, self._metadata_until = metadata, self._now() + METADATA_SECONDS
        return self._metadata

    async def _read_keys(self, metadata: Mapping[str, Any], *, again: bool) -> KeySet:
        stale = again and self._now() - self._keys_at >= KEYS_AGAIN_SECONDS
        if self._keys is None or stale:
            document = await self._fetch("GET", _get_endpoint(metadata, "jwks_uri"))
            try:
                self._keys, self._keys_at = read_keys(document), self._now()
            except (JoseError, ValueError, TypeError, KeyError) as problem:
                raise self._refuse(f"its keys cannot be read: {problem}") from problem
        return self._keys

    async def _fetch(self, method: str, address: str, **more: Any) -> dict[str, Any]:
        """A JSON object from the provider. Its answer is not trusted to be one."""
        try:
            answer = await fetch_capped(self._http, method, address, **more)
        except NoAnswer as problem:
            raise self._refuse(str(problem)) from problem
        if answer.status != 200:
            raise self._refuse(f"{address} answers {answer.status}")
        try:
            found = answer.read_json()
        except ValueError as problem:
            raise self._refuse(f"{address} answers no JSON") from problem
        if not isinstance(found, dict):
            raise self._refuse(f"{address} answers no object")
        return found

    def _refuse(self, reason: str) -> ProviderRefused:
        """The reason is logged for the operator; the person reads only what to do."""
        log.warning("sign-in with %s refused: %s", self.provider.issuer, reason)
        return ProviderRefused(f"The sign-in with {self.provider.label} did not work. Begin again from this page.")


def _get_endpoint(metadata: Mapping[str, Any], name: str) -> str:
    address = str(metadata.get(name, ""))
    if is_encrypted(address):
        return address
    raise ProviderRefused("The provider of this sign-in publishes an address that is not encrypted.")


def _describe(issuer: str, claims: Mapping[str, Any]) -> Person:
    subject = str(claims["sub"])
    names = [claims[name] for name in ("name", "preferred_username") if isinstance(claims.get(name), str)]
    email = claims["email"] if isinstance(claims.get("email"), str) else ""
    return Person(issuer, subject, next(iter(names), ""), (email or next(iter(names), "") or subject)[:120])
