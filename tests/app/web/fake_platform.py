"""A learning platform with real signatures, which a test can make lie, and a class that launches from it."""

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from people import somebody

from app.linking.grade_services import LINEITEM, SCORE
from app.linking.lti import CLAIM, DEEP_LINKING_SETTINGS, GRADES, MEMBERSHIP, NAMES, Registration
from app.linking.platforms import Platforms
from app.storage.records import SectionId
from app.web.edge.site import Site

ISSUER, CLIENT, DEPLOYMENT = "https://platform.example", "10000001", "d:1"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
INSTRUCTOR, LEARNER = f"{MEMBERSHIP}#Instructor", f"{MEMBERSHIP}#Learner"


@dataclass
class FakePlatform:
    """`claims` change every token; a value of None takes a claim away."""

    key: RSAKey = field(default_factory=lambda: KEY)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    line_items: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    """What was accepted, in its order."""
    members: list[dict[str, Any]] = field(default_factory=list)
    failures: list[httpx2.Response] = field(default_factory=list)
    """Answers to the next scores, instead of taking them."""
    tokens: int = 0

    def platforms(self) -> Platforms:
        return Platforms(httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer)))

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        self.asked.append(path)
        if path == "/keys":
            return httpx2.Response(200, json=KeySet([self.key]).as_dict(private=False))
        if path == "/token":
            return self._give_token(request)
        if request.headers.get("authorization") != f"Bearer token {self.tokens}":
            return httpx2.Response(401)
        if path == "/members":
            return self._list_members(request)
        return self._keep_score(request) if path.endswith("/scores") else self._answer_line_items(request)

    def latest(self) -> dict[str, Any]:
        """The newest score of each person."""
        return {score["userId"]: score.get("scoreGiven") for score in self.scores}

    def _give_token(self, request: httpx2.Request) -> httpx2.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        assert form["grant_type"] == "client_credentials"
        assert form["client_assertion_type"].endswith(":jwt-bearer")
        self.tokens += 1
        return httpx2.Response(200, json={"access_token": f"token {self.tokens}", "expires_in": 3600})

    def _answer_line_items(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json=self.line_items)
        item = {**json.loads(request.content), "id": f"{ISSUER}/lineitems/{len(self.line_items)}?type=1"}
        self.line_items.append(item)
        return httpx2.Response(201, json=item)

    def _keep_score(self, request: httpx2.Request) -> httpx2.Response:
        """As Moodle does it: a timestamp that is not later by a whole second is refused."""
        if self.failures:
            return self.failures.pop(0)
        score = json.loads(request.content)
        before = [one["timestamp"][:19] for one in self.scores if one["userId"] == score["userId"]]
        if before and score["timestamp"][:19] <= max(before):
            return httpx2.Response(409)
        self.scores.append({**score, "at": str(request.url)})
        return httpx2.Response(200)

    def _list_members(self, request: httpx2.Request) -> httpx2.Response:
        """Two a page."""
        page = int(request.url.params.get("page", 0))
        listed = self.members[2 * page : 2 * page + 2]
        more = 2 * page + 2 < len(self.members)
        headers = {"link": f'<{ISSUER}/members?page={page + 1}>; rel="next"'} if more else {}
        return httpx2.Response(200, json={"id": "x", "members": listed}, headers=headers)

    def sign(self, query: dict[str, str], person: dict[str, Any], **more: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": query["nonce"],
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}deployment_id": DEPLOYMENT,
            f"{CLAIM}context": {"id": "course-1", "title": "Deep Learning"},
            f"{CLAIM}resource_link": {"id": "link-1"},
            f"{CLAIM}target_link_uri": "http://127.0.0.1:8000/lti/launch",
            GRADES: {"lineitems": f"{ISSUER}/lineitems", "scope": [LINEITEM, SCORE]},
            NAMES: {"context_memberships_url": f"{ISSUER}/members"},
            **person,
            **more,
            **self.claims,
        }
        kept = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid, **self.header}
        return jwt.encode(header, kept, self.key, [header["alg"]])


def person(subject: str, name: str, *roles: str) -> dict[str, Any]:
    return {"sub": subject, "name": name, f"{CLAIM}roles": list(roles)}


ADA = person("ada-1", "Ada Lovelace", INSTRUCTOR)
BOB = person("bob-2", "Bob Babbage", LEARNER)
PICKING = {
    f"{CLAIM}message_type": "LtiDeepLinkingRequest",
    f"{CLAIM}resource_link": None,
    DEEP_LINKING_SETTINGS: {
        "deep_link_return_url": f"{ISSUER}/return",
        "accept_types": ["ltiResourceLink"],
        "data": "keep me",
    },
}


async def register(site: Site, platform: FakePlatform, *, allowed: bool = True) -> Registration:
    """Register the platform with a site, and let the site talk to it."""
    registration = Registration(
        id="",
        name="Campus",
        issuer=ISSUER,
        client_id=CLIENT,
        auth_url=f"{ISSUER}/authorize?x=1",
        token_url=f"{ISSUER}/token",
        token_audience="",
        jwks_url=f"{ISSUER}/keys",
        frame_origins=(ISSUER,),
    )
    assert await site.store.lti_registrations.add(registration, somebody(site))
    (known,) = await site.store.lti_registrations.all()
    if allowed:
        await site.store.lti_registrations.see_deployment(known.id, DEPLOYMENT, site.clock())
        await site.store.lti_registrations.allow_deployment(known.id, DEPLOYMENT, somebody(site))
    object.__setattr__(site, "platforms", platform.platforms())
    return known


async def begin(browser: httpx2.AsyncClient, **changed: str) -> dict[str, str]:
    """Click a link in the platform; what the site then asks the platform."""
    form = {"iss": ISSUER, "login_hint": "hint", "target_link_uri": "http://127.0.0.1:8000/lti/launch"}
    cross = {"origin": ISSUER, "sec-fetch-site": "cross-site"}
    answer = await browser.post("/lti/login", data=form | changed, headers=cross)
    assert answer.status_code == 303, answer.text
    location = urlsplit(answer.headers["location"])
    assert location.netloc == urlsplit(ISSUER).netloc
    return {name: values[0] for name, values in parse_qs(location.query).items()}


async def launch(
    browser: httpx2.AsyncClient, platform: FakePlatform, who: dict[str, Any], dest: str = "document", **more: Any
) -> httpx2.Response:
    """The whole way from the click to the page of the launch."""
    query = await begin(browser)
    form = {"state": query["state"], "id_token": platform.sign(query, who, **more)}
    cross = {"origin": ISSUER, "sec-fetch-site": "cross-site", "sec-fetch-dest": dest}
    return await browser.post("/lti/launch", data=form, headers=cross)


def read_ticket(page: str) -> str:
    found = re.search(r'name="ticket" value="([^"]+)"', page)
    assert found, page
    return found.group(1)


async def enter(
    browser: httpx2.AsyncClient, platform: FakePlatform, who: dict[str, Any], **more: Any
) -> httpx2.Response:
    """Launch, and open what the launch offers."""
    page = await launch(browser, platform, who, **more)
    assert page.status_code == 200, page.text
    return await browser.post("/lti/open", data={"ticket": read_ticket(page.text)})


async def make_linked_section(site: Site, browser: httpx2.AsyncClient, platform: FakePlatform) -> SectionId:
    """Ada comes as an instructor, and makes a section of the platform's course."""
    answer = await enter(browser, platform, ADA)
    linked = await browser.post(answer.headers["location"], data={"section": "new"})
    assert linked.status_code == 303, linked.text
    return SectionId(linked.headers["location"].rpartition("/")[2])
