"""The one place that decides whether a request may go on: each route's permission, against its person's roles.

It runs before every handler. A route that is missing here is refused, so a new one cannot be open by mistake.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, Role, is_allowed
from app.access.session_limits import RECENT
from app.settings import Env
from app.storage.records import Membership, SectionId
from app.web.edge.identity import NotWhileViewing, RequestContext, get_request_context
from app.web.edge.security import SAFE_METHODS
from app.web.edge.site import CourseDep, SiteDep


class SignInNeeded(Exception):
    """Nobody is signed in, or it is too long ago for what was asked."""


class NotAllowed(Exception):
    """Whoever is signed in may not do this. The message is a sentence for them."""


class SectionArchived(Exception):
    """Nothing changes in an archived section."""


@dataclass(frozen=True)
class Rule:
    """`recent`: an account must have signed in a short while ago. `by_token`: the metrics token suffices.

    `anywhere`: the role may be one in any section. `even_archived`: what the route does can be done in an archived
    section too.
    """

    permission: Permission
    recent: bool = False
    by_token: bool = False
    anywhere: bool = False
    even_archived: bool = False


OPEN = Rule(Permission.READ)
OWN = Rule(Permission.OWN_ACCOUNT)

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            "/",
            "/api/chapters/{slug}/graphs/{graph_id}",
            "/api/chapters/{slug}/graphs/{graph_id}/tape",
            "/api/drafts/{key:path}",
            "/api/drill/{graph}",
            "/api/drill/{graph}/tape",
            "/api/exercises/{name}/checks",
            "/api/exercises/{name}/submissions",
            "/api/home/tape",
            "/api/position",
            "/api/runs",
            "/api/search",
            "/api/runs/{run_id}/figure",
            "/api/runs/{run_id}/graph",
            "/api/runs/{run_id}/stop",
            "/api/runs/{run_id}/trace",
            "/api/runs/{run_id}/whole",
            "/api/submissions/{submission_id}",
            "/api/submissions/{submission_id}/events",
            "/api/submissions/{submission_id}/stop",
            "/calendar/{token}.ics",
            "/chapters/{slug}",
            "/chapters/{slug}/answers/{question_id}",
            "/chapters/{slug}/answers/{question_id}/another",
            "/chapters/{slug}/cells/{cell_id}/run",
            "/chapters/{slug}/figures/{name}",
            "/chapters/{slug}/predictions/{predict_id}",
            "/chapters/{slug}/read",
            "/claims",
            "/course",
            "/course/{digest}/math.css",
            "/course/torch",
            "/course/{kind}",
            "/debugging",
            "/drill",
            "/drill/{graph}",
            "/exercises/{name}",
            "/exercises/{name}/checks",
            "/exercises/{name}/hints",
            "/exercises/{name}/run",
            "/exercises/{name}/submissions",
            "/exercises/{name}/submissions/{submission_id}",
            "/exercises/{name}/submissions/{submission_id}/restore",
            "/glossary",
            "/healthz",
            "/help",
            "/link/{token}",
            "/lti/config.json",
            "/lti/jwks",
            "/lti/launch",
            "/lti/login",
            "/lti/open",
            "/lti/pick",
            "/me",
            "/me/calendar",
            "/me/comments",
            "/me/calendar/end",
            "/me/chapters/{slug}",
            "/me/export.json",
            "/modules/{module_id}",
            "/notes",
            "/notes/{place:path}",
            "/play",
            "/preview",
            "/preview/versions",
            "/privacy",
            "/problems",
            "/readyz",
            "/report/{place:path}",
            "/review",
            "/review/answers/{number}",
            "/review/answers/{number}/rubric",
            "/review/zone",
            "/review/{chapter}/{question}",
            "/runs",
            "/runs/{run_id}",
            "/runs/{run_id}/stop",
            "/search",
            "/sign-in",
            "/sign-in/callback/{provider}",
            "/sign-in/with/{provider}",
            "/sign-out",
            "/sign-up",
            "/static/{digest}/{path:path}",
            "/terms",
            "/theme",
            "/view/end",
        ),
        OPEN,
    ),
    "/lti/link/{course_at_platform}": Rule(Permission.OWN_ACCOUNT, recent=True),
    "/me/delete": Rule(Permission.READ, recent=True),
    "/join": OWN,
    "/me/account": OWN,
    "/me/grades": OWN,
    "/me/identities/link": Rule(Permission.OWN_ACCOUNT, recent=True),
    "/me/identities/unlink": Rule(Permission.OWN_ACCOUNT, recent=True),
    "/me/offers": OWN,
    "/me/password": OWN,
    "/me/sent-grades": OWN,
    "/me/sessions/end": OWN,
    "/me/terms": OWN,
    "/join-section": OWN,
    "/join-section/{code}": OWN,
    "/desk": OWN,
    "/desk/new": Rule(Permission.MAKE_SECTIONS, anywhere=True),
    "/desk/{section}": Rule(Permission.SEE_PEOPLE),
    "/desk/{section}/settings": Rule(Permission.MANAGE_SECTION),
    "/desk/{section}/platform": Rule(Permission.MANAGE_SECTION),
    "/desk/{section}/platform/{course_at_platform}/roster": Rule(Permission.MANAGE_SECTION),
    "/desk/{section}/platform/{course_at_platform}/roster/apply": Rule(Permission.MANAGE_SECTION, recent=True),
    "/desk/{section}/platform/{course_at_platform}/send": Rule(Permission.MANAGE_SECTION),
    "/desk/{section}/platform/{course_at_platform}/unlink": Rule(Permission.MANAGE_SECTION, recent=True),
    "/desk/{section}/code": Rule(Permission.MANAGE_SECTION),
    "/desk/{section}/archive": Rule(Permission.MANAGE_SECTION, even_archived=True),
    "/desk/{section}/assignments": Rule(Permission.SEE_ASSIGNMENTS),
    "/desk/{section}/assignments/new": Rule(Permission.SET_ASSIGNMENTS),
    "/desk/{section}/assignments/preview": Rule(Permission.SEE_ASSIGNMENTS),
    "/desk/{section}/assignments/{assignment}": Rule(Permission.SEE_ASSIGNMENTS),
    "/desk/{section}/assignments/{assignment}/allowances": Rule(Permission.GRANT_ALLOWANCES),
    "/desk/{section}/assignments/{assignment}/allowances/withdraw": Rule(Permission.GRANT_ALLOWANCES),
    "/desk/{section}/assignments/{assignment}/change": Rule(Permission.SET_ASSIGNMENTS),
    "/desk/{section}/assignments/{assignment}/delete": Rule(Permission.SET_ASSIGNMENTS),
    "/desk/{section}/assignments/{assignment}/move": Rule(Permission.SET_ASSIGNMENTS),
    "/desk/{section}/exercises/{exercise}/files": Rule(Permission.TAKE_EXERCISES, recent=True),
    "/desk/{section}/people": Rule(Permission.MANAGE_PEOPLE, recent=True),
    "/desk/{section}/people/{account}/end": Rule(Permission.MANAGE_PEOPLE, recent=True),
    "/desk/{section}/people/{account}/take-back": Rule(Permission.MANAGE_PEOPLE, recent=True),
    "/desk/{section}/people/{account}/link": Rule(Permission.MANAGE_PEOPLE, recent=True),
    "/desk/{section}/roster": Rule(Permission.SEE_PEOPLE),
    "/desk/{section}/roster/preview": Rule(Permission.MANAGE_ROSTER),
    "/desk/{section}/roster/apply": Rule(Permission.MANAGE_ROSTER),
    "/desk/{section}/roster/account": Rule(Permission.MANAGE_ROSTER),
    "/desk/{section}/roster/links": Rule(Permission.MANAGE_ROSTER, recent=True),
    "/desk/{section}/reports": Rule(Permission.HANDLE_REPORTS),
    "/desk/{section}/reports.md": Rule(Permission.HANDLE_REPORTS),
    "/ask/{place:path}": OWN,
    "/questions": OWN,
    "/questions/{section}/{number}": Rule(Permission.ASK_QUESTIONS),
    "/questions/{section}/{number}/posts/{post}": Rule(Permission.ASK_QUESTIONS),
    "/questions/{section}/{number}/state": Rule(Permission.ASK_QUESTIONS),
    "/desk/{section}/questions": Rule(Permission.ANSWER_QUESTIONS),
    "/desk/{section}/questions/{number}/posts/{post}": Rule(Permission.ANSWER_QUESTIONS),
    "/desk/{section}/submissions": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/exercises/{exercise}": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/people/{account}": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/{submission}": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/{submission}/comments": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/{submission}/comments/{number}": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/submissions/{submission}/comments/{number}/delete": Rule(Permission.SEE_SUBMISSIONS),
    "/desk/{section}/view-as": Rule(Permission.VIEW_AS),
    "/desk/{section}/people/{account}/view-as": Rule(Permission.VIEW_AS, recent=True),
    "/desk/{section}/knowledge": Rule(Permission.SEE_KNOWLEDGE),
    "/desk/{section}/knowledge/chapters/{slug}": Rule(Permission.SEE_KNOWLEDGE),
    "/desk/{section}/knowledge/chapters/{slug}/{item}": Rule(Permission.SEE_KNOWLEDGE),
    "/desk/{section}/knowledge/exercises/{exercise}": Rule(Permission.SEE_KNOWLEDGE),
    "/desk/{section}/knowledge/files": Rule(Permission.DOWNLOAD_ANSWERS, recent=True),
    "/desk/{section}/likeness/{exercise}": Rule(Permission.COMPARE_PROGRAMS),
    "/desk/{section}/likeness/{exercise}/{left}/{right}": Rule(Permission.COMPARE_PROGRAMS),
    "/desk/{section}/gradebook": Rule(Permission.SEE_GRADES),
    "/desk/{section}/regrades": Rule(Permission.DECIDE_GRADES),
    "/desk/{section}/regrades/{number}": Rule(Permission.DECIDE_GRADES),
    "/desk/{section}/regrades/{number}/end": Rule(Permission.DECIDE_GRADES),
    "/desk/{section}/gradebook/files": Rule(Permission.DECIDE_GRADES),
    "/desk/{section}/gradebook/download": Rule(Permission.DECIDE_GRADES, recent=True),
    "/desk/{section}/gradebook/{assignment}/{account}": Rule(Permission.SEE_GRADES),
    "/desk/{section}/gradebook/{assignment}/{account}/override": Rule(Permission.DECIDE_GRADES),
    "/desk/{section}/audit": Rule(Permission.SEE_AUDIT),
    "/operator": Rule(Permission.SEE_OPERATION),
    "/metrics": Rule(Permission.SEE_OPERATION, by_token=True),
    "/operator/accounts": Rule(Permission.OPERATE),
    "/operator/accounts/new": Rule(Permission.OPERATE, recent=True),
    "/operator/accounts/{account}/close": Rule(Permission.OPERATE, recent=True),
    "/operator/accounts/{account}/erase": Rule(Permission.OPERATE, recent=True),
    "/operator/accounts/{account}/link": Rule(Permission.OPERATE, recent=True),
    "/operator/accounts/{account}/role": Rule(Permission.OPERATE, recent=True),
    "/operator/audit": Rule(Permission.OPERATE),
    "/operator/registrations": Rule(Permission.OPERATE),
    "/operator/registrations/key": Rule(Permission.OPERATE, recent=True),
    "/operator/registrations/new": Rule(Permission.OPERATE, recent=True),
    "/operator/registrations/{registration}/deployment": Rule(Permission.OPERATE, recent=True),
    "/operator/registrations/{registration}/state": Rule(Permission.OPERATE, recent=True),
    "/operator/course": Rule(Permission.OPERATE, recent=True),
    "/operator/course/{version}/chapters/{slug}": Rule(Permission.OPERATE),
    "/operator/course/{version}/chapters/{slug}/figures/{name}": Rule(Permission.OPERATE),
    "/operator/course/{version}/exercises/{name}": Rule(Permission.OPERATE),
    "/operator/reports": Rule(Permission.OPERATE),
    "/operator/reports.md": Rule(Permission.OPERATE),
    "/operator/sections": Rule(Permission.OPERATE, recent=True),
}
"""The path of each route, as its pattern, and what it needs."""


OF_NO_READER = frozenset(
    {
        "/course/{digest}/math.css",
        "/healthz",
        "/lti/config.json",
        "/lti/jwks",
        "/readyz",
        "/static/{digest}/{path:path}",
    }
)
"""What is the same for everybody, and needs no look at who asks."""

SHOWN_WHILE_VIEWING = frozenset(
    {
        "/",
        "/api/chapters/{slug}/graphs/{graph_id}",
        "/api/chapters/{slug}/graphs/{graph_id}/tape",
        "/api/home/tape",
        "/api/search",
        "/chapters/{slug}",
        "/chapters/{slug}/figures/{name}",
        "/claims",
        "/course",
        "/course/torch",
        "/course/{kind}",
        "/debugging",
        "/exercises/{name}",
        "/exercises/{name}/submissions/{submission_id}",
        "/glossary",
        "/help",
        "/me/grades",
        "/modules/{module_id}",
        "/play",
        "/privacy",
        "/problems",
        "/search",
    }
)
"""What an instructor may open while they see the course as a learner: the course, and of the learner's own their
submissions and their grades in that section.

