"""Errors in words: a page for a reader, JSON for /api. Neither reveals anything about the server's internals."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException

from app.drawing.tasks import NotDrawn
from app.web.edge.access import NotAllowed, SectionArchived, SignInNeeded
from app.web.edge.closed_exercises import Closed
from app.web.edge.frame import Frame, LearnerFacts, make_frame
from app.web.edge.identity import FRAGMENT_HEADER, NotWhileViewing, read_theme
from app.web.edge.metrics import WEBSITE
from app.web.edge.mistakes import list_problems
from app.web.edge.rates import QuotaExceeded, RateExceeded
from app.web.edge.request_log import hide_token
from app.web.edge.security import SAFE_METHODS
from app.web.edge.site import Site, get_course, get_site
from app.web.views.blocks import ProblemView
from graders.contract.log_lines import current_request
from graders.ledger import AddressBusy, CardQuotaSpent, QueueFull, StorageRefused, TooManyPending

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ErrorPage:
    """`remedy` says what to do next; `problems`, what its author has to fix before the page can be shown."""

    template: ClassVar[str] = "error.html"
    frame: Frame
    status: int
    headline: str
    message: str
    remedy: str
    problems: tuple[ProblemView, ...] = ()


@dataclass(frozen=True)
class Words:
    headline: str
    message: str
    remedy: str


WORDS = {
    400: Words("The request could not be read", "Part of the request was missing.", "Go back and try again."),
    403: Words(
        "Sent from another site",
        "The form came from another site, or from a browser that hides where it came from.",
        "Open the page here and send it again; nothing was changed.",
    ),
    404: Words("Page not found", "There is no page at this address.", "The course map lists every page."),
    405: Words("Not possible here", "This address does not accept such a request.", "Go back and follow a link."),
    409: Words("Not possible on this site", "This site cannot run that.", "Everything else here works."),
    421: Words(
        "Another name",
        "This site does not answer to the name under which you asked for it.",
        "Its operator lists the site's names in UNWIND_HOSTS; ask them, or use the address you were given.",
    ),
    413: Words("Too long", "That was longer than this site accepts.", "Shorten it; your text is still in the form."),
    422: Words(
        "Something is missing",
        "Part of the form was missing, or of the wrong kind.",
        "Correct it, and send it again.",
    ),
    429: Words(
        "Too many requests",
        "That was more than a reader usually does in a minute.",
        "Wait half a minute, then send it again.",
    ),
    500: Words(
        "Our fault",
        "Something in this site broke. The fault has been logged, and it cost you nothing.",
        "Try again. If it keeps happening, tell the person who runs this site.",
    ),
    503: Words("Busy", "The site cannot do that just now.", "Try again in a moment."),
}

NOT_ALLOWED = Words(
    "Not open to you",
    "Your account may not see or do this.",
    "If it should, ask the person who runs this site, or your instructor, for the role.",
)

ARCHIVED = Words(
    "This section is archived",
    "Nothing changes in an archived section.",
    "If it should go on, an instructor of the section opens it again on its page “Section”.",
)

VIEWING = Words(
    "Not while you see the course as a learner",
    "A view shows what staff may see of a learner, and changes nothing.",
    "End the view by the button above, then go on as yourself.",
)

FIELD_NAMES = {"source": "your code", "text": "your text", "option": "an answer", "confidence": "how sure you are"}
"""Fields of forms and requests, in words that the learner sees on the page."""


def respond_with_words(
    site: Site,
    request: Request,
    status: int,
    message: str = "",
    retry_after_seconds: int | None = None,
    headers: dict[str, str] | None = None,
    words: Words | None = None,
) -> Response:
    """An error as a page or as JSON, whichever the request expects. `message` replaces the status's usual sentence.

    It uses no database, because it must work when the database is what broke.
    """
    usual = words or WORDS.get(status, WORDS[400 if status < 500 else 500])
    words = Words(usual.headline, message or usual.message, usual.remedy)
    more = dict(headers or {})
    if retry_after_seconds is not None:
        more["retry-after"] = str(retry_after_seconds)
    if request.url.path.startswith("/api/"):
        content = {"status": status, "headline": words.headline, "message": words.message, "remedy": words.remedy}
        return JSONResponse(content, status, more)
    if FRAGMENT_HEADER in request.headers:
        return PlainTextResponse(f"{words.message} {words.remedy}", status, more)
    course, theme = get_course(request, site), read_theme(request)
    facts = LearnerFacts(account_name=getattr(request.state, "account_name", ""))
    frame = make_frame(site, course, request, words.headline, words.message, theme, request.state.nonce, facts)
    problems = list_problems(site, request.url.path) if status == 404 else ()
    page = ErrorPage(frame, status, words.headline, words.message, "" if problems else words.remedy, problems)
    response = site.renderer.page(page, status)
    response.headers.update(more)
    return response


def refuse_other_origin(request: Request) -> Response:
    return respond_with_words(get_site(request), request, 403)


def refuse_encoding(request: Request) -> Response:
    return respond_with_words(get_site(request), request, 400, "The form names an encoding; this site reads UTF-8.")


def refuse_other_host(request: Request) -> Response:
    message = "This site does not answer to the name under which you asked for it."
    return respond_with_words(get_site(request), request, 421, message)


async def answer_fault(request: Request, error: Exception) -> Response:
    """A bug of ours that was not caught earlier."""
    site = get_site(request)
    site.metrics.faults.labels(WEBSITE).inc()
    log.error("fault at %s %s", request.method, hide_token(request.url.path), exc_info=error)
    usual = WORDS[500].message
    return respond_with_words(site, request, 500, f"{usual} Its number in the log is {current_request.get()}.")


async def refuse_picture(request: Request, error: Exception) -> Response:
    """There is no picture; the message tells the reader why."""
    status = 422 if isinstance(error, NotDrawn) and error.final else 503
    return respond_with_words(get_site(request), request, status, str(error))


async def ask_to_sign_in(request: Request, error: Exception) -> Response:
    """To the page for signing in, and from there back to what was wanted."""
    if request.url.path.startswith("/api/"):
        return respond_with_words(get_site(request), request, 403, "Sign in first.", words=NOT_ALLOWED)
    return RedirectResponse(f"/sign-in?next={quote(_page_to_return_to(request), safe='/')}", 303)


async def refuse_role(request: Request, error: Exception) -> Response:
    return respond_with_words(get_site(request), request, 403, str(error), words=NOT_ALLOWED)


async def refuse_while_viewing(request: Request, error: Exception) -> Response:
    return respond_with_words(get_site(request), request, 403, str(error), words=VIEWING)


async def refuse_archived(request: Request, error: Exception) -> Response:
    return respond_with_words(get_site(request), request, 409, words=ARCHIVED)


async def say_closed(request: Request, error: Exception) -> Response:
    """Of an exercise that no grader here can judge."""
    return respond_with_words(get_site(request), request, 409, str(error))


async def say_too_many(request: Request, error: Exception) -> Response:
    """Of what one learner or one address may have, do or use; each of these errors says when to try again."""
    assert isinstance(error, RateExceeded | QuotaExceeded | TooManyPending | AddressBusy | CardQuotaSpent)
    return respond_with_words(get_site(request), request, 429, str(error), error.retry_after_seconds)


def handle_errors(app: FastAPI) -> None:
    """Register a handler for each error that routes raise, which puts it into words."""
    app.add_exception_handler(NotDrawn, refuse_picture)
    app.add_exception_handler(SignInNeeded, ask_to_sign_in)
    app.add_exception_handler(NotAllowed, refuse_role)
    app.add_exception_handler(SectionArchived, refuse_archived)
    app.add_exception_handler(NotWhileViewing, refuse_while_viewing)
    app.add_exception_handler(Closed, say_closed)
    for refusal in (RateExceeded, QuotaExceeded, TooManyPending, AddressBusy, CardQuotaSpent):
        app.add_exception_handler(refusal, say_too_many)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        path = request.url.path
        if error.status_code == 404 and path.endswith("/") and not path.startswith(("/static/", "/api/")):
            return RedirectResponse(f"/{path.strip('/')}", 307)
        # Starlette fills in the status's phrase if the handler gave no sentence.
        sentence = error.detail if error.detail.endswith(".") else ""
        return respond_with_words(
            get_site(request), request, error.status_code, sentence, headers=dict(error.headers or {})
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return respond_with_words(get_site(request), request, 422, _say_what_is_wrong(error))

    @app.exception_handler(QueueFull)
    async def full(request: Request, error: QueueFull) -> Response:
        return respond_with_words(get_site(request), request, 503, str(error), error.retry_after_seconds)

    @app.exception_handler(StorageRefused)
    async def no_storage(request: Request, error: StorageRefused) -> Response:
        return _answer_refused_storage(request, error)


def _answer_refused_storage(request: Request, error: StorageRefused) -> Response:
    site = get_site(request)
    site.metrics.storage_refused.inc()
    log.error("storage refused at %s: %s", hide_token(request.url.path), error.reason)
    return respond_with_words(site, request, 503, str(error), error.retry_after_seconds)


def _page_to_return_to(request: Request) -> str:
    """The page itself, or the one whose form was sent: that form has to be sent again."""
    if request.method in SAFE_METHODS:
        return request.url.path
    return urlsplit(request.headers.get("referer", "")).path or "/me/account"


def _say_what_is_wrong(error: RequestValidationError) -> str:
    """The field and the complaint, but never the value, because it is the learner's."""
    complaints = [_complain(item) for item in error.errors()]
    sentence = "; ".join(complaints[:3])
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _complain(item: Mapping[str, Any]) -> str:
    field = ".".join(str(part) for part in item["loc"][1:])
    name = FIELD_NAMES.get(field, field)
    match item["type"]:
        case "missing":
            return f"{name} is missing"
        case "string_too_long":
            return f"{name} is longer than {item['ctx']['max_length']:,} characters, the most that this site accepts"
        case _:
            return f"{name}: {item['msg']}"
