"""The gradebook as a file for other systems, and the ids that these systems gave to people and assignments."""

import asyncio
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, File, Query, Response, UploadFile

from app.learning.gradebook_csv import Dialect, Gradebook, find_left_out, write_download
from app.learning.platform_ids import (
    MAX_BYTES,
    Known,
    UnreadableFile,
    match_columns,
    match_people,
    read_platform_file,
)
from app.storage.gradebook import PlatformIds
from app.storage.records import SectionId
from app.web.desk.gradebook import OpenedBook, grade_people, open_book
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.gradebook import make_book

router = APIRouter(include_in_schema=False)

SHOWN = 50
LISTED = 5
WORDS = {
    Dialect.PLAIN: ("A spreadsheet", "Student numbers, names, addresses, and a column for each assignment."),
    Dialect.CANVAS: (
        "Canvas",
        "Grades, Import. Upload Canvas's own export below first, or it makes new assignments.",
    ),
    Dialect.MOODLE: ("Moodle", "Grades, Import, CSV. You map “Username”, “Email address” or “ID number” there."),
    Dialect.BLACKBOARD: (
        "Blackboard",
        "Upload its own download below first: only columns that it has can be filled.",
    ),
    Dialect.NBGRADER: ("nbgrader’s columns", "A line for each grade, with the late penalty."),
    Dialect.JSON: ("JSON", "Everything, with the reason of each grade."),
}


@dataclass(frozen=True)
class FileRow:
    """A format to download. `left_out` says what is not in it now; empty if everything is."""

    href: str
    title: str
    note: str
    left_out: str


@dataclass(frozen=True)
class KnownIds:
    """How many of the section's people and assignments have an id at a platform."""

    platform: str
    people: int
    of_people: int
    assignments: int
    of_assignments: int


@dataclass(frozen=True)
class GradebookFilesPage:
    """`upload_action` takes a file named `file`; empty where nothing may change.

    `done` says what an upload led to, and `unmatched` has the names in the file that fit nothing here.
    """

    template: ClassVar[str] = "gradebook_files.html"
    frame: Frame
    navigation: SectionNavigation
    back_href: str
    files: tuple[FileRow, ...]
    known: tuple[KnownIds, ...]
    upload_action: str
    max_kib: int
    done: str
    unmatched: tuple[str, ...]
    problem: str


@router.api_route("/desk/{section}/gradebook/files", methods=["GET", "HEAD"])
async def files(context: RequestContextDep, section: str) -> Response:
    return await _show(context, SectionId(section))


@router.get("/desk/{section}/gradebook/download")
async def download(
    context: RequestContextDep, section: str, dialect: Annotated[Dialect, Query(alias="for")] = Dialect.PLAIN
) -> Response:
    """The whole class. It leaves the site with names, so it is audited and needs a recent sign-in."""
    await context.count(Act.EXPORT)
    here = SectionId(section)
    navigation, book = await navigate(context, here, "Gradebook"), await open_book(context, here)
    made = await _make(context, here, navigation, book)
    text = write_download(made, dialect)
    await context.site.store.gradebook.note_download(here, dialect.value, len(book.people), actor_of(context))
    name = f"{_slug(navigation.section_title)}-{dialect.value}.{'json' if dialect is Dialect.JSON else 'csv'}"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    media = "application/json" if dialect is Dialect.JSON else "text/csv; charset=utf-8"
    return Response(text.encode(errors="replace"), headers=headers, media_type=media)


@router.post("/desk/{section}/gradebook/files")
async def upload(context: RequestContextDep, section: str, file: Annotated[UploadFile, File()]) -> Response:
    """Keep the ids in a platform's own file of grades; nothing else of it."""
    await context.count(Act.WRITE)
    here, content = SectionId(section), await file.read(MAX_BYTES + 1)
    try:
        found = await asyncio.to_thread(read_platform_file, content)
    except UnreadableFile as refusal:
        return await _show(context, here, problem=str(refusal))
    book = await open_book(context, here)
    # The whole roster, so that the file need not be sent again for those who join later.
    roster = [line for line in await context.site.store.rosters.lines(here) if line.dropped_at is None]
    entries = [(line.id, line.entry) for line in roster]
    known = [Known(at, one.name, one.student_number, one.login, one.email) for at, one in entries]
    people = match_people(found.people, known)
    columns = match_columns(found.columns, [Known(one.id, one.title) for one in book.assigned])
    ids = PlatformIds(found.dialect.value, people.ids, columns.ids)
    await context.site.store.gradebook.keep_ids(here, ids, actor_of(context))
    done = (
        f"Kept the ids of people: {len(people.ids)}, of assignments: {len(columns.ids)}. In the file but not on the "
        f"roster: {len(people.unmatched)}; columns that are no assignment here: {len(columns.unmatched)}."
    )
    return await _show(context, here, done=done, unmatched=(*people.unmatched, *columns.unmatched)[:SHOWN])


async def _make(
    context: RequestContext, section: SectionId, navigation: SectionNavigation, book: OpenedBook
) -> Gradebook:
    grades = await grade_people(context, section, book, book.people)
    columns = await context.site.store.gradebook.columns(section)
    return make_book(navigation.section_title, book.people, book.assigned, grades, columns)


async def _show(
    context: RequestContext, section: SectionId, *, done: str = "", unmatched: tuple[str, ...] = (), problem: str = ""
) -> Response:
    navigation, book = await navigate(context, section, "Gradebook"), await open_book(context, section)
    made = await _make(context, section, navigation, book)
    address = f"/desk/{section}/gradebook"
    page = GradebookFilesPage(
        frame=await context.frame(f"Files: {navigation.section_title}", "The grades as files for other systems."),
        navigation=navigation,
        back_href=address,
        files=tuple(_show_file(made, dialect, f"{address}/download?for={dialect.value}") for dialect in Dialect),
        known=tuple(_count_known(made, dialect) for dialect in (Dialect.CANVAS, Dialect.BLACKBOARD)),
        upload_action="" if navigation.is_archived else f"{address}/files",
        max_kib=MAX_BYTES // 1024,
        done=done,
        unmatched=unmatched,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_file(made: Gradebook, dialect: Dialect, href: str) -> FileRow:
    title, note = WORDS[dialect]
    left_out = find_left_out(made, dialect)
    columns, people = left_out.columns, left_out.people
    parts = [
        f"{_list(columns)}: {'no column there yet' if dialect is Dialect.BLACKBOARD else 'nobody has a grade yet'}"
        if columns
        else "",
        f"{_list(people)}: no login, address or number on the roster" if people else "",
    ]
    return FileRow(href, title, note, "; ".join(filter(None, parts)))


def _list(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"


def _count_known(made: Gradebook, dialect: Dialect) -> KnownIds:
    people = sum(dialect in row.ids for row in made.rows)
    columns = sum(dialect in column.ids for column in made.columns)
    return KnownIds(dialect.value.capitalize(), people, len(made.rows), columns, len(made.columns))


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:60] or "grades"