So these are closed, beside all that needs an account: progress, notes, review, drills, runs, the export, the calendar
and its address, questions, comments of other sections, reports, and signing in or out.
"""
END_OF_VIEWING = "/view/end"


def enforce_viewing(method: str, path: str) -> None:
    """The one place that says what may be done in a view. Raises NotWhileViewing."""
    if path == END_OF_VIEWING:
        return
    if method not in SAFE_METHODS:
        raise NotWhileViewing("Nothing was changed.")
    if path not in SHOWN_WHILE_VIEWING:
        raise NotWhileViewing("This page shows what is a person’s own, or what is yours.")


async def enforce(request: Request, site: SiteDep, course: CourseDep) -> None:
    """Return if the request may go on.

    Raises SignInNeeded, NotAllowed, NotWhileViewing, SectionArchived, or a 404 for a section of others.
    """
    path = request.scope["route"].path
    rule = RULES.get(path)
    if rule is None:
        raise NotAllowed("This address has no permission in app/web/edge/access.py, so nobody may use it.")
    if path not in OF_NO_READER and (await get_request_context(request, site, course)).viewing:
        enforce_viewing(request.method, path)
        return
    if rule == OPEN or _is_open_here(rule, request, site):
        return
    context = await get_request_context(request, site, course)
    if context.account is None:
        if rule.permission is Permission.READ:
            return
        if rule.by_token:
            raise NotAllowed("The metrics are for the operator: send the token that UNWIND_METRICS_TOKEN holds.")
        raise SignInNeeded
    await _enforce_roles(context, request, rule)


async def _enforce_roles(context: RequestContext, request: Request, rule: Rule) -> None:
    membership = await _find_membership(context, request)
    if not is_allowed(rule.permission, await _find_roles(context, rule, membership)):
        raise NotAllowed("Your account has no role that may see or do this.")
    if rule.recent and not _is_recent(context):
        raise SignInNeeded
    if membership and membership.is_archived and not (rule.even_archived or request.method in SAFE_METHODS):
        raise SectionArchived


def _is_open_here(rule: Rule, request: Request, site: SiteDep) -> bool:
    """How the site runs is no secret in development; elsewhere a machine shows its token."""
    settings = site.settings
    if rule.permission is not Permission.SEE_OPERATION:
        return False
    if settings.env is Env.DEVELOPMENT:
        return True
    token = settings.metrics_token.get_secret_value()
    sent = request.headers.get("authorization", "")
    return rule.by_token and bool(token) and hmac.compare_digest(sent.encode(), f"Bearer {token}".encode())


async def _find_membership(context: RequestContext, request: Request) -> Membership | None:
    """What the person is in the section that the path names, if it names one. Raises a 404 for one of others."""
    assert context.account is not None
    section = request.path_params.get("section")
    if section is None:
        return None
    membership = await context.site.store.sections.find_role(SectionId(section), context.account.id)
    if membership is None:
        raise HTTPException(404)
    return membership


async def _find_roles(context: RequestContext, rule: Rule, membership: Membership | None) -> set[Role]:
    """The person's roles on the site and in this section, or in all their sections where the rule says so."""
    assert context.account is not None
    roles = {Role.READER} | ({membership.role} if membership else set())
    if context.account.is_operator:
        roles.add(Role.OPERATOR)
    if rule.anywhere:
        theirs = await context.site.store.sections.of_account(context.account.id)
        roles |= {one.role for one in theirs if one.is_active}
    return roles


def _is_recent(context: RequestContext) -> bool:
    assert context.session is not None
    authenticated_at = context.session.authenticated_at
    return authenticated_at is not None and context.now - authenticated_at <= RECENT
