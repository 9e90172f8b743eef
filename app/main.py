"""The wiring, top to bottom: settings, course, ledger, store, site, routes. uvicorn calls app.main:create_app."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from fastapi import APIRouter, Depends, FastAPI
from httpx2 import AsyncClient
from starlette.middleware.gzip import GZipMiddleware

from app.access.passwords import Passwords
from app.course.loader import CourseReader
from app.course.model import Course
from app.drawing.pool import Drawers
from app.linking.fetching import open_http
from app.linking.oidc import OidcClient
from app.linking.platforms import Platforms
from app.preview import Preview
from app.publishing import PublishedCourse
from app.settings import Env, Settings, read_settings
from app.storage.shared_counts import SharedCounts
from app.storage.store import Store
from app.web.accounts import join, joining, my_account, one_time_link, operator, sign_in, terms
from app.web.accounts import providers as provider_routes
from app.web.api import answers, drafts, drills, exports, graphs, health, predictions, reviews, runs, submissions
from app.web.desk import (
    assignment,
    assignments,
    audit,
    commenting,
    exercise_files,
    grade,
    gradebook,
    gradebook_files,
    handed_in,
    knowledge,
    knowledge_exercise,
    knowledge_files,
    knowledge_item,
    likeness,
    people,
    platform,
    platform_roster,
    questions,
    regrades,
    reports,
    roster,
    sections,
    view_as,
)
from app.web.desk import settings as section_settings
from app.web.desk import submissions as desk_submissions
from app.web.edge import errors
from app.web.edge.access import enforce
from app.web.edge.assets import Assets, read_assets, serve_assets
from app.web.edge.course_search import CourseSearch
from app.web.edge.disk import Disk
from app.web.edge.drill_stock import DrillStock
from app.web.edge.figures import Figures
from app.web.edge.hosts import KnownHostsOnly, read_hosts
from app.web.edge.metrics import MeasureRequests, Metrics
from app.web.edge.processes import SiteProcess
from app.web.edge.rates import Rates
from app.web.edge.rendering import Renderer
from app.web.edge.request_log import RequestLog
from app.web.edge.security import BodyLimit, FaultsInWords, SameOriginOnly, SecureResponses, Utf8FormsOnly
from app.web.edge.site import Clock, Site
from app.web.edge.terms import read_terms
from app.web.edge.torch_version import RunningTorch
from app.web.lti import launching, linking, opening, picking, registrations, sent_grades
from app.web.lti.sending import GradeSender
from app.web.pages import (
    ask,
    by_kind,
    calendar,
    chapter,
    claims,
    course_files,
    course_map,
    debugging,
    drill,
    exercise,
    glossary,
    grades,
    help,
    home,
    me,
    module,
    my_comments,
    notes,
    operation,
    play,
    privacy,
    problems,
    report,
    review,
    search,
    summary,
    theme,
    threads,
    torch_releases,
    versions,
)
from app.web.pages import preview as preview_routes
from graders.ledger import Database, Endings, Ledger, Policy, open_ledger_on

log = logging.getLogger(__name__)

Chore = Callable[[], Coroutine[None, None, None]]
"""What runs beside the requests."""
CHECKPOINT_SECONDS = 30.0
PRUNE_SECONDS = 5.0
SWEEP_SECONDS = 60.0

MAX_BODY_BYTES = 256 * 1024
"""A source of 64 KiB is up to three times as long in a form, which escapes nearly every character of code."""

PAGES = (
    home.router,
    course_map.router,
    torch_releases.router,
    by_kind.router,
    chapter.router,
    predictions.router,
    answers.router,
    runs.router,
    play.router,
    drill.router,
    drills.router,
    exercise.router,
    submissions.router,
    problems.router,
    claims.router,
    glossary.router,
    debugging.router,
    search.router,
    report.router,
    ask.router,
    threads.router,
    me.router,
    grades.router,
    summary.router,
    notes.router,
    my_comments.router,
    review.router,
    calendar.router,
    reviews.router,
    module.router,
    help.router,
    privacy.router,
    theme.router,
    operation.router,
    versions.router,
    health.router,
    course_files.router,
)
KNOWLEDGE = (knowledge.router, knowledge_item.router, knowledge_exercise.router, knowledge_files.router)
LEARNING_PLATFORMS = (
    registrations.router,
    launching.router,
    opening.router,
    picking.router,
    linking.router,
    sent_grades.router,
)
ACCOUNTS = (
    sign_in.router,
    provider_routes.router,
    join.router,
    joining.router,
    terms.router,
    my_account.router,
    one_time_link.router,
    operator.router,
)
DESK = (
    platform.router,
    platform_roster.router,
    sections.router,
    section_settings.router,
    people.router,
    assignments.router,
    assignment.router,
    roster.router,
    audit.router,
    reports.router,
    desk_submissions.router,
    view_as.router,
    handed_in.router,
    commenting.router,
    likeness.router,
    exercise_files.router,
    *KNOWLEDGE,
    *LEARNING_PLATFORMS,
    questions.router,
    gradebook.router,
    grade.router,
    gradebook_files.router,
    regrades.router,
)
API = (runs.api, exports.api, graphs.api, drills.api, home.api, submissions.api, drafts.api, chapter.api, search.api)
ALWAYS = (*PAGES, *ACCOUNTS, *DESK, *API)


def gather(*routers: APIRouter) -> APIRouter:
    """The routes of all, each behind the decision on who may do what."""
    gathered = APIRouter(dependencies=[Depends(enforce)])
    for router in routers:
        gathered.include_router(router)
    return gathered


GATHERED = gather(*ALWAYS)
"""Gathered once per process: FastAPI works out each route's parameters at its first request, some 200 ms for all
of them, and several applications in one process share that."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def create_app(
    settings: Settings | None = None,
    *,
    clock: Clock = utc_now,
    rates: Rates | None = None,
    assets: Assets | None = None,
    read_course: Callable[[], Course] | None = None,
    passwords: Passwords | None = None,
    process: SiteProcess = SiteProcess(),
) -> FastAPI:
    """The site as an ASGI application. The database must be migrated. Arguments replace what is created here."""
    settings = settings or read_settings()
    preview = Preview(CourseReader(settings.course)) if settings.preview else None
    published = None if preview or read_course else PublishedCourse(settings.data, settings.course)
    read_course = read_course or choose_course(preview, published)
    assets = assets or read_assets()
    metrics, passwords = Metrics(of_installation=process.is_first), passwords or Passwords()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_site(
            settings, read_course, assets, rates, metrics, clock, passwords, preview, published, process
        ) as site:
            app.state.site = site
            yield

    app = begin_app(lifespan)
    for router in (serve_assets(assets), *([preview_routes.router] if preview else [])):
        app.include_router(router)
    errors.handle_errors(app)
    add_layers(app, settings, metrics)
    return app


