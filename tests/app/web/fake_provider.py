"""A provider of OpenID Connect with real signatures, which checks what a provider checks and lies on request."""

import base64
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from app.linking.oidc import OidcClient
from app.linking.providers import Provider

ISSUER = "https://login.example"
CLIENT, SECRET = "unwind", "a secret: with/odd+characters"


@dataclass
class FakeProvider:
    """`claims` and `metadata` change what is answered; `codes` are given out once each."""

    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ada-1", "name": "Ada Lovelace"})
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def client(self, **more: Any) -> OidcClient:
        provider = Provider(issuer=ISSUER, client_id=CLIENT, client_secret=SECRET, label="University", **more)
        return OidcClient(provider, httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer)))

    def replace_key(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"})

    def sign_in(self, address: str) -> str:
        """A person signs in at the address that the site sent them to; where the provider sends them back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert (query["response_type"], query["code_challenge_method"], query["scope"]) == (
            "code",
            "S256",
            "openid profile email",
        )
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        answer = urlsplit(query["redirect_uri"]).path
        return f"{answer}?{urlencode({'code': code, 'state': query['state'], 'iss': ISSUER})}"

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return httpx2.Response(200, json=self._describe())
        if path == "/keys":
            public = KeySet([self.key]).as_dict(private=False)
            return httpx2.Response(200, json=public)
        if path == "/userinfo":
            return httpx2.Response(200, json=self.userinfo)
        return self._exchange(request)

    def _describe(self) -> dict[str, Any]:
        described = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
            "authorization_response_iss_parameter_supported": True,
        }
        if self.userinfo is not None:
            described["userinfo_endpoint"] = f"{ISSUER}/userinfo"
        return described | self.metadata

    def _exchange(self, request: httpx2.Request) -> httpx2.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        sent = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode().split(":")
        query = self.codes.pop(form["code"], None)
        if query is None or [unquote(part.replace("+", " ")) for part in sent] != [CLIENT, SECRET]:
            return httpx2.Response(400, json={"error": "invalid_grant"})
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        assert query["code_challenge"] == digest.rstrip(b"=").decode()
        assert query["redirect_uri"] == form["redirect_uri"]
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": query["nonce"], **self.person}
        token = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims | self.claims, self.key)
        return httpx2.Response(200, json={"id_token": token, "access_token": "a", "token_type": "Bearer"})
