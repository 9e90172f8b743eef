"""Requests that no browser of ours sends: refused in words, they change nothing and reach no file and no stranger."""

import asyncio
import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import FRAGMENT, FakeWorker

TOKEN = "a-token-of-mine"
SUBMISSIONS = "/api/exercises/double/submissions"
PREDICTION = "/chapters/a-first-graph/predictions/double-use"


def parse_as_a_browser(text: str) -> list[dict[str, str]]:
    """The events of a stream, by the standard: a line ends at CR, LF or both, and nowhere else."""
    events: list[dict[str, str]] = []
    fields: dict[str, str] = {}
    for line in re.split(r"\r\n|\r|\n", text):
        if not line:
            events += [fields] if "data" in fields else []
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
    return events


async def hand_in(browser: httpx2.AsyncClient, token: str = TOKEN) -> str:
    accepted = await browser.post(SUBMISSIONS, json={"source": "x = 1\n", "idempotency_key": token})
    assert accepted.status_code == 202
    return str(accepted.json()["id"])


@pytest.mark.parametrize(
    "printed",
    [
        "x\n\nevent: done\ndata: {}\n\n",
        "\r\n\r\nevent: done\r\ndata: {}\r\n\r\n",
        "\rdata: {}\r\rid: 999999\r\r",
        "\u2028event: done\u2029\x85\x0b\x0c\x1c\x1d\x1e",
        ": comment\nretry: 1\n",
        "\x00\ufeff\ud7ff\U000e0001",
        "</script><script>alert(1)</script>",
    ],
    ids=repr,
)
async def test_no_text_that_a_program_prints_becomes_an_event(
    browser: httpx2.AsyncClient, worker: FakeWorker, printed: str
) -> None:
    worker.printed = printed

    events = parse_as_a_browser((await browser.post("/api/runs", json={"source": "1"})).text)

    told = [event["event"] for event in events]
    assert told[0] == "accepted"
    assert told[-1] == "done"
    assert told.count("done") == told.count("output") == 1
    assert json.loads(events[told.index("output")]["data"])["text"] == printed
    assert all("id" not in event and "retry" not in event for event in events)


@pytest.mark.parametrize(
    "last",
    [
        "9" * 5000,
        "-1",
        "2000000000",
        str(2**31),
        str(2**63),
        str(2**200),
        "1e9",
        "٣",
        "0x1",
        "nan",
        "1, 2",
        "' OR 1=1 --",
        " ",
    ],
)
async def test_no_place_in_a_stream_that_somebody_makes_up_does_harm(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker, last: str
) -> None:
    submission = await hand_in(browser)
    # Here an error in the middle of a stream is raised, and not only the stream's early end.
    browser._transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)

    answer = await browser.get(f"/api/submissions/{submission}/events", headers={"last-event-id": last.encode()})

    assert answer.status_code in (200, 422)


@pytest.mark.parametrize("end", ["", "/events", "/stop"])
@pytest.mark.parametrize("made_up", ["x", "%00", "..%2f..", "' OR 1=1 --", "9" * 5000, "%F0%9F%92%A9", "null", "*"])
async def test_a_made_up_submission_is_nobodys(browser: httpx2.AsyncClient, made_up: str, end: str) -> None:
    await hand_in(browser)
    ask = browser.post if end == "/stop" else browser.get

    answer = await ask(f"/api/submissions/{made_up}{end}")

    assert answer.status_code in (404, 405)


