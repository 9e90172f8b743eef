"""Light, dark or the system's theme: a form that works without script, and a cookie that a script may also set."""

from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.web.edge.frame import Theme
from app.web.edge.identity import COOKIE_SECONDS, THEME_COOKIE, RequestContextDep, set_cookie

router = APIRouter(include_in_schema=False)


@router.post("/theme")
async def choose_theme(
    context: RequestContextDep, theme: Annotated[Theme, Form()], back: Annotated[str, Form()] = "/"
) -> Response:
    settings = context.site.settings
    cookie = set_cookie(THEME_COOKIE, theme.value, settings, seconds=COOKIE_SECONDS, script=True)
    context.request.state.cookies.append(cookie)
    return RedirectResponse(local_path(back), 303)


def local_path(wanted: str) -> str:
    """The path if it is on this site, else the home page, so that a link cannot send a reader to another site.

    Browsers read "//host" and "/\\\\host" as another host, and drop tabs and newlines before they parse.
    """
    plain = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if plain and wanted.isprintable() else "/"
