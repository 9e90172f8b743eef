"""A learner's own page: progress, calibration, and their data to take away or to delete."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.storage.records import Deck, Status
from app.storage.reports import Report
from app.storage.review_cards import NO_DECK
from app.web.edge.due import show_date
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, forget_cookie
from app.web.views.blocks import ExerciseLinkView
from app.web.views.calibrating import CalibrationView, find_guesses, show_calibration
from app.web.views.presenting import present_exercise_link
from app.web.views.progress import count_progress
from app.web.views.progress_map import CourseHistory, ProgressMap, map_progress
from app.web.views.spots import find_spot, title_page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class MyReport:
    """`note` says what was changed; it and `closed_on` are empty while the report is open."""

    title: str
    href: str
    text: str
    reported_on: str
    closed_on: str
    note: str


@dataclass(frozen=True)
class MePage:
    template: ClassVar[str] = "me.html"
    frame: Frame
    map: ProgressMap
    exercises: tuple[ExerciseLinkView, ...]
    calibration: CalibrationView
    reports: tuple[MyReport, ...]
    export_href: str
    delete_action: str
    deleted: bool
    """True right after the data was deleted."""
    account_name: str
    """Empty for a reader without an account."""
    is_member: bool
    """Whether the account is in a section, which may need the work for its records."""
    closed: bool
    """True right after an account that is in a section was closed."""


@router.api_route("/me", methods=["GET", "HEAD"])
async def my_page(context: RequestContextDep, deleted: bool = False, closed: bool = False) -> Response:
    site, course, learner = context.site, context.course, context.learner
    histories = await site.store.histories(learner) if learner else {}
    progress = count_progress(await site.ledger.finished_submissions(learner)) if learner else {}
    deck = await site.store.review_cards.deck(learner) if learner else NO_DECK
    stated = await site.store.review_cards.stated(learner) if learner else ()
    guesses = find_guesses(course, stated)
    page = MePage(
        frame=await context.frame("Your progress", "What you predicted, answered and built, and your data."),
        map=map_progress(CourseHistory(course, histories, progress, context.now, deck)),
        exercises=tuple(
            present_exercise_link(course, name, progress) for name in progress if name in course.exercises
        ),
        calibration=show_calibration(course, guesses),
        reports=tuple(
            _show_report(context.course, report, deck) for report in await site.store.reports.of_learner(learner)
        )
        if learner
        else (),
        export_href="/me/export.json",
        delete_action="/me/delete",
        deleted=deleted and learner is None,
        account_name=context.account.name if context.account else "",
        is_member=await _is_member(context),
        closed=closed and learner is None,
    )
    return site.renderer.page(page)


def _show_report(course: Course, report: Report, deck: Deck) -> MyReport:
    """A report as its reader sees it. A place that is gone leads to its page."""
    spot = find_spot(course, report.page, report.block)
    return MyReport(
        title=title_page(course, report.page),
        href=spot.href if spot else f"/{report.page}",
        text=report.text,
        reported_on=show_date(report.reported_at, deck),
        closed_on=show_date(report.closed_at, deck) if report.closed_at else "",
        note=report.note,
    )


@router.get("/me/export.json")
async def export(context: RequestContextDep) -> Response:
    """All stored data of this learner, as JSON: the website's rows and the submissions."""
    if context.learner is None:
        raise HTTPException(404, "Nothing is kept about you: this browser has left nothing here yet.")
    await context.count(Act.EXPORT)
    exported: dict[str, Any] = {"exported_at": context.now.isoformat()}
    exported |= await context.site.store.export(context.learner)
    exported["submissions"] = [
        {
            "id": submission.id,
            "state": submission.state.value,
            "submitted_at": submission.submitted_at.isoformat(),
            "job": submission.job.model_dump(mode="json"),
            "result": submission.result and submission.result.model_dump(mode="json", exclude={"trace_json"}),
        }
        for submission in await context.site.ledger.everything(context.learner)
    ]
    headers = {"content-disposition": 'attachment; filename="unwind.json"', "cache-control": "no-store"}
    text = await asyncio.to_thread(json.dumps, exported, indent=2)
    return Response(text, headers=headers, media_type="application/json")


@router.post("/me/delete")
async def delete(context: RequestContextDep) -> Response:
    """Delete this learner: their rows, their submissions, their cookie, their account.

    The account of a section's member is closed instead, because the work may be part of a school's record.
    """
    store, was_member = context.site.store, await _is_member(context)
    if context.account is not None and was_member:
        await store.accounts.close(context.account.id, actor_of(context))
    elif context.account is not None:
        await store.accounts.erase(context.account.id, actor_of(context))
        context.site.ledger.tell_forgotten()
    elif context.learner is not None:
        await store.forget(context.learner)
        context.site.ledger.tell_forgotten()
    forget_cookie(context)
    # Editors keep drafts in the browser too.
    headers = {"clear-site-data": '"storage"'}
    return RedirectResponse("/me?closed=true" if was_member else "/me?deleted=true", 303, headers)


async def _is_member(context: RequestContext) -> bool:
    if context.account is None:
        return False
    return any(
        role.status is not Status.INVITED for role in await context.site.store.sections.of_account(context.account.id)
    )
