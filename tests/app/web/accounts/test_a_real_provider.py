"""Signing in through a provider that somebody else wrote, over real connections."""

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from fake_provider import CLIENT
from people import find_free_port

from app.linking.fetching import open_http
from app.linking.oidc import OidcClient
from app.linking.providers import Provider
from app.web.edge.site import Site

pytestmark = pytest.mark.slow
READY_SECONDS = 30


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    port = find_free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    serving = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + READY_SECONDS
    while not _answers(f"http://127.0.0.1:{port}/.well-known/openid-configuration"):
        assert serving.poll() is None, "the provider ended by itself"
        assert time.monotonic() < until, "the provider is not ready"
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    serving.terminate()
    serving.wait(timeout=10)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(url, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture
async def provider(site: Site, issuer: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A connection to the provider, which the site offers."""
    described = Provider(issuer=issuer, client_id=CLIENT, client_secret="a secret", label="Mock")
    async with open_http() as http:
        object.__setattr__(site, "providers", {"mock": OidcClient(described, http)})
        await http.put(f"{issuer}/users/ada", json={"name": "Ada Lovelace", "email": "ada@uni.example"})
        yield http


async def come_back(browser: httpx2.AsyncClient, provider: httpx2.AsyncClient) -> str:
    """The path of the callback, after the person has signed in at the provider."""
    begun = await browser.get("/sign-in/with/mock")
    answer = await provider.post(begun.headers["location"], data={"sub": "ada"})
    callback = urlsplit(answer.headers["location"])
    return f"{callback.path}?{callback.query}"


async def test_a_person_signs_in_and_is_known_the_next_time(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, provider: httpx2.AsyncClient
) -> None:
    for one in (browser, stranger):
        assert (await one.get(await come_back(one, provider))).status_code == 303
        assert "Signed in as Ada Lovelace." in (await one.get("/me/account")).text
    assert len(await site.store.accounts.everyone()) == 1


async def test_an_answer_used_twice_elsewhere_or_with_another_code_signs_nobody_in(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, provider: httpx2.AsyncClient
) -> None:
    stolen, changed = await come_back(browser, provider), await come_back(browser, provider)

    assert (await stranger.get(stolen)).status_code == 403
    assert (await browser.get(stolen)).status_code == 403
    assert (await browser.get(changed.replace("code=", "code=x"))).status_code == 403
    assert (await browser.get("/me/account")).status_code == 303
