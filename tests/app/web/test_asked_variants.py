"""A question with a variant: each reader has a draw, answers that draw, and may have another."""

import re

import httpx2
from site_parts import FRAGMENT

CHAPTER = "/chapters/a-second-look"
QUESTION = f"{CHAPTER}/answers/after-several-calls"
TRUTHS = {"0": "8", "4": "1.5", "5": "9", "9": "6", "17": "12", "21": "2"}


def draw_in(html: str) -> str:
    block = re.search(r'<uw-question id="after-several-calls".*?</uw-question>', html, re.S)
    assert block
    field = re.search(r'name="draw" value="(\d+)"', block[0])
    return field[1] if field else ""


async def test_a_reader_sees_one_draw_and_no_places_to_fill(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    assert draw_in(page) in TRUTHS
    assert "{{" not in page
    assert "\ue000" not in page


async def test_the_truth_of_the_draw_that_was_shown_is_right(browser: httpx2.AsyncClient) -> None:
    for draw, truth in TRUTHS.items():
        fragment = await browser.post(QUESTION, data={"number": truth, "draw": draw}, headers=FRAGMENT)
        assert "is-right" in fragment.text.partition(">")[0], draw


async def test_a_slip_of_the_draw_has_its_feedback_and_may_be_tried_again(browser: httpx2.AsyncClient) -> None:
    fragment = await browser.post(QUESTION, data={"number": "0.5", "draw": "4"}, headers=FRAGMENT)

    assert "is-wrong" in fragment.text.partition(">")[0]
    assert "That is the gradient of <em>one</em> call" in fragment.text
    assert draw_in(fragment.text) == "4"


async def test_another_one_is_offered_after_an_answer_and_is_another(browser: httpx2.AsyncClient) -> None:
    before = (await browser.get(CHAPTER)).text
    draw = draw_in(before)
    assert "Another one like this" not in before

    answered = await browser.post(QUESTION, data={"number": TRUTHS[draw], "draw": draw}, headers=FRAGMENT)
    another = await browser.post(f"{QUESTION}/another", headers=FRAGMENT)

    assert "Another one like this" in answered.text
    assert "is-unanswered" in another.text.partition(">")[0]
    assert draw_in(another.text) not in ("", draw)


async def test_attempts_count_for_each_draw_alone(browser: httpx2.AsyncClient) -> None:
    for draw in ("0", "4"):
        fragment = await browser.post(QUESTION, data={"number": "77", "draw": draw}, headers=FRAGMENT)

    assert "Attempt" not in fragment.text
    assert "times" not in fragment.text.partition("model-answer")[2]


async def test_the_page_comes_back_to_the_draw_that_was_answered_last(browser: httpx2.AsyncClient) -> None:
    await browser.post(QUESTION, data={"number": "77", "draw": "17"}, headers=FRAGMENT)

    assert draw_in((await browser.get(CHAPTER)).text) == "17"


async def test_what_is_no_number_comes_back_with_the_same_draw(browser: httpx2.AsyncClient) -> None:
    fragment = await browser.post(QUESTION, data={"number": "many", "draw": "21"}, headers=FRAGMENT)

    assert (fragment.status_code, draw_in(fragment.text)) == (422, "21")


async def test_without_script_another_one_is_a_page(browser: httpx2.AsyncClient) -> None:
    await browser.post(QUESTION, data={"number": "77", "draw": "17"})
    sent = await browser.post(f"{QUESTION}/another")
    page = (await browser.get(sent.headers["location"].partition("#")[0])).text

    assert (sent.status_code, sent.headers["location"].partition("#")[2]) == (303, "after-several-calls")
    assert draw_in(page) in TRUTHS.keys() - {"17"}


async def test_a_draw_that_is_gone_is_refused_in_words(browser: httpx2.AsyncClient) -> None:
    assert (await browser.post(QUESTION, data={"number": "1", "draw": "3"}, headers=FRAGMENT)).status_code == 409


async def test_a_question_without_a_variant_has_no_other(browser: httpx2.AsyncClient) -> None:
    refused = await browser.post(f"{CHAPTER}/answers/name-it/another", headers=FRAGMENT)

    assert refused.status_code == 404
