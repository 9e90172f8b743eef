"""The list of the sections in which somebody teaches."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.storage.records import Membership
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class DeskPage:
    template: ClassVar[str] = "desk.html"
    frame: Frame
    sections: tuple[Membership, ...]


@router.api_route("/desk", methods=["GET", "HEAD"])
async def desk(context: RequestContextDep) -> Response:
    assert context.account is not None
    mine = await context.site.store.sections.of_account(context.account.id)
    frame = await context.frame("Your sections", "The sections in which you teach.")
    return context.site.renderer.page(DeskPage(frame, tuple(role for role in mine if role.is_staff)))
