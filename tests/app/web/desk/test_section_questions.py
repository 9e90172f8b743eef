"""Asking about a place of the course: the form, who is shown as whom, what is withheld, and the desk's inbox."""

import re

import httpx2
import pytest
from people import join, make_account, sign_in, somebody

from app.access.permissions import Role
from app.storage.records import SectionId
from app.storage.thread_queries import Audience
from app.storage.threads import NewPost, NewThread
from app.web.edge.site import Site
from app.web.pages.ask import MAX_CHARACTERS, NO_SECTION

CHAPTER = "/chapters/a-first-graph"
PLACE = "chapters/a-first-graph/square-graph"
ALIVE = r"<script>alert|<img src=.?(x|https)|href=.javascript:|onerror=alert\(1\)>|<h1>A heading"
PREDICTION = "chapters/a-first-graph/double-use"


@pytest.fixture
async def section(site: Site) -> SectionId:
    """Ada teaches, Tim assists, Bob and Cyd learn."""
    section = await site.store.sections.make("Spring", somebody(site))
    roles = {"Ada": Role.INSTRUCTOR, "Tim": Role.ASSISTANT, "Bob": Role.LEARNER, "Cyd": Role.LEARNER}
    for name, role in roles.items():
        await join(site, section, await make_account(site, name), role)
    return section


async def ask(browser: httpx2.AsyncClient, section: str, text: str, place: str = PLACE, **fields: str) -> str:
    """The path of the new question."""
    answer = await browser.post(f"/ask/{place}", data={"section": section, "text": text, **fields})
    assert answer.status_code == 303
    return answer.headers["location"]


async def test_the_mark_of_a_block_leads_a_member_to_the_form(
    browser: httpx2.AsyncClient, section: SectionId
) -> None:
    before = [(await browser.get(path)).text for path in (f"/report/{PLACE}", CHAPTER)]
    await sign_in(browser, "Bob")
    after = [(await browser.get(path)).text for path in (f"/report/{PLACE}", CHAPTER)]

    assert "ask" not in before[0].lower().replace("task", "")
    assert f'href="/ask/{PLACE}"' in after[0]
    assert "Note it, ask about it, or report a mistake" in after[1]
    assert 'href="/questions"' in after[1]
    assert "Note it, or report a mistake" in before[1]
    assert 'href="/questions"' not in before[1]


async def test_somebody_without_a_section_is_told_so(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Dan")
    await sign_in(browser, "Dan")

    form = await browser.get(f"/ask/{PLACE}")
    sent = await browser.post(f"/ask/{PLACE}", data={"text": "Why?", "section": "0" * 32})

    assert (form.status_code, sent.status_code) == (200, 422)
    assert NO_SECTION in form.text
    assert NO_SECTION in sent.text


async def test_with_several_sections_the_form_asks_which(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    other = await site.store.sections.make("Autumn", somebody(site))
    bob = await site.store.accounts.find_by_name("Bob")
    assert bob is not None
    await sign_in(browser, "Bob")
    assert "<p>Your section: Spring</p>" in (await browser.get(f"/ask/{PLACE}")).text
    await join(site, other, bob, Role.LEARNER)

    form = (await browser.get(f"/ask/{PLACE}")).text
    unchosen = await browser.post(f"/ask/{PLACE}", data={"text": "Why?"})

    assert ">Spring</option>" in form
    assert all(f'<option value="{one}"' in form for one in (section, other))
    assert unchosen.status_code == 422
    assert "Choose one of your sections." in unchosen.text
    assert ">Why?" in re.sub(r"\s", "", unchosen.text)


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MAX_CHARACTERS + 1)])
async def test_a_text_that_cannot_be_stored_is_refused_in_words(
    browser: httpx2.AsyncClient, section: SectionId, text: str
) -> None:
    await sign_in(browser, "Bob")
    path = await ask(browser, section, "Why?")

    for address, more in ((f"/ask/{PLACE}", {"section": section}), (path, {}), (f"{path}/posts/1", {})):
        assert (await browser.post(address, data={"text": text, **more})).status_code == 422


