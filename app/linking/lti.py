"""LTI 1.3, the tool's side: what a launch from a learning platform says, once its token has proved to be genuine.

Claims and their meaning are those of 1EdTech's "LTI Core 1.3", "Deep Linking 2.0", "Assignment and Grade Services
2.0" and "Names and Role Provisioning Services 2.0".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from joserfc.jwk import KeySet

from app.linking.fetching import is_encrypted
from app.linking.id_token import BadToken, check_claims, is_subject

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINKING_SETTINGS = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NAMES = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
TEST_USER = "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"
RESOURCE, DEEP_LINKING = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"

OLDEST_TOKEN_SECONDS = 600
MAX_TEXT_CHARACTERS = 255

CourseRole = Literal["instructor", "assistant", "learner"]


class LaunchRefused(Exception):
    """The launch leads nowhere. The message is a sentence for the person who clicked; `reason` is for the log."""

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or sentence


@dataclass(frozen=True)
class Registration:
    """A learning platform as an operator registered it. `token_audience`: often empty, then it is `token_url`."""

    id: str
    name: str
    issuer: str
    client_id: str
    auth_url: str
    token_url: str
    token_audience: str
    jwks_url: str
    frame_origins: tuple[str, ...]
    is_open: bool = True


@dataclass(frozen=True)
class Services:
    """Addresses at the platform; one is empty where this launch did not name it."""

    lineitem: str = ""
    lineitems: str = ""
    memberships: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeepLinking:
    """Where the choice of an instructor goes back to. `data` goes with it, unchanged."""

    return_url: str
    data: str | None
    accepts_many: bool
    accepts_line_items: bool


@dataclass(frozen=True)
class Launch:
    """A click in a learning platform. An empty `subject` is somebody whom the platform does not name.

    `role` is None for somebody whose roles are none in the course.
    """

    deployment: str
    subject: str
    name: str
    email: str
    student_number: str
    role: CourseRole | None
    is_test: bool
    course: str
    course_title: str
    resource_link: str
    target: str
    custom: Mapping[str, str]
    services: Services
    deep_linking: DeepLinking | None


def check_launch(
    token: str, keys: KeySet, registration: Registration, nonce: str, now_seconds: int
) -> dict[str, Any]:
    """The claims of a launch's token. Raises BadToken: only RS256 is taken, and nothing older than ten minutes."""
    claims = check_claims(
        token,
        keys,
        issuer=registration.issuer,
        client_id=registration.client_id,
        nonce=nonce,
        now_seconds=now_seconds,
        algorithms=("RS256",),
    )
    if claims["iat"] < now_seconds - OLDEST_TOKEN_SECONDS:
        raise BadToken("the token is older than ten minutes")
    if "sub" in claims and not is_subject(claims["sub"]):
        raise BadToken("the token's sub is of no use")
    return claims


def read_launch(claims: Mapping[str, Any]) -> Launch:
    """What a genuine token asks for. Raises LaunchRefused for another version or kind of message."""
    if claims.get(f"{CLAIM}version") != "1.3.0":
        raise _not_understood("another version of LTI than 1.3.0", claims.get(f"{CLAIM}version"))
    kind = claims.get(f"{CLAIM}message_type")
    if kind not in (RESOURCE, DEEP_LINKING):
        raise _not_understood("an unknown message", kind)
    deployment = _text(claims.get(f"{CLAIM}deployment_id"))
    if not deployment:
        raise _not_understood("no deployment", claims.get(f"{CLAIM}deployment_id"))
    roles = claims.get(f"{CLAIM}roles")
    if not isinstance(roles, list):
        raise _not_understood("no roles", roles)
    link = _text(_object(claims, f"{CLAIM}resource_link").get("id"))
    if kind == RESOURCE and not link:
        raise _not_understood("no resource link", None)
    course = _object(claims, f"{CLAIM}context")
    return Launch(
        deployment=deployment,
        subject=_text(claims.get("sub")),
        name=find_name(claims),
        email=_text(claims.get("email")),
        student_number=_text(_object(claims, f"{CLAIM}lis").get("person_sourcedid")),
        role=find_role(roles),
        is_test=TEST_USER in roles,
        course=_text(course.get("id")),
        course_title=_text(course.get("title")) or _text(course.get("label")),
        resource_link=link,
        target=str(claims.get(f"{CLAIM}target_link_uri", "")),
        custom={str(name): _text(value) for name, value in _object(claims, f"{CLAIM}custom").items()},
        services=_read_services(claims),
        deep_linking=_read_deep_linking(claims) if kind == DEEP_LINKING else None,
    )


def find_role(roles: list[Any]) -> CourseRole | None:
    """The role in the course. Roles in the institution or the whole system give nothing.

    Canvas sends a teaching assistant as an instructor too, so the assistant is looked for first.
    """
    names = {str(role).removeprefix(f"{MEMBERSHIP}#") for role in roles}
    if any(str(role).endswith("membership/Instructor#TeachingAssistant") for role in roles):
        return "assistant"
    if names & {"Instructor", "Administrator"}:
        return "instructor"
    if "ContentDeveloper" in names:
        return "assistant"
    return "learner" if "Learner" in names else None


def find_name(person: Mapping[str, Any]) -> str:
    """A person's name as far as the platform tells it, or nothing."""
    if name := _text(person.get("name")):
        return name
    return " ".join(part for key in ("given_name", "family_name") if (part := _text(person.get(key))))


def _read_services(claims: Mapping[str, Any]) -> Services:
    grades = _object(claims, GRADES)
    scopes = grades.get("scope", [])
    return Services(
        lineitem=_address(grades.get("lineitem")),
        lineitems=_address(grades.get("lineitems")),
        memberships=_address(_object(claims, NAMES).get("context_memberships_url")),
        scopes=tuple(str(scope) for scope in scopes) if isinstance(scopes, list) else (),
    )


def _read_deep_linking(claims: Mapping[str, Any]) -> DeepLinking:
    settings = _object(claims, DEEP_LINKING_SETTINGS)
    return_url = _address(settings.get("deep_link_return_url"))
    if not return_url:
        raise _not_understood("no address to send the choice to", settings.get("deep_link_return_url"))
    types = settings.get("accept_types")
    if not isinstance(types, list) or "ltiResourceLink" not in types:
        raise LaunchRefused(
            "The learning platform takes no links to exercises here. Open this where it adds an activity or an "
            "assignment to a course."
        )
    data = settings.get("data")
    return DeepLinking(
        return_url=return_url,
        data=data if isinstance(data, str) else None,
        accepts_many=settings.get("accept_multiple") is not False,
        accepts_line_items=settings.get("accept_lineitem") is not False,
    )


def _object(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return " ".join(value.split())[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else ""


def _address(value: object) -> str:
    """An address that may be sent a secret. Longer ones than a database keeps are not used."""
    return value if isinstance(value, str) and len(value) <= 1000 and is_encrypted(value) else ""


def _not_understood(what: str, value: object) -> LaunchRefused:
    return LaunchRefused(
        f"The learning platform sent {what}. Tell the person who runs it: this site speaks LTI 1.3.",
        f"{what}: {value!r}",
    )
