"""The whole way against platforms that others wrote: launch, choice, grade, class list, replaced keys."""

import asyncio
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from people import find_free_port
from site_parts import COURSE

from app.learning.grading import Assignment, Kind
from app.linking.fetching import open_http
from app.linking.lti import Registration
from app.linking.platforms import Platforms
from app.main import create_app
from app.settings import Settings
from app.storage.audit import Actor
from app.storage.records import SectionId
from app.storage.store import Store
from app.web.lti.sending import GradeSender
from graders.ledger import Database

pytestmark = pytest.mark.slow
READY_SECONDS = 60
FOLDER = Path(__file__).resolve().parents[3] / "platforms"
OPEN_EDX = Path(__file__).resolve().parents[4] / ".venv-lti" / "bin" / "python"
NEEDS_OPEN_EDX = pytest.mark.skipif(not OPEN_EDX.exists(), reason="make test-lti makes its environment")
NOBODY = Actor(None, datetime.now(UTC))
NEEDS_OPEN_EDX = Path(__file__).resolve().parents[4] / ".venv-lti" / "bin" / "python"
NEEDS_OPEN_EDX = pytest.mark.skipif(not OPEN_EDX.exists(), reason="make test-lti makes its environment")
NOBODY = Actor(None, datetime.now(UTC))


@dataclass
class Tool:
    """The site as a server of its own, and its database."""

    base: str
    settings: Settings
    app: Any


@pytest.fixture
def tool(tmp_path: Path, empty_database: Path) -> Iterator[Tool]:
    shutil.copy(empty_database, tmp_path)
    settings = Settings(data=tmp_path, course=COURSE, port=find_free_port())
    app = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=settings.port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(settings.port)
    yield Tool(settings.address, settings, app)
    server.should_exit = True
    thread.join(timeout=20)


@pytest.fixture(
    params=["openlearning", pytest.param("open_edx", marks=[pytest.mark.nightly, NEEDS_OPEN_EDX])],
)
def platform(request: pytest.FixtureRequest, tool: Tool, tmp_path: Path) -> Iterator[str]:
    """The address of a platform that knows the tool."""
    port = find_free_port()
    python = str(OPEN_EDX) if request.param == "open_edx" else sys.executable
    command = [python, "-W", "ignore", str(FOLDER / f"{request.param}.py"), str(port), tool.base]
    serving = subprocess.Popen(command, cwd=tmp_path)
    wait_for(port, serving)
    yield f"http://127.0.0.1:{port}"
    serving.terminate()
    serving.wait(timeout=10)


def wait_for(port: int, serving: "subprocess.Popen[bytes] | None" = None) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        assert serving is None or serving.poll() is None, "the platform ended by itself"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing answers at port {port}")


def read_form(page: str) -> tuple[str, dict[str, str]]:
    """The address and the fields of the page's own form, as a browser without script sends it."""
    form = page[page.index("<main") if "<main" in page else 0 :]
    action = re.search(r'action="([^"]+)"', form)
    assert action, page
    named = re.findall(r'<input[^>]*\bname="([^"]+)"[^>]*\bvalue="([^"]*)"', form)
    return unescape(action.group(1)), {name: unescape(value) for name, value in named}


def follow(browser: httpx2.Client, address: str) -> httpx2.Response:
    """A click in the platform: its redirects and its self-submitting form, up to the page of the launch."""
    page = browser.get(address)
    for _ in range(8):
        if page.is_redirect:
            page = browser.get(str(page.url.join(page.headers["location"])))
        elif "id_token" in page.text:
            action, fields = read_form(page.text)
            return browser.post(action, data=fields)
        else:
            return page
    raise AssertionError("the launch goes round in circles")


def enter(browser: httpx2.Client, tool: Tool, address: str) -> httpx2.Response:
    page = follow(browser, address)
    assert page.status_code == 200, page.text
    action, fields = read_form(page.text)
    return browser.post(f"{tool.base}{action}", data={"ticket": fields["ticket"]})


@pytest.fixture
def browsers() -> Iterator[list[httpx2.Client]]:
    opened = [httpx2.Client(trust_env=False, timeout=30) for _ in range(2)]
    yield opened
    for one in opened:
        one.close()


def run(tool: Tool, work: Any) -> Any:
    """Run `work(store)` on the site's database, as another process would."""

    async def with_store() -> Any:
        database = Database(tool.settings.database)
        try:
            return await work(Store(database))
        finally:
            await database.close()

    return asyncio.run(with_store())


