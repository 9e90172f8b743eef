"""Metrics for an operator, in Prometheus' text format. Numbers only: no learner, no source, no address.

Requests are counted under the names, labels and buckets of OpenTelemetry's semantic conventions for HTTP servers, so
that ready-made dashboards understand them. Everything else begins with `unwind_`.
"""

import time
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.edge.sizes import Sizes
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Queue
from graders.contract.results import Outcome
from graders.ledger import Depth, Ending

REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""OpenTelemetry's, in seconds."""
JOB_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)
WEBSITE, GRADER, CHECK = "website", "grader", "check"
"""Where a fault of ours happened. Submissions can cause those of a check at will, so no alert watches them."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"})
OTHER_METHOD = "_OTHER"
"""All other methods count as one; otherwise a client could create a new series with every request."""
STREAM = b"text/event-stream"


@dataclass(frozen=True)
class Seen:
    """What a scrape finds beside the counters. `endings` are those since the last scrape."""

    depths: Mapping[Queue, Depth]
    graders: Sequence[WorkerHello]
    endings: Sequence[Ending]
    sizes: Sizes


class JobMetrics:
    """What the ledger knows of jobs and graders. The graders themselves have no network, so they cannot be asked."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.queued = Gauge("unwind_queued_jobs", "Jobs waiting", ("queue",), registry=registry)
        self.running = Gauge("unwind_running_jobs", "Jobs running", ("queue",), registry=registry)
        self.slots = Gauge("unwind_grader_slots", "Slots of the graders heard of lately", registry=registry)
        self.graders = Gauge(
            "unwind_graders", "Graders heard of lately", ("profile", "memory_meter"), registry=registry
        )
        self.outcomes = Counter(
            "unwind_job_outcomes", "Jobs that ended, by outcome", ("kind", "outcome"), registry=registry
        )
        of_kind: dict[str, Any] = {"labelnames": ("kind",), "buckets": JOB_BUCKETS, "registry": registry}
        self.waits = Histogram("unwind_queue_wait_seconds", "From a job's submission to its start", **of_kind)
        self.runs = Histogram("unwind_run_seconds", "From a job's start to its end", **of_kind)
        self.file_bytes = Gauge("unwind_database_bytes", "Size of the database's files", ("file",), registry=registry)
        self.disk_free = Gauge("unwind_disk_free_bytes", "Room left for the data folder", registry=registry)

    def show(self, seen: Seen) -> None:
        for queue, depth in seen.depths.items():
            self.queued.labels(queue.value).set(depth.queued)
            self.running.labels(queue.value).set(depth.running)
        self.slots.set(sum(hello.slots for hello in seen.graders))
        self.graders.clear()
        for hello in seen.graders:
            self.graders.labels(hello.profile, "kernel" if hello.memory_cgroup else "none").inc()
        for ending in seen.endings:
            self._count(ending)
        self.file_bytes.labels("database").set(seen.sizes.database)
        self.file_bytes.labels("wal").set(seen.sizes.wal)
        self.disk_free.set(seen.sizes.disk_free)

    def _count(self, ending: Ending) -> None:
        self.outcomes.labels(ending.kind.value, ending.outcome).inc()
        if ending.wait_seconds is not None and ending.run_seconds is not None:
            self.waits.labels(ending.kind.value).observe(ending.wait_seconds)
            self.runs.labels(ending.kind.value).observe(ending.run_seconds)


class Metrics:
    """The counters of one site, in its own registry, so that two sites in one process do not share them.

    Of several processes of a site, only one counts `of_installation`: what the ledger and the disk say.
    """

    def __init__(self, *, of_installation: bool = True) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Histogram(
            "http_server_request_duration_seconds",
            "Time that an answer took; of an event stream, the time until it began",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )
        self.active = Gauge(
            "http_server_active_requests", "Requests being answered now", ("http_request_method",), registry=registry
        )
        self.streams = Gauge("unwind_open_streams", "Event streams open now", registry=registry)
        self.faults = Counter(
            "unwind_faults", "Requests or jobs that ended in our fault", ("where",), registry=registry
        )
        # An alert on an increase needs the series before its first event.
        for where in (WEBSITE, GRADER, CHECK) if of_installation else (WEBSITE,):
            self.faults.labels(where)
        self.storage_refused = Counter(
            "unwind_storage_refused", "Requests that the database could not keep", registry=registry
        )
        self.jobs = Counter("unwind_jobs", "Jobs accepted, by kind", ("kind",), registry=registry)
        self.pictures = Counter(
            "unwind_pictures", "Pictures of learners' graphs, by how drawing ended", ("end",), registry=registry
        )
        self._of_jobs = JobMetrics(registry) if of_installation else None
        ProcessCollector(registry=registry)

    def render(self, seen: Seen | None) -> bytes:
        """The metrics as text, with the ledger's current numbers; None where another process has those."""
        if seen is not None and self._of_jobs is not None:
            self._of_jobs.show(seen)
            for ending in seen.endings:
                if ending.outcome == Outcome.GRADER_FAULT:
                    self.faults.labels(CHECK if ending.provokable else GRADER).inc()
        return generate_latest(self.registry)


class MeasureRequests:
    """Times each request under its route's pattern, never its path: paths hold ids."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
        started, status, streams = time.perf_counter(), 0, False

        def measure() -> None:
            seconds = time.perf_counter() - started
            self.metrics.requests.labels(method, _route_pattern(scope), str(status)).observe(seconds)

        async def measured_send(message: Message) -> None:
            nonlocal status, streams
            if message["type"] == "http.response.start":
                status = message["status"]
                streams = _begins_stream(message)
                if streams:
                    measure()
            elif not streams and not message.get("more_body"):
                measure()
            await send(message)

        with self.metrics.active.labels(method).track_inprogress():
            await self.app(scope, receive, measured_send)


def _begins_stream(start: Message) -> bool:
    """How long a stream stays open is no time that anybody waits."""
    return any(name.lower() == b"content-type" and value.startswith(STREAM) for name, value in start["headers"])


def _route_pattern(scope: MutableMapping[str, Any]) -> str:
    """Empty, which Prometheus takes for a label that is not there, for a request that no route matches."""
    return getattr(scope.get("route"), "path", "")
