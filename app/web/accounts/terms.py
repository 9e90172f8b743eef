"""The operator's terms for somebody who has an account and has not agreed to them as they are now."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.web.accounts.sign_in import NextInForm, NextInQuery
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.terms import Terms, are_new_to
from app.web.pages.theme import local_path

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class TermsPage:
    """`asks`: the reader has an account, and has not agreed. `changed`: they had agreed to an earlier version."""

    template: ClassVar[str] = "terms.html"
    frame: Frame
    terms: tuple[str, ...]
    digest: str
    asks: bool
    changed: bool
    next: str


@router.api_route("/terms", methods=["GET", "HEAD"])
async def terms_page(context: RequestContextDep, target: NextInQuery = "/") -> Response:
    return await _show(context, local_path(target))


@router.post("/me/terms")
async def agree(context: RequestContextDep, digest: str = Form(max_length=40), target: NextInForm = "/") -> Response:
    """Agree to the version with this digest, which is the one that the page showed."""
    assert context.account is not None
    if digest != _find_terms(context).digest:
        return await _show(context, local_path(target))
    await context.site.store.accounts.agree_to_terms(context.account.id, digest)
    return RedirectResponse(local_path(target), 303)


async def _show(context: RequestContext, target: str) -> Response:
    terms, account = _find_terms(context), context.account
    asks = are_new_to(terms, account)
    page = TermsPage(
        frame=await context.frame("The terms of this site", "What you agree to by having an account here."),
        terms=terms.paragraphs,
        digest=terms.digest,
        asks=asks,
        changed=asks and account is not None and account.terms_digest is not None,
        next=target,
    )
    return context.site.renderer.page(page)


def _find_terms(context: RequestContext) -> Terms:
    if context.site.terms is None:
        raise HTTPException(404, "This site has no terms of its own. The privacy page says what is kept about you.")
    return context.site.terms
