"""Metrics for an operator, in Prometheus' text format. Numbers only: no learner, no source, no address."""

import time
from collections.abc import MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graders.contract.jobs import Queue
from graders.ledger import Depth

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
"""All other methods count as one; otherwise a client could create a new series with every request."""


class Metrics:
    """The counters of one site, in its own registry, so that two sites in one process do not share them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "unwind_requests", "Requests by route and status", ("route", "method", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "unwind_request_seconds", "Time to the first byte", ("route",), buckets=BUCKETS, registry=self.registry
        )
        self.streams = Gauge("unwind_open_streams", "Event streams open now", registry=self.registry)
        self.faults = Counter("unwind_faults", "Requests that ended in a fault of ours", registry=self.registry)
        self.jobs = Counter("unwind_jobs", "Jobs accepted, by kind", ("kind",), registry=self.registry)
        self.pictures = Counter(
            "unwind_pictures", "Pictures of learners' graphs, by how drawing ended", ("end",), registry=self.registry
        )
        self.queued = Gauge("unwind_queued_jobs", "Jobs waiting", ("queue",), registry=self.registry)
        self.running = Gauge("unwind_running_jobs", "Jobs running", ("queue",), registry=self.registry)
        self.slots = Gauge("unwind_grader_slots", "Slots of the graders heard of lately", registry=self.registry)

    def render(self, depths: dict[Queue, Depth], slots: int) -> bytes:
        """The metrics as text, with the ledger's current numbers."""
        for queue, depth in depths.items():
            self.queued.labels(queue.value).set(depth.queued)
            self.running.labels(queue.value).set(depth.running)
        self.slots.set(slots)
        return generate_latest(self.registry)


class MeasureRequests:
    """Counts each request under its route's pattern (never its path: paths hold ids) and times its first byte."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started = time.perf_counter()

        async def measured_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = _route_pattern(scope)
                self.metrics.seconds.labels(route).observe(time.perf_counter() - started)
                method = scope["method"] if scope["method"] in METHODS else "other"
                self.metrics.requests.labels(route, method, str(message["status"])).inc()
            await send(message)

        await self.app(scope, receive, measured_send)


def _route_pattern(scope: MutableMapping[str, Any]) -> str:
    return getattr(scope.get("route"), "path", "unmatched")
