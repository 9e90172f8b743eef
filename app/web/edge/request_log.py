"""Gives each request an id, which its answer and every log line about it carry; and logs requests if a setting asks.

Pure ASGI. The access log holds no address, no query and no cookie: nothing that says who reads what.
"""

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graders.contract.log_lines import current_request, current_submission

HEADER = "x-request-id"
OUTSIDE = re.compile(r"[A-Za-z0-9-]{8,64}")
"""What is taken over from a trusted proxy."""
SECRET_PATHS = ("/link/", "/calendar/", "/join-section/")
"""What follows them is a token."""

log = logging.getLogger(__name__)


class RequestLog:
    """`trusted`: a proxy in front names the requests in X-Request-ID. `access`: one line for each request."""

    def __init__(self, app: ASGIApp, *, trusted: bool, access: bool) -> None:
        self.app = app
        self.trusted = trusted
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = self._name(scope)
        token = current_request.set(request)
        started, status = time.perf_counter(), 0

        async def named_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request
            await send(message)

        try:
            await self.app(scope, receive, named_send)
        finally:
            if self.access:
                milliseconds = 1000 * (time.perf_counter() - started)
                log.info("%s %s %d %.0f ms", scope["method"], hide_token(scope["path"]), status, milliseconds)
            current_request.reset(token)
            current_submission.set("")

    def _name(self, scope: Scope) -> str:
        given = Headers(scope=scope).get(HEADER, "") if self.trusted else ""
        return given if OUTSIDE.fullmatch(given) else secrets.token_hex(8)


def hide_token(path: str) -> str:
    """The path for a log. Anyone who reads a token there could still use it."""
    return next((f"{secret}..." for secret in SECRET_PATHS if path.startswith(secret)), path)
