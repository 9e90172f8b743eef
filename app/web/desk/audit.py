"""The audit, searched and a page at a time: a section's for its instructors, and everybody's for the operator."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, ClassVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.learning.deadlines import read_wall_time
from app.storage.audit import AuditFilter
from app.storage.records import AuditLine, SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep

router = APIRouter(include_in_schema=False)

SHOWN = 100
MAX_NUMBER = 2**31 - 1
YEARS = range(2000, 2100)

Text = Annotated[str, Query(max_length=120)]
Number = Annotated[int | None, Query(ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True)
class Asked:
    """The search as the form sent it; dates are ISO dates. It stands in the form again."""

    who: Text = ""
    what: Text = ""
    whom: Text = ""
    since: Text = ""
    until: Text = ""
    before: Number = None


@dataclass(frozen=True)
class AuditRow:
    at: str
    actor: str
    verb: str
    object: str
    change: str
    reason: str


@dataclass(frozen=True)
class AuditPage:
    """`older_href` is empty on the last page. Times are on the clocks of `zone`."""

    template: ClassVar[str] = "audit.html"
    frame: Frame
    navigation: SectionNavigation | None
    """None on the operator's page, which is about everybody."""
    action: str
    asked: Asked
    verbs: tuple[str, ...]
    lines: tuple[AuditRow, ...]
    zone: str
    older_href: str
    problem: str


@router.api_route("/operator/audit", methods=["GET", "HEAD"])
async def all_lines(
    context: RequestContextDep,
    who: Text = "",
    what: Text = "",
    whom: Text = "",
    since: Text = "",
    until: Text = "",
    before: Number = None,
) -> Response:
    return await _show(context, None, Asked(who, what, whom, since, until, before))


@router.api_route("/desk/{section}/audit", methods=["GET", "HEAD"])
async def section_lines(
    context: RequestContextDep,
    section: str,
    who: Text = "",
    what: Text = "",
    whom: Text = "",
    since: Text = "",
    until: Text = "",
    before: Number = None,
) -> Response:
    return await _show(context, SectionId(section), Asked(who, what, whom, since, until, before))


async def _show(context: RequestContext, section: SectionId | None, asked: Asked) -> Response:
    audit, zone, problem = context.site.store.audit, await _find_zone(context, section), ""
    lines: tuple[AuditLine, ...] = ()
    try:
        lines = await audit.find(read_filter(asked, section, zone), SHOWN + 1)
    except ValueError as mistake:
        problem = str(mistake)
    address = "/operator/audit" if section is None else f"/desk/{section}/audit"
    navigation = await navigate(context, section, "Audit") if section else None
    title = navigation.page_title if navigation else "Audit"
    page = AuditPage(
        frame=await context.frame(title, "Who gave or took rights, and who touched another person's data."),
        navigation=navigation,
        action=address,
        asked=asked,
        verbs=await audit.verbs(section),
        lines=tuple(_show_line(line, zone) for line in lines[:SHOWN]),
        zone=str(zone),
        older_href=_link_older(address, asked, lines[SHOWN - 1].number) if len(lines) > SHOWN else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _find_zone(context: RequestContext, section: SectionId | None) -> ZoneInfo:
    """A section's own; the operator's page is in UTC."""
    if section is None:
        return ZoneInfo("UTC")
    found = await context.site.store.sections.find(section)
    if found is None:
        raise HTTPException(404)
    return ZoneInfo(found.plan.zone)


def read_filter(asked: Asked, section: SectionId | None, zone: ZoneInfo) -> AuditFilter:
    """Raises ValueError, whose text is a sentence, for a date that is none. Both days are kept whole."""
    since, until = _read_day(asked.since), _read_day(asked.until)
    return AuditFilter(
        section=section,
        who=asked.who.strip(),
        what=asked.what,
        whom=asked.whom.strip(),
        since=_begin(since, zone) if since else None,
        until=_begin(until + timedelta(days=1), zone) if until else None,
        before=asked.before,
    )


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return read_wall_time(datetime.combine(day, time()), zone).astimezone(UTC)


def _read_day(typed: str) -> date | None:
    if not typed.strip():
        return None
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        day = date.min
    if day.year not in YEARS:
        raise ValueError(f"The day is {typed!r}; write a date from {YEARS[0]} on, such as 2027-02-01.")
    return day


def _link_older(address: str, asked: Asked, before: int) -> str:
    fields = {"who": asked.who, "what": asked.what, "whom": asked.whom, "since": asked.since, "until": asked.until}
    return f"{address}?{urlencode({**{name: text for name, text in fields.items() if text}, 'before': before})}"


def _show_line(line: AuditLine, zone: ZoneInfo) -> AuditRow:
    return AuditRow(
        at=f"{line.at.astimezone(zone):%Y-%m-%d %H:%M}",
        actor=line.actor,
        verb=line.verb,
        object=line.object,
        change=" → ".join(part for part in (line.before, line.after) if part),
        reason=line.reason,
    )
