"""What a section knows: counts of present learners' first answers, without names, and one exercise's failures."""

import csv
import io
import re
from datetime import timedelta

import httpx2
from handing_in import EXERCISE, WRONG, end_membership, hand_in, make_class, staff
from people import sign_in

from app.access.permissions import Role
from app.course.questions.marking import QuestionResponse
from app.learning.items import ENOUGH_FOR_DISCRIMINATION
from app.storage.records import Account, Answer, Prediction, SectionId
from app.web.edge.site import Site
from graders.contract.results import Outcome

CHAPTER = "a-second-look"
ITEMS = ("which-add", "name-it", "in-order", "wrong-line", "sum-of-uses", "after-several-calls", "tracked-sums")


async def answer(
    site: Site,
    account: Account,
    item: str,
    *,
    right: bool,
    option: str = "",
    wording: str = "now",
    review: bool = False,
) -> None:
    values = (option,) if option else ()
    given = Answer(item, QuestionResponse(values=values), right, site.clock(), content_hash=wording, in_review=review)
    await site.store.add_answer(account.learner, CHAPTER, given)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def row_of(html: str, words: str) -> list[str]:
    """The cells of the table's row that has these words."""
    row = next(row for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL) if words in row)
    return [text_of(cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]


async def test_only_first_answers_of_present_learners_count(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    await staff(site, section, "Tess", Role.ASSISTANT)
    outside = (await make_class(site, "Eve", title="Autumn"))[1]["Eve"]
    await answer(site, people["Ada"], "name-it", right=False)
    await answer(site, people["Ada"], "name-it", right=True)
    await answer(site, people["Bob"], "name-it", right=True)
    await answer(site, people["Bob"], "which-add", right=True, review=True)
    await answer(site, outside, "name-it", right=True)
    await answer(site, people["Cyd"], "name-it", right=True)
    await end_membership(site, section, people["Cyd"], site.clock().timestamp())
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/knowledge/chapters/{CHAPTER}")).text
    overview = (await browser.get(f"/desk/{section}/knowledge")).text

    assert row_of(page, "/name-it")[2:5] == ["2", "1", "too few to say"]
    assert row_of(page, "/which-add")[2:4] == ["0", "0"]
    assert row_of(overview, f"/chapters/{CHAPTER}")[-2:] == ["2", "50 % of 2"]
    assert "2 learners in the section now" in overview
    assert not any(name in text_of(page + overview) for name in people)


async def fill_class(site: Site, section: SectionId, people: dict[str, Account]) -> None:
    """The n-th learner knows the first n/8 of the items. The key of `tracked-sums` is wrong: they are marked the
    other way round."""
    for number, account in enumerate(people.values()):
        for place, item in enumerate(ITEMS):
            knows = place < number * (len(ITEMS) + 1) // len(people)
            right = number < len(people) // 2 if item == "tracked-sums" else knows
            await answer(site, account, item, right=right, option="" if item != "which-add" else f"option-{right}")


async def test_a_wrong_key_stands_out_and_a_good_question_does_not(browser: httpx2.AsyncClient, site: Site) -> None:
    names = [f"Learner {number:02}" for number in range(ENOUGH_FOR_DISCRIMINATION + 6)]
    section, people = await make_class(site, *names)
    await staff(site, section, "Tess")
    await fill_class(site, section, people)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/knowledge/chapters/{CHAPTER}")).text

    assert "perhaps a wrong key" in row_of(page, "/tracked-sums")[-1]
    assert row_of(page, "/in-order")[-1] == ""
    assert float(row_of(page, "/in-order")[5].split()[0]) > 0.4
    assert re.fullmatch(r"\d+ % \(\d+ to \d+ %\)", row_of(page, "/name-it")[4])


async def test_both_wordings_of_an_edited_question_are_shown(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    await staff(site, section, "Tess")
    now = site.read_course().index.by_slug[CHAPTER].index.questions["which-add"].content_hash
    await answer(site, people["Ada"], "which-add", right=False, wording="earlier")
    await answer(site, people["Bob"], "which-add", right=True, wording=now)
    await answer(site, people["Cyd"], "which-add", right=True, wording=now)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/knowledge/chapters/{CHAPTER}/which-add")).text

    assert row_of(page, "an earlier wording")[1:3] == ["1", "0"]
    assert row_of(page, "as it is now")[1:3] == ["2", "2"]
    assert (await browser.get(f"/desk/{section}/knowledge/chapters/{CHAPTER}/no-such")).status_code == 404
    assert (await browser.get(f"/desk/{section}/knowledge/chapters/no-such")).status_code == 404


async def test_the_page_says_where_readers_are_and_what_they_ran(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob")
    await staff(site, section, "Tess")
    chapter = site.read_course().index.by_slug[CHAPTER]
    cell, now = next(iter(chapter.index.cells)), site.clock()
    for account in people.values():
        await site.store.note_cell_run(account.learner, CHAPTER, cell, f"run-{account.id}"[:32], now)
    await site.store.keep_position(people["Ada"].learner, CHAPTER, "which-add", now)
    await site.store.keep_position(people["Bob"].learner, CHAPTER, "a-place-that-is-gone", now)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/knowledge/chapters/{CHAPTER}")).text

    assert "2 of 2 learners began to read, 0 came to the end" in text_of(page)
    ran = [cells for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL) if (cells := row_cells(row)) and cells[0]]
    assert any(cells[1] == "2" for cells in ran if len(cells) == 6)
    assert any(cells[5] == "1" for cells in ran if len(cells) == 6)
    assert "The place of 1 more is no longer in the chapter" in text_of(page)


def row_cells(row: str) -> list[str]:
    return [text_of(cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]


async def test_the_failures_are_those_of_who_has_not_passed(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    await staff(site, section, "Tess")
    await hand_in(site, people["Ada"], WRONG, Outcome.WRONG_ANSWER)
    await hand_in(site, people["Ada"], WRONG)
    stuck = await hand_in(site, people["Bob"], WRONG, Outcome.WRONG_ANSWER)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/knowledge/exercises/{EXERCISE}")).text
    overview = (await browser.get(f"/desk/{section}/knowledge")).text

    assert "2 learners tried, 1 passed, 1 have not passed yet" in text_of(page)
    assert row_of(page, "before any case")[:4] == ["wrong answer", "before any case", "1", "50 %"]
    assert f"/desk/{section}/submissions/{stuck}" in page
    assert row_of(overview, f"/exercises/{EXERCISE}")[1:4] == ["2", "1", "2"]


async def test_the_file_has_a_line_for_each_first_answer_and_no_name(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob")
    await staff(site, section, "Tess")
    await answer(site, people["Ada"], "name-it", right=True)
    await answer(site, people["Bob"], "which-add", right=False, option="=HYPERLINK")
    predicted = Prediction("double-use", None, None, site.clock() - timedelta(days=1))
    await site.store.commit_prediction(people["Bob"].learner, "a-first-graph", predicted)
    await sign_in(browser, "Tess")

    answered = await browser.get(f"/desk/{section}/knowledge/files")
    lines = list(csv.DictReader(io.StringIO(answered.text)))

    assert {(line["chapter"], line["item"], line["right"], line["option"]) for line in lines} == {
        (CHAPTER, "name-it", "1", ""),
        (CHAPTER, "which-add", "0", "'=HYPERLINK"),
        ("a-first-graph", "double-use", "0", ""),
    }
    assert {line["person"] for line in lines} == {"1", "2"}
    ids = [value for account in people.values() for value in (account.id, account.learner, account.name)]
    assert not any(value in answered.text for value in ids)
    assert (await site.store.accounts.audit_lines())[0].verb == "download the class's answers"
