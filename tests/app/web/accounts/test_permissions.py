"""Every route, for every role, in its own section and in a foreign one: what may be seen, and that nothing leaks."""

import re

import httpx2
import pytest
from people import join, make_account, sign_in, somebody, without_notes
from routes import all_routes

from app.access.permissions import ALLOWED, Permission, Role
from app.settings import Settings
from app.storage.records import Account, SectionId
from app.storage.thread_queries import Audience
from app.storage.threads import NewPost, NewThread
from app.web.edge.access import RULES
from app.web.edge.site import Site

SECRET_NAME = "Zenobia Quillfeather"
"""The name of a learner in the section, which nobody without a right may read."""

ANYBODY = "anybody"
"""A reader without an account."""

WHO = (ANYBODY, Role.READER, Role.LEARNER, Role.ASSISTANT, Role.INSTRUCTOR, Role.OPERATOR)


GUARDED = sorted(
    (method, path) for method, path in all_routes() if path in RULES and RULES[path].permission is not Permission.READ
)

SEES_PEOPLE = {Role.ASSISTANT, Role.INSTRUCTOR}
EXPECTED = {
    "/desk/{section}": SEES_PEOPLE,
    "/desk/new": {Role.INSTRUCTOR, Role.OPERATOR},
    "/desk/{section}/settings": {Role.INSTRUCTOR},
    "/desk/{section}/code": {Role.INSTRUCTOR},
    "/desk/{section}/archive": {Role.INSTRUCTOR},
    "/desk/{section}/assignments": SEES_PEOPLE,
    "/desk/{section}/assignments/new": {Role.INSTRUCTOR},
    "/desk/{section}/assignments/preview": SEES_PEOPLE,
    "/desk/{section}/assignments/{assignment}": SEES_PEOPLE,
    "/desk/{section}/assignments/{assignment}/allowances": SEES_PEOPLE,
    "/desk/{section}/assignments/{assignment}/allowances/withdraw": SEES_PEOPLE,
    "/desk/{section}/assignments/{assignment}/change": {Role.INSTRUCTOR},
    "/desk/{section}/assignments/{assignment}/delete": {Role.INSTRUCTOR},
    "/desk/{section}/assignments/{assignment}/move": {Role.INSTRUCTOR},
    "/desk/{section}/exercises/{exercise}/files": {Role.INSTRUCTOR},
    "/desk/{section}/people": {Role.INSTRUCTOR},
    "/desk/{section}/people/{account}/take-back": {Role.INSTRUCTOR},
    "/desk/{section}/people/{account}/end": {Role.INSTRUCTOR},
    "/desk/{section}/people/{account}/link": {Role.INSTRUCTOR},
    "/desk/{section}/questions": SEES_PEOPLE,
    "/desk/{section}/questions/{number}/posts/{post}": SEES_PEOPLE,
    "/questions/{section}/{number}": SEES_PEOPLE | {Role.LEARNER},
    "/questions/{section}/{number}/posts/{post}": SEES_PEOPLE | {Role.LEARNER},
    "/questions/{section}/{number}/state": SEES_PEOPLE | {Role.LEARNER},
    "/desk/{section}/submissions": SEES_PEOPLE,
    "/desk/{section}/submissions/exercises/{exercise}": SEES_PEOPLE,
    "/desk/{section}/submissions/people/{account}": SEES_PEOPLE,
    "/desk/{section}/submissions/{submission}": SEES_PEOPLE,
    "/desk/{section}/submissions/{submission}/comments": SEES_PEOPLE,
    "/desk/{section}/submissions/{submission}/comments/{number}": SEES_PEOPLE,
    "/desk/{section}/submissions/{submission}/comments/{number}/delete": SEES_PEOPLE,
    "/desk/{section}/view-as": {Role.INSTRUCTOR},
    "/desk/{section}/people/{account}/view-as": {Role.INSTRUCTOR},
    "/desk/{section}/knowledge": SEES_PEOPLE,
    "/desk/{section}/knowledge/chapters/{slug}": SEES_PEOPLE,
    "/desk/{section}/knowledge/chapters/{slug}/{item}": SEES_PEOPLE,
    "/desk/{section}/knowledge/exercises/{exercise}": SEES_PEOPLE,
    "/desk/{section}/knowledge/files": {Role.INSTRUCTOR},
    "/desk/{section}/likeness/{exercise}": {Role.INSTRUCTOR},
    "/desk/{section}/likeness/{exercise}/{left}/{right}": {Role.INSTRUCTOR},
    "/desk/{section}/gradebook": SEES_PEOPLE,
    "/desk/{section}/regrades": {Role.INSTRUCTOR},
    "/desk/{section}/regrades/{number}": {Role.INSTRUCTOR},
    "/desk/{section}/regrades/{number}/end": {Role.INSTRUCTOR},
    "/desk/{section}/gradebook/files": {Role.INSTRUCTOR},
    "/desk/{section}/gradebook/download": {Role.INSTRUCTOR},
    "/desk/{section}/gradebook/{assignment}/{account}": SEES_PEOPLE,
    "/desk/{section}/gradebook/{assignment}/{account}/override": {Role.INSTRUCTOR},
    "/desk/{section}/roster": SEES_PEOPLE,
    "/desk/{section}/roster/preview": {Role.INSTRUCTOR},
    "/desk/{section}/roster/apply": {Role.INSTRUCTOR},
    "/desk/{section}/roster/account": {Role.INSTRUCTOR},
    "/desk/{section}/roster/links": {Role.INSTRUCTOR},
    "/desk/{section}/audit": {Role.INSTRUCTOR},
    "/desk/{section}/platform": {Role.INSTRUCTOR},
    "/desk/{section}/platform/{course_at_platform}/roster": {Role.INSTRUCTOR},
    "/desk/{section}/platform/{course_at_platform}/roster/apply": {Role.INSTRUCTOR},
    "/desk/{section}/platform/{course_at_platform}/send": {Role.INSTRUCTOR},
    "/desk/{section}/platform/{course_at_platform}/unlink": {Role.INSTRUCTOR},
    "/desk/{section}/reports": {Role.INSTRUCTOR},
    "/desk/{section}/reports.md": {Role.INSTRUCTOR},
}
"""Who may use the routes of a section that is theirs, written down a second time. The operator's are below."""


