"""A lab's ranking: a learner sees their own bests by number, and those of their section without a name."""

import re

import httpx2
from class_parts import Class, make_class
from people import sign_in

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.records import Account
from app.web.edge.site import Site
from graders.contract.chart import HELD
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName
from graders.contract.results import CaseResult, Measure, MeasuredBy, Outcome, Verdict

LAB = "pull-back"
PAGE = f"/exercises/{LAB}"


def make_verdict(held: float, outcome: Outcome = Outcome.PASSED) -> Verdict:
    """Of a program that held so much of 100 units in its only public case."""
    measure = Measure(name=HELD, value=held, unit="units", measured_by=MeasuredBy.JUDGE, most=100)
    case = CaseResult(name="a chain", idea="", passed=True, public=True, measures=(measure,))
    return Verdict(outcome=outcome, exercise=ExerciseName(LAB), cases=(case,), cases_total=1)


async def hand_in(site: Site, account: Account, *verdicts: Verdict, key: str = "first") -> None:
    for number, verdict in enumerate(verdicts):
        job = GradeJob(exercise=ExerciseName(LAB), source=f"# {number}")
        accepted = await site.ledger.submit(account.learner, f"{account.name} {key} {number}", job)
        claim = await site.ledger.claim(accepted.id, "w1")
        assert claim is not None
        assert await site.ledger.finish(claim, verdict)


async def make_rivals(site: Site, held: dict[str, float]) -> Class:
    """A section in which each of these learners has passed once."""
    made = await make_class(site)
    for name, units in held.items():
        await hand_in(site, await made.enrol(name), make_verdict(units))
    return made


async def test_ones_own_bests_are_listed_with_the_least_share_first(site: Site, browser: httpx2.AsyncClient) -> None:
    made = await make_class(site)
    over = make_verdict(20, Outcome.OVER_BUDGET)
    await hand_in(site, await made.enrol("Lea"), make_verdict(97), over, make_verdict(90.41))
    await sign_in(browser, "Lea")
    page = (await browser.get(PAGE)).text
    first, second = page.index("90.4 %"), page.index("97.0 %")
    assert page.index("number 3, ", page.index("ranking-title")) < first < second
    assert "20.0 %" not in page


async def test_a_section_is_ranked_by_everybodys_best_and_without_names(
    site: Site, browser: httpx2.AsyncClient
) -> None:
    made = await make_rivals(site, {"Adalbert": 92, "Bogumil": 89.5, "Cyprian": 96})
    await hand_in(site, await made.enrol("Lea"), make_verdict(99), make_verdict(92))
    await hand_in(site, made.learners["Cyprian"], make_verdict(90), key="again")
    await sign_in(browser, "Lea")
    page = (await browser.get(PAGE)).text
    row = r'<td class="align-right">(\d+)</td><td>(?:<strong>)?([a-z ]+)(?:</strong>)?</td><td[^>]*>([^<]+)</td>'
    assert re.findall(row, page) == [
        ("1", "another learner", "89.5 %"),
        ("2", "another learner", "90.0 %"),
        ("3", "you", "92.0 %"),
        ("3", "another learner", "92.0 %"),
    ]
    assert not [name for name in ("Adalbert", "Bogumil", "Cyprian") if name in page]


async def test_nobody_elses_result_shows_while_fewer_than_three_others_have_passed(
    site: Site, browser: httpx2.AsyncClient
) -> None:
    made = await make_rivals(site, {"Adalbert": 91.5, "Bogumil": 88.5})
    await hand_in(site, await made.enrol("Lea"), make_verdict(95))
    await sign_in(browser, "Lea")
    page = (await browser.get(PAGE)).text
    assert "95.0 %" in page
    assert "at least 3 of them have passed" in page
    assert "91.5 %" not in page
    assert "88.5 %" not in page


async def test_staff_people_who_left_and_other_sections_are_not_ranked(
    site: Site, browser: httpx2.AsyncClient
) -> None:
    made = await make_rivals(site, {"Adalbert": 91, "Bogumil": 92, "Cyprian": 93, "Dorothea": 88.8})
    await hand_in(site, await made.enrol("Assistant", Role.ASSISTANT), make_verdict(77.7))
    other = await make_class(site, "Another", teacher="")
    await hand_in(site, await other.enrol("Eve"), make_verdict(66.6))
    dee = made.learners["Dorothea"]
    await site.store.sections.leave(made.section, Actor(dee.id, site.clock()))
    await made.enrol("Lea")
    await sign_in(browser, "Lea")
    page = (await browser.get(PAGE)).text
    assert "91.0 %" in page
    assert not [share for share in ("88.8 %", "77.7 %", "66.6 %") if share in page]


async def test_a_reader_without_an_account_sees_no_section(site: Site, browser: httpx2.AsyncClient) -> None:
    await make_rivals(site, {"Adalbert": 91, "Bogumil": 92, "Cyprian": 93})
    page = (await browser.get(PAGE)).text
    assert "None of yours has passed yet." in page
    assert "91.0 %" not in page


async def test_an_exercise_without_a_ranking_shows_none(browser: httpx2.AsyncClient) -> None:
    assert "ranking-title" not in (await browser.get("/exercises/double")).text
