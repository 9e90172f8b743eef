"""The site that handlers work with: what is opened once at the start and found through the request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from app.access.passwords import Passwords
from app.course.model import Course
from app.linking.oidc import OidcClient
from app.linking.platforms import Platforms
from app.preview import Preview
from app.publishing import PublishedCourse
from app.settings import Settings
from app.storage.store import Store
from app.web.edge.assets import Assets
from app.web.edge.comparisons import Comparisons
from app.web.edge.course_search import CourseSearch
from app.web.edge.disk import Disk
from app.web.edge.drill_stock import DrillStock
from app.web.edge.figures import Figures
from app.web.edge.metrics import Metrics
from app.web.edge.processes import SiteProcess
from app.web.edge.rates import Rates
from app.web.edge.rendering import Renderer
from app.web.edge.terms import Terms
from app.web.edge.torch_version import RunningTorch
from graders.ledger import Endings, Ledger

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Site:
    """`read_course` returns the current course: the same object until its files change, if they are watched."""

    settings: Settings
    read_course: Callable[[], Course]
    store: Store
    ledger: Ledger
    endings: Endings
    renderer: Renderer
    assets: Assets
    figures: Figures
    torch: RunningTorch
    rates: Rates
    metrics: Metrics
    disk: Disk
    drills: DrillStock
    clock: Clock
    passwords: Passwords
    providers: Mapping[str, OidcClient]
    platforms: Platforms
    search: CourseSearch
    terms: Terms | None = None
    preview: Preview | None = None
    published: PublishedCourse | None = None
    """None in a preview, which shows the files of a folder."""
    process: SiteProcess = field(default_factory=SiteProcess)
    comparisons: Comparisons = field(default_factory=Comparisons)

    def end_streams(self) -> None:
        """End every open event stream before the process stops; browsers reconnect and ask for the rest."""
        self.ledger.end_streams()
        if self.preview:
            self.preview.watch.stop()


def get_site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


SiteDep = Annotated[Site, Depends(get_site)]


def get_course(request: Request, site: SiteDep) -> Course:
    """The course for this request, read once so that a change of its files in between cannot split a page."""
    course = getattr(request.state, "course", None)
    if course is None:
        course = request.state.course = site.read_course()
    assert isinstance(course, Course)
    return course


CourseDep = Annotated[Course, Depends(get_course)]
