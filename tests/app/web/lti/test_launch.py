"""Launches: what a platform must show, what becomes of a person, and each way to lie."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fake_platform import (
    ADA,
    BOB,
    CLIENT,
    INSTRUCTOR,
    ISSUER,
    LEARNER,
    FakePlatform,
    begin,
    enter,
    launch,
    make_linked_section,
    person,
    read_ticket,
    register,
)
from joserfc.jwk import RSAKey
from people import leave_work, make_account, sign_in, somebody
from site_parts import StoppedClock

from app.access.permissions import Role
from app.linking.lti import CLAIM, MEMBERSHIP, TEST_USER, Registration, find_role
from app.storage.audit import Actor
from app.web.edge.site import Site


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def registered(site: Site, platform: FakePlatform) -> Registration:
    return await register(site, platform)


async def roles_in(site: Site) -> dict[str, Role]:
    (section,) = await site.store.sections.all()
    return {one.name: one.role for one in await site.store.sections.people(section.id) if one.is_active}


async def test_the_login_asks_the_platform_as_the_specification_says(
    browser: httpx2.AsyncClient, site: Site, registered: Registration
) -> None:
    form = {"iss": ISSUER, "login_hint": "h", "target_link_uri": f"{site.settings.address}/lti/launch"}
    answers = [
        await browser.get("/lti/login", params=form | {"lti_message_hint": "m&m"}),
        await browser.post("/lti/login", data=form | {"client_id": CLIENT}),
    ]

    for answer in answers:
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{ISSUER}/authorize?x=1&")
    query = {name: values[0] for name, values in parse_qs(urlsplit(answers[0].headers["location"]).query).items()}
    assert len(query.pop("state")) > 30
    assert len(query.pop("nonce")) > 30
    assert query == {
        "x": "1",
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": CLIENT,
        "redirect_uri": f"{site.settings.address}/lti/launch",
        "login_hint": "h",
        "lti_message_hint": "m&m",
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://stranger.example"},
        {"client_id": "another"},
        {"target_link_uri": "https://evil.example/lti/launch"},
        {"target_link_uri": "http://127.0.0.1:8000.evil.example/"},
        {"login_hint": ""},
        {"lti_message_hint": "m" * 9000},
    ],
    ids=str,
)
async def test_a_login_of_a_stranger_or_to_elsewhere_is_refused_in_words(
    browser: httpx2.AsyncClient, registered: Registration, changed: dict[str, str]
) -> None:
    form = {"iss": ISSUER, "login_hint": "h", "target_link_uri": "http://127.0.0.1:8000/lti/launch"}

    refused = await browser.post("/lti/login", data=form | changed)

    assert refused.status_code == 403
    assert "This launch did not work" in refused.text


async def test_the_first_launch_makes_an_account_and_the_next_one_finds_it(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    opened = await enter(browser, platform, BOB)
    assert (opened.status_code, opened.headers["location"]) == (303, "/course")
    assert "Signed in as Bob Babbage." in (await browser.get("/me/account")).text

    await enter(stranger, platform, BOB | {"name": "Robert Babbage"})

    assert "Signed in as Bob Babbage." in (await stranger.get("/me/account")).text
    assert len(await site.store.accounts.everyone()) == 1


async def test_the_page_of_a_launch_may_be_framed_by_its_platform_alone(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    framed = await launch(browser, platform, BOB, dest="iframe")
    whole = await launch(browser, platform, BOB)
    opened = await browser.post("/lti/open", data={"ticket": read_ticket(framed.text)})

    assert f"frame-ancestors {ISSUER}" in framed.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in opened.headers["content-security-policy"]
    assert 'action="/lti/open" target="_blank"' in framed.text
    assert 'action="/lti/open" data-send-now' in whole.text


async def test_a_launch_signs_nobody_in_before_its_own_page_asks(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    page = await launch(browser, platform, BOB)

    assert "unwind" not in browser.cookies
    from_elsewhere = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    stolen = await browser.post("/lti/open", data={"ticket": read_ticket(page.text)}, headers=from_elsewhere)
    assert stolen.status_code == 403
    assert (await browser.get("/me/account")).status_code == 303


async def test_a_ticket_works_once_and_for_two_minutes(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration, clock: StoppedClock
) -> None:
    once = {"ticket": read_ticket((await launch(browser, platform, BOB)).text)}
    late = {"ticket": read_ticket((await launch(browser, platform, BOB)).text)}

    assert (await browser.post("/lti/open", data=once)).status_code == 303
    again = await browser.post("/lti/open", data=once)
    clock.now += timedelta(minutes=2)
    assert (again.status_code, (await browser.post("/lti/open", data=late)).status_code) == (403, 403)
    assert "opened already" in again.text
    assert (await browser.post("/lti/open", data={"ticket": "made up"})).status_code == 403


async def test_earlier_work_is_asked_about_here_too(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    await leave_work(browser)

    assert (await enter(browser, platform, BOB)).headers["location"] == "/join?next=/course"


@pytest.mark.parametrize(
    ("custom", "target", "page"),
    [
        ({"exercise": "double"}, "/lti/launch", "/exercises/double"),
        ({"chapter": "a-first-graph"}, "/lti/launch", "/chapters/a-first-graph"),
        ({"exercise": "gone"}, "/lti/launch", "/course"),
        ({}, "/exercises/double", "/exercises/double"),
        ({}, "/chapters/a-first-graph#how-many-nodes", "/chapters/a-first-graph#how-many-nodes"),
        ({}, "//evil.example/exercises/", "/course"),
        ({}, "/me/delete", "/course"),
    ],
)
async def test_a_link_leads_to_its_page(
    browser: httpx2.AsyncClient,
    platform: FakePlatform,
    registered: Registration,
    custom: dict[str, str],
    target: str,
    page: str,
) -> None:
    more = {f"{CLAIM}custom": custom, f"{CLAIM}target_link_uri": f"http://127.0.0.1:8000{target}"}

    assert (await enter(browser, platform, BOB, **more)).headers["location"] == page


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"aud": [CLIENT, "another"]},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"iat": 1},
        {"sub": ""},
        {"sub": 7},
        {f"{CLAIM}version": "1.1"},
        {f"{CLAIM}message_type": "LtiSubmissionReviewRequest"},
        {f"{CLAIM}message_type": None},
        {f"{CLAIM}deployment_id": None},
        {f"{CLAIM}deployment_id": "d:2"},
        {f"{CLAIM}roles": None},
        {f"{CLAIM}roles": [f"{MEMBERSHIP}#Mentor"]},
        {f"{CLAIM}roles": ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"]},
        {f"{CLAIM}resource_link": None},
        {f"{CLAIM}resource_link": {"id": 7}},
    ],
    ids=str,
)
async def test_a_token_that_says_anything_else_is_refused_in_words(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration, changed: dict[str, Any]
) -> None:
    platform.claims = changed

    refused = await launch(browser, platform, BOB)

    assert refused.status_code == 403
    assert "This launch did not work" in refused.text
    assert "ticket" not in refused.text
    assert await site.store.accounts.everyone() == ()


async def test_a_token_of_another_key_or_algorithm_is_refused(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    await launch(browser, platform, BOB)
    real, platform.key = platform.key, RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
    assert (await launch(browser, platform, BOB)).status_code == 403

    platform.key = real
    for algorithm in ("RS512", "PS256"):
        platform.header = {"alg": algorithm}
        assert (await launch(browser, platform, BOB)).status_code == 403
    platform.header = {}
    assert (await launch(browser, platform, BOB)).status_code == 200


async def test_keys_that_were_replaced_are_fetched_again_and_not_for_every_forgery(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    await launch(browser, platform, BOB)
    platform.key = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"})
    assert (await launch(browser, platform, BOB)).status_code == 403
    assert platform.asked == ["/keys"]

    site.platforms._keys[registered.id].at -= 60
    assert (await launch(browser, platform, BOB)).status_code == 200
    assert platform.asked == ["/keys", "/keys"]


async def test_a_state_works_once_in_its_own_browser_and_for_ten_minutes(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    platform: FakePlatform,
    registered: Registration,
    clock: StoppedClock,
) -> None:
    query = await begin(browser)
    form = {"state": query["state"], "id_token": platform.sign(query, BOB)}
    assert (await browser.post("/lti/launch", data=form)).status_code == 200
    assert (await browser.post("/lti/launch", data=form)).status_code == 403

    late = await begin(browser)
    clock.now += timedelta(minutes=10)
    form = {"state": late["state"], "id_token": platform.sign(late, BOB)}
    assert (await browser.post("/lti/launch", data=form)).status_code == 403

    stolen = await begin(browser)
    form = {"state": stolen["state"], "id_token": platform.sign(stolen, BOB)}
    elsewhere = await stranger.post("/lti/launch", data=form)
    assert "ticket" not in elsewhere.text
    assert 'action="/lti/login" target="_blank"' in elsewhere.text


async def test_a_browser_without_cookies_in_a_frame_begins_the_same_login_in_a_tab(
    browser: httpx2.AsyncClient, platform: FakePlatform, registered: Registration
) -> None:
    query = await begin(browser, lti_message_hint="m")
    browser.cookies.clear()

    page = await browser.post("/lti/launch", data={"state": query["state"], "id_token": platform.sign(query, BOB)})

    assert page.status_code == 200
    for name, value in (("iss", ISSUER), ("login_hint", "hint"), ("lti_message_hint", "m")):
        assert f'name="{name}" value="{value}"' in page.text


async def test_an_error_of_the_platform_is_said(browser: httpx2.AsyncClient, registered: Registration) -> None:
    query = await begin(browser)

    refused = await browser.post("/lti/launch", data={"state": query["state"], "error": "login_required"})

    assert refused.status_code == 403
    assert "Campus did not let you through." in refused.text


async def test_a_deployment_without_an_operator_s_yes_waits(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform
) -> None:
    await register(site, platform, allowed=False)

    refused = await launch(browser, platform, ADA)

    assert refused.status_code == 403
    assert "waits for the yes" in refused.text
    assert "d:1" in refused.text
    (waiting,) = await site.store.lti_registrations.deployments()
    assert waiting.allowed_at is None


async def test_somebody_whom_the_platform_does_not_name_may_read(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    page = await launch(browser, platform, {"sub": None, f"{CLAIM}roles": []})

    assert page.status_code == 200
    assert 'href="/course"' in page.text
    assert "no grade goes back" in page.text
    assert await site.store.accounts.everyone() == ()


async def test_an_instructor_links_the_course_and_those_who_come_are_members_by_their_role(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    await enter(stranger, platform, BOB)
    section = await make_linked_section(site, browser, platform)

    assert await roles_in(site) == {"Ada Lovelace": Role.INSTRUCTOR, "Bob Babbage": Role.LEARNER}
    assert (await browser.get(f"/desk/{section}")).status_code == 200
    assert (await stranger.get(f"/desk/{section}")).status_code == 403
    assert "Deep Learning" in (await browser.get("/desk")).text
    cyd = person("cyd-3", "Cyd", INSTRUCTOR, f"{MEMBERSHIP}/Instructor#TeachingAssistant")
    stranger.cookies.clear()
    await enter(stranger, platform, cyd)
    assert (await roles_in(site))["Cyd"] is Role.ASSISTANT


async def test_only_an_instructor_of_the_course_links_it_and_only_with_a_section_of_theirs(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    foreign = await site.store.sections.make("Foreign", somebody(site))
    address = (await enter(browser, platform, ADA)).headers["location"]
    assert address.startswith("/lti/link/")
    await enter(stranger, platform, BOB)

    assert (await stranger.get(address)).status_code == 404
    assert (await stranger.post(address, data={"section": "new"})).status_code == 404
    assert (await browser.post(address, data={"section": foreign})).status_code == 404
    assert (await browser.post(address, data={"section": "new"})).status_code == 303
    assert (await browser.post(address, data={"section": "new"})).status_code == 409
    assert len(await site.store.sections.all()) == 2


async def test_the_signed_in_account_is_linked_only_if_its_person_says_so(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    ticket = read_ticket((await launch(browser, platform, ADA)).text)

    question = await browser.post("/lti/open", data={"ticket": ticket})
    assert "In this browser, <strong>Ada</strong> is signed in." in question.text
    linked = await browser.post("/lti/open", data={"ticket": ticket, "choice": "mine"})

    assert linked.status_code == 303
    assert [one.subject for one in await site.store.identities.of_account(ada.id)] == ["ada-1"]
    assert "Unlink Campus" in (await browser.get("/me/account")).text


async def test_on_a_shared_computer_the_next_person_gets_an_account_of_their_own(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    ticket = read_ticket((await launch(browser, platform, BOB)).text)

    await browser.post("/lti/open", data={"ticket": ticket})
    await browser.post("/lti/open", data={"ticket": ticket, "choice": "other"})

    assert "Signed in as Bob Babbage." in (await browser.get("/me/account")).text
    assert await site.store.identities.of_account(ada.id) == ()


async def test_an_account_is_not_linked_long_after_its_sign_in_and_an_operator_s_never(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
    clock: StoppedClock,
) -> None:
    for name in ("Ada", "Eve"):
        await make_account(site, name, is_operator=name == "Eve")
    await sign_in(browser, "Ada")
    clock.now += timedelta(minutes=16)
    await sign_in(stranger, "Eve")

    for client in (browser, stranger):
        ticket = read_ticket((await launch(client, platform, ADA)).text)
        assert "link Ada" not in (await client.post("/lti/open", data={"ticket": ticket})).text
        refused = await client.post("/lti/open", data={"ticket": ticket, "choice": "mine"})
        assert refused.status_code == 403


async def test_a_platform_enters_no_account_that_became_an_operator_s_or_was_closed(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    await enter(browser, platform, BOB)
    (line,) = await site.store.accounts.everyone()
    await site.store.accounts.set_operator(line.account.id, True, somebody(site))
    assert (await enter(browser, platform, BOB)).status_code == 403

    await site.store.accounts.set_operator(line.account.id, False, somebody(site))
    await site.store.accounts.close(line.account.id, somebody(site))
    assert (await enter(browser, platform, BOB)).status_code == 403
    assert len(await site.store.accounts.everyone()) == 1


async def test_a_role_that_a_person_gave_stays(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    section = await make_linked_section(site, browser, platform)
    await enter(stranger, platform, BOB)
    await browser.post(f"/desk/{section}/people", data={"name": "Bob Babbage", "role": "assistant"})
    assert (await enter(stranger, platform, BOB)).status_code == 303

    assert (await roles_in(site))["Bob Babbage"] is Role.ASSISTANT


async def test_a_course_that_is_linked_again_brings_nobody_back_who_left_or_was_dropped(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    section = await make_linked_section(site, browser, platform)
    for who in (BOB, person("cyd-3", "Cyd", LEARNER)):
        await enter(stranger, platform, who)
        stranger.cookies.clear()
    people = {one.name: one.account for one in await site.store.sections.people(section)}
    await site.store.sections.drop(section, people["Bob Babbage"], somebody(site))
    await site.store.sections.leave(section, Actor(people["Cyd"], site.clock()))
    (course,) = await site.store.lti_courses.of_section(section)

    await browser.post(f"/desk/{section}/platform/{course.id}/unlink")
    await browser.post(f"/lti/link/{course.id}", data={"section": section})

    assert [one.id for one in await site.store.lti_courses.of_section(section)] == [course.id]
    assert set(await roles_in(site)) == {"Ada Lovelace"}


async def test_a_test_user_may_use_everything_and_is_in_no_class(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    registered: Registration,
) -> None:
    await make_linked_section(site, browser, platform)

    assert (await enter(stranger, platform, person("t", "Student, Test", LEARNER, TEST_USER))).status_code == 303

    assert set(await roles_in(site)) == {"Ada Lovelace"}


async def test_a_closed_platform_launches_nothing(
    browser: httpx2.AsyncClient, site: Site, platform: FakePlatform, registered: Registration
) -> None:
    query = await begin(browser)
    await site.store.lti_registrations.set_open(registered.id, False, somebody(site))

    form = {"state": query["state"], "id_token": platform.sign(query, BOB)}
    assert (await browser.post("/lti/launch", data=form)).status_code == 403


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ([INSTRUCTOR], "instructor"),
        ([f"{MEMBERSHIP}#Administrator"], "instructor"),
        ([INSTRUCTOR, f"{MEMBERSHIP}/Instructor#TeachingAssistant"], "assistant"),
        ([f"{MEMBERSHIP}#ContentDeveloper", LEARNER], "assistant"),
        ([LEARNER, 7, None], "learner"),
        (["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"], None),
        ([], None),
    ],
)
def test_roles_of_a_platform_become_roles_of_the_section(roles: list[Any], role: str | None) -> None:
    assert find_role(roles) == role
