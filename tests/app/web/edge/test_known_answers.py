"""What a browser has already is not sent again: pictures of chapters, graphs of the course and their tapes."""

import re

import httpx2
import pytest

GRAPH = "/api/chapters/a-first-graph/graphs/square-graph"


async def find_picture(browser: httpx2.AsyncClient) -> str:
    found = re.search(r"/chapters/a-first-graph/figures/[\w.-]+", (await browser.get("/chapters/a-first-graph")).text)
    assert found
    return found[0]


@pytest.mark.parametrize("path", [GRAPH, f"{GRAPH}/tape", "/api/home/tape", "picture"])
async def test_an_answer_with_the_readers_tag_has_no_body(browser: httpx2.AsyncClient, path: str) -> None:
    path = await find_picture(browser) if path == "picture" else path
    first = await browser.get(path)
    tag = first.headers["etag"]
    assert (first.status_code, "no-cache" in first.headers["cache-control"]) == (200, True)

    for known in (tag, f'"another", {tag}', tag.removeprefix("W/"), "*"):
        again = await browser.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = await browser.get(path, headers={"if-none-match": '"another"'})
    assert (other.status_code, other.content) == (200, first.content)


async def test_another_picture_of_the_same_graph_has_another_tag(browser: httpx2.AsyncClient) -> None:
    tape, graph = await browser.get(f"{GRAPH}/tape"), await browser.get(GRAPH)
    assert tape.headers["etag"] != graph.headers["etag"]
    assert (await browser.get(GRAPH, headers={"if-none-match": tape.headers["etag"]})).status_code == 200


async def test_the_tag_is_the_same_for_what_is_compressed_and_what_is_not(browser: httpx2.AsyncClient) -> None:
    plain = await browser.get(f"{GRAPH}/tape", headers={"accept-encoding": "identity"})
    small = await browser.get(f"{GRAPH}/tape", headers={"accept-encoding": "gzip"})
    assert plain.headers["etag"] == small.headers["etag"]
    assert plain.headers["etag"].startswith("W/")
