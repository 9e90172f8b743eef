"""A question with a variant: each reader has a draw, answers that draw, and may have another."""

import re

import httpx2
from site_parts import FRAGMENT

from app.course.questions.code_lines import shown_order

CHAPTER = "/chapters/a-second-look"
QUESTION = f"{CHAPTER}/answers/after-several-calls"
TRUTHS = {"0": "8", "4": "1.5", "5": "9", "9": "6", "17": "12", "21": "2"}


def block_of(html: str, name: str) -> str:
    block = re.search(rf'<uw-question id="{name}".*?</uw-question>', html, re.S)
    assert block
    return block[0]


def draw_in(html: str, name: str = "after-several-calls") -> str:
    field = re.search(r'name="draw" value="(\d+)"', block_of(html, name))
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


async def test_a_known_wrong_answer_of_the_draw_has_its_feedback_and_another_try(browser: httpx2.AsyncClient) -> None:
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


SEVERAL = {
    "0": ["b-c", "c-a"],
    "1": ["a-b", "c-a"],
    "3": ["a-b", "b-c", "c-a"],
    "7": ["a-b", "b-c", "c-a"],
}
GUILTY = {"0": "5", "1": "4", "2": "4", "4": "4"}


async def test_a_drawn_list_a_drawn_listing_and_drawn_lines_are_shown_filled(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text

    for name, draws in (("tracked-sums", SEVERAL.keys()), ("guilty-line", GUILTY.keys()), ("drawn-order", "014")):
        assert draw_in(page, name) in draws, name
    assert 'type="checkbox"' in block_of(page, "tracked-sums")
    assert "zero_grad" in block_of(page, "guilty-line")
    assert "loss" in block_of(page, "drawn-order")


async def test_each_draw_of_several_is_marked_by_its_own_truth(browser: httpx2.AsyncClient) -> None:
    address = f"{CHAPTER}/answers/tracked-sums"
    for draw, right in SEVERAL.items():
        answered = await browser.post(address, data={"option": right, "draw": draw}, headers=FRAGMENT)
        missed = await browser.post(address, data={"option": right[1:], "draw": draw}, headers=FRAGMENT)
        assert "is-right" in answered.text.partition(">")[0], draw
        assert "is-wrong" in missed.text.partition(">")[0], draw


async def test_each_draw_of_a_listing_has_its_own_guilty_line(browser: httpx2.AsyncClient) -> None:
    address = f"{CHAPTER}/answers/guilty-line"
    for draw, line in GUILTY.items():
        wrong = await browser.post(address, data={"line": str(int(line) - 1), "draw": draw}, headers=FRAGMENT)
        right = await browser.post(address, data={"line": line, "draw": draw}, headers=FRAGMENT)
        assert f"Line {int(line) - 1} fills what the step needs." in wrong.text, draw
        assert "is-right" in right.text.partition(">")[0], draw


async def test_drawn_lines_in_order_are_right(browser: httpx2.AsyncClient) -> None:
    order = "".join("abcd"[shown_order(4).index(number)] for number in range(4))
    answered = await browser.post(
        f"{CHAPTER}/answers/drawn-order", data={"order": order, "draw": "0"}, headers=FRAGMENT
    )

    assert "is-right" in answered.text.partition(">")[0]
