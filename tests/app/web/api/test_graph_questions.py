"""Questions that are answered by a click on a graph, and the pictures they are about."""

import shutil
from pathlib import Path

import httpx2
import pytest
from site_parts import COURSE, FRAGMENT, SMALL_TRACE, FakeWorker

from app.course.loader import load_course
from app.course.model import Course
from app.settings import Settings

CHAPTER = "/chapters/a-first-graph"
QUESTION = f"{CHAPTER}/answers/click-the-leaf"
MUL, LEAF = "0", "1"


TRACE = Path("chapters") / "a-first-graph" / "traces" / "square-graph.json"


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """The fixture course in a copy, with a small trace for its graph."""
    root = tmp_path / "course"
    shutil.copytree(COURSE, root)
    (root / TRACE).write_text(SMALL_TRACE.model_dump_json(), encoding="utf-8")
    return settings.model_copy(update={"course": root})


@pytest.fixture
def course(settings: Settings) -> Course:
    return load_course(settings.course)[0]


async def test_a_committed_trace_is_drawn_on_the_page_and_listed_for_a_click(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    assert 'id="square-graph-picture"' in page
    assert 'name="node" value="1"' in page


async def test_the_right_node_is_right(browser: httpx2.AsyncClient) -> None:
    fragment = await browser.post(QUESTION, data={"node": LEAF}, headers=FRAGMENT)

    assert "is-right" in fragment.text.partition(">")[0]
    assert "The leaf" in fragment.text


async def test_a_wrong_node_has_its_own_feedback(browser: httpx2.AsyncClient) -> None:
    fragment = await browser.post(QUESTION, data={"node": MUL}, headers=FRAGMENT)

    assert "is-wrong" in fragment.text.partition(">")[0]
    assert "That is where they come from." in fragment.text


@pytest.mark.parametrize("node", ["", "2", "-1", "x", "²"])
async def test_a_node_that_is_not_there_is_sent_back(browser: httpx2.AsyncClient, node: str) -> None:
    fragment = await browser.post(QUESTION, data={"node": node}, headers=FRAGMENT)

    assert fragment.status_code == 422
    assert "First click a node of the graph" in fragment.text


class TestAboutACell:
    """The question may be about the graph of a cell, which the reader's own run draws."""

    @pytest.fixture
    def course(self, settings: Settings) -> Course:
        path = settings.course / "chapters" / "a-first-graph" / "chapter.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(":cell: square-graph", ":cell: square-cell"), encoding="utf-8")
        return load_course(settings.course)[0]

    async def test_the_cell_has_to_be_run_first(self, browser: httpx2.AsyncClient) -> None:
        fragment = await browser.post(QUESTION, data={"node": LEAF}, headers=FRAGMENT)

        assert fragment.status_code == 422
        assert "Run the cell first" in fragment.text

    async def test_the_graph_of_ones_own_run_is_clicked(
        self, browser: httpx2.AsyncClient, worker: FakeWorker
    ) -> None:
        await browser.post("/api/runs", json={"source": "x * x", "chapter": "a-first-graph", "cell": "square-cell"})

        fragment = await browser.post(QUESTION, data={"node": LEAF}, headers=FRAGMENT)

        assert "is-right" in fragment.text.partition(">")[0]


async def test_a_trace_that_cannot_be_read_leaves_a_sentence_in_its_place(
    browser: httpx2.AsyncClient, settings: Settings
) -> None:
    (settings.course / TRACE).write_text("{", encoding="utf-8")

    page = await browser.get(CHAPTER)

    assert page.status_code == 200
    assert "This picture has not been drawn yet" in page.text


async def test_a_graph_of_the_course_can_be_asked_for_with_folds_open(browser: httpx2.AsyncClient) -> None:
    answer = (await browser.get("/api/chapters/a-first-graph/graphs/square-graph?opened=x&opened=y")).json()

    assert answer["svg"].startswith("<svg")
    assert answer["folds"] == []
    assert (await browser.get("/api/chapters/a-first-graph/graphs/nothing")).status_code == 404
