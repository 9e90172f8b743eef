"""Comments on a submission: the learner reads them, each writer changes their own, and nobody else sees any."""

import re

import httpx2
import pytest
from handing_in import EXERCISE, LOOPS, WRONG, hand_in, make_class, staff
from people import make_account, sign_in
from sqlalchemy import select

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.records import Account, SectionId
from app.storage.statements import fetch
from app.storage.tables import audit
from app.web.edge.site import Site
from app.web.views.comments import MAX_CHARACTERS
from graders.contract.model import SubmissionId

Class = tuple[SectionId, dict[str, Account], SubmissionId]


@pytest.fixture
async def spring(site: Site) -> Class:
    """Ada and Bob are learners, Tess and Uri staff; Ada handed in."""
    section, people = await make_class(site, "Ada", "Bob")
    people |= {"Tess": await staff(site, section, "Tess"), "Uri": await staff(site, section, "Uri", Role.ASSISTANT)}
    return section, people, await hand_in(site, people["Ada"], LOOPS)


async def comment(browser: httpx2.AsyncClient, spring: Class, text: str, line: str = "") -> httpx2.Response:
    section, _, submission = spring
    form = {"text": text, "line": line}
    return await browser.post(f"/desk/{section}/submissions/{submission}/comments", data=form)


def actor(site: Site, account: Account) -> Actor:
    return Actor(account.id, site.clock())


def main_of(page: str) -> str:
    return page.partition("<main")[2].partition("</main>")[0]


