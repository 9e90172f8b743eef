"""An exercise of the course as a zip that needs no course, with its solution and cases, for instructors."""

import asyncio

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.standalone import read_standalone
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.zips import pack

router = APIRouter(include_in_schema=False)


@router.get("/desk/{section}/exercises/{exercise}/files")
async def download(context: RequestContextDep, section: str, exercise: str) -> Response:
    await context.count(Act.EXPORT)
    if exercise not in context.course.exercises:
        raise HTTPException(404, "The course has no such exercise.")
    content = await asyncio.to_thread(_pack, context.course, exercise)
    headers = {"content-disposition": f'attachment; filename="{exercise}.zip"', "cache-control": "no-store"}
    return Response(content, headers=headers, media_type="application/zip")


def _pack(course: Course, exercise: str) -> bytes:
    made = read_standalone(course, exercise)
    return pack(exercise, made.files)


def exercise_files_href(section: str, exercise: str) -> str:
    return f"/desk/{section}/exercises/{exercise}/files"
