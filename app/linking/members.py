"""The class list of a platform's course, as the service for names and roles gives it."""

from dataclasses import dataclass
from typing import Any

from joserfc.jwk import RSAKey

from app.linking.fetching import NoAnswer
from app.linking.grade_services import MEMBERS_TYPE, NAMES
from app.linking.lti import TEST_USER, CourseRole, Registration, find_name, find_role
from app.linking.pages import read_pages
from app.linking.platforms import Platforms

MAX_MEMBERS = 20_000
HERE = "Active"


@dataclass(frozen=True)
class PlatformMember:
    """Somebody in the course now. The names are empty where the platform does not tell them."""

    subject: str
    name: str
    email: str
    student_number: str
    role: CourseRole | None


async def read_members(
    platforms: Platforms, registration: Registration, key: RSAKey, address: str
) -> tuple[PlatformMember, ...]:
    """Everybody who is active in the course, test users left out. Raises NoAnswer and NoToken."""
    found: dict[str, PlatformMember] = {}
    async for page in read_pages(platforms, registration, key, NAMES, address, MEMBERS_TYPE):
        members = page.get("members") if isinstance(page, dict) else None
        if not isinstance(members, list):
            raise NoAnswer(f"{address} answers no list of members")
        for member in filter(_is_here, members):
            one = _read_member(member)
            found[one.subject] = one
        if len(found) > MAX_MEMBERS:
            raise NoAnswer(f"{address} lists more than {MAX_MEMBERS} members")
    return tuple(found.values())


def _is_here(member: Any) -> bool:
    if not isinstance(member, dict) or not isinstance(member.get("user_id"), str) or not member["user_id"]:
        return False
    return member.get("status", HERE) == HERE and TEST_USER not in _roles(member)


def _roles(member: dict[str, Any]) -> list[Any]:
    """Roles may be sent by their short names, which mean roles in the course."""
    roles = member.get("roles", [])
    short = {"Instructor", "Administrator", "ContentDeveloper", "Learner", "Mentor"}
    prefix = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
    return [f"{prefix}{role}" if role in short else role for role in roles if isinstance(role, str)]


def _read_member(member: dict[str, Any]) -> PlatformMember:
    number = member.get("lis_person_sourcedid")
    email = member.get("email")
    return PlatformMember(
        subject=member["user_id"][:255],
        name=find_name(member),
        email=email[:254] if isinstance(email, str) else "",
        student_number=number[:64] if isinstance(number, str) else "",
        role=find_role(_roles(member)),
    )
