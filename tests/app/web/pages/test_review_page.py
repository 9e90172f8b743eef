"""The review page, as plain HTML: what is due is asked, shown with its truth, and missed ones come once more."""

import asyncio
import re
from collections.abc import Mapping

import httpx2
import pytest
from markupsafe import Markup
from people import leave_work
from site_parts import FRAGMENT, FakeWorker, StoppedClock

from app.course.blocks import Html
from app.course.model import Course
from app.course.questions.kinds import Choice, Order, Question, Several
from app.course.questions.marking import QuestionResponse
from app.course.reviewable import find_question
from app.learning.review import NEW_A_DAY, Key, Rating
from app.storage.records import Answer
from app.web.edge.site import Site
from app.web.pages.review import PRACTICE_TRIES
from graders.contract.model import LearnerId

CHAPTER = "/chapters/a-first-graph"
NODES, WHY, CLICK, OPEN = (
    f"/review/a-first-graph/{name}" for name in ("how-many-nodes", "why-four", "click-the-leaf", "say-it")
)


async def answer_in_chapter(browser: httpx2.AsyncClient, question: str, **fields: str) -> None:
    answered = await browser.post(f"{CHAPTER}/answers/{question}", data=fields, headers=FRAGMENT)
    assert answered.status_code == 200


async def read_review(browser: httpx2.AsyncClient) -> str:
    page = await browser.get("/review")
    assert page.status_code == 200
    return page.text


async def give(browser: httpx2.AsyncClient, action: str, fields: Mapping[str, str]) -> str:
    """The page to which an answer leads."""
    posted = await browser.post(action, data=fields)
    assert posted.status_code == 303, posted.text
    return (await browser.get(posted.headers["location"])).text


def action_in(page: str) -> str:
    found = re.search(r'<form method="post" action="(/review/[^"]+/[^"]+)"', page)
    return found[1] if found else ""


def draw_in(page: str) -> dict[str, str]:
    found = re.search(r'name="draw" value="(\d+)"', page)
    return {"draw": found[1]} if found else {}


async def learner_of(browser: httpx2.AsyncClient) -> LearnerId:
    (row,) = (await browser.get("/me/export.json")).json()["learners"]
    return LearnerId(row["id"])


