"""Which names this site answers to: a page of another site must not reach it under its name (DNS rebinding).

Pure ASGI. A name in a request is never repeated in an answer.
"""

import ipaddress
import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

PORT = re.compile(r":\d+$")


def read_hosts(setting: str) -> frozenset[str]:
    """The names of UNWIND_HOSTS, which has commas between them."""
    return frozenset(name.strip().lower() for name in setting.split(",") if name.strip())


def is_ours(header: str, hosts: frozenset[str]) -> bool:
    """Addresses, and names without a dot, cannot be somebody's domain; any other name has to be listed."""
    name = PORT.sub("", header.lower())
    if name in hosts or ("." not in name and ":" not in name):
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class KnownHostsOnly:
    """Refuses requests for other names. Without a list, only outside development, every name is taken."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], refuse: Callable[[Request], Response]) -> None:
        self.app = app
        self.hosts = hosts
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_ours(Headers(scope=scope).get("host", ""), self.hosts):
            await self.refuse(Request(scope))(scope, receive, send)
            return
        await self.app(scope, receive, send)
