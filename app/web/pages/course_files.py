"""Files of the course that pages show: a chapter's pictures, and the style rules for its formulas."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from app.web.edge.assets import ASK_AGAIN, FOREVER, MEDIA_TYPES
from app.web.edge.compressed import is_known
from app.web.edge.frame import digest_text
from app.web.edge.site import CourseDep
from app.web.pages.chapter import ChapterDep

router = APIRouter(include_in_schema=False)

PICTURES = {".svg": MEDIA_TYPES[".svg"], ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}


@router.api_route("/chapters/{slug}/figures/{name}", methods=["GET", "HEAD"])
async def chapter_figure(name: str, request: Request, chapter: ChapterDep, course: CourseDep) -> Response:
    folder = course.root / "chapters" / chapter.slug / "figures"
    path = folder / name
    if path.suffix not in PICTURES or path.parent != folder or not path.is_file():
        raise HTTPException(404, "There is no such picture.")
    found = path.stat()
    headers = {"cache-control": ASK_AGAIN, "etag": f'W/"{found.st_mtime_ns:x}-{found.st_size:x}"'}
    if is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=PICTURES[path.suffix], headers=headers)


@router.api_route("/course/{digest}/math.css", methods=["GET", "HEAD"])
async def math_css(digest: str, course: CourseDep) -> Response:
    """The style rules of typeset formulas. An outdated hash gets the current rules, without long caching."""
    css = course.math_css
    current = digest == digest_text(css)
    return Response(css, headers={"cache-control": FOREVER if current else ASK_AGAIN}, media_type="text/css")
