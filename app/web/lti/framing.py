"""Answers within a platform's frame: who may show them, and how a launch is refused there."""

import logging

from fastapi import Response

from app.linking.lti import LaunchRefused, Registration
from app.web.edge.errors import Words, respond_with_words
from app.web.edge.identity import RequestContext
from app.web.edge.security import Opening

log = logging.getLogger(__name__)

REFUSED = Words(
    "This launch did not work",
    "",
    "Open the link in your course once more. If it happens again, tell the person who runs this site.",
)


def let_frame(context: RequestContext, registration: Registration, *, forms: tuple[str, ...] = ()) -> None:
    """The platform may show this answer in a frame, and its forms may send to the origins `forms`."""
    context.request.state.opening = Opening(registration.frame_origins, forms)


def refuse(context: RequestContext, refusal: LaunchRefused) -> Response:
    """The refusal in words. Its reason is for the operator's log."""
    log.warning("launch refused: %s", refusal.reason)
    return respond_with_words(context.site, context.request, 403, str(refusal), words=REFUSED)
