"""The answer to a deep-linking request: a signed message with the links that an instructor has chosen."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

from app.linking.lti import CLAIM, Registration

ANSWER_LASTS_SECONDS = 300
CONTENT_ITEMS = "https://purl.imsglobal.org/spec/lti-dl/claim/content_items"
DATA = "https://purl.imsglobal.org/spec/lti-dl/claim/data"


@dataclass(frozen=True)
class ChosenLink:
    """A link for a platform to keep. `assignment` is the id of what it is graded by, or empty: then `points` is 0."""

    title: str
    custom: tuple[tuple[str, str], ...]
    assignment: str = ""
    points: float = 0.0
    kind: str = ""

    def as_item(self, url: str, *, with_line_item: bool) -> dict[str, Any]:
        item: dict[str, Any] = {
            "type": "ltiResourceLink",
            "title": self.title,
            "url": url,
            "custom": dict(self.custom),
        }
        # Without a line item, Moodle makes no column in its gradebook.
        if self.assignment and with_line_item:
            item["lineItem"] = {
                "label": self.title,
                "scoreMaximum": self.points,
                "resourceId": self.assignment,
                "tag": self.kind,
            }
        return item


def sign_choice(
    registration: Registration,
    key: RSAKey,
    deployment: str,
    items: Sequence[dict[str, Any]],
    data: str | None,
    now_seconds: int,
) -> str:
    """The message for the platform's return address. `data` goes back as it came."""
    claims: dict[str, Any] = {
        "iss": registration.client_id,
        "aud": registration.issuer,
        "iat": now_seconds,
        "exp": now_seconds + ANSWER_LASTS_SECONDS,
        "nonce": secrets.token_urlsafe(16),
        f"{CLAIM}deployment_id": deployment,
        f"{CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{CLAIM}version": "1.3.0",
        CONTENT_ITEMS: list(items),
    }
    if data is not None:
        claims[DATA] = data
    return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, claims, key)
