"""Every route of the site, the author's preview with it."""

from app.main import ALWAYS
from app.web.edge.assets import read_assets, serve_assets
from app.web.pages import preview


def all_routes() -> set[tuple[str, str]]:
    routers = (*ALWAYS, serve_assets(read_assets()), preview.router)
    return {
        (method, route.path)  # type: ignore[attr-defined]
        for router in routers
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
    }
