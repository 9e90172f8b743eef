"""The addresses under which a learning platform finds this site, which an administrator pastes there."""

from dataclasses import dataclass
from typing import Any

from app.linking.fetching import origin_of
from app.linking.grade_services import LINEITEM, NAMES, RESULT, SCORE
from app.settings import Settings


@dataclass(frozen=True)
class SiteAddresses:
    login: str
    launch: str
    keys: str
    config: str


def find_addresses(settings: Settings) -> SiteAddresses:
    base = settings.address
    return SiteAddresses(f"{base}/lti/login", f"{base}/lti/launch", f"{base}/lti/jwks", f"{base}/lti/config.json")


def is_ours(address: str, settings: Settings) -> bool:
    return origin_of(address) == origin_of(settings.address)


def describe_tool(settings: Settings, title: str) -> dict[str, Any]:
    """The configuration in the form that Canvas reads; other platforms ask for its parts one by one."""
    addresses = find_addresses(settings)
    link = {"target_link_uri": addresses.launch, "text": title}
    deep_linking = {**link, "message_type": "LtiDeepLinkingRequest"}
    placements = [
        {**deep_linking, "placement": "assignment_selection"},
        {**deep_linking, "placement": "link_selection"},
        {**link, "placement": "course_navigation", "message_type": "LtiResourceLinkRequest", "default": "disabled"},
    ]
    return {
        "title": title,
        "description": "A course with exercises that are run and judged; grades come back.",
        "oidc_initiation_url": addresses.login,
        "target_link_uri": addresses.launch,
        "redirect_uris": [addresses.launch],
        "public_jwk_url": addresses.keys,
        "scopes": [LINEITEM, SCORE, RESULT, NAMES],
        "extensions": [
            {
                "platform": "canvas.instructure.com",
                "privacy_level": "public",
                "settings": {"platform": "canvas.instructure.com", "placements": placements},
            }
        ],
    }
