"""The operator's page of learning platforms: registering, saying yes to a deployment, keys that are replaced."""

import re
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from people import make_account, sign_in
from site_parts import StoppedClock

from app.linking.keys import unlock_key
from app.web.edge.site import Site
from app.web.lti.registrations import HOME

FORM = {
    "name": "Campus",
    "issuer": "https://canvas.example",
    "client_id": "10000001",
    "auth_url": "https://sso.example/authorize",
    "token_url": "https://sso.example/token",
    "jwks_url": "https://sso.example/keys",
}


@pytest.fixture
async def operator(site: Site, browser: httpx2.AsyncClient) -> httpx2.AsyncClient:
    await make_account(site, "Eve", is_operator=True)
    await sign_in(browser, "Eve")
    return browser


async def register(browser: httpx2.AsyncClient, **more: str) -> httpx2.Response:
    return await browser.post(f"{HOME}/new", data=FORM | more)


async def test_a_platform_is_registered_once_and_the_page_shows_what_to_paste_there(
    operator: httpx2.AsyncClient, site: Site
) -> None:
    assert (await register(operator, frames="https://school.example/x https://other.example")).status_code == 303
    again = await register(operator)

    page = (await operator.get(HOME)).text
    assert again.status_code == 422
    assert "registered already" in again.text
    for path in ("login", "launch", "jwks", "config.json"):
        assert f"{site.settings.address}/lti/{path}" in page
    (known,) = await site.store.lti_registrations.all()
    assert known.frame_origins == ("https://school.example", "https://other.example")
    assert known.issuer == "https://canvas.example"


async def test_without_other_addresses_the_platform_itself_may_show_frames(
    operator: httpx2.AsyncClient, site: Site
) -> None:
    await register(operator)

    (known,) = await site.store.lti_registrations.all()
    assert known.frame_origins == ("https://canvas.example", "https://sso.example")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"name": " "}, "The name is empty"),
        ({"issuer": ""}, "The issuer is empty"),
        ({"token_url": "http://sso.example/token"}, "“http://sso.example/token” is no https address"),
        ({"jwks_url": "keys"}, "“keys” is no https address"),
        ({"frames": "school.example"}, "“school.example” is no https address"),
        ({"issuer": "moodle"}, "name the addresses where people see the course"),
    ],
    ids=str,
)
async def test_what_is_wrong_is_said_and_stays_in_the_form(
    operator: httpx2.AsyncClient, site: Site, changed: dict[str, str], says: str
) -> None:
    refused = await register(operator, **changed)

    assert refused.status_code == 422
    assert says in refused.text
    assert 'value="10000001"' in refused.text
    assert await site.store.lti_registrations.all() == ()


async def test_a_closed_platform_is_found_by_no_launch(operator: httpx2.AsyncClient, site: Site) -> None:
    await register(operator)
    (known,) = await site.store.lti_registrations.all()

    await operator.post(f"{HOME}/{known.id}/state", data={"is_open": "false"})
    assert await site.store.lti_registrations.find_for_login(known.issuer, known.client_id) is None
    assert "Campus (closed)" in (await operator.get(HOME)).text
    await operator.post(f"{HOME}/{known.id}/state", data={"is_open": "true"})
    assert await site.store.lti_registrations.find_for_login(known.issuer, "") is not None


async def test_an_issuer_with_two_registrations_is_not_found_without_a_client_id(
    operator: httpx2.AsyncClient, site: Site
) -> None:
    await register(operator)
    await register(operator, client_id="10000002")

    store = site.store.lti_registrations
    assert await store.find_for_login(FORM["issuer"], "") is None
    found = await store.find_for_login(FORM["issuer"], "10000002")
    assert found is not None
    assert found.client_id == "10000002"


async def test_a_deployment_waits_for_a_yes(operator: httpx2.AsyncClient, site: Site, clock: StoppedClock) -> None:
    await register(operator)
    store = site.store.lti_registrations
    (known,) = await store.all()
    assert not await store.see_deployment(known.id, "d:1", clock())
    assert "d:1" in (await operator.get(HOME)).text

    yes = {"deployment": "d:1"}
    assert (await operator.post(f"{HOME}/{known.id}/deployment", data=yes)).status_code == 303
    assert (await operator.post(f"{HOME}/{known.id}/deployment", data=yes)).status_code == 404

    assert await store.see_deployment(known.id, "d:1", clock())
    assert not await store.see_deployment(known.id, "d:2", clock())
    verbs = [line.verb for line in await site.store.accounts.audit_lines()]
    assert {"register a learning platform", "allow a deployment"} <= set(verbs)


async def published(browser: httpx2.AsyncClient) -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = (await browser.get("/lti/jwks")).json()["keys"]
    return keys


async def test_a_new_key_is_published_a_day_before_it_signs_and_the_old_one_for_a_month_after(
    operator: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    assert await published(operator) == []
    await register(operator)
    (first,) = await published(operator)
    assert set(first) == {"kty", "n", "e", "kid", "use", "alg"}

    await operator.post(f"{HOME}/key")
    second = next(key for key in await published(operator) if key["kid"] != first["kid"])
    page = (await operator.get(HOME)).text
    assert re.search(rf"{first['kid']}</code>: signs now", page)
    assert re.search(rf"{second['kid']}</code>: signs from 2026-03-02 12:00 UTC on", page)

    clock.now += timedelta(days=1)
    await sign_in(operator, "Eve")
    assert re.search(rf"{second['kid']}</code>: signs now", (await operator.get(HOME)).text)
    clock.now += timedelta(days=31)
    await sign_in(operator, "Eve")
    await operator.post(f"{HOME}/key")
    assert first["kid"] not in {key["kid"] for key in await published(operator)}
    assert second["kid"] in {key["kid"] for key in await published(operator)}


async def test_a_private_key_is_not_readable_in_the_database(operator: httpx2.AsyncClient, site: Site) -> None:
    await register(operator)
    (key,) = await site.store.lti_registrations.keys()

    assert "PRIVATE" not in key.locked
    assert unlock_key(key, site.settings.secret) is not None
    assert unlock_key(key, type(site.settings.secret)("another secret")) is None


async def test_the_configuration_names_the_site_s_addresses(browser: httpx2.AsyncClient, site: Site) -> None:
    config = (await browser.get("/lti/config.json")).json()

    assert config["oidc_initiation_url"] == f"{site.settings.address}/lti/login"
    assert config["public_jwk_url"] == f"{site.settings.address}/lti/jwks"
