"""Accounts from the first operator to a learner's new password, without script; and axe on each of their pages."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_parts import READY_SECONDS, ROOT, answers, find_free_port
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page
from test_accessibility import find_overflow, find_violations

PASSWORD = "ferns dodge my kettle"
ANOTHER = "a spoon under the piano"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    data = tmp_path_factory.mktemp("people")
    (data / "terms.txt").write_text("Be kind to each other.\n\nThis site is run by a test.\n", encoding="utf-8")
    return {
        **os.environ,
        "UNWIND_DATA": str(data),
        "UNWIND_PORT": str(find_free_port()),
        "UNWIND_COURSE": str(ROOT / "tests" / "course"),
        "UNWIND_TERMS": str(data / "terms.txt"),
    }


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    """A site without a grader, because nothing is run here."""
    address = f"http://127.0.0.1:{environment['UNWIND_PORT']}"
    command = [sys.executable, "-m", "app", "site"]
    serving = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + READY_SECONDS
    while not answers(f"{address}/healthz"):
        assert serving.poll() is None, "the site ended by itself"
        assert time.monotonic() < until, "the site is not ready"
        time.sleep(0.2)
    yield address
    serving.send_signal(signal.SIGTERM)
    serving.wait(timeout=30)


def open_context(browser: Browser, address: str, width: int, theme: str, *, script: bool) -> BrowserContext:
    return browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        java_script_enabled=script,
    )


def make_operator(environment: dict[str, str]) -> str:
    """The path of the first operator's link, from the command line."""
    command = [sys.executable, "-m", "app", "operator", "Olga"]
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    found = re.search(r"/link/[\w-]+", printed)
    assert found
    return found.group()


def fill(page: Page, fields: dict[str, str], button: str) -> None:
    for label, text in fields.items():
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name=button, exact=True).click()