def register(tool: Tool, platform: str) -> str:
    described = httpx2.get(f"{platform}/describe", trust_env=False).json()
    registration = Registration(id="", name="Campus", token_audience="", frame_origins=(platform,), **described)

    async def add(store: Store) -> str:
        await store.lti_registrations.add(registration, NOBODY)
        (known,) = await store.lti_registrations.all()
        return known.id

    found: str = run(tool, add)
    return found


def allow(tool: Tool, registration: str) -> None:
    async def say_yes(store: Store) -> None:
        (waiting,) = await store.lti_registrations.deployments()
        assert await store.lti_registrations.allow_deployment(registration, waiting.deployment_id, NOBODY)

    run(tool, say_yes)


def assign(tool: Tool, section: str) -> str:
    async def make(store: Store) -> str:
        new = Assignment("", Kind.EXERCISE, "double", "Double it", 10.0)
        await store.assignments.make(SectionId(section), [new], NOBODY)
        (made,) = await store.assignments.of_section(SectionId(section))
        return made.id

    found: str = run(tool, make)
    return found


def grade(tool: Tool, section: str, points: float) -> None:
    """Decide everybody's grade, compare, and send as if two minutes had passed."""

    async def send(store: Store) -> None:
        async with open_http() as http:
            platforms = Platforms(http)
            clock = [datetime.now(UTC)]
            sender = GradeSender(
                store, platforms, tool.settings.secret, lambda: tool.app.state.site.read_course(), lambda: clock[0]
            )
            await decide(store, section, points)
            assert await sender.compare() == 1
            clock[0] += timedelta(minutes=2)
            assert await sender.send() == 1

    run(tool, send)


async def decide(store: Store, section: str, points: float) -> None:
    (assignment,) = await store.assignments.of_section(SectionId(section))
    (course,) = await store.lti_courses.of_section(SectionId(section))
    (account,) = await store.lti_scores.recipients(course.id)
    assert await store.overrides.decide(SectionId(section), assignment.id, account, points, "shown", NOBODY)


def test_a_course_is_launched_chosen_graded_and_listed(
    tool: Tool, platform: str, browsers: list[httpx2.Client]
) -> None:
    teacher, student = browsers
    registration = register(tool, platform)
    refused = follow(teacher, f"{platform}/start/teacher")
    assert "waits for the yes" in refused.text
    allow(tool, registration)

    opened = enter(teacher, tool, f"{platform}/start/teacher")
    linked = teacher.post(f"{tool.base}{opened.headers['location']}", data={"section": "new"})
    section = linked.headers["location"].rpartition("/")[2]
    assignment = assign(tool, section)

    picker = follow(teacher, f"{platform}/start/teacher?deep=1")
    _, fields = read_form(picker.text)
    chosen = teacher.post(
        f"{tool.base}/lti/pick", data={"ticket": fields["ticket"], "chosen": f"assignment:{assignment}"}
    )
    address, answer = read_form(chosen.text)
    assert teacher.post(address, data=answer).status_code < 400
    (item,) = httpx2.get(f"{platform}/state", trust_env=False).json()["chosen"]
    assert item["custom"] == {"assignment": assignment}

    arrived = enter(student, tool, f"{platform}/start/student?assignment={assignment}")
    assert arrived.headers["location"] == "/exercises/double"
    for points in (7.0, 4.0):
        grade(tool, section, points)
        assert httpx2.get(f"{platform}/state", trust_env=False).json()["scores"] == {"student": points / 10}

    check_class_list(tool, platform, teacher, section)
    httpx2.post(f"{platform}/replace-keys", trust_env=False)
    tool.app.state.site.platforms._keys[registration].at -= 60
    assert enter(student, tool, f"{platform}/start/student").status_code == 303


def check_class_list(tool: Tool, platform: str, teacher: httpx2.Client, section: str) -> None:
    page = teacher.get(f"{tool.base}/desk/{section}/platform").text
    path = re.search(r'action="([^"]+/roster)"', page)
    assert path, page
    preview = teacher.post(f"{tool.base}{path.group(1)}")
    assert "12 new" in preview.text, preview.text
    digest = re.search(r'name="digest" value="(\w+)"', preview.text)
    assert digest
    applied = teacher.post(f"{tool.base}{path.group(1)}/apply", data={"digest": digest.group(1)})
    assert applied.status_code == 303
    assert "taken over" in teacher.get(f"{tool.base}/desk/{section}/platform").text