OF_THEIR_OWN = {"/questions/{section}/{number}/posts/{post}", "/questions/{section}/{number}/state"}
"""What a role may do only to what they wrote themselves; here everything is somebody else's."""


def who_may(path: str) -> set[str]:
    if path in EXPECTED:
        return {str(role) for role in EXPECTED[path]}
    if path.startswith(("/operator", "/metrics")):
        return {str(Role.OPERATOR)}
    return {str(role) for role in WHO} - {ANYBODY}


def test_every_route_says_what_it_needs_and_nothing_else_does() -> None:
    """A new route fails here until app/web/edge/access.py names its permission."""
    assert {path for _, path in all_routes()} == set(RULES)


def test_every_permission_is_given_to_somebody_and_asked_by_some_route() -> None:
    assert set(ALLOWED) == set(Permission)
    assert {rule.permission for rule in RULES.values()} == set(Permission)


def test_an_operator_has_no_right_in_a_section_by_being_one() -> None:
    in_sections = {RULES[path].permission for path in RULES if "{section}" in path}

    assert [permission for permission in in_sections if Role.OPERATOR in ALLOWED[permission]] == []


class ProductionWithoutTls(Settings):
    @property
    def secure_cookies(self) -> bool:
        return False


def close(site: Site, **more: object) -> None:
    """Make the site as it is outside development, except that cookies need no TLS here."""
    changed = {"env": "production", "secret": "s" * 40, **more}
    object.__setattr__(site, "settings", ProductionWithoutTls(**{**site.settings.model_dump(), **changed}))


@pytest.fixture
def production(site: Site) -> Site:
    close(site)
    return site


@pytest.fixture
async def place(production: Site) -> tuple[SectionId, SectionId, Account]:
    """Two sections, and the learner of both whose name must not leak."""
    site = production
    target = await make_account(site, SECRET_NAME)
    mine, foreign = [await site.store.sections.make(title, somebody(site)) for title in ("Mine", "Foreign")]
    for section in (mine, foreign):
        await join(site, section, target, Role.LEARNER)
    return mine, foreign, target


def names_another_thing(path: str) -> bool:
    """Whether the path has an id besides its section's, which may be of nothing here."""
    return "{" in path.replace("{section}", "")


async def ask(site: Site, section: SectionId, account: Account) -> int:
    """A question to the whole section, by the learner whose name must not leak; the number is its post's too."""
    thread = NewThread(section, "chapters/a-first-graph", "double-use", "0" * 16, "1", Audience.SECTION)
    number = await site.store.threads.ask(thread, NewPost(account.id, "Why is it doubled?", False, site.clock()))
    assert number is not None
    return number


async def sign_in_as(who: str, browser: httpx2.AsyncClient, site: Site, section: SectionId) -> None:
    if who == ANYBODY:
        return
    account = await make_account(site, "Somebody", is_operator=who == Role.OPERATOR)
    if who in (Role.LEARNER, Role.ASSISTANT, Role.INSTRUCTOR):
        await join(site, section, account, Role(who))
    assert (await sign_in(browser, "Somebody")).status_code == 303