async def test_a_question_is_answered_resolved_and_shown_beside_its_block(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Bob")
    await sign_in(stranger, "Ada")
    path = await ask(browser, section, "Why is *this* node there?", audience="section")

    inbox = (await stranger.get(f"/desk/{section}/questions?state=unanswered")).text
    assert ">Why is this node there?</a>" in inbox
    assert '<span class="menu-due">1<span' in inbox
    answered = await stranger.post(path, data={"text": "It `multiplies`."})
    assert answered.headers["location"] == f"{path}#post-2"
    assert "1 new" in (await browser.get("/questions")).text

    page = (await browser.get(path)).text
    assert "Why is <em>this</em> node there?" in page
    assert "It <code>multiplies</code>." in page
    assert "<strong>Ada</strong>" in page
    assert "1 new" not in (await browser.get("/questions")).text
    assert (await browser.post(f"{path}/state", data={"resolved": "yes"})).status_code == 303
    assert ">resolved</span>" in (await browser.get(path)).text
    assert "0 questions" in (await stranger.get(f"/desk/{section}/questions")).text
    chapter = (await browser.get(CHAPTER)).text
    assert "1 question about this" in chapter
    assert f'href="{path}"' in chapter


async def test_an_anonymous_post_has_a_name_for_the_staff_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Bob")
    path = await ask(browser, section, "Why?", audience="section", anonymous="true")
    await browser.post(path, data={"text": "I mean here.", "anonymous": "true"})

    await sign_in(stranger, "Cyd")
    seen_by_peer = (await stranger.get(path)).text + (await stranger.get("/questions?everybody=true")).text
    await sign_in(stranger, "Tim")
    seen_by_staff = (await stranger.get(path)).text

    assert "Bob" not in seen_by_peer
    assert seen_by_peer.count("<strong>Anonymous, who asked</strong>") == 2
    assert seen_by_staff.count("<strong>Bob</strong>") == 2
    assert "anonymous to the other learners" in seen_by_staff


async def test_one_name_on_two_posts_does_not_give_away_the_anonymous_one(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Bob")
    path = await ask(browser, section, "Why?", audience="section")
    await browser.post(path, data={"text": "I was lost.", "anonymous": "true"})

    await sign_in(stranger, "Cyd")
    page = (await stranger.get(path)).text

    assert "<strong>Bob</strong>" in page
    assert "<strong>Anonymous</strong>" in page


@pytest.mark.parametrize("place", [PREDICTION, "chapters/a-first-graph/square-cell"])
async def test_what_others_wrote_about_a_prediction_waits_for_ones_own(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId, place: str
) -> None:
    """Beneath the prediction and beneath the cell that shows its truth."""
    await sign_in(browser, "Bob")
    path = await ask(browser, section, "Is it four?", place, audience="section")
    await sign_in(stranger, "Ada")
    await stranger.post(path, data={"text": "Yes, four."})
    assert "Is it four?" in (await stranger.get(path)).text
    await sign_in(stranger, "Cyd")
    addresses = (path, CHAPTER, "/questions?everybody=true", f"/ask/{place}")

    before = "".join([(await stranger.get(address)).text for address in addresses])
    own = (await browser.get(path)).text
    await stranger.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"})
    after = [(await stranger.get(address)).text for address in addresses]

    assert "four" not in before.lower().replace("why-four", "")
    assert "2 posts of others may give the answer away." in before
    assert "Is it four?" in own
    assert "Yes, four." not in own
    assert all("Is it four?" in page for page in after)
    assert "Yes, four." in after[0]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](https://example.org/x.png)",
        "<img src=x onerror=alert(1)>",
        "</textarea><script>alert(1)</script>",
        "# A heading",
    ],
)
async def test_what_people_write_stays_text(browser: httpx2.AsyncClient, section: SectionId, text: str) -> None:
    await sign_in(browser, "Bob")
    path = await ask(browser, section, text, audience="section")

    for address in (path, CHAPTER, "/questions", f"/ask/{PLACE}"):
        main = (await browser.get(address)).text
        assert not re.search(ALIVE, main), address


