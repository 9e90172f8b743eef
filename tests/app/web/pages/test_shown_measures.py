"""A measurement: a table with its machine for every reader, and the same again by a run of their own."""

import json
import re
from html import unescape

import httpx2
from site_parts import FakeWorker, read_stream

from app.pictures.drawing.chart import draw_chart
from graders.contract.results import Outcome, RunEnd

CHAPTER = "/chapters/a-second-look"
IN_CELL = {"chapter": "a-second-look", "cell": "saved-by-size"}
TABLE = 'elements\ntable: {"elements": [1, 2], "square": [4, 8], "sum": [0, null]}\n'


def measured(stdout: str) -> RunEnd:
    return RunEnd(outcome=Outcome.OK, stdout=stdout)


def block_in(html: str) -> str:
    found = re.search(r'<uw-measure id="saved-by-size".*?</uw-measure>', html, re.S)
    assert found
    return found[0]


async def test_the_table_stands_in_the_page_with_when_and_where_it_was_measured(browser: httpx2.AsyncClient) -> None:
    block = block_in((await browser.get(CHAPTER)).text)

    assert re.findall(r'<td class="align-right">(.*?)</td>', block) == [
        "1",
        "4",
        "0",
        "10",
        "40",
        "0",
        "100",
        "400",
        "0",
    ]
    assert re.search(r"Measured on <time.*?</time>: .*, cpu, torch 2\.13\.0", block)


async def test_the_chart_is_data_for_a_script_that_is_loaded_when_it_comes_near(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    figure = json.loads(unescape(re.search(r'data-figure="(.*?)"', block_in(page))[1]))  # type: ignore[index]

    assert [trace["name"] for trace in figure["data"]] == ["square", "sum"]
    assert figure["data"][0]["y"] == [4, 40, 400]
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert "plotly" not in page.partition("<body")[0]


async def test_a_run_gives_the_reader_s_own_measurement(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = lambda job: measured(TABLE)
    done = read_stream(await browser.post("/api/runs", json={"source": "result = {}", **IN_CELL}))[-1].data

    assert "Measured just now, on this server." in done["measured"]
    assert "<td" in block_in(done["measured"])
    assert ">–</td>" in done["measured"]
    (job,) = worker.jobs
    assert job.source == "result = {}\n\nprint_table(result)"


async def test_a_run_without_a_table_leaves_the_committed_one(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = lambda job: measured("no table")
    done = read_stream(await browser.post("/api/runs", json={"source": "result = {}", **IN_CELL}))[-1].data

    assert done["measured"] == ""


async def test_without_script_the_run_s_page_shows_the_table_as_text(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = lambda job: measured(TABLE)
    sent = await browser.post(f"{CHAPTER}/cells/saved-by-size/run", data={"source": "result = {}"})
    worker_done = False
    for _ in range(100):
        page = (await browser.get(sent.headers["location"])).text
        worker_done = "is-ok" in page
        if worker_done:
            break

    assert worker_done
    assert "elements" in page
    assert "table: {" not in page


def test_a_line_of_one_point_is_a_mark_and_text_makes_categories() -> None:
    one = draw_chart("line", "n", ["a"], {"n": [1], "a": [2]}, ())
    named = draw_chart("scatter", "n", ["a", "gone"], {"n": ["x", "y"], "a": [1, 2]}, ("y",))

    assert one["data"][0]["mode"] == "markers"
    assert (named["layout"]["xaxis"]["type"], named["layout"]["yaxis"]["type"]) == ("category", "log")
    assert [trace["name"] for trace in named["data"]] == ["a"]


def test_an_axis_of_several_columns_is_named_by_what_they_share() -> None:
    columns = {"n": [1, 2], "slow_ms": [1, 2], "fast_ms": [1, 2], "other": [1, 2]}

    shared = draw_chart("line", "n", ["slow_ms", "fast_ms"], columns, ())
    different = draw_chart("line", "n", ["slow_ms", "other"], columns, ())
    titled = draw_chart("line", "n", ["slow_ms", "other"], columns, (), "time in ms")

    assert shared["layout"]["yaxis"]["title"]["text"] == "ms"
    assert different["layout"]["yaxis"]["title"]["text"] == "slow ms, other"
    assert titled["layout"]["yaxis"]["title"]["text"] == "time in ms"


def test_a_logarithmic_axis_is_marked_at_one_two_and_five_and_names_lose_their_underscores() -> None:
    few = draw_chart("line", "layers", ["one_segment"], {"layers": [16, 128], "one_segment": [3, 90]}, ("x",))
    many = draw_chart("line", "n", ["a"], {"n": [1, 1000000], "a": [1, 2]}, ("x",))
    none = draw_chart("line", "n", ["a"], {"n": [0, None], "a": [1, 2]}, ("x",))

    assert few["layout"]["xaxis"]["ticktext"] == ["20", "50", "100"]
    assert many["layout"]["xaxis"]["tickvals"] == [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0]
    assert many["layout"]["xaxis"]["ticktext"][-3:] == ["10,000", "100,000", "1M"]
    assert "tickvals" not in none["layout"]["xaxis"]
    assert (few["data"][0]["name"], few["layout"]["yaxis"]["title"]["text"]) == ("one segment", "one segment")


def test_a_logarithmic_axis_over_many_decades_has_few_marks_that_can_be_read() -> None:
    values = [10.0**exponent for exponent in range(-40, 9, 2)]
    figure = draw_chart("line", "x", ["y"], {"x": list(range(len(values))), "y": values}, ["y"])

    axis = figure["layout"]["yaxis"]
    assert len(axis["tickvals"]) <= 9
    assert axis["ticktext"][:3] == ["1e-40", "1e-34", "1e-28"]


def test_a_logarithmic_axis_over_few_decades_is_marked_in_numbers() -> None:
    figure = draw_chart("line", "x", ["y"], {"x": [1, 2], "y": [10.0, 20_000_000.0]}, ["y"])

    assert figure["layout"]["yaxis"]["ticktext"] == ["10", "100", "1,000", "10,000", "100,000", "1M", "10M"]


def test_each_value_of_the_series_has_a_line_of_its_own() -> None:
    columns = {"step": [1, 2, 1, 2], "rate": [0.5, 0.5, 2, 2], "distance": [4, 2, 8, 9]}
    figure = draw_chart("line", "step", ["distance"], columns, (), series="rate")

    assert [(one["name"], one["x"], one["y"]) for one in figure["data"]] == [
        ("rate 0.5", [1, 2], [4, 2]),
        ("rate 2", [1, 2], [8, 9]),
    ]
    assert figure["layout"]["showlegend"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "distance"
