"""The course by kind: pages that gather papers, interview questions and the like from all chapters."""

import re

import httpx2
import pytest

from app.course.block_tree import Box
from app.course.blocks import Prose
from app.course.references import ReferenceKind, read_references


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("Baur and Strassen, <em>The complexity of partial derivatives</em>, 1983: a bound.", ReferenceKind.PAPER),
        ("The tutorial <em>How to save memory</em>.", ReferenceKind.LIBRARY),
        ("PEFT, a library of adapters, first released in 2022.", ReferenceKind.LIBRARY),
        ("An open question: did <em>Evaluating Derivatives</em> (2008) answer it?", ReferenceKind.OPEN_QUESTION),
    ],
)
def test_what_an_item_is_follows_from_how_it_is_written(item: str, kind: ReferenceKind) -> None:
    (reference,) = read_references([Box("research", "", (Prose(f"<ul>\n<li>{item}</li>\n</ul>"),))])

    assert reference.kind is kind
    assert reference.html == item


def test_lists_of_other_boxes_are_no_references() -> None:
    assert read_references([Box("aside", "", (Prose("<ul><li>Beans, <em>A soup</em>, 1999.</li></ul>"),))]) == ()


@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        ("papers", "The accuracy of floating point summation", "/chapters/a-second-look"),
        ("libraries", "The documentation of", "/chapters/a-second-look"),
        ("open-questions", "An open question: which order", "/chapters/a-second-look"),
        ("interview", "derivative of a sum of uses", "/chapters/a-second-look#"),
        ("incidents", "", "/chapters/a-second-look#the-missing-zero"),
        ("figures", "", "/chapters/a-second-look#saved-by-size"),
    ],
)
async def test_a_page_shows_each_entry_with_its_place(
    browser: httpx2.AsyncClient, kind: str, text: str, place: str
) -> None:
    page = await browser.get(f"/course/{kind}")

    assert page.status_code == 200
    assert text in page.text
    assert f'href="{place}' in page.text


async def test_the_map_links_to_each_page_with_as_many_entries_as_it_has(browser: httpx2.AsyncClient) -> None:
    course_map = (await browser.get("/course")).text

    links = re.findall(r'<a href="(/course/[a-z-]+)">(\d+) [^<]+</a>', course_map)
    assert [address.rpartition("/")[2] for address, _ in links] == [
        "papers", "libraries", "open-questions", "interview", "incidents", "figures",
    ]  # fmt: skip
    for address, count in links:
        assert (await browser.get(address)).text.count('class="kind-item"') == int(count) > 0


async def test_a_kind_that_does_not_exist_is_not_found(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/course/poems")).status_code == 404
