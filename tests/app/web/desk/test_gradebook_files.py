"""The gradebook as files: what Canvas exported comes back with its own ids, and each download is audited."""

import csv
import io
import json

import httpx2
import pytest
from class_parts import TEACHER, Class, exercise, make_class
from people import sign_in, somebody
from site_parts import StoppedClock
from sqlalchemy import Connection, insert

from app.storage.audit import AuditFilter, read_lines
from app.storage.gradebook import PlatformIds
from app.storage.records import Account, SectionId
from app.storage.tables import roster
from app.web.edge.site import Site


@pytest.fixture
async def class_(site: Site) -> Class:
    return await make_class(site)


def _name(connection: Connection, section: SectionId, account: Account, name: str, number: str) -> None:
    row = {"id": number.rjust(32, "0"), "section": section, "account": account.id, "name": name, "source": "csv"}
    more = {"student_number": number, "login": name.split()[0].lower(), "email": "", "added_at": 0.0}
    connection.execute(insert(roster).values(row | more))


async def name(class_: Class, account: Account, name: str, number: str) -> None:
    """Put the account's person on the roster."""
    await class_.site.ledger.database.write(_name, class_.section, account, name, number)


async def fetch(browser: httpx2.AsyncClient, class_: Class, dialect: str) -> list[list[str]]:
    answer = await browser.get(f"/desk/{class_.section}/gradebook/download?for={dialect}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="ml-101-{dialect}.csv"'
    return list(csv.reader(io.StringIO(answer.text, newline="")))


async def test_grades_go_to_canvas_under_the_ids_of_its_own_export(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    ada = await class_.enrol("ada-l")
    await name(class_, ada, "Ada Quill", "0042")
    await class_.assign(exercise("double"))
    await class_.hand_in(ada, "double", "key-0001", 4)
    await sign_in(browser, TEACHER)
    exported = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Exercise double (7001),Essay (7002)\n"
        "    Points Possible,,,,,10,5\n"
        '"Quill, Ada",88,0042,ada,ML 101,,\n"Gone, Gus",99,0099,gus,ML 101,,\n'
    )

    before = await fetch(browser, class_, "canvas")
    answer = await browser.post(f"/desk/{class_.section}/gradebook/files", files={"file": ("g.csv", exported)})
    after = await fetch(browser, class_, "canvas")

    assert before[0][5:] == ["Exercise double"]
    assert "Kept the ids of people: 1, of assignments: 1." in answer.text
    assert "not on the roster: 1; columns that are no assignment here: 1." in answer.text
    assert "Gone, Gus" in answer.text
    assert "Essay" in answer.text
    assert after == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Exercise double (7001)"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Ada Quill", "88", "0042", "ada", "ML 101", "10"],
    ]


async def test_the_ids_of_people_who_have_not_joined_yet_are_kept_for_when_they_do(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    bea = await class_.enrol("bea-b")
    await class_.assign(exercise("double"))
    await class_.hand_in(bea, "double", "key-0001", 4)
    await sign_in(browser, TEACHER)
    base = f"/desk/{class_.section}"
    await browser.post(f"{base}/roster/apply", data={"text": "name,student number\nBea Bold,0017\n"})
    exported = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Exercise double (7001)\n"
        '    Points Possible,,,,,10\n"Bold, Bea",99,0017,bea,ML 101,\n'
    )

    await browser.post(f"{base}/gradebook/files", files={"file": ("g.csv", exported)})
    (line,) = await class_.site.store.rosters.lines(class_.section)
    await browser.post(f"{base}/roster/account", data={"line": line.id, "account": bea.id})

    assert (await fetch(browser, class_, "canvas"))[2] == ["Bea Bold", "99", "0017", "", "ML 101", "10"]


async def test_each_download_is_audited_and_says_how_many_people_left(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    await class_.enrol("Ada")
    await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)

    answer = await browser.get(f"/desk/{class_.section}/gradebook/download?for=json")

    assert json.loads(answer.text)["people"][0]["grades"][0]["why"] == "Nothing handed in yet."
    line = (await class_.site.ledger.database.read(read_lines, AuditFilter(class_.section)))[0]
    assert (line.actor, line.verb, line.after) == (TEACHER, "download the gradebook", "1 people, for json")


async def test_a_download_needs_a_recent_sign_in(
    browser: httpx2.AsyncClient, class_: Class, clock: StoppedClock
) -> None:
    await sign_in(browser, TEACHER)
    clock.pass_days(1 / 48)

    answer = await browser.get(f"/desk/{class_.section}/gradebook/download?for=plain")

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=")


async def test_the_page_says_what_each_file_leaves_out(browser: httpx2.AsyncClient, class_: Class) -> None:
    await class_.enrol("Ada")
    await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)

    page = (await browser.get(f"/desk/{class_.section}/gradebook/files")).text

    assert "Exercise double: nobody has a grade yet" in page
    assert "Ada: no login, address or number on the roster" in page


async def test_a_file_that_is_no_gradebook_is_refused_in_words(browser: httpx2.AsyncClient, class_: Class) -> None:
    await sign_in(browser, TEACHER)

    answer = await browser.post(f"/desk/{class_.section}/gradebook/files", files={"file": ("g.csv", "a,b\n1,2\n")})

    assert answer.status_code == 422
    assert "neither Canvas" in answer.text


async def test_ids_are_kept_for_the_section_s_own_people_and_assignments_alone(site: Site, class_: Class) -> None:
    other = await make_class(site, "Another", teacher="")
    (double,) = await other.assign(exercise("double"))

    await site.store.gradebook.keep_ids(class_.section, PlatformIds("canvas", {}, {double.id: "7"}), somebody(site))

    assert await site.store.gradebook.columns(other.section) == {}