async def test_somebody_unknown_is_told_what_review_is_and_gets_no_cookie(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/review")

    assert "on the day on which you would forget them" in page.text
    assert "set-cookie" not in page.headers
    assert "due today" not in (await browser.get("/course")).text


async def test_a_question_comes_back_on_its_day_and_every_header_says_so(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(1)
    assert "The next question comes tomorrow." in await read_review(browser)
    clock.pass_days(1)

    page = await read_review(browser)

    assert action_in(page) == NODES
    assert "Question 1 of 1" in page
    assert "1 due today" in (await browser.get("/course")).text


async def test_a_right_answer_leads_to_the_truth_and_the_day_of_return(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)

    page = await give(browser, NODES, {"number": "1", "confidence": "certain"})

    assert "Right." in page
    assert re.search(r"It comes back on \w+day \d+ March", page)
    assert "One multiplication" in page
    assert 'href="/chapters/a-first-graph#retrieve"' in page
    end = await read_review(browser)
    assert "1 of 1 right at once" in end
    assert "due today" not in end


async def test_a_missed_question_comes_once_more_and_tomorrow(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)

    page = await give(browser, NODES, {"number": "2"})
    assert "It comes back at the end of this review, and tomorrow." in page
    assert "Two operands, but one operation." in page
    assert "Once more, as practice: 1 of 1" in await read_review(browser)
    assert "Right." in await give(browser, NODES, {"number": "1"})

    end = await read_review(browser)
    assert "0 of 1 right at once" in end
    assert "Comes back tomorrow" in end


async def test_a_form_that_is_sent_twice_counts_once(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)
    (earlier,) = re.findall(r'name="earlier" value="(\d+)"', await read_review(browser))
    form = {"number": "2", "confidence": "certain", "earlier": earlier}

    at_once = await asyncio.gather(*(browser.post(NODES, data=form) for _ in range(3)))
    later = await browser.post(NODES, data=form)

    assert len({answer.headers["location"] for answer in (*at_once, later)}) == 1
    assert len(await site.store.review_cards.stated(await learner_of(browser))) == 1
    assert "Once more, as practice: 1 of 1" in await read_review(browser)


async def test_practice_ends_after_three_tries(browser: httpx2.AsyncClient, clock: StoppedClock) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)
    for _ in range(3):
        await give(browser, NODES, {"number": "2"})

    assert "What came today" in await read_review(browser)


async def test_a_guess_that_was_right_comes_back_sooner(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    await answer_in_chapter(browser, "why-four", option="two-equal-contributions-add-up")
    clock.pass_days(2)
    await give(browser, NODES, {"number": "1", "confidence": "guess"})
    await give(browser, WHY, {"option": "two-equal-contributions-add-up"})

    # The due days themselves are spread, differently for each learner, and may change places.
    cards = (await site.store.review_cards.deck(await learner_of(browser))).cards
    days = {card.key.question: card.memory.interval_days for card in cards}
    assert days["how-many-nodes"] < days["why-four"]


async def test_a_form_without_an_answer_comes_back_with_a_sentence(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)

    page = await browser.post(NODES, data={"number": "<b>"})

    assert page.status_code == 422
    assert "“&lt;b&gt;” is not a number" in page.text
    assert action_in(page.text) == NODES


async def test_a_node_is_clicked_in_the_courses_own_picture(browser: httpx2.AsyncClient, clock: StoppedClock) -> None:
    page = (await browser.get(CHAPTER)).text
    value = node_called(page, "x")
    await answer_in_chapter(browser, "click-the-leaf", node=value)
    clock.pass_days(2)

    asked = await read_review(browser)

    assert "<svg" in asked
    assert "Right." in await give(browser, CLICK, {"node": node_called(asked, "x")})


def node_called(page: str, label: str) -> str:
    found = re.search(rf'name="node" value="(\d+)" required><span>[^<]*\b{label}\b', page)
    assert found, page
    return found[1]


async def test_an_open_answer_is_compared_with_its_rubric(browser: httpx2.AsyncClient, clock: StoppedClock) -> None:
    await answer_in_chapter(browser, "say-it", text="twelve")
    await answer_in_chapter(browser, "say-it", rubric="1")
    clock.pass_days(1)

    page = await give(browser, OPEN, {"text": "twelve, because of three uses"})

    assert "Which of these points did your answer make?" in page
    action = re.search(r'action="(/review/answers/\d+/rubric)"', page)
    assert action
    await answer_in_chapter(browser, "say-it", text="another tab answers meanwhile")
    end = await give(browser, action[1], {"rubric": "1"})
    assert "1 of 1 right at once" in end
    ticked = [row["ticked"] for row in (await browser.get("/me/export.json")).json()["answers"]]
    assert ticked[-2:] == ['["1"]', None]


async def test_a_prediction_is_asked_again_and_its_truth_told_after(
    browser: httpx2.AsyncClient, clock: StoppedClock, worker: FakeWorker
) -> None:
    await browser.post(f"{CHAPTER}/predictions/double-use", data={"option": "2", "confidence": "certain"})
    await browser.post("/api/runs", json={"source": "y = x * x", "chapter": "a-first-graph", "cell": "square-cell"})
    clock.pass_days(1)

    page = await read_review(browser)

    assert action_in(page) == "/review/a-first-graph/double-use"
    assert "y.backward()" in Markup(page).striptags()
    assert "4.0" not in Markup(page).striptags()
    assert "The run prints" in await give(browser, action_in(page), {"option": "4"})
    assert "is-resolved" in (await browser.get(CHAPTER)).text


async def test_the_chapter_keeps_showing_what_was_answered_there(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)
    await give(browser, NODES, {"number": "2"})

    block = (await browser.get(CHAPTER)).text.partition('id="how-many-nodes"')[2]

    assert block.startswith(' class="card question is-right"')


async def test_what_was_never_answered_cannot_be_reviewed(browser: httpx2.AsyncClient) -> None:
    """Else the page would tell the truth of a prediction before it is committed."""
    assert (await browser.post(NODES, data={"number": "1"})).status_code == 404
    await leave_work(browser)
    assert (await browser.post("/review/a-first-graph/double-use", data={"option": "4"})).status_code == 404


async def test_answers_in_review_are_their_learners_own(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    for one in (browser, stranger):
        await answer_in_chapter(one, "how-many-nodes", number="1")
    clock.pass_days(2)
    posted = await browser.post(NODES, data={"number": "1"})

    foreign = await stranger.get(posted.headers["location"])

    assert foreign.status_code == 404
    assert (await stranger.post(f"{posted.headers['location']}/rubric", data={})).status_code == 404


async def test_days_are_counted_in_the_zone_that_was_chosen(browser: httpx2.AsyncClient, clock: StoppedClock) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")

    assert (await browser.post("/review/zone", data={"zone": "Pacific/Kiritimati"})).status_code == 303

    assert "time zone Pacific/Kiritimati" in await read_review(browser)
    assert "time zone Pacific/Kiritimati" in (await browser.get("/me/calendar")).text
    assert (await browser.post("/review/zone", data={"zone": "Mars/Olympus"})).status_code == 422


async def test_a_card_whose_question_is_gone_is_neither_counted_nor_asked(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await leave_work(browser)
    gone = Answer("gone", QuestionResponse(("a",)), False, clock())
    await site.store.add_answer(await learner_of(browser), "a-first-graph", gone)
    clock.pass_days(1)

    page = await read_review(browser)

    assert (action_in(page), "nav-due" in page) == ("", False)
    assert "The next question comes tomorrow." in page


async def test_no_page_of_review_gives_an_answer_away_and_each_shows_it_after(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock, course: Course
) -> None:
    """Every question and prediction of the course, of every kind; a day asks five new ones at most."""
    await leave_work(browser)
    learner = await learner_of(browser)
    keys = {
        Key(chapter.slug, name)
        for chapter in course.chapters
        for name in (*chapter.index.questions, *chapter.index.predicts)
    }
    for key in sorted(keys, key=str):
        await site.store.add_answer(learner, key.chapter, Answer(key.question, QuestionResponse(), True, clock()))
    clock.pass_days(2)
    seen: set[Key] = set()
    for _ in range(12 * len(keys)):
        page = await read_review(browser)
        action = action_in(page)
        if not action:
            clock.pass_days(1)
            continue
        key = Key(*action.split("/")[2:])
        question = asked_question(course, key, draw_in(page))
        assert [text for text in truths_of(question) if text in plain(page)] == [], key
        assert 'class="option is-' not in page
        shown = await give(browser, action, {**draw_in(page), "say": "dont-know"})
        assert plain(question.answer) in plain(shown)
        assert [option.id for option in right_options(question) if plain(option.html) not in plain(shown)] == []
        seen.add(key)
        if seen == keys:
            break

    assert seen == keys


def asked_question(course: Course, key: Key, draw: Mapping[str, str]) -> Question:
    question = find_question(course, *key.parts)
    assert question
    drawn = question.find_draw(int(draw["draw"])) if draw else None
    return question.fill(drawn) if drawn else question


def right_options(question: Question) -> list[object]:
    return [option for option in question.options if option.right] if isinstance(question, Choice | Several) else []


def truths_of(question: Question) -> list[str]:
    """What may be read only after the answer."""
    told = [question.answer, *([question.otherwise] if isinstance(question, Order) else [])]
    if isinstance(question, Choice | Several):
        told += [option.feedback for option in question.options]
    return [plain(html) for html in told if plain(html)]


def plain(html: Html) -> str:
    return " ".join(Markup(html).striptags().split())


async def test_fresh_numbers_come_each_time(browser: httpx2.AsyncClient, site: Site, clock: StoppedClock) -> None:
    key = Key("a-second-look", "after-several-calls")
    await leave_work(browser)
    learner = await learner_of(browser)
    await site.store.add_answer(learner, key.chapter, Answer(key.question, QuestionResponse(), True, clock()))
    draws = []
    for _ in range(4):
        clock.pass_days(60)
        while action_in(page := await read_review(browser)) != f"/review/{key.chapter}/{key.question}":
            await give(browser, action_in(page), {**draw_in(page), "say": "dont-know"})
        draws.append(draw_in(page)["draw"])
        await give(browser, action_in(page), {**draw_in(page), "say": "dont-know"})

    assert len(set(draws)) == 4


async def test_options_change_places_from_one_time_to_the_next(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "why-four", option="two-equal-contributions-add-up")
    orders = set()
    for _ in range(12):
        clock.pass_days(1)
        page = await read_review(browser)
        if action_in(page):
            orders.add(tuple(re.findall(r'name="option" value="([^"]+)"', page)))
            await give(browser, WHY, {"say": "dont-know"})

    assert len(orders) == 2


@pytest.mark.parametrize("path", ["/review/answers/0", "/review/answers/999999"])
async def test_an_answer_that_is_not_there_is_not_found(browser: httpx2.AsyncClient, path: str) -> None:
    assert (await browser.get(path)).status_code == 404


async def test_ratings_are_stored_with_the_confidence(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    clock.pass_days(2)
    await give(browser, NODES, {"number": "1", "confidence": "guess"})

    chapter, review = (await site.store.history(await learner_of(browser), "a-first-graph")).answers

    assert (chapter.rating, chapter.confidence, chapter.in_review) == (Rating.Good, None, False)
    assert (review.rating, review.confidence, review.in_review) == (Rating.Hard, "guess", True)


async def test_a_chapter_and_the_map_say_when_its_questions_come_back(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock, course: Course
) -> None:
    await leave_work(browser)
    pages = [(await browser.get(path)).text for path in (CHAPTER, "/course", "/me", "/modules/start")]
    assert [page.count("Next review on Tuesday 3 March.") for page in pages] == [1, 1, 1, 1]
    learner = await learner_of(browser)
    for name in course.index.by_slug["a-first-graph"].index.questions:
        await site.store.add_answer(learner, "a-first-graph", Answer(name, QuestionResponse(), True, clock()))

    page = (await browser.get(CHAPTER)).text

    assert (
        "Next review on Tuesday 3 March. Remembered on Wednesday 29 April, if every answer until then is right."
        in page
    )
    clock.pass_days(9)
    assert "Next review today." in (await browser.get("/course")).text


async def test_what_the_learners_words_were_worth_is_said_before_a_question_and_on_their_page(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    """Practice does not count, because the truth was shown before it."""
    await answer_in_chapter(browser, "how-many-nodes", number="1")
    learner = await learner_of(browser)
    for number in range(19):
        said = Answer("how-many-nodes", QuestionResponse(), number > 0, clock(), confidence="certain", in_review=True)
        await site.store.add_answer(learner, "a-first-graph", said)
    clock.pass_days(90)
    assert "so far certain 18 of 19 right." in await read_review(browser)
    assert "calibration-right" not in (await browser.get("/me")).text

    await give(browser, NODES, {"number": "2", "confidence": "certain"})
    await give(browser, NODES, {"number": "1", "confidence": "guess"})

    mine = (await browser.get("/me")).text
    assert "calibration-right" in mine
    assert "you are right 90 % of the time (70 to 97 %), which fits the 95 %" in mine
    assert "A guess</th>" not in mine


async def test_what_is_more_than_a_day_may_ask_can_wait(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock, course: Course
) -> None:
    """Eight questions are due for the first time, and a day asks five of them."""
    await leave_work(browser)
    learner = await learner_of(browser)
    for name in list(course.index.by_slug["a-second-look"].index.questions)[:7]:
        await site.store.add_answer(learner, "a-second-look", Answer(name, QuestionResponse(), True, clock()))
    clock.pass_days(4)
    for _ in range(NEW_A_DAY * PRACTICE_TRIES):
        page = await read_review(browser)
        if action_in(page):
            await give(browser, action_in(page), {**draw_in(page), "say": "dont-know"})

    end = await read_review(browser)
    assert "0 of 5 right at once" in end
    assert "3 more can wait" in end
