"""Answers: marked, kept, tried again; the model answer only after an attempt."""

import re
from datetime import UTC, datetime

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker

from app.course.questions.code_lines import line_letter, shown_order
from app.web.edge.site import Site

CHAPTER = "/chapters/a-first-graph"
OTHER = "/chapters/a-second-look"
RUN = {"source": "y = x * x", "chapter": "a-first-graph", "cell": "square-cell"}


async def answer(browser: httpx2.AsyncClient, question: str, **fields: object) -> httpx2.Response:
    return await browser.post(f"{CHAPTER}/answers/{question}", data=fields, headers=FRAGMENT)


def is_state(fragment: httpx2.Response, state: str) -> bool:
    return f"is-{state}" in fragment.text.partition(">")[0]


async def test_a_right_number_is_right_and_shows_why(browser: httpx2.AsyncClient) -> None:
    fragment = await answer(browser, "how-many-nodes", number="1")

    assert fragment.status_code == 200
    assert is_state(fragment, "right")
    assert "One multiplication" in fragment.text


async def test_a_known_wrong_answer_has_its_own_feedback_and_no_model_answer_yet(browser: httpx2.AsyncClient) -> None:
    fragment = await answer(browser, "how-many-nodes", number="2")

    assert is_state(fragment, "wrong")
    assert "Two operands, but one operation." in fragment.text
    assert "One multiplication" not in fragment.text


async def test_the_second_wrong_attempt_shows_the_answer_and_may_be_followed_by_a_third(
    browser: httpx2.AsyncClient,
) -> None:
    await answer(browser, "how-many-nodes", number="2")
    second = await answer(browser, "how-many-nodes", number="3")
    third = await answer(browser, "how-many-nodes", number="1")

    assert "One multiplication" in second.text
    assert is_state(third, "right")
    assert "Attempt 3." in third.text


async def test_what_is_no_number_is_sent_back_and_not_kept(browser: httpx2.AsyncClient) -> None:
    fragment = await answer(browser, "how-many-nodes", number="<b>many</b>")

    assert fragment.status_code == 422
    assert is_state(fragment, "unanswered")
    assert "“&lt;b&gt;many&lt;/b&gt;” is not a number" in fragment.text


async def test_only_the_chosen_option_explains_itself(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    block = re.search(r'<uw-question id="why-four".*?</uw-question>', page, re.S)
    assert block
    right, wrong = re.findall(r'name="option" value="([^"]+)"', block.group())

    after_wrong = await answer(browser, "why-four", option=wrong)
    after_right = await answer(browser, "why-four", option=right)

    assert "There is no square here" in after_wrong.text
    assert "Yes: 2 and 2." not in after_wrong.text
    assert is_state(after_right, "right")
    assert "Yes: 2 and 2." in after_right.text


async def test_an_open_answer_is_compared_then_rated(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    answered = await answer(browser, "say-it", text="12 & three <uses>")
    rated = await answer(browser, "say-it", rubric=["1", "2"])

    assert "Three contributions" not in page
    assert is_state(answered, "answered")
    assert "12 &amp; three &lt;uses&gt;" in answered.text
    assert "Three contributions" in answered.text
    assert is_state(rated, "rated")
    assert "Saved: 2 of 2." in rated.text


async def test_ticks_without_an_answer_are_sent_back(browser: httpx2.AsyncClient) -> None:
    assert (await answer(browser, "say-it", rubric=["1"])).status_code == 422


@pytest.mark.parametrize("question", ["nothing", "double-use", "square-cell"])
async def test_a_question_that_the_chapter_does_not_ask_is_not_found(
    browser: httpx2.AsyncClient, question: str
) -> None:
    assert (await answer(browser, question, number="1")).status_code == 404


async def test_without_script_the_answer_leads_back_to_its_question(browser: httpx2.AsyncClient) -> None:
    sent = await browser.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"})

    assert (sent.status_code, sent.headers["location"]) == (303, f"{CHAPTER}#how-many-nodes")


async def test_all_questions_right_climb_a_rung(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await answer(browser, "how-many-nodes", number="1")
    first = (await browser.get(CHAPTER)).text

    assert "1 of 4 questions answered right" in first
    assert "0 of 4 questions right on 4 different days" in first


def shown_lines(fragment: httpx2.Response) -> list[str]:
    found = re.search(r'<ol class="order-lines".*?</ol>', fragment.text, re.S)
    assert found
    return [re.sub("<[^>]*>", "", line) for line in re.findall(r"<li.*?</li>", found[0], re.S)]


async def test_lines_that_were_put_in_order_stand_in_it_with_their_letters(browser: httpx2.AsyncClient) -> None:
    letters = [line_letter(shown_order(3).index(index)) for index in range(3)]
    fragment = await browser.post(f"{OTHER}/answers/in-order", data={"order": "".join(letters)}, headers=FRAGMENT)

    assert is_state(fragment, "right")
    assert [line[0] for line in shown_lines(fragment)] == letters
    assert [line[1:].partition("(")[0] for line in shown_lines(fragment)] == [
        "optimizer.zero_grad",
        "loss.backward",
        "optimizer.step",
    ]


async def test_the_line_that_was_found_is_marked_among_all(browser: httpx2.AsyncClient) -> None:
    fragment = await browser.post(f"{OTHER}/answers/wrong-line", data={"line": "3"}, headers=FRAGMENT)

    assert len(shown_lines(fragment)) == 4
    assert re.findall(r'<li class="is-right"><span class="line-number">(\d)', fragment.text) == ["3"]


async def test_an_answer_makes_a_review_card_on_the_days_of_the_browsers_zone(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    """It is 23:30 in UTC: in Tokyo, tomorrow has begun."""
    site.clock.now = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)  # type: ignore[attr-defined]
    zone = {"x-unwind-zone": "Asia/Tokyo"}
    await browser.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"}, headers=zone)
    await browser.post(f"{CHAPTER}/answers/why-four", data={"option": "the-square-is-remembered"}, headers=zone)

    (learner,) = [row["id"] for row in await learners_of(browser)]
    deck = await site.store.review_cards.deck(learner)

    assert {card.key.question: str(card.due_on) for card in deck.cards} == {
        "how-many-nodes": "2026-03-04",
        "why-four": "2026-03-03",
    }


async def test_a_zone_that_does_not_exist_is_not_kept(browser: httpx2.AsyncClient) -> None:
    zone = {"x-unwind-zone": "Mars/Olympus"}
    await browser.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"}, headers=zone)

    assert [row["zone"] for row in await learners_of(browser)] == [None]


async def learners_of(browser: httpx2.AsyncClient) -> list[dict[str, str]]:
    return list((await browser.get("/me/export.json")).json()["learners"])
