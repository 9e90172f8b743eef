"""The site that handlers work with: everything opened once at the start, found through the request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from app.course.model import Course
from app.preview import Preview
from app.settings import Settings
from app.storage.store import Store
from app.web.edge.assets import Assets
from app.web.edge.disk import Disk
from app.web.edge.figures import Figures
from app.web.edge.metrics import Metrics
from app.web.edge.rates import Rates
from app.web.edge.rendering import Renderer
from app.web.edge.torch_version import RunningTorch
from graders.ledger import Ledger

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Site:
    """`read_course` gives the course as it is now: the same object until its files change, if they are watched."""

    settings: Settings
    read_course: Callable[[], Course]
    store: Store
    ledger: Ledger
    renderer: Renderer
    assets: Assets
    figures: Figures
    torch: RunningTorch
    rates: Rates
    metrics: Metrics
    disk: Disk
    clock: Clock
    preview: Preview | None = None

    def end_streams(self) -> None:
        """The process is about to stop: every open event stream ends now, and browsers ask for the rest later."""
        self.ledger.end_streams()
        if self.preview:
            self.preview.watch.stop()


def get_site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


SiteDep = Annotated[Site, Depends(get_site)]


def get_course(request: Request, site: SiteDep) -> Course:
    """The course as this request sees it: read once, so that a change of its files in between cannot split a page."""
    course = getattr(request.state, "course", None)
    if course is None:
        course = request.state.course = site.read_course()
    assert isinstance(course, Course)
    return course


CourseDep = Annotated[Course, Depends(get_course)]
