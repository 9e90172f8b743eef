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
from app.web.assets import Assets
from app.web.figures import Figures
from app.web.metrics import Metrics
from app.web.rates import Rates
from app.web.rendering import Renderer
from app.web.running import RunningTorch
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
    clock: Clock
    preview: Preview | None = None

    @property
    def course(self) -> Course:
        return self.read_course()


def get_site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


SiteNow = Annotated[Site, Depends(get_site)]
