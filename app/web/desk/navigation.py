"""The one navigation on each page of a section: the pages that exist and that the reader may open."""

from dataclasses import dataclass

from starlette.exceptions import HTTPException

from app.access.permissions import is_allowed
from app.storage.records import Membership, SectionId
from app.web.edge.access import RULES
from app.web.edge.identity import RequestContext

SECTION = "/desk/{section}"

PAGES = (
    ("People", ""),
    ("Roster", "/roster"),
    ("Assignments", "/assignments"),
    ("Gradebook", "/gradebook"),
    ("Submissions", "/submissions"),
    ("Knowledge", "/knowledge"),
    ("Questions", "/questions"),
    ("Reports", "/reports"),
    ("Audit", "/audit"),
    ("Platform", "/platform"),
    ("Section", "/settings"),
)
"""A word and the rest of the page's address. Who may open it is in `RULES`."""


@dataclass(frozen=True)
class DeskLink:
    title: str
    href: str
    is_here: bool


@dataclass(frozen=True)
class SectionNavigation:
    """`here` is the word for the page that is shown; it is the page's heading too."""

    section: SectionId
    section_title: str
    here: str
    links: tuple[DeskLink, ...]
    reader: Membership
    """What the reader is in this section."""

    @property
    def is_archived(self) -> bool:
        return self.reader.is_archived

    @property
    def page_title(self) -> str:
        """For the browser's tab, where a teacher may have several sections open."""
        return f"{self.here}: {self.section_title}"


async def navigate(context: RequestContext, section: SectionId, here: str) -> SectionNavigation:
    """The navigation for a page of the section. A page below another one names that one as `here`."""
    assert context.account is not None
    reader = await context.site.store.sections.find_role(section, context.account.id)
    if reader is None:
        raise HTTPException(404)
    links = tuple(
        DeskLink(title, f"/desk/{section}{path}", title == here)
        for title, path in PAGES
        if is_allowed(RULES[SECTION + path].permission, (reader.role,))
    )
    return SectionNavigation(section, reader.title, here, links, reader)