def begin_app(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """An application with the routes that every installation has."""
    return FastAPI(
        title="Unwind",
        summary="Run cells, submit answers to exercises, follow their verdicts.",
        lifespan=lifespan,
        routes=GATHERED.routes,
        dependencies=[Depends(enforce)],
        openapi_url="/api/openapi.json",
        # FastAPI's documentation pages load scripts from another host, which our policy forbids.
        docs_url=None,
        redoc_url=None,
        # Starlette's redirect would repeat the request's Host header, which a client can choose.
        redirect_slashes=False,
    )


@asynccontextmanager
async def open_site(
    settings: Settings,
    read_course: Callable[[], Course],
    assets: Assets,
    rates: Rates | None,
    metrics: Metrics,
    clock: Clock,
    passwords: Passwords,
    preview: Preview | None,
    published: PublishedCourse | None,
    process: SiteProcess,
) -> AsyncIterator[Site]:
    """Open what belongs to the running event loop, and close it at the end."""
    database = Database(settings.database)
    ledger = _open_ledger(settings, database)
    drawers = _open_drawers(settings, metrics)
    renderer, figures = Renderer(reload=settings.preview), Figures(drawers)
    store, torch, index = Store(database), RunningTorch(ledger), CourseSearch()
    await _begin_reading(preview, index, read_course)
    drill_stock = DrillStock(store.drill_graphs, ledger, read_course, clock)
    platforms = Platforms(http := open_http())
    sender = GradeSender(store, platforms, settings.secret, read_course, clock)
    own: list[Chore] = [
        drill_stock.keep_filled,
        *([partial(published.keep_current, index.count)] if published else []),
    ]
    chores = _begin_chores(*own, *(_list_chores(settings, ledger, store, sender, clock) if process.is_first else ()))
    disk = Disk(settings.data)
    await (endings := Endings(database)).begin()
    rates = rates or _open_rates(settings, database, process)
    opened = (settings, read_course, store, ledger, endings, renderer, assets, figures, torch, rates, metrics, disk)
    linked = (_open_providers(settings, http), platforms)
    terms = read_terms(settings.terms)
    yield Site(*opened, drill_stock, clock, passwords, *linked, index, terms, preview, published, process)
    if preview:
        preview.watch.stop()
    await _end_chores(chores, http)
    await drawers.close()
    await ledger.close()


def _open_ledger(settings: Settings, database: Database) -> Ledger:
    policy = Policy(event_retention_seconds=settings.event_hours * 3600, card_seconds=settings.card_seconds)
    return open_ledger_on(database, settings.wakeups_folder, policy)


async def _begin_reading(preview: Preview | None, index: CourseSearch, read_course: Callable[[], Course]) -> None:
    if preview:
        preview.watch.start()
    else:
        await index.count(read_course())


def _open_drawers(settings: Settings, metrics: Metrics) -> Drawers:
    pictures = metrics.pictures
    return Drawers(settings.drawing_processes, None, lambda end: pictures.labels(end.value).inc(), settings.log)


def _open_rates(settings: Settings, database: Database, process: SiteProcess) -> Rates:
    """A website that is one process with an SQLite file counts in its memory; others share counts in the database."""
    counts_alone = database.is_sqlite and process.is_alone
    return Rates(settings.rate_factor, None if counts_alone else SharedCounts(database, settings.secret))


def _list_chores(
    settings: Settings, ledger: Ledger, store: Store, sender: GradeSender, clock: Clock
) -> tuple[Chore, ...]:
    """Those of the installation, which one process does for all."""
    return (
        sender.keep_sending,
        partial(ledger.database.keep_checkpointing, CHECKPOINT_SECONDS),
        partial(ledger.keep_pruning, PRUNE_SECONDS),
        partial(store.keep_sweeping, clock, SWEEP_SECONDS, settings.audit_days, settings.section_months),
    )


def _begin_chores(*chores: Chore) -> list[asyncio.Task[None]]:
    """What runs beside the requests until the site is closed."""
    return [asyncio.create_task(chore()) for chore in chores]


async def _end_chores(chores: list[asyncio.Task[None]], http: AsyncClient) -> None:
    """The client that they ask other servers with is closed after them."""
    for chore in chores:
        chore.cancel()
    await http.aclose()


def _open_providers(settings: Settings, http: AsyncClient) -> dict[str, OidcClient]:
    return {name: OidcClient(provider, http) for name, provider in settings.read_providers().items()}


def add_layers(app: FastAPI, settings: Settings, metrics: Metrics) -> None:
    """Add the middleware around every request. The last one added is the outermost."""
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=6)
    app.add_middleware(Utf8FormsOnly, refuse=errors.refuse_encoding)
    app.add_middleware(SameOriginOnly, refuse=errors.refuse_other_origin, exempt=launching.FROM_PLATFORMS)
    app.add_middleware(FaultsInWords, answer=errors.answer_fault)
    if settings.hosts or settings.env is Env.DEVELOPMENT:
        hosts = read_hosts(settings.hosts) | {settings.host.lower()}
        app.add_middleware(KnownHostsOnly, hosts=hosts, refuse=errors.refuse_other_host)
    app.add_middleware(SecureResponses, https=settings.secure_cookies)
    app.add_middleware(MeasureRequests, metrics=metrics)
    app.add_middleware(RequestLog, trusted=settings.trust_proxy, access=settings.access_log)


def choose_course(preview: Preview | None, published: PublishedCourse | None) -> Callable[[], Course]:
    """An author's preview shows the files as they are now, any other site the version that is live."""
    if preview:
        return preview.course
    assert published is not None
    return published.course
