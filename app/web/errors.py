"""Errors in words: a page for a reader, JSON for /api. Nothing of the server's inside leaks into either."""

import logging
from dataclasses import dataclass
from typing import ClassVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from app.web.blocks import ProblemView
from app.web.page import Frame, LearnerFacts
from app.web.preview import list_problems
from app.web.rates import RateExceeded
from app.web.site import Site, get_site
from app.web.visit import FRAGMENT_HEADER, make_frame, read_theme
from graders.ledger import QueueFull, StorageRefused, TooManyPending

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ErrorPage:
    """`remedy` says what to do next; `problems`, what its author has to mend before the page can be shown."""

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
    400: Words("That could not be read", "The request was not complete.", "Go back and try again."),
    403: Words(
        "That came from somewhere else",
        "The form was sent from another site, or by a browser that hides where from.",
        "Open the page here and send it again; nothing was changed.",
    ),
    404: Words("Nothing here", "There is no page at this address.", "The course map lists every page there is."),
    405: Words("Not like this", "This address does not take that kind of request.", "Go back and follow a link."),
    413: Words("Too long", "That was longer than this site takes.", "Shorten it; your text is still in the form."),
    422: Words(
        "That did not fit", "Something in the form was missing or not of its kind.", "Go back and look again."
    ),
    429: Words(
        "A moment, please",
        "That was more than a reader usually does in a minute.",
        "Wait half a minute, then send it again.",
    ),
    500: Words(
        "A fault of ours",
        "Something in this site broke. It has been noted, and it cost you nothing.",
        "Try again; if it stays, tell whoever runs this site.",
    ),
    503: Words("Busy", "The site cannot take that just now.", "Try again in a moment."),
}


def respond_with_words(
    site: Site,
    request: Request,
    status: int,
    message: str = "",
    retry_after_seconds: int | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """The right form of an error for who asked. `message` replaces the usual sentence of its status.

    Asks no database: it must work when that is what broke.
    """
    usual = WORDS.get(status, WORDS[400 if status < 500 else 500])
    words = Words(usual.headline, message or usual.message, usual.remedy)
    more = dict(headers or {})
    if retry_after_seconds is not None:
        more["retry-after"] = str(retry_after_seconds)
    if request.url.path.startswith("/api/"):
        content = {"status": status, "headline": words.headline, "message": words.message, "remedy": words.remedy}
        return JSONResponse(content, status, more)
    if FRAGMENT_HEADER in request.headers:
        return PlainTextResponse(f"{words.message} {words.remedy}", status, more)
    frame = make_frame(
        site, request, words.headline, words.message, read_theme(request), request.state.nonce, LearnerFacts()
    )
    problems = list_problems(site, request.url.path) if status == 404 else ()
    page = ErrorPage(frame, status, words.headline, words.message, "" if problems else words.remedy, problems)
    response = site.renderer.page(page, status)
    response.headers.update(more)
    return response


def refuse_other_origin(request: Request) -> Response:
    return respond_with_words(get_site(request), request, 403)


async def answer_fault(request: Request, error: Exception) -> Response:
    """A bug of ours, met at the outermost edge."""
    site = get_site(request)
    site.metrics.faults.inc()
    log.error("fault at %s %s", request.method, request.url.path, exc_info=error)
    return respond_with_words(site, request, 500)


def handle_errors(app: FastAPI) -> None:
    """Put each error that handlers raise into words."""

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        # Starlette fills in the phrase of the status where nobody wrote a sentence.
        sentence = error.detail if error.detail.endswith(".") else ""
        return respond_with_words(
            get_site(request), request, error.status_code, sentence, headers=dict(error.headers or {})
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return respond_with_words(get_site(request), request, 422, _say_what_is_wrong(error))

    @app.exception_handler(RateExceeded)
    async def too_fast(request: Request, error: RateExceeded) -> Response:
        return respond_with_words(get_site(request), request, 429, str(error), error.retry_after_seconds)

    @app.exception_handler(TooManyPending)
    async def too_many(request: Request, error: TooManyPending) -> Response:
        return respond_with_words(get_site(request), request, 429, _sentence(error), 5)

    @app.exception_handler(QueueFull)
    async def full(request: Request, error: QueueFull) -> Response:
        return respond_with_words(get_site(request), request, 503, _sentence(error), error.retry_after_seconds)

    @app.exception_handler(StorageRefused)
    async def no_storage(request: Request, error: StorageRefused) -> Response:
        log.error("storage refused at %s: %s", request.url.path, error.reason)
        message = "The site cannot save anything just now; nothing was changed."
        return respond_with_words(get_site(request), request, 503, message, error.retry_after_seconds)


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + "."


def _say_what_is_wrong(error: RequestValidationError) -> str:
    """Field and complaint; never the value, which is the learner's."""
    complaints = [f"{'.'.join(str(part) for part in item['loc'][1:])}: {item['msg']}" for item in error.errors()]
    return f"{'; '.join(complaints[:3])}."