FORM = {"name": "Nobody", "role": "learner", "title": "x", "instructor": "Nobody", "is_operator": "false"}
FORM |= {
    "password": "x",
    "new_password": "x",
    "choice": "leave",
    "session": "others",
    "section": "x",
    "accept": "false",
    "act": "archive",
    "resolved": "yes",
    "text": "Nothing.",
}
FORM |= {"is_open": "true", "deployment": "1", "issuer": "x", "client_id": "x"}
FORM |= dict.fromkeys(("auth_url", "token_url", "jwks_url"), "x")


@pytest.mark.slow
@pytest.mark.parametrize("who", WHO, ids=str)
@pytest.mark.parametrize("is_own", [True, False], ids=["own", "foreign"])
async def test_each_route_is_open_to_its_roles_alone(
    browser: httpx2.AsyncClient, production: Site, place: tuple[SectionId, SectionId, Account], who: str, is_own: bool
) -> None:
    mine, foreign, target = place
    questions = {section: await ask(production, section, target) for section in (mine, foreign)}
    await sign_in_as(who, browser, production, mine)
    # What ends or replaces the browser's own session comes last.
    routes = sorted(GUARDED, key=lambda route: (route[1] in ("/me/sessions/end", "/me/password"), route))
    wrong = []
    for method, path in routes:
        section = mine if is_own else foreign
        account = target.id if "link" in path else "0" * 32
        url = path.replace("{section}", section).replace("{account}", account)
        url = url.replace("{number}", str(questions[section])).replace("{post}", str(questions[section]))
        url = url.replace("{place:path}", "chapters/a-first-graph/double-use")
        answer = await browser.request(method, url, data=FORM if method == "POST" else None)
        may = who in {str(role) for role in who_may(path)} and (is_own or "{section}" not in path)
        refused = _is_refused(answer)
        leaks = SECRET_NAME in answer.text and not may
        is_elsewhere = (answer.status_code == 404 and names_another_thing(path)) or path in OF_THEIR_OWN
        if leaks or (refused is may and not (may and is_elsewhere)):
            wrong.append((method, path, answer.status_code))
    assert wrong == []


def _is_refused(answer: httpx2.Response) -> bool:
    to_sign_in = answer.headers.get("location", "").startswith("/sign-in")
    return answer.status_code in (403, 404) or to_sign_in


async def test_a_foreign_section_and_one_that_never_was_look_the_same(
    browser: httpx2.AsyncClient, production: Site, place: tuple[SectionId, SectionId, Account]
) -> None:
    mine, foreign, _ = place
    await sign_in_as(Role.INSTRUCTOR, browser, production, mine)

    pages = [await browser.get(f"/desk/{section}") for section in (foreign, "0" * 32)]

    bare = [re.sub(r"[0-9a-f]{32}", "", without_notes(page.text)) for page in pages]
    assert [page.status_code for page in pages] == [404, 404]
    assert bare[0] == bare[1]


async def test_an_instructor_of_one_section_does_nothing_in_another(
    browser: httpx2.AsyncClient, production: Site, place: tuple[SectionId, SectionId, Account]
) -> None:
    mine, foreign, target = place
    await sign_in_as(Role.INSTRUCTOR, browser, production, mine)
    before = await production.store.sections.people(foreign)

    for path, form in (
        ("people", {"name": "Somebody", "role": "assistant"}),
        (f"people/{target.id}/end", {}),
        (f"people/{target.id}/take-back", {}),
        ("settings", {"title": "Other"}),
        ("code", {"act": "renew"}),
        ("archive", {"act": "archive"}),
        (f"people/{target.id}/link", {}),
    ):
        assert (await browser.post(f"/desk/{foreign}/{path}", data=form)).status_code == 404

    assert await production.store.sections.people(foreign) == before


TOKEN = "t" * 40


@pytest.mark.parametrize(
    ("token", "sent", "status"),
    [
        ("", None, 403),
        ("", "Bearer ", 403),
        (TOKEN, None, 403),
        (TOKEN, f"Bearer {TOKEN}x", 403),
        (TOKEN, TOKEN, 403),
        (TOKEN, "Bearer \u00e9", 403),
        (TOKEN, f"Bearer {TOKEN}", 200),
    ],
)
async def test_the_metrics_need_their_token_outside_development(
    browser: httpx2.AsyncClient, production: Site, token: str, sent: str | None, status: int
) -> None:
    close(production, metrics_token=token)
    headers = {} if sent is None else {"authorization": sent.encode("latin-1")}

    answer = await browser.get("/metrics", headers=headers)

    assert answer.status_code == status
    assert ("http_server_request_duration" in answer.text) is (status == 200)


async def test_the_operator_s_page_is_open_in_development_and_closed_outside(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    assert (await browser.get("/operator")).status_code == 200
    close(site)

    answer = await browser.get("/operator")

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/operator")
