"""The calendar of days of review and deadlines: its secret address, and what programs read there."""

from dataclasses import dataclass
from typing import ClassVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.tokens import hash_token, make_token
from app.course.reviewable import find_question
from app.learning.calendar import list_days, write_calendar
from app.storage.review_cards import NO_DECK
from app.web.edge.assigned import list_deadlines
from app.web.edge.due import find_today, show_date
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.zones import list_zones
from graders.contract.model import LearnerId

router = APIRouter(include_in_schema=False)

FEED_CHARACTERS = 12


@dataclass(frozen=True)
class CalendarPage:
    """`address` is set once, right after it was made: the database has only its hash."""

    template: ClassVar[str] = "calendar.html"
    frame: Frame
    opened_on: str
    address: str
    known: bool
    zone: str
    zones: tuple[str, ...]


@router.api_route("/me/calendar", methods=["GET", "HEAD"])
async def calendar_page(context: RequestContextDep) -> Response:
    return await _show(context)


@router.post("/me/calendar")
async def open_calendar(context: RequestContextDep) -> Response:
    """Make the address, or a new one in place of the one before."""
    learner, token = _need_learner(context), make_token()
    await context.count(Act.WRITE)
    await context.site.store.calendars.open(learner, hash_token(token), context.now)
    response = await _show(context, f"{context.site_address}/calendar/{token}.ics")
    response.headers["cache-control"] = "no-store"
    return response


@router.post("/me/calendar/end")
async def close_calendar(context: RequestContextDep) -> Response:
    await context.count(Act.WRITE)
    await context.site.store.calendars.close(_need_learner(context))
    return RedirectResponse("/me/calendar", 303)


@router.api_route("/calendar/{token}.ics", methods=["GET", "HEAD"])
async def feed(token: str, context: RequestContextDep) -> Response:
    """Anybody who has the address may read it: calendar programs send no cookie."""
    await context.count(Act.EXPORT)
    token_hash = hash_token(token)
    learner = await context.site.store.calendars.find(token_hash)
    if learner is None:
        raise HTTPException(404, "This calendar has ended, or never existed. Its learner can make a new address.")
    deck = await context.site.store.review_cards.deck(learner)
    cards = [card for card in deck.cards if find_question(context.course, *card.key.parts)]
    days = list_days(cards, find_today(deck, context.now), token_hash[:FEED_CHARACTERS])
    title, link = context.course.brand or context.course.title, f"{context.site_address}/review"
    due = await list_deadlines(context, learner, token_hash[:FEED_CHARACTERS])
    text = write_calendar(days, ZoneInfo(deck.zone), context.now, title, link, due)
    return Response(text, headers={"cache-control": "private, no-cache"}, media_type="text/calendar")


async def _show(context: RequestContext, address: str = "") -> Response:
    store, learner = context.site.store, context.learner
    opened_at = await store.calendars.opened_at(learner) if learner else None
    deck = await store.review_cards.deck(learner) if learner else NO_DECK
    page = CalendarPage(
        frame=await context.frame("Your review in your calendar", "The days on which questions come back."),
        opened_on=show_date(opened_at, deck) if opened_at else "",
        address=address,
        known=learner is not None,
        zone=deck.zone,
        zones=list_zones(),
    )
    return context.site.renderer.page(page)


def _need_learner(context: RequestContext) -> LearnerId:
    if context.learner is None:
        raise HTTPException(404, "Nothing is kept about you yet, so there are no days to show.")
    return context.learner
