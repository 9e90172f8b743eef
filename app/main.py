"""The wiring, top to bottom: settings, course, ledger, store, site, routes. For uvicorn: app.main:create_app."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from app.course.loader import CourseReader
from app.course.model import Course
from app.course.publish import without_dangling, without_drafts
from app.pictures.draw import draw_graph
from app.preview import Preview
from app.settings import Settings, read_settings
from app.storage.store import Store
from app.web import (
    answers,
    chapter,
    claims,
    course_files,
    course_map,
    debugging,
    drafts,
    errors,
    exercise,
    exports,
    glossary,
    graphs,
    health,
    help,
    home,
    me,
    module,
    operation,
    play,
    predictions,
    problems,
    runs,
    submissions,
    theme,
)
from app.web import preview as preview_routes
from app.web.assets import Assets, read_assets, serve_assets
from app.web.figures import Figures
from app.web.metrics import MeasureRequests, Metrics
from app.web.rates import Rates
from app.web.rendering import Renderer
from app.web.running import RunningTorch
from app.web.security import BodyLimit, FaultsInWords, SameOriginOnly, SecureResponses
from app.web.site import Clock, Site
from graders.ledger import Database, open_ledger_on

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 256 * 1024
"""A source of 64 KiB is three times as long in a form, where nearly every character of code is escaped."""

PAGES = (
    home.router,
    course_map.router,
    chapter.router,
    predictions.router,
    answers.router,
    runs.router,
    play.router,
    exercise.router,
    submissions.router,
    problems.router,
    claims.router,
    glossary.router,
    debugging.router,
    me.router,
    module.router,
    help.router,
    theme.router,
    operation.router,
    health.router,
    course_files.router,
)
API = (runs.api, exports.api, graphs.api, submissions.api, drafts.api, chapter.api)


def utc_now() -> datetime:
    return datetime.now(UTC)


def create_app(
    settings: Settings | None = None,
    *,
    clock: Clock = utc_now,
    rates: Rates | None = None,
    assets: Assets | None = None,
    read_course: Callable[[], Course] | None = None,
) -> FastAPI:
    """The site as an ASGI application; the database must have been migrated. Whatever is given is not opened here."""
    settings = settings or read_settings()
    preview = Preview(CourseReader(settings.course)) if settings.preview else None
    read_course = read_course or (preview.course if preview else open_course(settings))
    assets = assets or read_assets()
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        database = Database(settings.database)
        ledger = open_ledger_on(database, settings.doorbells)
        app.state.site = Site(
            settings=settings,
            read_course=read_course,
            store=Store(database),
            ledger=ledger,
            renderer=Renderer(reload=settings.preview),
            assets=assets,
            figures=Figures(draw_graph),
            torch=RunningTorch(ledger),
            rates=rates or Rates(settings.rate_factor),
            metrics=metrics,
            clock=clock,
            preview=preview,
        )
        if preview:
            preview.watch.start()
        yield
        if preview:
            preview.watch.stop()
        await ledger.close()

    app = FastAPI(
        title="Unwind",
        summary="Run cells, hand in answers to exercises, follow their verdicts.",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        # Their pages load scripts from another host, which our policy forbids.
        docs_url=None,
        redoc_url=None,
    )
    for router in (*PAGES, *API, serve_assets(assets), *([preview_routes.router] if preview else [])):
        app.include_router(router)
    errors.handle_errors(app)
    add_layers(app, settings, metrics)
    return app


def add_layers(app: FastAPI, settings: Settings, metrics: Metrics) -> None:
    """What surrounds every request. The last one added is the outermost."""
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(SameOriginOnly, refuse=errors.refuse_other_origin)
    app.add_middleware(FaultsInWords, answer=errors.answer_fault)
    app.add_middleware(SecureResponses, https=settings.secure_cookies)
    app.add_middleware(MeasureRequests, metrics=metrics)


def open_course(settings: Settings) -> Callable[[], Course]:
    """Read the course once, as learners see it."""
    reader = CourseReader(settings.course)
    loaded = reader.read()
    for problem in loaded.problems:
        log.warning("%s:%s: %s; %s", Path(problem.path), problem.line, problem.message, problem.remedy)
    published = without_dangling(without_drafts(loaded.course))
    return lambda: published
