"""The gradebook: every grade computed from what was handed in, explained, and overridden only with a reason."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from class_parts import TEACHER, Class, exercise, make_class
from people import make_account, sign_in, somebody

from app.access.permissions import Role
from app.learning.grading import Allowance, Credit, Kind
from app.storage.audit import AuditFilter, read_lines
from app.web.desk.gradebook import SHOWN
from app.web.edge.site import Site


@pytest.fixture
async def class_(site: Site) -> Class:
    return await make_class(site)


def read_cells(page: str) -> list[list[str]]:
    """The lines of the table: name, total, and each grade, without tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


async def open_page(browser: httpx2.AsyncClient, class_: Class, path: str = "") -> str:
    answer = await browser.get(f"/desk/{class_.section}/gradebook{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_the_table_has_each_learner_s_grades_computed_with_marks_and_totals(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    ada, bea = await class_.enrol("Ada"), await class_.enrol("Bea")
    # The ledger's clock is the machine's, so the deadline is set by it.
    due = datetime.now(UTC) - timedelta(hours=30)
    double, pull = await class_.assign(
        exercise("double", credit=Credit.SHARE), exercise("pull-back", 5, due_at=due, late_percent_a_day=10)
    )
    await class_.assign(replace(exercise("early-meetings"), published=False))
    await class_.hand_in(ada, "double", "key-0001", 3)
    await class_.hand_in(bea, "pull-back", "key-0002", 4)
    await class_.site.store.assignments.grant(
        class_.section, double.id, bea.id, Allowance(excused=True, reason="ill"), somebody(class_.site)
    )
    await sign_in(browser, TEACHER)

    page = await open_page(browser, class_)

    assert read_cells(page) == [["Ada", "7.5 of 10", "7.5", "–"], ["Bea", "4 of 5", "EX", "4 late"]]
    assert read_cells(await open_page(browser, class_, "?whole=true"))[1] == ["Bea", "4 of 5", "EX", "4 L"]
    assert "1 assignment is not published" in page
    assert pull.title in page


async def test_a_page_has_fifty_learners_and_an_order_by_total_has_the_best_first(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    people = [await class_.enrol(f"Learner {number:03}") for number in range(SHOWN + 3)]
    await class_.assign(exercise("double"))
    await class_.hand_in(people[-1], "double", "key-0001", 4)
    await sign_in(browser, TEACHER)

    first, second = await open_page(browser, class_), await open_page(browser, class_, "?page=2")
    best = await open_page(browser, class_, "?sort=total")
    whole = await open_page(browser, class_, "?whole=true")

    assert [len(read_cells(page)) for page in (first, second, best, whole)] == [SHOWN, 3, SHOWN, SHOWN + 3]
    assert (read_cells(first)[0][0], read_cells(second)[0][0]) == ("Learner 000", f"Learner {SHOWN:03}")
    assert [line[0] for line in read_cells(best)[:2]] == [f"Learner {SHOWN + 2:03}", "Learner 000"]


async def test_a_grade_is_explained_and_overridden_with_a_reason_that_stays_in_its_history(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    ada = await class_.enrol("Ada")
    (double,) = await class_.assign(exercise("double", credit=Credit.SHARE))
    await class_.hand_in(ada, "double", "key-0001", 1)
    await class_.hand_in(ada, "double", "key-0002", 3)
    await sign_in(browser, TEACHER)
    address = f"/desk/{class_.section}/gradebook/{double.id}/{ada.id}"

    before = (await browser.get(address)).text
    answers = [
        await browser.post(f"{address}/override", data={"act": "set", "points": points, "reason": reason})
        for points, reason in (("nine", "why"), ("11", ""), ("-1", "why"), ("nan", "why"), ("9,5", "It was a draw."))
    ]
    after = (await browser.get(address)).text
    cells = read_cells(await open_page(browser, class_))
    withdrawn = await browser.post(f"{address}/override", data={"act": "withdraw", "reason": "A mistake."})
    again = await browser.post(f"{address}/override", data={"act": "withdraw", "reason": "A mistake."})
    last = (await browser.get(address)).text

    assert "75 % of the cases" in before
    assert f'href="/desk/{class_.section}/assignments/{double.id}#allowances"' in before
    assert "(this is the grade)" in before
    assert [answer.status_code for answer in answers] == [422, 422, 422, 422, 303]
    assert "Set by the teaching staff to 9.5" in after
    assert cells == [["Ada", "9.5 of 10", "9.5 set"]]
    assert (withdrawn.status_code, again.status_code) == (303, 422)
    assert "Set to 9.5" in last
    assert "It was a draw." in last
    assert "Withdrawn" in last
    assert "<strong>7.5</strong> of 10" in last


async def test_predictions_have_no_limit_of_attempts_to_explain(browser: httpx2.AsyncClient, class_: Class) -> None:
    ada = await class_.enrol("Ada")
    asked = replace(exercise("a-first-graph", attempts=3), kind=Kind.PREDICTIONS)
    predictions, double = await class_.assign(asked, exercise("double", attempts=3))
    await sign_in(browser, TEACHER)

    pages = [await open_page(browser, class_, f"/{one.id}/{ada.id}") for one in (predictions, double)]

    assert ["Attempts that count" in page for page in pages] == [False, True]


async def test_an_override_is_in_the_audit_with_before_after_and_reason(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    ada = await class_.enrol("Ada")
    (double,) = await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)

    for points in ("9", "10", "10"):
        form = {"act": "set", "points": points, "reason": "why"}
        await browser.post(f"/desk/{class_.section}/gradebook/{double.id}/{ada.id}/override", data=form)

    lines = await class_.site.ledger.database.read(read_lines, AuditFilter(class_.section))
    line = lines[0]
    assert [one.verb for one in lines].count("override a grade") == 2, "the same form, sent twice, decides once"
    assert (line.actor, line.verb, line.object) == (TEACHER, "override a grade", "Ada")
    assert (line.before, line.after, line.reason) == (
        f"{double.title}: 9",
        f"{double.title}: 10",
        "why",
    )


async def test_another_section_s_assignment_or_learner_is_not_found(
    browser: httpx2.AsyncClient, site: Site, class_: Class
) -> None:
    other = await make_class(site, "Another", teacher="")
    mine, theirs = await class_.enrol("Ada"), await other.enrol("Bea")
    (double,) = await class_.assign(exercise("double"))
    (foreign,) = await other.assign(exercise("double"))
    outsider = await make_account(site, "Cy")
    await sign_in(browser, TEACHER)

    for assignment, account in ((foreign.id, mine.id), (double.id, theirs.id), (double.id, outsider.id)):
        address = f"/desk/{class_.section}/gradebook/{assignment}/{account}"
        form = {"act": "set", "points": "1", "reason": "why"}
        assert (await browser.get(address)).status_code == 404
        assert (await browser.post(f"{address}/override", data=form)).status_code == 404
    assert (await browser.get(f"/desk/{other.section}/gradebook")).status_code == 404


async def test_an_assistant_reads_and_does_not_decide(browser: httpx2.AsyncClient, class_: Class) -> None:
    await class_.enrol("Tina", Role.ASSISTANT)
    ada = await class_.enrol("Ada")
    (double,) = await class_.assign(exercise("double"))
    await sign_in(browser, "Tina")
    address = f"/desk/{class_.section}/gradebook/{double.id}/{ada.id}"

    page = await browser.get(address)
    answer = await browser.post(f"{address}/override", data={"act": "set", "points": "1", "reason": "why"})

    assert page.status_code == 200
    assert '<form class="account-form"' not in page.text
    assert answer.status_code == 403


async def test_learners_whom_the_roster_does_not_know_are_counted_while_it_has_lines_left(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    bea = await class_.enrol("Bea")
    await class_.enrol("Cem")
    await class_.assign(exercise("double"))
    rosters = class_.site.store.rosters
    await sign_in(browser, TEACHER)
    without = await open_page(browser, class_)

    listed = {"text": "name,student number\nBea Bold,17\nDot Deer,18\n"}
    assert (await browser.post(f"/desk/{class_.section}/roster/apply", data=listed)).status_code == 200
    line = next(one.id for one in await rosters.lines(class_.section) if one.entry.name == "Bea Bold")
    form = {"line": line, "account": bea.id}
    assert (await browser.post(f"/desk/{class_.section}/roster/account", data=form)).status_code == 303
    matched = await open_page(browser, class_)

    assert "nobody on the roster" not in without
    assert "1 person on the roster has not joined yet" in matched
    assert "1 learner is nobody on the roster yet" in matched
    assert f'href="/desk/{class_.section}/roster#roster-links"' in matched


@pytest.mark.parametrize(("assigned", "says"), [(True, "Nobody has joined yet"), (False, "Nothing is assigned yet")])
async def test_an_empty_gradebook_says_what_to_do_next(
    browser: httpx2.AsyncClient, class_: Class, assigned: bool, says: str
) -> None:
    if assigned:
        await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)

    assert says in await open_page(browser, class_)


async def test_a_deadline_is_shown_on_the_reader_s_own_clock_too(browser: httpx2.AsyncClient, class_: Class) -> None:
    ada = await class_.enrol("Ada")
    due = datetime(2026, 12, 4, 17, tzinfo=UTC)
    (double,) = await class_.assign(exercise("double", due_at=due))
    await class_.site.store.review_cards.set_zone(class_.learners[TEACHER].learner, "Asia/Tokyo")
    await sign_in(browser, TEACHER)

    page = await open_page(browser, class_, f"/{double.id}/{ada.id}")

    assert "Fri 4 Dec 2026 17:00 (UTC), for you Sat 5 Dec 2026 02:00 (Asia/Tokyo)" in page
