"""Which host names this site answers to, so that another site's page cannot reach it by DNS rebinding.

Pure ASGI. A response never repeats the name in the request.
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
    """The names in UNWIND_HOSTS, which are separated by commas."""
    return frozenset(name.strip().lower() for name in setting.split(",") if name.strip())


def is_ours(header: str, hosts: frozenset[str]) -> bool:
    """Accept addresses and names without a dot, which cannot be another site's domain; other names must be listed."""
    name = PORT.sub("", header.lower())
    if name in hosts or ("." not in name and ":" not in name):
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class KnownHostsOnly:
    """Refuses requests for other names. Production without UNWIND_HOSTS does not use it."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], refuse: Callable[[Request], Response]) -> None:
        self.app = app
        self.hosts = hosts
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_ours(Headers(scope=scope).get("host", ""), self.hosts):
            await self.refuse(Request(scope))(scope, receive, send)
            return
        await self.app(scope, receive, send)
