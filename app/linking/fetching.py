"""One request to another server, whose answer is not trusted to be short."""

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2

from app.linking.providers import HERE

TIMEOUT_SECONDS = 10.0
MAX_ANSWER_BYTES = 1 << 20
HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+")


class NoAnswer(Exception):
    """The server did not answer, or answered too much. The message is for the log."""


class Refused(NoAnswer):
    """The server is there, and refused this one request: the next one may well be answered."""


@dataclass(frozen=True)
class Answer:
    """The names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def expect(self, address: str, *statuses: int) -> None:
        """Raises NoAnswer for any other status, and Refused for one that is about this request alone."""
        if self.status in statuses:
            return
        is_about_it = 400 <= self.status < 500 and self.status not in (401, 408, 429)
        raise (Refused if is_about_it else NoAnswer)(f"{address} answers {self.status}")

    def read_json(self) -> Any:
        """Raises ValueError."""
        return json.loads(self.body)


async def fetch_capped(http: httpx2.AsyncClient, method: str, address: str, **more: Any) -> Answer:
    """The whole answer, whatever its status. Raises NoAnswer."""
    body = b""
    try:
        async with http.stream(method, address, **more) as answer:
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise NoAnswer(f"{address} answers too much")
    except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
        raise NoAnswer(f"{address}: {problem}") from problem
    return Answer(answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, body)


def is_encrypted(address: str) -> bool:
    """Whether what is sent to this address can be read by its server alone. This machine needs no encryption."""
    parts = urlsplit(address)
    return bool(HOST.fullmatch(parts.hostname or "")) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in HERE)
    )


def origin_of(address: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def open_http() -> httpx2.AsyncClient:
    """Follows no redirect, and takes no proxy or credentials from the environment."""
    return httpx2.AsyncClient(
        verify=_read_authorities(), timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False
    )


@cache
def _read_authorities() -> ssl.SSLContext:
    """This machine's certificate authorities, read once per process: that takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)
