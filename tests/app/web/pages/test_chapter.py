"""A chapter's page, and what must not stand on it before its time."""

import re

import httpx2
from site_parts import FRAGMENT, FakeWorker, read_stream

CHAPTER = "/chapters/a-first-graph"
PREDICTION = f"{CHAPTER}/predictions/double-use"
RUN = {"source": "y = x * x\ny.backward()\nprint(x.grad.item())\n", "chapter": "a-first-graph", "cell": "square-cell"}

TRUTH = "one contribution from each operand"
FEEDBACK_ON_TWO = "Only one of the two paths"
FEEDBACK_ON_FOUR = "their contributions add up"


def option_ids(page: str) -> list[str]:
    block = re.search(r'<uw-predict id="double-use".*?</uw-predict>', page, re.S)
    assert block
    return [value for value in re.findall(r'name="option" value="([^"]+)"', block.group()) if value != "dont-know"]


async def test_a_chapter_has_its_blocks_in_order(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    anchors = re.findall(r'<(?:uw-cell|uw-predict|uw-question|figure|div) id="([a-z-]+)" class', page)
    assert anchors == [
        "double-use",
        "square-cell",
        "square-graph",
        "square-gradient",
        "once-cell",
        "how-many-nodes",
        "why-four",
        "click-the-leaf",
        "say-it",
    ]


async def test_a_box_without_a_title_says_its_name_once(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    head = re.search(r'<div class="box box-core-idea".*?<p class="box-head">(.*?)</p>', page, re.S)
    assert head
    assert re.sub(r"<[^>]+>", "", head[1]).strip() == "Core idea"


async def test_no_id_stands_twice_on_a_page(browser: httpx2.AsyncClient) -> None:
    for path in (CHAPTER, "/", "/exercises/double", "/claims", "/course"):
        ids = re.findall(r'\sid="([^"]+)"', (await browser.get(path)).text)
        assert sorted(ids) == sorted(set(ids)), path


async def test_the_code_that_runs_before_a_cell_is_folded_above_it(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    cell = re.search(r'<uw-cell id="square-cell".*?</uw-cell>', page, re.S)

    assert cell
    before, body = cell.group().split('<div class="cell-body">')
    assert "Code that runs before this cell" in before
    assert "requires_grad" in before
    assert "requires_grad" not in body


async def test_the_code_before_two_cells_is_shown_once_and_the_second_leads_to_it(
    browser: httpx2.AsyncClient,
) -> None:
    page = (await browser.get(CHAPTER)).text
    cell = re.search(r'<uw-cell id="once-cell".*?</uw-cell>', page, re.S)

    assert cell
    assert 'href="#square-cell-before"' in cell.group()
    assert "requires_grad" not in cell.group()
    assert page.count('id="square-cell-before"') == 1


async def test_the_answers_are_not_on_the_page(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    for secret in (TRUTH, FEEDBACK_ON_TWO, FEEDBACK_ON_FOUR, "Two operands, but one operation", "three uses, each"):
        assert secret not in page


async def test_a_chapter_that_does_not_exist_is_a_page_in_words(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/chapters/nothing")

    assert answer.status_code == 404
    assert "There is no chapter of that name." in answer.text


async def test_reading_to_the_end_is_a_rung(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post(f"{CHAPTER}/read")

    assert (answer.status_code, answer.headers["location"]) == (303, f"{CHAPTER}#finish")
    page = (await browser.get(CHAPTER)).text
    assert "Read.</strong>" in page
    assert 'Next: <a href="/chapters/a-second-look">1.2 A second look</a>' in page


async def test_a_prediction_is_committed_before_the_truth_shows(browser: httpx2.AsyncClient) -> None:
    first, *_ = option_ids((await browser.get(CHAPTER)).text)

    answer = await browser.post(PREDICTION, data={"option": first, "confidence": "certain"})

    assert (answer.status_code, answer.headers["location"]) == (303, f"{CHAPTER}#double-use")
    page = (await browser.get(CHAPTER)).text
    assert "Your prediction is in" in page
    assert TRUTH not in page
    assert FEEDBACK_ON_TWO not in page


async def test_a_committed_prediction_cannot_be_changed(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    first, second, _ = option_ids((await browser.get(CHAPTER)).text)
    await browser.post(PREDICTION, data={"option": first, "confidence": "certain"})
    await browser.post(PREDICTION, data={"option": second, "confidence": "certain"})

    await browser.post("/api/runs", json=RUN)

    assert "That is not what happens." in (await browser.get(CHAPTER)).text


async def test_a_run_settles_a_prediction_beside_the_truth(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    _, second, _ = option_ids((await browser.get(CHAPTER)).text)
    await browser.post(PREDICTION, data={"option": second, "confidence": "guess"})

    done = read_stream(await browser.post("/api/runs", json=RUN))[-1].data

    assert list(done["resolved"]) == ["double-use"]
    for text in (TRUTH, FEEDBACK_ON_FOUR, "You predicted this.", "You said: a guess."):
        assert text in done["resolved"]["double-use"]
        assert text in (await browser.get(CHAPTER)).text


async def test_not_knowing_is_an_answer_and_the_run_still_tells(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    fragment = await browser.post(PREDICTION, data={"option": "dont-know"}, headers=FRAGMENT)
    await browser.post("/api/runs", json=RUN)
    page = (await browser.get(CHAPTER)).text

    assert fragment.text.lstrip().startswith("<uw-predict")
    assert "You said that you don’t know" in fragment.text
    assert TRUTH in page
    assert "That is not what happens" not in page


async def test_a_run_without_a_prediction_tells_no_truth(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    done = read_stream(await browser.post("/api/runs", json=RUN))[-1].data

    assert done["resolved"] == {}
    assert TRUTH not in (await browser.get(CHAPTER)).text


async def test_a_prediction_without_confidence_comes_back_with_a_sentence(browser: httpx2.AsyncClient) -> None:
    first, *_ = option_ids((await browser.get(CHAPTER)).text)

    page = await browser.post(PREDICTION, data={"option": first})
    fragment = await browser.post(PREDICTION, data={"option": "made-up"}, headers=FRAGMENT)

    assert (page.status_code, fragment.status_code) == (422, 422)
    assert "Say how sure you are" in page.text
    assert "Choose what you think will happen" in fragment.text
    assert "<html" not in fragment.text


async def test_a_prediction_that_the_chapter_does_not_ask_is_not_found(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post(f"{CHAPTER}/predictions/why-four", data={"option": "dont-know"})

    assert answer.status_code == 404


async def test_a_chapters_picture_is_served_and_nothing_else_of_its_folder(browser: httpx2.AsyncClient) -> None:
    picture = await browser.get(f"{CHAPTER}/figures/two-nodes.svg")

    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    for path in ("figures/nothing.svg", "figures/..%2Fchapter.md", "figures/%2e%2e/chapter.md", "chapter.md"):
        assert (await browser.get(f"{CHAPTER}/{path}")).status_code == 404


async def test_a_graph_of_the_courses_own_has_a_tape_to_step_through(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/chapters/a-first-graph")
    href = "/api/chapters/a-first-graph/graphs/square-graph/tape"
    assert f'data-steps="{href}"' in page.text

    played = (await browser.get(href)).json()

    assert played["svg"] in page.text
    assert played["tape"]["steps"]["told"]
    assert (await browser.get(played["href"])).json()["svg"] == played["svg"]
    assert (await browser.get(href.replace("square-graph", "no-graph"))).status_code == 404