async def test_what_is_a_strangers_cannot_be_read_followed_or_stopped(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    submission = await hand_in(browser)
    await stranger.post(PREDICTION, data={"option": "dont-know"})
    asked = [
        await stranger.get(f"/api/submissions/{submission}"),
        await stranger.get(f"/api/submissions/{submission}/events"),
        await stranger.post(f"/api/submissions/{submission}/stop"),
        await stranger.get(f"/exercises/double/submissions/{submission}"),
        await stranger.get(f"/exercises/double/submissions/{submission}", headers=FRAGMENT),
        await stranger.get(f"/runs/{submission}"),
        await stranger.get(f"/api/runs/{submission}/graph"),
        await stranger.get(f"/api/runs/{submission}/whole"),
        await stranger.get(f"/api/runs/{submission}/trace"),
        await stranger.get(f"/api/runs/{submission}/figure"),
        await stranger.get(f"/exercises/double/submissions/{submission}?against=starter"),
        await stranger.post(f"/exercises/double/submissions/{submission}/restore"),
        await browser.get(f"/api/runs/{submission}/whole"),
        await browser.get(f"/runs/{submission}"),
        await browser.get(f"/api/runs/{submission}/graph"),
    ]

    assert [answer.status_code for answer in asked] == [404] * len(asked)
    await stranger.post(f"/api/runs/{submission}/stop")
    assert (await browser.get(f"/api/submissions/{submission}")).json()["state"] == "queued"


async def test_a_strangers_token_makes_no_submission_of_mine(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    mine = await hand_in(browser)

    assert await hand_in(stranger) != mine


async def test_a_strangers_submission_is_not_compared_with(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    secret = "def double(x):\n    return x + x  # a stranger wrote this\n"
    asked = {"source": secret, "idempotency_key": "f" * 32}
    theirs = (await stranger.post("/api/exercises/double/submissions", json=asked)).json()["id"]
    mine = await hand_in(browser)

    page = await browser.get(f"/exercises/double/submissions/{mine}?against={theirs}")

    assert page.status_code == 200
    assert "a stranger wrote this" not in page.text
    assert theirs not in page.text


@pytest.mark.parametrize(
    "address",
    [
        "/problems?concept=" + "a" * 10_000,
        "/problems?state=" + "%00" * 81,
        "/debugging?way=" + "1-" * 5000 + "1",
        "/debugging?q=" + "a+" * 5000,
        "/debugging?way=99999",
        "/runs/x?" + "opened=a&" * 5000,
        "/api/runs/x/whole?" + "opened=a&" * 5000,
        "/api/chapters/a-first-graph/graphs/..%2f..%2fetc%2fpasswd/tape",
        "/api/chapters/..%2f..%2fexercises/graphs/x/tape",
    ],
)
async def test_what_no_page_of_ours_asks_for_is_refused(browser: httpx2.AsyncClient, address: str) -> None:
    assert (await browser.get(address)).status_code in (404, 422)


async def test_no_door_describes_the_right_diagnosis(browser: httpx2.AsyncClient) -> None:
    told = (await browser.get("/openapi.json")).text
    assert "Manifest" not in told
    assert '"answer"' not in told


@pytest.mark.parametrize("cookie", ["x", "A" * 5000, "../../etc/passwd", '"; DROP TABLE learners', "%00", "a.b.c"])
async def test_a_made_up_cookie_is_a_new_reader(browser: httpx2.AsyncClient, cookie: str) -> None:
    mine = await hand_in(browser)
    headers = {"cookie": "; ".join(f"{name}={cookie}" for name in browser.cookies)}
    browser.cookies.clear()

    answer = await browser.get(f"/api/submissions/{mine}", headers=headers)

    assert answer.status_code == 404


SECRET_FILES = ("etc/passwd", "app/main.py", "exercises/double/solution.py", "unwind.sqlite3", "course.toml")
CLIMBS = (
    "../../../../../../",
    "..%2f..%2f..%2f..%2f",
    "%2e%2e/%2e%2e/%2e%2e/",
    "....//....//",
    "..%5c..%5c",
    "/",
    "%2f",
)
DOORS = ("/static/", "/static/x/", "/chapters/", "/exercises/", "/course/", "/figures/", "/chapters/a-first-graph/")


@pytest.mark.parametrize("door", DOORS)
async def test_no_path_leads_out_of_the_site(browser: httpx2.AsyncClient, door: str) -> None:
    for climb in CLIMBS:
        for file in SECRET_FILES:
            answer = await browser.get(httpx2.URL("http://testserver", raw_path=f"{door}{climb}{file}".encode()))
            assert answer.status_code in (303, 307, 308, 404, 405, 422), (door, climb, file)
            assert "root:" not in answer.text
            assert "def " not in answer.text


@pytest.mark.parametrize("key", ["chapters/../../x", "/etc/passwd", "exercises/", "exercises/%2e%2e", "a" * 3000])
async def test_no_draft_is_kept_outside_its_places(browser: httpx2.AsyncClient, key: str) -> None:
    assert (await browser.put(f"/api/drafts/{key}", json={"text": "x"})).status_code in (404, 405, 422)


@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r", "%0d%0a", "\u560d\u560a"])
async def test_no_field_of_a_form_becomes_a_header(browser: httpx2.AsyncClient, line_end: str) -> None:
    for field in ("theme", "back"):
        form = {"theme": "dark", "back": "/", field: f"/x{line_end}set-cookie: pwned=1{line_end}{line_end}<script>"}
        answer = await browser.post("/theme", data=form)
        assert "pwned" not in str(answer.headers.get("set-cookie", ""))
        assert not set("\r\n") & set("".join(answer.headers.values()))


async def test_a_made_up_host_stands_in_no_link(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/", headers={"host": "evil.example", "x-forwarded-host": "evil.example"})

    assert "evil.example" not in page.text
    assert "evil.example" not in str(page.headers)


def multipart(parts: list[tuple[str, str]], boundary: str = "b") -> bytes:
    bodies = (f"--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n" for head, body in parts)
    return ("".join(bodies) + f"--{boundary}--\r\n").encode()


FORMS = {
    "thousands of parts": ("b", multipart([(f'name="f{n}"', "x") for n in range(5000)])),
    "thousands of files": ("b", multipart([(f'name="f{n}"; filename="f"', "x") for n in range(3000)])),
    "a file instead of a text": ("b", multipart([('name="option"; filename="../../x"', "dont-know")])),
    "no end": ("b", b'--b\r\ncontent-disposition: form-data; name="option"\r\n\r\nx'),
    "another boundary": ("c", multipart([('name="option"', "x")])),
    "a header without end": ("b", b"--b\r\n" + b"x" * 100_000),
    "thousands of headers": ("b", b"--b\r\n" + b"a: b\r\n" * 10_000 + b"\r\nx\r\n--b--\r\n"),
    "a boundary of nothing": ("", b"----\r\n"),
    "half a character": ("b", multipart([('name="option"', "x")]).replace(b"x\r\n", b"\xff\xfe\r\n")),
}


@pytest.mark.parametrize("name", FORMS)
async def test_a_form_that_no_browser_makes_is_refused_in_words(browser: httpx2.AsyncClient, name: str) -> None:
    boundary, body = FORMS[name]
    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}

    answer = await browser.post(PREDICTION, content=body, headers=headers)

    assert 400 <= answer.status_code < 500
    assert "content-security-policy" in answer.headers


BODIES = {
    "nested without end": b"[" * 100_000,
    "objects without end": b'{"source":' * 20_000,
    "a number of a million digits": b'{"source": ' + b"9" * 900_00 + b"}",
    "no number": b'{"source": NaN, "idempotency_key": -Infinity}',
    "half a character": b'{"source": "\\ud800", "idempotency_key": "a-token-of-mine"}',
    "no text": b'\xff\xfe{"source": "x"}',
    "the same name twice": b'{"source": 1, "source": "x", "idempotency_key": "short"}',
    "more than was asked": b'{"source": "x", "idempotency_key": "a-token-of-mine", "learner": "root"}',
    "nothing": b"",
    "a text": b'"x"',
}


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "application/x-www-form-urlencoded", "", "x" * 999]
)
@pytest.mark.parametrize("name", BODIES)
async def test_a_body_that_is_no_answer_is_refused_in_words(
    browser: httpx2.AsyncClient, name: str, kind: str
) -> None:
    for path in (SUBMISSIONS, "/api/runs"):
        answer = await browser.post(path, content=BODIES[name], headers={"content-type": kind})
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.headers["content-type"].startswith("application/json")
        assert "Traceback" not in answer.text


async def test_a_body_that_comes_slowly_keeps_nobody_waiting(browser: httpx2.AsyncClient) -> None:
    hold = asyncio.Event()

    async def drip() -> "Iterator[bytes]":  # type: ignore[misc]
        yield b'{"source": '
        await hold.wait()
        yield b'"1"}'

    slow = [asyncio.create_task(browser.post("/api/runs", content=drip())) for _ in range(20)]
    await asyncio.sleep(0.01)
    page = await asyncio.wait_for(browser.get("/help"), timeout=5)

    assert page.status_code == 200
    assert not any(task.done() for task in slow)
    hold.set()
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "DELETE", "PATCH", "X"])
async def test_no_other_method_does_anything(browser: httpx2.AsyncClient, method: str) -> None:
    for path in ("/", PREDICTION, SUBMISSIONS, "/me"):
        assert (await browser.request(method, path)).status_code in (400, 403, 404, 405)


async def test_no_form_from_elsewhere_hands_in_runs_or_stops(browser: httpx2.AsyncClient) -> None:
    mine = await hand_in(browser)
    elsewhere = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    asked = [
        await browser.post(SUBMISSIONS, json={"source": "x", "idempotency_key": "another-one"}, headers=elsewhere),
        await browser.post(
            "/exercises/double/submissions", data={"source": "x", "idempotency_key": TOKEN}, headers=elsewhere
        ),
        await browser.post("/api/runs", json={"source": "x"}, headers=elsewhere),
        await browser.post("/runs", data={"source": "x"}, headers=elsewhere),
        await browser.post(f"/api/submissions/{mine}/stop", headers=elsewhere),
        await browser.put("/api/drafts/exercises/double", json={"text": "x"}, headers=elsewhere),
    ]

    assert [answer.status_code for answer in asked] == [403] * len(asked)
    assert (await browser.get(f"/api/submissions/{mine}")).json()["state"] == "queued"
