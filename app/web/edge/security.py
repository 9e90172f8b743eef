"""Security headers for every response (CSP with a nonce among them), and the same-origin check of unsafe requests.

Scripts, style sheets and fonts get a shorter set, because they are not documents and a first view loads a dozen.

Pure ASGI, so that streams pass through untouched. The headers are set in our outermost layer, so that an error
page has them too.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

EMPTY_STYLE_HASH = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
"""The hash of an empty style element, which the chart library inserts and then fills through the object model."""

INERT_TYPES = ("text/css", "text/javascript", "font/woff2")
"""Types that a browser never opens as a document with its own rights."""

INERT_HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}

FIXED_HEADERS = {
    "x-content-type-options": "nosniff",
    # same-origin and not no-referrer: the latter makes a form's Origin "null", and the origin check would refuse it.
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Opening:
    """Other sites that may show an answer in a frame, or that its forms may send to. Both are origins."""

    frames: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


CLOSED = Opening()


def content_security_policy(nonce: str, opening: Opening = CLOSED) -> str:
    """`nonce` is for the style elements that the code editor makes."""
    forms, frames = " ".join(("'self'", *opening.forms)), " ".join(opening.frames) or "'none'"
    return (
        "default-src 'none'; script-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}' '{EMPTY_STYLE_HASH}'; style-src-attr 'none'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        f"form-action {forms}; base-uri 'none'; frame-ancestors {frames}"
    )


def document_headers(nonce: str, opening: Opening = CLOSED) -> dict[str, str]:
    return {"content-security-policy": content_security_policy(nonce, opening), **FIXED_HEADERS}


class SecureResponses:
    """Makes the request's nonce (scope["state"]["nonce"]), sets the headers, and sends the handlers' cookies.

    A handler appends a cookie to scope["state"]["cookies"], and the work that stores its session to
    "when_it_went_well". Both happen only if the request succeeded, and the cookie is sent after that work is done.
    One whose answer belongs in a learning platform's frame sets "opening".
    """

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        self.https = https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        state = scope.setdefault("state", {})
        nonce = state["nonce"] = secrets.token_urlsafe(16)
        cookies: list[str] = state.setdefault("cookies", [])
        when_it_went_well: list[Callable[[], Awaitable[None]]] = state.setdefault("when_it_went_well", [])

        async def secured_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_inert = headers.get("content-type", "").startswith(INERT_TYPES)
                headers.update(INERT_HEADERS if is_inert else document_headers(nonce, state.get("opening", CLOSED)))
                if self.https:
                    headers["strict-transport-security"] = "max-age=31536000"
                if message["status"] < 400:
                    for keep in when_it_went_well:
                        await keep()
                    for cookie in cookies:
                        headers.append("set-cookie", cookie)
            await send(message)

        await self.app(scope, receive, secured_send)


def is_same_origin(headers: Headers) -> bool:
    """Whether an unsafe request came from our own pages, or not from a browser at all.

    Browsers send Sec-Fetch-Site; older ones send Origin with every POST. A client that sends neither is not a
    browser, so no other site's page can make it send a learner's cookie.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return True
    return bool(origin) and urlsplit(origin).netloc == headers.get("host")


class SameOriginOnly:
    """Refuses unsafe requests from other sites, whatever cookies they carry.

    `exempt` are methods with exact paths that other sites are meant to send to, and that look at no session.
    """

    def __init__(
        self, app: ASGIApp, refuse: Callable[[Request], Response], exempt: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        self.app = app
        self.refuse = refuse
        self.exempt = exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        unsafe = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        if unsafe and (scope["method"], scope["path"]) in self.exempt:
            unsafe = False
        if unsafe and not is_same_origin(Headers(scope=scope)):
            await self.refuse(Request(scope))(scope, receive, send)
            return
        await self.app(scope, receive, send)


class Utf8FormsOnly:
    """Refuses a form in parts that names an encoding of its own, which no browser's does.

    Python has encodings that turn harmless bytes into text that no database stores.
    """

    def __init__(self, app: ASGIApp, refuse: Callable[[Request], Response]) -> None:
        self.app = app
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            kind = Headers(scope=scope).get("content-type", "").strip().lower()
            if kind.startswith("multipart/") and "charset" in kind:
                await self.refuse(Request(scope))(scope, receive, send)
                return
        await self.app(scope, receive, send)


class BodyLimit:
    """Refuses a body of more than `max_bytes`, counted as it arrives, whatever its Content-Length claims."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        taken = 0

        async def counted_receive() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > self.max_bytes:
                    # The framework passes on an HTTPException while it parses the body, so our error page answers.
                    raise HTTPException(413)
            return message

        await self.app(scope, counted_receive, send)


class FaultsInWords:
    """The last resort: a bug of ours becomes a page in words. It is logged; its details never reach the reader."""

    def __init__(self, app: ASGIApp, answer: Callable[[Request, Exception], Awaitable[Response]]) -> None:
        self.app = app
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except Exception as error:
            if started:
                raise
            await (await self.answer(Request(scope), error))(scope, receive, send)
