"""The website's process: uvicorn with our limits, run by `python -m app serve` and `site`.

Uvicorn's own command cannot end open event streams before it stops, drop a connection whose headers never arrive, or
leave the proxy's headers to us.
"""

import argparse
import asyncio
import gc
import logging
import os
import socket
import sys
from contextlib import AsyncExitStack

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from app.main import create_app
from app.settings import PRIVATE_UMASK, Settings, read_settings
from app.web.api.health import describe
from app.web.edge.processes import SiteProcess, answer_others
from app.web.edge.site import Site
from graders.contract.log_lines import set_up_logging

STREAMS_END_SECONDS = 2
HEADER_SECONDS = 20.0
"""How long a client may take from connecting to the end of its first request's headers."""


class PunctualProtocol(H11Protocol):
    """Drops a connection whose headers are not complete in time, so that half-sent headers hold nothing open."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_headers(None)

    def on_response_complete(self) -> None:
        # Read before: a request that is waiting in the connection already begins in the next line.
        served = self.cycle
        super().on_response_complete()
        self._watch_headers(served)

    def _watch_headers(self, served: RequestResponseCycle | None) -> None:
        """Drop the connection unless, in time, another request follows the one that was served last."""
        idle_seconds = HEADER_SECONDS if served is None else HEADER_SECONDS + self.timeout_keep_alive

        def drop_if_silent() -> None:
            if self.cycle is served and not self.transport.is_closing():
                self.transport.close()

        self.loop.call_later(idle_seconds, drop_if_silent)


class SiteServer(uvicorn.Server):
    """Ends the open event streams as soon as it is stopped; browsers ask for the rest once it runs again."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(make_config(app, settings))
        self._site_app = app
        self._opened = AsyncExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        site: Site = self._site_app.state.site
        if not site.process.is_alone:
            answering = answer_others(site.settings.data, site.process.number, lambda: describe(site))
            await self._opened.enter_async_context(answering)
        keep_what_is_loaded()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._opened.aclose()
        self._site_app.state.site.end_streams()
        await super().shutdown(sockets)


def keep_what_is_loaded() -> None:
    """Let the garbage collector look no more at what the site has loaded, the course above all.

    It stays anyway. Without this, each page that makes many objects, such as the gradebook of a whole class, has the
    collector look at all of it several times: 1.0 s of processor time became 0.6 to 0.8 s (bench/term.py).
    """
    gc.collect()
    gc.freeze()


def make_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=PunctualProtocol,
        # Only app.web.edge.addresses decides which address counts; uvicorn would believe any local peer.
        proxy_headers=False,
        server_header=False,
        access_log=False,
        # Its lines then have the same form as ours.
        log_config=None,
        log_level="warning",
        timeout_keep_alive=settings.keep_alive_seconds,
        # Without a limit, a server with open requests waits for them forever.
        timeout_graceful_shutdown=STREAMS_END_SECONDS,
    )


def main() -> int:
    os.umask(PRIVATE_UMASK)
    settings = read_settings()
    set_up_logging("website", logging.INFO if settings.access_log else logging.WARNING, settings.log)
    process, listening = read_arguments()
    server = SiteServer(create_app(settings, process=process), settings)
    server.run([listening] if listening else None)
    return 0 if server.started else 1


def read_arguments() -> tuple[SiteProcess, socket.socket | None]:
    """Of several processes: which one this is, and the socket that they share. Alone, it opens its own socket."""
    parser = argparse.ArgumentParser(prog="python -m app.server", description=__doc__)
    for name in ("--process", "--of", "--descriptor"):
        parser.add_argument(name, type=int)
    given = parser.parse_args()
    if given.descriptor is None:
        return SiteProcess(), None
    return SiteProcess(given.process, given.of), socket.socket(fileno=given.descriptor)


if __name__ == "__main__":
    sys.exit(main())
