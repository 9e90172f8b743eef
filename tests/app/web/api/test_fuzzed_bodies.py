"""Bodies of any kind at every door that takes one: an answer in words, and within a stated memory."""

import asyncio
import json
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st
from site_parts import FakeWorker

from app.course.model import Course
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.rates import Rates

# Measured while the same site serves; one body may be a quarter of a mebibyte, and is read whole.
MAX_BYTES = 24 << 20
LONGEST_WAIT = 60
"""Seconds, only so that a request without an answer fails; no limit in seconds holds on a busy machine."""
FORMS = (
    "/chapters/a-first-graph/predictions/double-use",
    "/exercises/double/submissions",
    "/chapters/a-first-graph/cells/square-cell/run",
    "/runs",
    "/theme",
)
DOORS = ("/api/runs", "/api/exercises/double/submissions", "/api/drafts/exercises/double")
FIELDS = st.sampled_from(
    ["source", "idempotency_key", "option", "confidence", "text", "theme", "back", "switches", "chapter"]
)
TEXT = st.text(max_size=12) | st.sampled_from(["\x00", "\u202e", "../../x", "é" * 200, "a" * 9, "certain", "1e999"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)
KIND = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "x"]
)


def write_form(fields: list[tuple[str, str]]) -> bytes:
    return str(httpx2.QueryParams(fields)).encode()


def write_parts(fields: list[tuple[str, str]]) -> bytes:
    parts = (f'--b\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{text}\r\n' for name, text in fields)
    return ("".join(parts) + "--b--\r\n").encode("utf-8", "replace")


PAIRS = st.lists(st.tuples(FIELDS, TEXT), max_size=6)
BODY = (
    st.binary(max_size=200)
    | VALUE.map(lambda told: json.dumps(told).encode("utf-8", "surrogatepass"))
    | PAIRS.map(write_form)
    | PAIRS.map(write_parts)
    | st.builds(lambda piece, times: piece * times, st.binary(min_size=1, max_size=8), st.integers(1, 8000))
)


class Site:
    """The fixture course's site on a loop of its own, so that one test may send it many requests."""

    def __init__(self, settings: Settings, course: Course, assets: Assets) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        app = create_app(settings, rates=Rates(factor=10_000), assets=assets, read_course=lambda: course)

        async def open_site() -> httpx2.AsyncClient:
            await self._stack.enter_async_context(app.router.lifespan_context(app))
            await self._stack.enter_async_context(FakeWorker(app.state.site.ledger).running())
            transport = httpx2.ASGITransport(app=app)
            client = httpx2.AsyncClient(transport=transport, base_url="http://testserver")
            return await self._stack.enter_async_context(client)

        self._client = self._runner.run(open_site())

    def send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        return self._runner.run(asyncio.wait_for(self._client.request(method, path, **sent), LONGEST_WAIT))

    def close(self) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()


@pytest.mark.parametrize("bodies", [15, pytest.param(40, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("path", FORMS + DOORS)
def test_any_body_is_answered_in_words(
    tmp_path: Path, settings: Settings, course: Course, assets: Assets, path: str, bodies: int
) -> None:
    site = Site(settings, course, assets)
    method = "PUT" if path.startswith("/api/drafts") else "POST"

    @fuzzing(max_examples=bodies, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(BODY, KIND)
    def send(body: bytes, kind: str) -> None:
        answer = site.send(method, path, content=body, headers={"content-type": kind})
        assert answer.status_code in (200, 202, 204, 303, 400, 404, 409, 413, 415, 422, 429, 503), answer.text

    # What Hypothesis reads of our sources and tables of Unicode for its first examples, and what the first request
    # loads, is not the body's.
    fuzzing(max_examples=1, database=None)(given(st.text())(lambda text: None))()
    site.send(method, path, content=b"", headers={"content-type": "x"})
    tracemalloc.start()
    try:
        send()
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        site.close()
    assert peak_bytes < MAX_BYTES, peak_bytes
