"""Choosing what a platform's course links to, and what the platform is then told."""

import re
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from fake_platform import (
    ADA,
    BOB,
    CLIENT,
    DEPLOYMENT,
    ISSUER,
    PICKING,
    FakePlatform,
    enter,
    launch,
    make_linked_section,
    read_ticket,
    register,
)
from joserfc import jwt
from joserfc.jwk import KeySet
from people import somebody
from site_parts import StoppedClock

from app.learning.grading import Assignment, Kind
from app.linking.deep_linking import CONTENT_ITEMS, DATA
from app.linking.lti import CLAIM, DEEP_LINKING_SETTINGS, Registration
from app.web.edge.site import Site


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def registered(site: Site, platform: FakePlatform) -> Registration:
    return await register(site, platform)


async def pick(
    browser: httpx2.AsyncClient, platform: FakePlatform, *chosen: str, **settings: Any
) -> tuple[httpx2.Response, str]:
    """Open the picker as Ada, and choose; the answer, and the page before it."""
    more = {**PICKING, DEEP_LINKING_SETTINGS: PICKING[DEEP_LINKING_SETTINGS] | settings}
    page = await launch(browser, platform, ADA, dest="iframe", **more)
    assert page.status_code == 200, page.text
    form = {"ticket": read_ticket(page.text), "chosen": list(chosen)}
    return await browser.post("/lti/pick", data=form), page.text


async def read_message(browser: httpx2.AsyncClient, page: str) -> dict[str, Any]:
    """The message on its way, checked with the published keys as a platform does."""
    found = re.search(r'name="JWT" value="([^"]+)"', page)
    assert found, page
    keys = KeySet.import_key_set((await browser.get("/lti/jwks")).json())
    return dict(jwt.decode(found.group(1), keys, algorithms=["RS256"]).claims)


async def make_assignment(site: Site, *, published: bool = True) -> Assignment:
    (section,) = await site.store.sections.all()
    new = Assignment("", Kind.EXERCISE, "double", "Double it", 5.0, published=published)
    await site.store.assignments.make(section.id, [new], somebody(site))
    (made,) = await site.store.assignments.of_section(section.id)
    return made


async def test_chapters_and_exercises_become_links_without_a_grade(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration, clock: StoppedClock
) -> None:
    answer, page = await pick(browser, platform, "exercise:double", "chapter:a-first-graph", "exercise:gone")

    assert "is not linked with a section here yet" in page
    policy = answer.headers["content-security-policy"]
    assert f"form-action 'self' {ISSUER}" in policy
    assert f"frame-ancestors {ISSUER}" in policy
    assert f'action="{ISSUER}/return"' in answer.text
    message = await read_message(browser, answer.text)
    now = int(clock().timestamp())
    assert (message["iss"], message["aud"], message["iat"], message["exp"]) == (CLIENT, ISSUER, now, now + 300)
    assert message[f"{CLAIM}deployment_id"] == DEPLOYMENT
    assert message[f"{CLAIM}message_type"] == "LtiDeepLinkingResponse"
    assert message[DATA] == "keep me"
    first, second = message[CONTENT_ITEMS]
    assert first["custom"] == {"exercise": "double"}
    assert second["custom"] == {"chapter": "a-first-graph"}
    assert {item["url"] for item in (first, second)} == {"http://127.0.0.1:8000/lti/launch"}
    assert "lineItem" not in str(message)


async def test_an_assignment_of_the_section_becomes_a_link_with_a_column(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    await make_linked_section(site, browser, platform)
    made = await make_assignment(site)

    answer, page = await pick(browser, platform, f"assignment:{made.id}")

    assert "Double it" in page
    (item,) = (await read_message(browser, answer.text))[CONTENT_ITEMS]
    assert item["lineItem"] == {"label": "Double it", "scoreMaximum": 5.0, "resourceId": made.id, "tag": "exercise"}
    opened = await enter(stranger, platform, BOB, **{f"{CLAIM}custom": item["custom"]})
    assert opened.headers["location"] == "/exercises/double"


async def test_a_platform_that_takes_no_columns_gets_none(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    await make_linked_section(site, browser, platform)
    made = await make_assignment(site)

    answer, _ = await pick(browser, platform, f"assignment:{made.id}", accept_lineitem=False, data=None)

    message = await read_message(browser, answer.text)
    assert "lineItem" not in str(message)
    assert DATA not in message


async def test_what_learners_do_not_see_yet_is_not_offered(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    await make_linked_section(site, browser, platform)
    made = await make_assignment(site, published=False)

    answer, page = await pick(browser, platform, f"assignment:{made.id}")

    assert "Double it" not in page
    assert (answer.status_code, "Choose at least one" in answer.text) == (422, True)


async def test_a_platform_that_takes_one_link_gets_one(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    both = ("exercise:double", "chapter:a-first-graph")

    answer, page = await pick(browser, platform, *both, accept_multiple=False)

    assert 'type="radio"' in page
    assert (answer.status_code, "Choose one" in answer.text) == (422, True)


async def test_a_picker_answers_once_and_within_an_hour(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration, clock: StoppedClock
) -> None:
    pages = [await launch(browser, platform, ADA, dest="iframe", **PICKING) for _ in range(2)]
    once, late = ({"ticket": read_ticket(page.text), "chosen": "exercise:double"} for page in pages)

    assert (await browser.post("/lti/pick", data=once)).status_code == 200
    assert (await browser.post("/lti/pick", data=once)).status_code == 403
    clock.now += timedelta(hours=1)
    assert (await browser.post("/lti/pick", data=late)).status_code == 403


async def test_a_ticket_to_open_is_no_ticket_to_pick(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    opening = read_ticket((await launch(browser, platform, BOB)).text)
    picking = read_ticket((await launch(browser, platform, ADA, **PICKING)).text)

    assert (await browser.post("/lti/pick", data={"ticket": opening, "chosen": "exercise:double"})).status_code == 403
    assert (await browser.post("/lti/open", data={"ticket": picking})).status_code == 403


@pytest.mark.parametrize(
    "asked",
    [
        {"deep_link_return_url": None},
        {"deep_link_return_url": "http://platform.example/return"},
        {"accept_types": ["file"]},
        {"accept_types": []},
        {"accept_types": 7},
    ],
    ids=str,
)
async def test_a_request_that_cannot_be_answered_is_refused_in_words(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration, asked: dict[str, Any]
) -> None:
    more = {**PICKING, DEEP_LINKING_SETTINGS: PICKING[DEEP_LINKING_SETTINGS] | asked}

    assert (await launch(browser, platform, ADA, **more)).status_code == 403


async def test_a_learner_chooses_nothing(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    refused = await launch(browser, platform, BOB, **PICKING)

    assert refused.status_code == 403
    assert "Only those who teach" in refused.text
