"""The roster of a section: whom the school names there, its file with a preview, and how its people join."""

import asyncio
import csv
from dataclasses import dataclass
from io import StringIO
from typing import Annotated, ClassVar

from fastapi import APIRouter, File, Form, Response, UploadFile
from fastapi.responses import RedirectResponse
from pydantic import StringConstraints

from app.access.permissions import Permission, Role, is_allowed
from app.learning.gradebook_csv import defuse
from app.learning.roster import Compared, Comparison, State
from app.learning.roster_csv import MAX_BYTES, BadRoster, read_roster, write_roster
from app.storage.memberships import Source
from app.storage.records import AccountId, SectionId, Status
from app.storage.roster import LineId, PersonalLink, RosterLine
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

Id = Annotated[str, StringConstraints(max_length=32), Form()]


@dataclass(frozen=True)
class RosterRow:
    """`account` is the name of the person's account here, empty until they have joined."""

    id: str
    name: str
    student_number: str
    email: str
    login: str
    account: str
    state: str


@dataclass(frozen=True)
class Choice:
    id: str
    name: str


@dataclass(frozen=True)
class RosterPage:
    """`free` are the learners here whom no line names; `open_lines` the lines that are nobody's yet."""

    template: ClassVar[str] = "roster.html"
    frame: Frame
    navigation: SectionNavigation
    rows: tuple[RosterRow, ...]
    joined: int
    open_lines: tuple[Choice, ...]
    free: tuple[Choice, ...]
    may_manage: bool
    max_kib: int
    done: str
    problem: str


@dataclass(frozen=True)
class PreviewPage:
    """Nothing is stored yet. `text` is the file as it was read, for the form that applies it."""

    template: ClassVar[str] = "roster_preview.html"
    frame: Frame
    navigation: SectionNavigation
    described: str
    counts: tuple[str, ...]
    rows: tuple[Compared, ...]
    missing: tuple[str, ...]
    text: str
    problem: str


@router.api_route("/desk/{section}/roster", methods=["GET", "HEAD"])
async def roster_page(context: RequestContextDep, section: str) -> Response:
    return await _show(context, SectionId(section))


@router.post("/desk/{section}/roster/preview")
async def preview(context: RequestContextDep, section: str, file: Annotated[UploadFile, File()]) -> Response:
    """What the file means, person by person. It changes nothing."""
    await context.count(Act.WRITE)
    assert context.account is not None
    here = SectionId(section)
    try:
        found = await asyncio.to_thread(read_roster, await file.read(MAX_BYTES + 1))
    except BadRoster as problem:
        return await _show(context, here, problem=str(problem))
    compared = await context.site.store.rosters.compare(here, found.entries, context.account.id)
    navigation = await navigate(context, here, "Roster")
    page = PreviewPage(
        frame=await context.frame(navigation.page_title, "What a file of people means for the section."),
        navigation=navigation,
        described=found.described,
        counts=_count(compared),
        rows=compared.rows,
        missing=tuple(line.entry.name for line in compared.missing),
        text=write_roster(found.entries),
        problem="",
    )
    return context.site.renderer.page(page)


@router.post("/desk/{section}/roster/apply")
async def apply(
    context: RequestContextDep,
    section: str,
    text: Annotated[str, Form()],
    drop_missing: Annotated[bool, Form()] = False,
) -> Response:
    """Take over what the preview showed, as the section is now."""
    await context.count(Act.WRITE)
    here, rosters = SectionId(section), context.site.store.rosters
    try:
        found = await asyncio.to_thread(read_roster, text.encode())
    except BadRoster as problem:
        return await _show(context, here, problem=str(problem))
    compared = await rosters.apply(here, found.entries, actor_of(context), drop_missing=drop_missing)
    counts = [*_count(compared), *([f"{len(compared.missing)} dropped"] if drop_missing else [])]
    return await _show(context, here, done=f"The roster is taken over: {', '.join(counts)}.")


@router.post("/desk/{section}/roster/links")
async def make_links(context: RequestContextDep, section: str) -> Response:
    """A file with a personal link for everybody who has not joined, this once: only hashes are stored."""
    await context.count(Act.WRITE)
    links = await context.site.store.rosters.make_links(SectionId(section), actor_of(context))
    if not links:
        return await _show(context, SectionId(section), problem="Everybody in the roster has joined already.")
    text = write_links(links, f"{context.site_address}/join-section")
    headers = {"content-disposition": 'attachment; filename="links.csv"', "cache-control": "no-store"}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


@router.post("/desk/{section}/roster/account")
async def set_account(context: RequestContextDep, section: str, line: Id, account: Id = "") -> Response:
    """Say whose account a line is; without `account`, that it is nobody's."""
    await context.count(Act.WRITE)
    here, chosen = SectionId(section), AccountId(account) if account else None
    if not await context.site.store.rosters.set_account(here, LineId(line), chosen, actor_of(context)):
        problem = "That line or that learner is not here, or has found each other already; look at the list again."
        return await _show(context, here, problem=problem)
    return RedirectResponse(f"/desk/{section}/roster", 303)


def write_links(links: tuple[PersonalLink, ...], address: str) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["name", "email", "student_number", "login", "link"])
    for link in links:
        named = (link.entry.name, link.entry.email, link.entry.student_number, link.entry.login)
        writer.writerow([*map(defuse, named), f"{address}/{link.token}"])
    return text.getvalue()


def _count(compared: Comparison) -> tuple[str, ...]:
    """For example "3 new", "28 unchanged"."""
    return tuple(f"{count} {state}" for state in State if (count := compared.count(state)))


async def _show(context: RequestContext, section: SectionId, *, done: str = "", problem: str = "") -> Response:
    store, navigation = context.site.store, await navigate(context, section, "Roster")
    lines = await store.rosters.lines(section)
    taken = {line.account for line in lines}
    people = await store.sections.people(section)
    may_manage = is_allowed(Permission.MANAGE_ROSTER, (navigation.reader.role,)) and not navigation.is_archived
    page = RosterPage(
        frame=await context.frame(navigation.page_title, "Whom the school names in this section."),
        navigation=navigation,
        rows=tuple(map(_show_line, lines)),
        joined=sum(line.account is not None for line in lines),
        open_lines=tuple(Choice(line.id, _describe(line)) for line in lines if line.account is None),
        free=tuple(
            Choice(one.account, one.name)
            for one in people
            if one.role is Role.LEARNER and one.status is not Status.INVITED and one.account not in taken
        ),
        may_manage=may_manage,
        max_kib=MAX_BYTES // 1024,
        done=done,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _describe(line: RosterLine) -> str:
    more = line.entry.student_number or line.entry.email or line.entry.login
    return f"{line.entry.name} ({more})" if more else line.entry.name


def _show_line(line: RosterLine) -> RosterRow:
    known = "has a link" if line.has_link else "not yet joined"
    source = "" if line.source in (Source.CSV, Source.PERSON) else ", from the platform"
    return RosterRow(
        id=line.id,
        name=line.entry.name,
        student_number=line.entry.student_number,
        email=line.entry.email,
        login=line.entry.login,
        account=line.account_name,
        state="dropped" if line.dropped_at else ("joined" if line.account else known) + source,
    )
