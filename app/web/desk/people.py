"""The people of a section: who is in it, invitations, and one-time links for its learners."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.names import key_of_name
from app.access.permissions import Permission, Role, is_allowed
from app.storage.records import AccountId, Membership, SectionId, Status
from app.web.accounts.one_time_link import show_new_link
from app.web.accounts.sign_in import Field
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import learner_href
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class PersonRow:
    """`school_name` is the roster's name for the person, empty where no line of it is theirs."""

    name: str
    school_name: str
    role: str
    status: str
    end_action: str
    """Empty where this reader may not end the role."""
    link_action: str
    """Empty where this reader may not make a link for the person."""
    submissions_href: str
    """Empty for whoever is or was no learner here."""
    back_action: str
    """Empty for a person who is in the section, or whom this reader may not take back."""


@dataclass(frozen=True)
class PeoplePage:
    template: ClassVar[str] = "people.html"
    frame: Frame
    navigation: SectionNavigation
    people: tuple[PersonRow, ...]
    has_roster: bool
    invite_action: str
    """Empty for somebody who may only look."""
    problem: str


@router.api_route("/desk/{section}", methods=["GET", "HEAD"])
async def section_page(context: RequestContextDep, section: str) -> Response:
    return await _show(context, SectionId(section))


@router.post("/desk/{section}/people")
async def invite(
    context: RequestContextDep, section: str, name: Field, role: Annotated[Literal["learner", "assistant"], Form()]
) -> Response:
    """An instructor invites learners and assistants; other instructors come from an operator."""
    sections, here = context.site.store.sections, SectionId(section)
    people = await sections.people(here)
    if any(key_of_name(one.name) == key_of_name(name) and one.is_instructor for one in people):
        return await _show(context, here, f"{name} is an instructor here; only an operator changes that.")
    if not await sections.invite(here, name, Role(role), actor_of(context)):
        return await _show(context, here, f"Nobody has the name {name}. Ask the person what their name here is.")
    return RedirectResponse(f"/desk/{section}", 303)


@router.post("/desk/{section}/people/{account}/end")
async def end_role(context: RequestContextDep, section: str, account: str) -> Response:
    sections, here = context.site.store.sections, SectionId(section)
    people = {person.account: person for person in await sections.people(here)}
    person = people.get(AccountId(account))
    if person is None or person.role is Role.INSTRUCTOR:
        raise HTTPException(404, "Nobody here has a role that you may end under this address.")
    await sections.drop(here, person.account, actor_of(context))
    return RedirectResponse(f"/desk/{section}", 303)


@router.post("/desk/{section}/people/{account}/take-back")
async def take_back(context: RequestContextDep, section: str, account: str) -> Response:
    """Whom the staff dropped is in again; who left gets an offer. Instructors come back by an operator's offer."""
    sections, here = context.site.store.sections, SectionId(section)
    people = {person.account: person for person in await sections.people(here)}
    person = people.get(AccountId(account))
    if person is None or person.role is Role.INSTRUCTOR:
        raise HTTPException(404, "Nobody whom you may take back has left this section under this address.")
    await sections.take_back(here, person.account, actor_of(context))
    return RedirectResponse(f"/desk/{section}", 303)


@router.post("/desk/{section}/people/{account}/link")
async def make_link(context: RequestContextDep, section: str, account: str) -> Response:
    if not await context.site.store.sections.may_reset(SectionId(section), AccountId(account)):
        raise HTTPException(404, "Links are for active learners of this section who are staff nowhere.")
    return await show_new_link(context, AccountId(account), f"/desk/{section}")


async def _show(context: RequestContext, section: SectionId, problem: str = "") -> Response:
    navigation = await navigate(context, section, "People")
    store = context.site.store
    people, lines = await store.sections.people(section), await store.rosters.lines(section)
    named = {line.account: line.entry.name for line in lines if line.account}
    resettable = await store.sections.resettable(section)
    may_manage = is_allowed(Permission.MANAGE_PEOPLE, (navigation.reader.role,))
    page = PeoplePage(
        frame=await context.frame(navigation.page_title, "Who is in this section."),
        navigation=navigation,
        people=tuple(
            _show_person(person, named.get(person.account, ""), may_manage=may_manage, resettable=resettable)
            for person in people
        ),
        has_roster=bool(lines),
        invite_action=f"/desk/{section}/people" if may_manage and not navigation.is_archived else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_person(
    person: Membership, school_name: str, *, may_manage: bool, resettable: Collection[AccountId]
) -> PersonRow:
    base = f"/desk/{person.section}/people/{person.account}"
    may_change = may_manage and person.role is not Role.INSTRUCTOR and not person.is_archived
    is_here = person.status in (Status.ACTIVE, Status.INVITED)
    may_end = may_change and is_here
    may_link = may_end and person.account in resettable
    was_learner = person.role is Role.LEARNER and person.status is not Status.INVITED
    return PersonRow(
        name=person.name,
        school_name=school_name,
        role=person.role.value,
        status=person.status.value,
        end_action=f"{base}/end" if may_end else "",
        link_action=f"{base}/link" if may_link else "",
        submissions_href=learner_href(person.section, person.account) if was_learner else "",
        back_action=f"{base}/take-back" if may_change and not is_here else "",
    )