async def test_staff_hide_a_post_with_a_reason_that_its_readers_see(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Ada")
    path = await ask(browser, section, "Ask here.", audience="section")
    await sign_in(stranger, "Cyd")
    await stranger.post(path, data={"text": "return x + y"})
    act = f"/desk/{section}{path.removeprefix('/questions/' + section).replace('/', '/questions/', 1)}/posts/2"

    assert (await stranger.post(act, data={"act": "hide", "reason": "no"})).status_code == 403
    assert (await browser.post(act, data={"act": "hide", "reason": " "})).status_code == 422
    assert (await browser.post(act, data={"act": "hide", "reason": "It is the solution."})).status_code == 303

    own = (await stranger.get(path)).text
    await sign_in(stranger, "Bob")
    peer = (await stranger.get(path)).text
    assert "return x + y" in own
    assert "return x + y" not in peer
    assert "It is the solution." in own
    assert "It is the solution." in peer
    assert (await browser.post(act, data={"act": "show"})).status_code == 303
    assert "return x + y" in (await stranger.get(path)).text
    assert (await browser.post(act, data={"act": "endorse"})).status_code == 303
    assert "endorsed by the staff" in (await stranger.get(path)).text


async def test_an_edit_shows_as_one_and_belongs_to_its_writer(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Bob")
    await sign_in(stranger, "Cyd")
    path = await ask(browser, section, "Why?", audience="section")

    assert (await stranger.post(f"{path}/posts/1", data={"text": "mine"})).status_code == 404
    assert (await stranger.post(f"{path}/state", data={"resolved": "yes"})).status_code == 403
    assert (await browser.post(f"{path}/posts/1", data={"text": "Why really?"})).status_code == 303
    page = (await stranger.get(path)).text
    assert "Why really?" in page
    assert "edited" in page


async def test_another_section_s_staff_and_its_learners_find_nothing(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    """The same number, under either section, is no question for them."""
    await sign_in(browser, "Bob")
    path = await ask(browser, section, "aardvark", audience="section")
    other = await site.store.sections.make("Autumn", somebody(site))
    for name, role in (("Eve", Role.INSTRUCTOR), ("Dan", Role.LEARNER)):
        await join(site, other, await make_account(site, name), role)
        await sign_in(stranger, name)
        inside = path.replace(section, other)
        for address in (path, inside, f"{path}/posts/1", f"{inside}/posts/1", f"{path}/state", f"{inside}/state"):
            answer = await stranger.post(address, data={"text": "x", "resolved": "yes"})
            assert answer.status_code == 404, address
        desk = f"/desk/{other}/questions/1/posts/1"
        assert (await stranger.post(desk, data={"act": "hide", "reason": "x"})).status_code in (403, 404)
        inbox = f"/desk/{other}/questions?state=all"
        read = [path, inside, CHAPTER, "/questions?everybody=true", f"/ask/{PLACE}", inbox]
        assert [address for address in read if "aardvark" in (await stranger.get(address)).text] == []
        asked = await stranger.post(f"/ask/{PLACE}", data={"text": "x", "section": section})
        assert asked.status_code == 422
    assert (await browser.get(path)).text.count('class="account-row post"') == 1


async def test_the_inbox_searches_filters_and_can_be_called_read(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, section: SectionId
) -> None:
    await sign_in(browser, "Bob")
    for text in ("Why a leaf?", "Why a node?"):
        await ask(browser, section, text)
    await sign_in(stranger, "Tim")
    inbox = f"/desk/{section}/questions"

    found = (await stranger.get(f"{inbox}?q=leaf")).text
    assert "Why a leaf?" in found
    assert "Why a node?" not in found
    assert "2 have posts that you have not seen" in found
    assert "0 questions" in (await stranger.get(f"{inbox}?state=mine")).text
    assert (await stranger.post(inbox)).status_code == 303
    assert "0 questions" in (await stranger.get(f"{inbox}?state=unread")).text
    assert (await browser.get(inbox)).status_code == 403


async def test_a_question_about_a_place_that_is_gone_is_still_read(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    bob = await site.store.accounts.find_by_name("Bob")
    assert bob is not None
    thread = NewThread(section, "chapters/an-old-one", "gone", "0" * 16, "1", Audience.STAFF)
    number = await site.store.threads.ask(thread, NewPost(bob.id, "Why?", False, site.clock()))
    await sign_in(browser, "Bob")

    page = await browser.get(f"/questions/{section}/{number}")

    assert page.status_code == 200
    assert "a place that the course no longer has" in page.text
    assert (await browser.get("/ask/chapters/a-first-graph/nowhere")).status_code == 404
