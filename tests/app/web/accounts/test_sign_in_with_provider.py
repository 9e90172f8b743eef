"""Signing in through a provider: bound to its browser and used once; an identity is an issuer and a subject."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from fake_provider import ISSUER, FakeProvider
from people import leave_work, make_account, sign_in, sign_up, somebody
from site_parts import StoppedClock

from app.access.tokens import hash_token
from app.storage.records import Account, Identity
from app.web.edge.site import Site


@pytest.fixture
def provider(site: Site) -> FakeProvider:
    provider = FakeProvider()
    use(site, provider)
    return provider


def use(site: Site, provider: FakeProvider, **more: Any) -> None:
    object.__setattr__(site, "providers", {"university": provider.client(**more)})


async def begin(browser: httpx2.AsyncClient, target: str = "/course") -> str:
    answer = await browser.get("/sign-in/with/university", params={"next": target})
    assert answer.status_code == 303
    return answer.headers["location"]


async def come_back(browser: httpx2.AsyncClient, provider: FakeProvider) -> httpx2.Response:
    return await browser.get(provider.sign_in(await begin(browser)))


async def test_the_first_time_makes_an_account_and_the_next_finds_it(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    first = await come_back(browser, provider)
    await browser.post("/chapters/a-first-graph/read")
    provider.person["name"] = "Ada King"

    assert (first.status_code, first.headers["location"]) == (303, "/course")
    assert "Signed in as Ada Lovelace." in (await browser.get("/me/account")).text
    assert (await come_back(stranger, provider)).status_code == 303
    assert "read to the end" in (await stranger.get("/course")).text
    assert len(await site.store.accounts.everyone()) == 1
    assert [name for name in browser.cookies if name.startswith("oidc-")] == []


async def test_the_sign_in_page_offers_it(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    assert "Sign in with University" in (await browser.get("/sign-in")).text
    assert (await browser.get("/sign-in/with/nobody")).status_code == 404


async def test_a_name_or_an_address_of_mail_finds_nobody(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    ada = await make_account(site, "Ada Lovelace")
    provider.person |= {"email": "ada@example", "email_verified": True}

    await come_back(browser, provider)

    assert "Signed in as Ada Lovelace 2." in (await browser.get("/me/account")).text
    assert await site.store.identities.of_account(ada.id) == ()


async def test_earlier_work_is_asked_about_here_too(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    await leave_work(browser)

    assert (await come_back(browser, provider)).headers["location"] == "/join?next=/course"


async def refuses(browser: httpx2.AsyncClient, path: str) -> bool:
    answer = await browser.get(path)
    return answer.status_code == 403 and (await browser.get("/me/account")).status_code == 303


async def test_an_answer_is_of_no_use_in_another_browser(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, provider: FakeProvider
) -> None:
    path = provider.sign_in(await begin(browser))

    assert await refuses(stranger, path)
    assert await refuses(browser, path)


async def test_an_answer_works_once(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    path = provider.sign_in(await begin(browser))
    await browser.get(path)
    await browser.post("/sign-out")

    assert await refuses(browser, path)


async def test_an_answer_after_ten_minutes_is_too_late(
    browser: httpx2.AsyncClient, provider: FakeProvider, clock: StoppedClock
) -> None:
    path = provider.sign_in(await begin(browser))
    clock.pass_days(11 / 24 / 60)

    assert await refuses(browser, path)


async def test_two_tabs_do_not_disturb_each_other(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    one, two = [provider.sign_in(await begin(browser)) for _ in range(2)]

    assert (await browser.get(one)).status_code == 303
    assert (await browser.get(two)).status_code == 303


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "unknown"},
        {"state": ""},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"error": "access_denied"},
        {"code": None},
        {"code": "never-given"},
    ],
    ids=str,
)
async def test_an_answer_that_was_changed_signs_nobody_in(
    browser: httpx2.AsyncClient, provider: FakeProvider, changed: dict[str, str | None]
) -> None:
    path, _, query = provider.sign_in(await begin(browser)).partition("?")
    values = {name: found[0] for name, found in parse_qs(query).items()} | changed

    assert await refuses(
        browser, f"{path}?{urlencode({name: text for name, text in values.items() if text is not None})}"
    )


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"aud": ["unwind", "another"]},
        {"iss": "https://evil.example"},
        {"exp": 1},
    ],
    ids=str,
)
async def test_a_token_for_something_else_signs_nobody_in(
    browser: httpx2.AsyncClient, provider: FakeProvider, claims: dict[str, Any]
) -> None:
    provider.claims = claims

    assert await refuses(browser, provider.sign_in(await begin(browser)))


async def test_metadata_of_another_issuer_is_refused(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    provider.metadata = {"issuer": "https://evil.example"}

    assert await refuses(browser, "/sign-in/with/university")


async def test_an_endpoint_without_encryption_is_refused(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    provider.metadata = {"token_endpoint": "http://login.example/token"}

    assert await refuses(browser, provider.sign_in(await begin(browser)))


async def test_keys_that_were_replaced_are_fetched_again(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    await come_back(browser, provider)
    provider.replace_key()
    client = site.providers["university"]
    client._keys_at -= 60

    assert (await come_back(browser, provider)).status_code == 303
    assert provider.asked.count("/keys") == 2
    assert provider.asked.count("/.well-known/openid-configuration") == 1


async def test_userinfo_of_somebody_else_is_refused(browser: httpx2.AsyncClient, provider: FakeProvider) -> None:
    provider.person = {"sub": "ada-1"}
    provider.userinfo = {"sub": "bob-2", "name": "Bob"}

    assert await refuses(browser, provider.sign_in(await begin(browser)))


async def test_a_name_comes_from_userinfo_where_the_token_has_none(
    browser: httpx2.AsyncClient, provider: FakeProvider
) -> None:
    provider.person = {"sub": "ada-1"}
    provider.userinfo = {"sub": "ada-1", "name": "Ada <b>"}

    await come_back(browser, provider)

    assert "Signed in as Ada &lt;b&gt;." in (await browser.get("/me/account")).text


@pytest.mark.parametrize(
    ("person", "enters"),
    [
        ({"email": "ada@Uni.example", "email_verified": True}, True),
        ({"email": "ada@uni.example", "email_verified": False}, False),
        ({"email": "ada@uni.example"}, False),
        ({"email": "ada@evil-uni.example", "email_verified": True}, False),
        ({"email": "ada@uni.example@evil.example", "email_verified": True}, False),
        ({}, False),
    ],
    ids=str,
)
async def test_a_provider_may_be_limited_to_verified_addresses_of_a_domain(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider, person: dict[str, Any], enters: bool
) -> None:
    use(site, provider, email_domains=("uni.example",))
    provider.person |= person

    assert ((await come_back(browser, provider)).status_code == 303) is enters


async def test_a_provider_may_be_limited_to_a_claim(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    use(site, provider, required_claims={"affiliation": "student"})

    assert (await come_back(browser, provider)).status_code == 403
    provider.person["affiliation"] = "student"
    assert (await come_back(browser, provider)).status_code == 303


async def link(browser: httpx2.AsyncClient, provider: FakeProvider) -> httpx2.Response:
    page = (await browser.post("/me/identities/link", data={"provider": "university"})).text
    address = page.split(f'href="{ISSUER}/authorize', 1)[1].split('"', 1)[0].replace("&amp;", "&")
    return await browser.get(provider.sign_in(f"{ISSUER}/authorize{address}"))


async def test_an_identity_is_linked_from_the_page_of_the_account(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    before = browser.cookies["unwind"]

    assert (await link(browser, provider)).headers["location"] == "/me/account"

    assert browser.cookies["unwind"] != before
    assert [identity.subject for identity in await site.store.identities.of_account(ada.id)] == ["ada-1"]
    await come_back(stranger, provider)
    assert "Signed in as Ada." in (await stranger.get("/me/account")).text


async def test_signing_in_links_nothing_by_itself(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")

    assert (await come_back(browser, provider)).status_code == 403
    assert await site.store.identities.of_account(ada.id) == ()


async def test_an_identity_of_another_account_is_not_taken_over(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    await come_back(stranger, provider)
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")

    assert (await link(browser, provider)).status_code == 403
    assert await site.store.identities.of_account(ada.id) == ()


async def test_an_identity_of_a_closed_account_is_not_linked_to_another(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    await come_back(stranger, provider)
    (line,) = await site.store.accounts.everyone()
    await site.store.accounts.close(line.account.id, somebody(site))
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")

    answer = await link(browser, provider)

    assert answer.status_code == 403
    assert "an account here that is closed" in answer.text
    assert await site.store.identities.of_account(ada.id) == ()


async def test_whoever_signed_out_meanwhile_links_nothing(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    ada: Account = await make_account(site, "Ada")
    await make_account(site, "Bob")
    await sign_in(browser, "Ada")
    page = (await browser.post("/me/identities/link", data={"provider": "university"})).text
    address = page.split(f'href="{ISSUER}/authorize', 1)[1].split('"', 1)[0].replace("&amp;", "&")
    await sign_in(browser, "Bob")

    assert (await browser.get(provider.sign_in(f"{ISSUER}/authorize{address}"))).status_code == 403
    assert await site.store.identities.of_account(ada.id) == ()


async def test_the_last_way_to_sign_in_stays(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    form = {"issuer": ISSUER, "subject": "ada-1"}
    await come_back(browser, provider)
    assert (await browser.post("/me/identities/unlink", data=form)).status_code == 422

    await sign_up(stranger, "Bob")
    assert (await stranger.post("/me/identities/unlink", data=form)).status_code == 422
    provider.person["sub"] = "bob-2"
    await link(stranger, provider)
    assert (await stranger.post("/me/identities/unlink", data=form | {"subject": "bob-2"})).status_code == 303
    assert len(await site.store.accounts.everyone()) == 2


async def test_a_closed_account_is_not_entered_through_its_identity(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    await come_back(browser, provider)
    (line,) = await site.store.accounts.everyone()
    await browser.post("/sign-out")
    await site.store.accounts.close(line.account.id, somebody(site))

    assert (await come_back(browser, provider)).status_code == 403
    assert len(await site.store.accounts.everyone()) == 1


async def test_the_address_to_come_back_to_is_the_site_s_own(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    answer = await browser.get("/sign-in/with/university", headers={"host": "evil"})

    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert query["redirect_uri"] == [f"{site.settings.address}/sign-in/callback/university"]


@pytest.mark.parametrize(
    ("site_says", "provider_says", "enters"),
    [(False, None, False), (False, True, True), (True, False, False), (True, None, True)],
)
async def test_whoever_comes_for_the_first_time_enters_only_where_signing_up_is_open(
    browser: httpx2.AsyncClient,
    site: Site,
    provider: FakeProvider,
    site_says: bool,
    provider_says: bool | None,
    enters: bool,
) -> None:
    object.__setattr__(site, "settings", site.settings.model_copy(update={"sign_up": site_says}))
    use(site, provider, sign_up=provider_says)

    assert (await come_back(browser, provider)).status_code == (303 if enters else 403)
    assert len(await site.store.accounts.everyone()) == enters


async def test_a_closed_sign_up_keeps_nobody_out_who_has_an_account(
    browser: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    await come_back(browser, provider)
    await browser.post("/sign-out")
    use(site, provider, sign_up=False)

    assert (await come_back(browser, provider)).status_code == 303


async def test_a_one_time_link_ends_every_identity_that_is_not_ticked(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: FakeProvider
) -> None:
    ada = await make_account(site, "Ada")
    for subject in ("ada-1", "mallory-1"):
        now = site.clock()
        identity = Identity(ISSUER, subject, subject, now, now)
        assert await site.store.identities.link(ada.id, identity, somebody(site))
    lasts_until = site.clock() + timedelta(hours=1)
    assert await site.store.accounts.make_link(ada.id, hash_token("link"), lasts_until, somebody(site))

    page = (await browser.get("/link/link")).text
    assert "Tick those that are yours." in page
    first = page.split('name="keep" value="', 1)[1].split('"', 1)[0]
    form = {"password": "a spoon under the piano", "keep": first}
    assert (await browser.post("/link/link", data=form)).status_code == 303

    assert [one.subject for one in await site.store.identities.of_account(ada.id)] == ["ada-1"]
    verbs = [line.verb for line in await site.store.accounts.audit_lines()]
    assert verbs[:2] == ["use a one-time link", "unlink an identity"]
    provider.person["sub"] = "mallory-1"
    use(site, provider, sign_up=False)
    assert (await come_back(stranger, provider)).status_code == 403