async def test_the_learner_finds_a_comment_that_is_new_until_they_have_read_it(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    _, _, submission = spring
    mine = f"/exercises/{EXERCISE}/submissions/{submission}"
    await sign_in(browser, "Tess")
    await sign_in(stranger, "Ada")
    assert (await comment(browser, spring, "Both branches do *the same*.", "5")).status_code == 303

    assert "1 new comment</a>" in (await stranger.get("/course")).text
    assert f'href="{mine}#comments">1 new comment</a>' in (await stranger.get(f"/exercises/{EXERCISE}")).text
    assert f'href="{mine}#comment-1"' in (await stranger.get("/me/comments")).text
    first, second = [(await stranger.get(mine)).text for _ in range(2)]

    assert "Both branches do <em>the same</em>." in first
    assert "Line 5: " in first
    assert "Tess" in first
    assert '<span class="tag">new</span>' in first
    assert '<span class="tag">new</span>' not in second
    assert "new comment" not in (await stranger.get("/course")).text
    assert "not seen yet" not in (await browser.get(f"/desk/{spring[0]}/submissions/{submission}")).text


async def test_nobody_else_reads_or_writes_it(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    section, people, submission = spring
    foreign, _ = await make_class(site, "Cyd", title="Autumn")
    await staff(site, foreign, "Vic")
    await sign_in(browser, "Tess")
    await comment(browser, spring, "Only for Ada.")

    for name in ("Bob", "Vic"):
        await sign_in(stranger, name)
        for where in (section, foreign):
            base = f"/desk/{where}/submissions/{submission}"
            for method, address in (("GET", base), ("POST", f"{base}/comments"), ("POST", f"{base}/comments/1")):
                sent = {"text": "x"} if method == "POST" else None
                assert (await stranger.request(method, address, data=sent)).status_code in (403, 404)
        assert (await stranger.get(f"/exercises/{EXERCISE}/submissions/{submission}")).status_code == 404
        assert "Only for Ada" not in (await stranger.get("/me/comments")).text
    found = await site.store.comments.of_learner(people["Ada"].learner)
    assert [one.text for one in found] == ["Only for Ada."]


async def test_staff_of_another_section_of_the_same_learner_read_only_their_own(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    _, people, submission = spring
    autumn, _ = await make_class(site, title="Autumn")
    await site.store.sections.invite(autumn, "Ada", Role.LEARNER, actor(site, people["Ada"]))
    await site.store.sections.accept(autumn, actor(site, people["Ada"]))
    await staff(site, autumn, "Vic")
    await sign_in(browser, "Tess")
    await comment(browser, spring, "From spring.")
    await sign_in(stranger, "Vic")

    assert "From spring." not in (await stranger.get(f"/desk/{autumn}/submissions/{submission}")).text
    edited = await stranger.post(f"/desk/{autumn}/submissions/{submission}/comments/1", data={"text": "x"})
    assert edited.status_code == 404


async def test_a_writer_changes_and_deletes_their_own_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    section, people, submission = spring
    base = f"/desk/{section}/submissions/{submission}"
    await sign_in(browser, "Tess")
    await sign_in(stranger, "Uri")
    await comment(browser, spring, "First words.")

    others = (await stranger.get(base)).text
    assert "First words." in others
    assert f"{base}/comments/1" not in others
    assert (await stranger.post(f"{base}/comments/1", data={"text": "Mine now."})).status_code == 404
    assert (await stranger.post(f"{base}/comments/1/delete")).status_code == 404
    assert (await browser.post(f"{base}/comments/1", data={"text": "Second words."})).status_code == 303
    assert "Second words." in (await stranger.get(base)).text
    assert (await browser.post(f"{base}/comments/1/delete")).status_code == 303
    assert await site.store.comments.of_section(section, submission) == ()

    query = select(audit.c.verb, audit.c.object).where(audit.c.verb.like("%comment%")).order_by(audit.c.number)
    lines = [(row.verb, row.object) for row in await site.ledger.database.read(fetch, query)]
    verbs = ("comment on a submission", "edit a comment", "delete a comment")
    assert lines == [(verb, people["Ada"].id) for verb in verbs]


async def test_the_same_form_sent_twice_adds_one_comment(
    browser: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    await sign_in(browser, "Tess")

    answers = [await comment(browser, spring, "Look here.", line) for line in ("2", "2", "3", "", "")]

    assert {answer.status_code for answer in answers} == {303}
    kept = await site.store.comments.of_section(spring[0], spring[2])
    assert [(one.line, one.text) for one in kept] == [(None, "Look here."), (2, "Look here."), (3, "Look here.")]


async def test_an_edited_comment_is_new_again(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    section, people, submission = spring
    await sign_in(browser, "Tess")
    await comment(browser, spring, "First words.")
    await site.store.comments.mark_read(people["Ada"].learner, submission, site.clock())
    assert await site.store.comments.count_unread(people["Ada"].learner) == {}

    await browser.post(f"/desk/{section}/submissions/{submission}/comments/1", data={"text": "Other words."})

    assert await site.store.comments.count_unread(people["Ada"].learner) == {submission: 1}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", "", "is empty"),
        ("  \n ", "", "is empty"),
        ("x" * (MAX_CHARACTERS + 1), "", f"at most {MAX_CHARACTERS}"),
        ("Here.", "0", "no line “0”"),
        ("Here.", "10", "no line “10”"),
        ("Here.", "-1", "no line “-1”"),
        ("Here.", "³", "no line “³”"),
        ("Here.", "9" * 19, "no line “999"),
    ],
)
async def test_what_cannot_be_stored_comes_back_in_the_form(
    browser: httpx2.AsyncClient, site: Site, spring: Class, text: str, line: str, says: str
) -> None:
    await sign_in(browser, "Tess")

    answer = await comment(browser, spring, text, line)

    assert answer.status_code == 422
    assert says in answer.text
    assert text.strip() in answer.text
    assert await site.store.comments.of_section(spring[0], spring[2]) == ()


async def test_markup_of_a_comment_s_own_is_text(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, spring: Class
) -> None:
    await sign_in(browser, "Tess")
    await sign_in(stranger, "Ada")
    await comment(browser, spring, '<script>alert(1)</script> <b>x</b> [a](javascript:alert(1)) ![p](/x.png) "q"')

    page = main_of((await stranger.get(f"/exercises/{EXERCISE}/submissions/{spring[2]}")).text)
    said = page.partition('class="comments"')[2].partition("</section>")[0]

    assert "&lt;script&gt;" in said
    assert not re.search(r"<(script|b|img)\b|href=\"javascript", said)


async def test_a_number_that_no_comment_can_have_is_not_found(
    browser: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    await sign_in(browser, "Tess")

    for number in ("0", "-1", str(2**31), str(2**63)):
        address = f"/desk/{spring[0]}/submissions/{spring[2]}/comments/{number}"
        assert (await browser.post(address, data={"text": "x"})).status_code == 404
        assert (await browser.post(f"{address}/delete")).status_code == 404


async def test_comments_go_with_their_learner_and_stay_without_their_writer(
    browser: httpx2.AsyncClient, site: Site, spring: Class
) -> None:
    section, people, submission = spring
    other = await hand_in(site, people["Bob"], WRONG)
    await sign_in(browser, "Uri")
    await comment(browser, spring, "To Ada.")
    await browser.post(f"/desk/{section}/submissions/{other}/comments", data={"text": "To Bob."})
    exported = (await site.store.export(people["Ada"].learner))["comments"]
    assert [(row["text"], row["submission"]) for row in exported] == [("To Ada.", submission)]
    assert people["Uri"].id not in str(exported)
    assert len((await site.store.export(people["Uri"].learner))["comments"]) == 2

    await site.store.forget(people["Uri"].learner)
    (left,) = await site.store.comments.of_section(section, submission)
    assert (left.text, left.writer, left.writer_name) == ("To Ada.", None, "a former member of the staff")

    await site.store.forget(people["Ada"].learner)
    assert await site.store.comments.of_section(section, submission) == ()
    assert len(await site.store.comments.of_section(section, other)) == 1


async def test_nothing_is_said_in_an_archived_section(browser: httpx2.AsyncClient, site: Site, spring: Class) -> None:
    section, people, submission = spring
    await sign_in(browser, "Tess")
    await comment(browser, spring, "Before.")
    await site.store.sections.archive(section, actor(site, people["Tess"]))

    page = (await browser.get(f"/desk/{section}/submissions/{submission}")).text

    assert "Before." in page
    assert "/comments" not in main_of(page)
    assert (await comment(browser, spring, "After.")).status_code == 409


async def test_a_person_who_has_no_account_has_no_comments(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")

    assert "None yet" in (await browser.get("/me/comments")).text
