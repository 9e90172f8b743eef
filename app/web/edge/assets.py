"""Static files: read once, compressed once, served under a URL that contains one hash of all of them.

The set has one hash, not one per file. So a style sheet finds its fonts, and a script finds the chunk that it
loads later, by plain relative paths, and a page never mixes two releases.
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

STATIC = Path(__file__).resolve().parents[3] / "static"
SERVED_FOLDERS = ("dist", "fonts")
DIGEST_LENGTH = 12

FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"

MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
COMPRESSIBLE = (".js", ".css", ".svg", ".map")


@dataclass(frozen=True)
class Asset:
    body: bytes
    compressed: bytes | None
    media_type: str


@dataclass(frozen=True)
class Assets:
    """`files` by path under static/, e.g. "dist/site.css"."""

    digest: str
    files: Mapping[str, Asset]

    def url(self, name: str) -> str:
        """The URL of a bundle, e.g. of "site.css", or of a file by its path, e.g. of "fonts/text.woff2".

        A bundle that is not built yet also has a URL, which answers 404.
        """
        return f"/static/{self.digest}/{name if '/' in name else f'dist/{name}'}"


def read_assets(root: Path = STATIC) -> Assets:
    """All files that are served. A file with an unknown ending is left out."""
    files = {
        path.relative_to(root).as_posix(): _read(path)
        for folder in SERVED_FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and path.suffix in MEDIA_TYPES
    }
    together = hashlib.sha256()
    for name, asset in files.items():
        together.update(name.encode() + b"\0" + hashlib.sha256(asset.body).digest())
    return Assets(together.hexdigest()[:DIGEST_LENGTH], files)


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    compressed = gzip.compress(body, mtime=0) if path.suffix in COMPRESSIBLE else None
    return Asset(body, compressed, MEDIA_TYPES[path.suffix])


def serve_assets(assets: Assets) -> APIRouter:
    """The route of the static files. An outdated hash gets the current file, which the browser then revalidates."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/static/{digest}/{path:path}", methods=["GET", "HEAD"])
    async def static_file(digest: str, path: str, request: Request) -> Response:
        asset = assets.files.get(path)
        if asset is None:
            raise HTTPException(404, "There is no such file.")
        current = digest == assets.digest
        headers = {
            "cache-control": FOREVER if current else ASK_AGAIN,
            "etag": f'"{assets.digest}"',
            "vary": "accept-encoding",
        }
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        if asset.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(asset.compressed, headers=headers, media_type=asset.media_type)
        return Response(asset.body, headers=headers, media_type=asset.media_type)

    return router
