"""Large JSON answers: compressed in a thread, and not sent again to a reader who has them already.

In a thread, because no other page is served while the middleware compresses a megabyte.
"""

import asyncio
import gzip
import hashlib

from fastapi import Request, Response

MIN_BYTES = 1024
LEVEL = 5
# Private: what a page of the course shows may need an account.
KEEP_AND_ASK = "private, no-cache"


async def send_json(request: Request, document: bytes, *, kept: bool = False) -> Response:
    """`document` is JSON already. `kept`: a browser may keep it, and asks each time whether it is still the same."""
    headers = {"vary": "Accept-Encoding"}
    if kept:
        headers |= {"cache-control": KEEP_AND_ASK, "etag": f'W/"{hashlib.sha256(document).hexdigest()[:32]}"'}
        if is_known(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", "") and len(document) >= MIN_BYTES:
        # zlib releases the interpreter's lock while it works. The middleware passes on what is compressed.
        document = await asyncio.to_thread(gzip.compress, document, LEVEL)
        headers["content-encoding"] = "gzip"
    return Response(document, media_type="application/json", headers=headers)


def is_known(request: Request, tag: str) -> bool:
    """Whether the reader's If-None-Match names this tag; weak and strong tags are alike there (RFC 9110, 13.1.2)."""
    asked = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    return asked == ["*"] or tag.removeprefix("W/") in asked
