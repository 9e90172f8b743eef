"""The bank lists every exercise, filters by plain links, and counts what each filter would show."""

import re
from dataclasses import replace

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker

from app.course.model import Course
from app.web.pages.problems import list_entries, recommend, show_bank
from app.web.views.presenting import ExerciseProgress
from graders.contract.results import Outcome, Verdict

TITLES = {"double": "Double a number", "early-meetings": "Every meeting ends too early", "pull-back": "Pull back"}


def shown(page: str) -> list[str]:
    return re.findall(r'class="exercise-title"><a href="/exercises/([a-z-]+)"', page)


def options(
    course: Course, progress: dict[str, ExerciseProgress], **wanted: str
) -> dict[str, dict[str, tuple[int, bool]]]:
    bank = show_bank(course, list_entries(course, progress), wanted)
    return {
        each.name: {option.label: (option.count, option.chosen) for option in each.options} for each in bank.filters
    }


async def test_every_exercise_is_listed_by_chapter_then_difficulty(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/problems")).text

    assert shown(page) == ["double", "early-meetings", "pull-back"]
    assert "All 3 exercises, about 14 minutes." in page
    assert 'In <a href="/chapters/a-second-look"' in page
    assert '<a href="/problems" aria-current="page">Problems</a>' in page


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("set=two-of-three", ["early-meetings", "pull-back"]),
        ("set=no-such-set", []),
        ("kind=bug-hunt", ["early-meetings"]),
        ("difficulty=first+steps", ["double", "early-meetings"]),
        ("difficulty=first+steps&kind=bug-hunt", ["early-meetings"]),
        ("concept=recording", ["pull-back"]),
        ("state=not+tried+yet", ["double", "early-meetings", "pull-back"]),
        ("state=passed", []),
        ("minutes=up+to+15+minutes", ["double", "early-meetings", "pull-back"]),
        ("minutes=over+25+minutes", []),
        ("state=recommended", ["double", "early-meetings"]),
        ("kind=", ["double", "early-meetings", "pull-back"]),
        ("kind=nonsense", []),
    ],
)
async def test_a_filter_is_a_plain_link(browser: httpx2.AsyncClient, query: str, names: list[str]) -> None:
    page = (await browser.get(f"/problems?{query}")).text

    assert shown(page) == names
    assert ("No exercise matches all these filters." in page) is (names == [])


def test_each_filter_counts_what_it_would_show(course: Course) -> None:
    mine = {"double": ExerciseProgress(2, passed=True), "pull-back": ExerciseProgress(1)}

    found = options(course, mine, difficulty="first steps")

    assert found["Yours"] == {
        "all": (2, True),
        "recommended": (1, False),
        "not tried yet": (1, False),
        "tried": (0, False),
        "passed": (1, False),
    }
    assert found["Difficulty"] == {"all": (3, False), "easy": (2, True), "hard": (1, False)}
    assert found["Kind"] == {
        "all": (2, True),
        "bug-hunt": (1, False),
        "checkpointing lab": (0, False),
        "from scratch": (1, False),
    }


@pytest.mark.parametrize(
    ("progress", "names"),
    [
        ({}, {"double", "early-meetings"}),
        ({"pull-back": ExerciseProgress(1)}, {"pull-back"}),
        ({"double": ExerciseProgress(1, passed=True)}, {"early-meetings"}),
        ({"pull-back": ExerciseProgress(1, passed=True)}, set()),
    ],
    ids=["what is easy first", "what was tried", "more of what has passed", "nothing else on that concept"],
)
def test_what_is_recommended_follows_from_what_was_done(
    course: Course, progress: dict[str, ExerciseProgress], names: set[str]
) -> None:
    assert recommend(course, progress) == names


async def test_an_exercise_leads_to_the_most_alike_and_to_what_practises_its_concepts(
    browser: httpx2.AsyncClient,
) -> None:
    double, alone = [(await browser.get(f"/exercises/{name}")).text for name in ("double", "pull-back")]

    assert 'A problem like this one: <a href="/exercises/early-meetings">' in double
    assert '<a href="/problems?concept=accumulation">' in double
    assert "A problem like this one" not in alone


def test_a_concept_is_named_in_a_few_words(course: Course) -> None:
    named = options(course, {})["What it practises"]

    assert set(named) == {"all", "recording", "accumulation"}


def test_a_filter_keeps_the_others_in_its_link(course: Course) -> None:
    bank = show_bank(course, list_entries(course, {}), {"difficulty": "deep", "kind": "bug-hunt"})

    hrefs = {option.label: option.href for each in bank.filters if each.name == "Kind" for option in each.options}

    assert hrefs["all"] == "/problems?difficulty=deep"
    assert hrefs["checkpointing lab"] == "/problems?difficulty=deep&kind=checkpointing+lab"


async def test_the_cards_say_how_the_learner_stands(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    for number, (name, outcome) in enumerate(
        [("double", Outcome.PASSED), ("pull-back", Outcome.WRONG_ANSWER), ("pull-back", Outcome.GRADER_FAULT)]
    ):
        worker.end = lambda _, name=name, outcome=outcome: Verdict(outcome=outcome, exercise=name)
        sent = {"source": "x", "idempotency_key": f"token-number-{number}"}
        accepted = (await browser.post(f"/api/exercises/{name}/submissions", json=sent)).json()
        await browser.get(accepted["events"])

    passed, tried, new = [
        (await browser.get(f"/problems?state={state}")).text for state in ("passed", "tried", "not+tried+yet")
    ]

    assert (shown(passed), shown(tried), shown(new)) == (["double"], ["pull-back"], ["early-meetings"])
    assert "tried 1 time" in tried


async def test_the_bank_alone_comes_as_a_fragment(browser: httpx2.AsyncClient) -> None:
    fragment = (await browser.get("/problems?kind=bug-hunt", headers=FRAGMENT)).text

    assert fragment.lstrip().startswith("<uw-bank")
    assert shown(fragment) == ["early-meetings"]


async def test_a_filter_with_markup_is_text(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/problems", params={"kind": '"><script>alert(1)</script>'})).text

    assert "<script>alert" not in page


def test_a_course_without_exercises_has_an_empty_bank(course: Course) -> None:
    bank = show_bank(course, list_entries(replace(course, exercises={}), {}), {})

    assert (bank.total, bank.cards) == (0, ())