class Looks:
    """Looks at each page that the tour passes: axe where scripts run, and the width always."""

    def __init__(self, *, script: bool) -> None:
        self.script = script
        self.folder = os.environ.get("PNG_FOLDER")
        self.found: list[str] = []

    def at(self, page: Page, name: str) -> None:
        if self.folder:
            width = page.viewport_size["width"] if page.viewport_size else 0
            page.screenshot(
                path=Path(self.folder) / f"{name}-{width}{'' if self.script else '-without-script'}.png",
                full_page=True,
            )
        if self.script:
            self.found += [f"{name}: {violation}" for violation in find_violations(page)]
            self.found += [f"{name} scrolls sideways"] if find_overflow(page) > 0 else []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("width", "theme", "script"),
    [
        (390, "dark", True),
        (1280, "light", True),
        (390, "light", False),
    ],
)
def test_from_the_first_operator_to_a_learner_s_new_password(
    browser: Browser, address: str, environment: dict[str, str], width: int, theme: str, script: bool
) -> None:
    looks, mark = Looks(script=script), f"{width} {script}"
    olga, ines, lena = [open_context(browser, address, width, theme, script=script).new_page() for _ in range(3)]

    olga.goto(make_operator(environment))
    looks.at(olga, "link")
    fill(olga, {"New password": PASSWORD}, "Set the password")

    ines.goto("/sign-up")
    looks.at(ines, "sign-up")
    ines.get_by_label("I have read this and agree.").check()
    fill(ines, {"Name": f"Ines {mark}", "Password": PASSWORD}, "Make the account")

    olga.goto("/operator/accounts")
    fields = {"Title of a new section": f"Spring {mark}", "Name of its instructor": f"Ines {mark}"}
    fill(olga, fields, "Make the section")
    looks.at(olga, "accounts")
    fill(olga, {"Name": f"Lena {mark}"}, "Make it, and show its one-time link")
    looks.at(olga, "made-link")
    path = olga.locator(".made-link a").get_attribute("href")
    olga.goto("/operator/audit")
    looks.at(olga, "audit")

    lena.goto("/chapters/a-first-graph")
    lena.request.post("/chapters/a-first-graph/read")
    lena.goto(path or "")
    fill(lena, {"New password": PASSWORD}, "Set the password")
    looks.at(lena, "join")
    lena.get_by_role("button", name="It is mine: keep it in my account").click()
    assert "Kept in your account: work in 1 chapter." in lena.inner_text("main")

    ines.goto("/me/account")
    looks.at(ines, "my-account")
    ines.get_by_role("button", name="Accept").click()
    ines.get_by_role("link", name=f"Spring {mark}").click()
    fill(ines, {"Their name on this site": f"lena {mark}"}, "Invite")
    lena.goto("/me/account")
    lena.get_by_role("button", name="Accept").click()
    ines.reload()
    looks.at(ines, "section")
    ines.goto("/desk")
    looks.at(ines, "desk")
    ines.get_by_role("link", name="Make a section").click()
    looks.at(ines, "new-section")
    fill(ines, {"Title": f"Autumn {mark}", "First day": "2026-09-01"}, "Make the section")
    ines.get_by_role("link", name="Section", exact=True).click()
    ines.get_by_role("button", name="Make a code").click()
    looks.at(ines, "section-settings")
    ines.get_by_role("link", name="Roster", exact=True).click()
    looks.at(ines, "roster-empty")
    people = "name,email,student_number\nLena Leaf,lena@uni.example,12\nMax Müller,max@uni.example,13\n"
    file: FilePayload = {"name": "people.csv", "mimeType": "text/csv", "buffer": people.encode()}
    ines.get_by_label("CSV of at most 200 KiB").set_input_files([file])
    ines.get_by_role("button", name="Look at what it means").click()
    looks.at(ines, "roster-preview")
    ines.get_by_role("button", name="Take this over").click()
    assert "The roster is taken over: 2 new." in ines.inner_text("main")
    looks.at(ines, "roster")
    ines.get_by_role("link", name="Section", exact=True).click()
    joining = ines.locator(".made-link a").get_attribute("href") or ""
    lena.goto("/join-section")
    looks.at(lena, "join-section")
    lena.goto(joining)
    looks.at(lena, "join-this-section")
    lena.get_by_role("button", name=f"Join Autumn {mark}").click()
    assert f"Autumn {mark}: learner" in lena.inner_text("main")
    ines.get_by_role("link", name="Roster", exact=True).click()
    ines.get_by_label("Person in the roster").select_option("Lena Leaf (12)")
    ines.get_by_role("button", name="They are the same person").click()
    looks.at(ines, "roster-joined")
    ines.get_by_role("link", name="Section", exact=True).click()
    ines.get_by_role("link", name="Audit", exact=True).click()
    ines.get_by_label("To whom or what").fill("lena")
    ines.get_by_role("button", name="Search").click()
    assert "say whose line it is" in ines.inner_text("main table")
    looks.at(ines, "section-audit")
    ines.get_by_role("link", name="Section", exact=True).click()
    ines.get_by_role("button", name="Archive the section").click()
    looks.at(ines, "section-archived")
    ines.goto("/desk")
    ines.get_by_role("link", name=f"Spring {mark}").click()
    ines.get_by_role("button", name=f"One-time link for Lena {mark}").click()
    path = ines.locator(".made-link a").get_attribute("href")

    lena.goto(path or "")
    fill(lena, {"New password": ANOTHER}, "Set the password")
    lena.goto("/me/account")
    lena.get_by_role("button", name="Sign out", exact=True).click()
    lena.goto("/sign-in")
    looks.at(lena, "sign-in")
    fill(lena, {"Name": f"Lena {mark}", "Password": PASSWORD}, "Sign in")
    looks.at(lena, "sign-in-wrong")
    assert "do not belong together" in lena.inner_text("main")
    fill(lena, {"Password": ANOTHER}, "Sign in")
    lena.goto("/course")
    assert "read to the end" in lena.inner_text("main")
    lena.goto("/me")
    looks.at(lena, "me")
    lena.goto("/privacy")
    looks.at(lena, "privacy")

    assert looks.found == []
