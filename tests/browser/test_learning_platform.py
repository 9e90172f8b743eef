"""The course in a learning platform's frame, on another site, where the browser keeps no third-party cookies."""

import asyncio
import ipaddress
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from browser_parts import CHROMIUM, FLAGS, ROOT, answers, find_free_port, pair_looks
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, ViewportSize, expect, sync_playwright
from test_accessibility import find_overflow, find_violations

from app.access.passwords import Passwords
from app.linking.lti import Registration
from app.main import create_app
from app.settings import Settings
from app.storage.audit import Actor
from app.storage.database import migrate
from app.storage.store import Store
from graders.ledger import Database

NAME = "unwind.test"
PLATFORM = ROOT / "tests" / "platforms" / "openlearning.py"
READY_SECONDS = 60.0
PASSWORD = "ferns dodge my kettle"


class TlsSettings(Settings):
    """As in production; the port stands in the address, because the test has no proxy in front of it."""

    @property
    def address(self) -> str:
        return f"https://{NAME}:{self.port}"


@dataclass
class Setting:
    tool: str
    platform: str


def write_certificate(folder: Path) -> tuple[Path, Path]:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    names = [x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = made.add_extension(x509.SubjectAlternativeName(names), critical=False).sign(key, hashes.SHA256())
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """The site under TLS on one site, and a platform on another that knows it and is known."""
    folder = tmp_path_factory.mktemp("platform")
    certificate, key = write_certificate(folder)
    tool = TlsSettings(
        data=folder,
        course=ROOT / "tests" / "course",
        env="production",
        secret="s" * 40,
        hosts=NAME,
        port=find_free_port(),
    )
    migrate(tool.database, tool.data)
    config = uvicorn.Config(
        create_app(tool),
        host="127.0.0.1",
        port=tool.port,
        log_level="error",
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    port = find_free_port()
    platform = f"http://127.0.0.1:{port}"
    # Only the browser knows the site's name, and only this platform trusts its certificate.
    from_here = f"https://127.0.0.1:{tool.port}"
    command = [sys.executable, "-W", "ignore", str(PLATFORM), str(port), tool.address, from_here]
    serving = subprocess.Popen(command, env={**os.environ, "REQUESTS_CA_BUNDLE": str(certificate)})
    until = time.monotonic() + READY_SECONDS
    while not (answers(f"{platform}/describe") and server.started):
        assert time.monotonic() < until, "the platform or the site is not ready"
        time.sleep(0.1)
    # Playwright has a running loop in this thread.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, introduce(tool, platform)).result()
    yield Setting(tool.address, platform)
    serving.terminate()
    serving.wait(timeout=10)
    server.should_exit = True
    thread.join(timeout=20)


async def introduce(tool: Settings, platform: str) -> None:
    database, nobody = Database(tool.database), Actor(None, datetime.now(UTC))
    store = Store(database).lti_registrations
    registration = Registration(
        id="",
        name="Campus",
        issuer=platform,
        client_id="client-1",
        auth_url=f"{platform}/auth",
        token_url=f"{platform}/token",
        token_audience="",
        jwks_url=f"{platform}/keys",
        frame_origins=(platform,),
    )
    await store.add(registration, nobody)
    (known,) = await store.all()
    await store.see_deployment(known.id, "1", nobody.at)
    await store.allow_deployment(known.id, "1", nobody)
    secret = await Passwords().make_hash(PASSWORD)
    await Store(database).accounts.create("Eve", secret, nobody, is_operator=True)
    await database.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        flags = [*FLAGS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--test-third-party-cookie-phaseout"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(ignore_https_errors=True, reduced_motion="reduce")
    context.set_default_timeout(20_000)
    yield context
    context.close()


def open_frame(context: BrowserContext, setting: Setting, user: str, query: str = "") -> FrameLocator:
    """The tool's frame in a page of the platform, after the platform's own form."""
    page = context.new_page()
    page.goto(f"{setting.platform}/course/{user}?{query}")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Go", exact=True).click()
    return frame


def test_a_launch_in_a_frame_opens_a_tab_that_is_signed_in_and_its_ticket_works_once(
    context: BrowserContext, setting: Setting
) -> None:
    frame = open_frame(context, setting, "student")
    button = frame.get_by_role("button", name="Open in a new tab")

    with context.expect_page() as opened:
        button.click()
    tab = opened.value
    expect(tab).to_have_url(f"{setting.tool}/course")
    expect(tab.get_by_role("link", name="Stu Student")).to_be_visible()

    with context.expect_page() as again:
        button.click()
    expect(again.value.get_by_text("This link was opened already")).to_be_visible()


def test_the_frame_has_no_cookie_but_a_partitioned_one(context: BrowserContext, setting: Setting) -> None:
    """What makes the other tests mean something: this browser blocks third-party cookies."""
    open_frame(context, setting, "student").get_by_role("button", name="Open in a new tab").wait_for()
    frame = next(found for found in context.pages[0].frames if found.url.startswith(setting.tool))

    frame.evaluate("""document.cookie = "plain=1; SameSite=None; Secure; Path=/" """)
    frame.evaluate("""document.cookie = "own=1; SameSite=None; Secure; Path=/; Partitioned" """)

    assert frame.evaluate("document.cookie") == "own=1"


def test_a_launch_at_the_top_goes_on_by_itself(context: BrowserContext, setting: Setting) -> None:
    page = context.new_page()
    page.goto(f"{setting.platform}/start/student")
    page.get_by_role("button", name="Go", exact=True).click()

    expect(page).to_have_url(f"{setting.tool}/course")
    expect(page.get_by_role("link", name="Stu Student")).to_be_visible()


def test_without_script_a_launch_at_the_top_goes_on_by_a_click(browser: Browser, setting: Setting) -> None:
    context = browser.new_context(ignore_https_errors=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{setting.platform}/start/student")
    page.get_by_role("button", name="Go", exact=True).click()
    page.get_by_role("button", name="Go on").click()

    expect(page).to_have_url(f"{setting.tool}/course")
    context.close()


def test_a_choice_is_made_in_the_frame_and_comes_back_to_the_platform(
    context: BrowserContext, setting: Setting
) -> None:
    frame = open_frame(context, setting, "teacher", "deep=1")
    frame.get_by_label("1.1 A first graph").check()
    frame.get_by_role("button", name="Add to the course").click()

    expect(frame.get_by_text('"chapter":"a-first-graph"')).to_be_visible()


def test_another_site_s_frame_shows_nothing_of_a_launch(context: BrowserContext, setting: Setting) -> None:
    page = context.new_page()
    page.goto(f"{setting.platform.replace('127.0.0.1', 'localhost')}/course/student")
    page.frame_locator("iframe").get_by_role("button", name="Go", exact=True).click()

    page.wait_for_function("document.querySelector('iframe')")
    until = time.monotonic() + 20
    while not any(found.url.startswith("chrome-error:") for found in page.frames):
        assert time.monotonic() < until, [found.url for found in page.frames]
        page.wait_for_timeout(50)
    assert page.frame_locator("iframe").get_by_text("Open in a new tab").count() == 0


def walk_to(page: Page, setting: Setting, step: str) -> None:
    """To one of the pages, as its reader comes there."""
    if step == "registrations":
        page.goto(f"{setting.tool}/sign-in?next=/operator/registrations")
        page.get_by_label("Name").fill("Eve")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("heading", name="Learning platforms").wait_for()
        return
    who = "student" if step in ("arrival", "sent") else "teacher"
    page.goto(f"{setting.platform}/start/{who}{'?deep=1' if step == 'picker' else ''}")
    page.get_by_role("button", name="Go", exact=True).click()
    if step == "sent":
        expect(page).to_have_url(f"{setting.tool}/course")
        page.goto(f"{setting.tool}/me/sent-grades")
    if step == "link":
        page.get_by_role("button", name="Link them").wait_for()
    if step == "platform":
        expect(page).to_have_url(re.compile("/lti/link/|/course$"))
        if page.get_by_role("button", name="Link them").count():
            page.get_by_role("button", name="Link them").click()
            expect(page).to_have_url(re.compile("/desk/"))
        page.goto(f"{setting.tool}/desk")
        page.locator("main").get_by_role("link", name="Deep Learning").click()
        page.get_by_role("link", name="Platform", exact=True).click()
        page.get_by_role("button", name="Look at the class list").click()
        page.get_by_text("Nothing is changed yet.").wait_for()


@pytest.mark.parametrize(("width", "theme"), pair_looks())
@pytest.mark.parametrize("step", ["arrival", "picker", "link", "sent", "platform", "registrations"])
def test_the_pages_on_the_way_are_accessible(
    browser: Browser, setting: Setting, step: str, width: int, theme: Any
) -> None:
    """Shown without a frame; they are the same pages. The course is linked last."""
    size = ViewportSize(width=width, height=900)
    context = browser.new_context(ignore_https_errors=True, color_scheme=theme, viewport=size)
    if step == "arrival":
        context.route(re.compile(r"/static/.*site\.js"), lambda route: route.abort())
    page = context.new_page()
    walk_to(page, setting, step)
    page.get_by_role("heading", level=1).wait_for()
    assert find_violations(page) == []
    assert find_overflow(page) <= 0
    context.close()
