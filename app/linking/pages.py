"""Lists that a platform gives in pages: line items and members."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urljoin

from joserfc.jwk import RSAKey

from app.linking.fetching import NoAnswer, origin_of
from app.linking.lti import Registration
from app.linking.platforms import Platforms

MAX_PAGES = 200
NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')


async def read_pages(
    platforms: Platforms, registration: Registration, key: RSAKey, scope: str, address: str, media_type: str
) -> AsyncIterator[Any]:
    """The parsed pages of a list, one after the other. Raises NoAnswer and NoToken.

    A page that leads to another server ends the list with NoAnswer, because the next request would send it our token.
    """
    origin, headers = origin_of(address), {"accept": media_type}
    for _ in range(MAX_PAGES):
        answer = await platforms.call(registration, key, (scope,), "GET", address, headers=headers)
        answer.expect(address, 200)
        try:
            yield answer.read_json()
        except ValueError as problem:
            raise NoAnswer(f"{address} answers no JSON") from problem
        following = find_next(address, answer.headers)
        if following is None:
            return
        if origin_of(following) != origin:
            raise NoAnswer(f"{address} leads to another server: {following}")
        address = following
    raise NoAnswer(f"{address} is the page after {MAX_PAGES} others")


def find_next(address: str, headers: Mapping[str, str]) -> str | None:
    found = NEXT.search(headers.get("link", ""))
    return urljoin(address, found.group(1)) if found else None
