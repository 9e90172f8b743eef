"""For operators and their tools: liveness, readiness (with how strongly learners' code is confined), metrics."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from app.web.edge.metrics import Seen
from app.web.edge.processes import ask_all
from app.web.edge.site import Site, SiteDep
from app.web.edge.sizes import measure_sizes
from graders.contract.jobs import Queue

router = APIRouter(include_in_schema=False)


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def alive() -> Response:
    """This process answers. It queries nothing else, so that a slow database does not get the website restarted."""
    return JSONResponse({"alive": True})


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def ready(site: SiteDep) -> Response:
    """200 when the database answers and a grader has reported lately; names each grader's isolation profile."""
    workers = await site.ledger.workers()
    # The page is public, and whose submissions a grader refuses is for the operator.
    graders = [worker.hello.model_dump(mode="json", exclude={"refused"}) for worker in workers]
    profiles = sorted({worker.hello.profile for worker in workers})
    body = {"ready": bool(workers), "profiles": profiles, "graders": graders}
    return JSONResponse(body, 200 if workers else 503)


@router.api_route("/metrics", methods=["GET", "HEAD"])
async def metrics(site: SiteDep) -> Response:
    if site.process.is_alone:
        text = await describe(site)
    else:
        text = await ask_all(site.settings.data, site.process, lambda: describe(site))
    return Response(text, media_type=CONTENT_TYPE_LATEST)


async def describe(site: Site) -> bytes:
    """The metrics of this process."""
    if not site.process.is_first:
        return site.metrics.render(None)
    seen = Seen(
        depths={queue: await site.ledger.depth(queue) for queue in Queue},
        graders=[worker.hello for worker in await site.ledger.workers()],
        endings=await site.endings.take_new(),
        sizes=await measure_sizes(site.ledger.database, site.settings.data),
    )
    return site.metrics.render(seen)
