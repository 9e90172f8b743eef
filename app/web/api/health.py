"""For operators and their tools: liveness, readiness (with how strongly learners' code is confined), metrics."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from app.web.edge.metrics import Seen
from app.web.edge.site import SiteDep
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
    graders = [worker.hello.model_dump(mode="json") for worker in workers]
    profiles = sorted({worker.hello.profile for worker in workers})
    body = {"ready": bool(workers), "profiles": profiles, "graders": graders}
    return JSONResponse(body, 200 if workers else 503)


@router.api_route("/metrics", methods=["GET", "HEAD"])
async def metrics(site: SiteDep) -> Response:
    seen = Seen(
        depths={queue: await site.ledger.depth(queue) for queue in Queue},
        graders=[worker.hello for worker in await site.ledger.workers()],
        endings=await site.endings.take_new(),
        sizes=await measure_sizes(site.ledger.database, site.settings.data),
    )
    return Response(site.metrics.render(seen), media_type=CONTENT_TYPE_LATEST)
