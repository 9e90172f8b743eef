"""The operator's page of learning platforms, and what platforms read about this site: its keys and configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from app.linking.fetching import is_encrypted, origin_of
from app.linking.keys import find_signing_key, publish_keys, unlock_key
from app.linking.lti import Registration
from app.storage.lti_registrations import Deployment
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.signing_in import actor_of
from app.web.lti.addresses import SiteAddresses, describe_tool, find_addresses
from app.web.lti.signing import prepare_keys, read_public_keys, replace_key

router = APIRouter(include_in_schema=False)

HOME = "/operator/registrations"
MAX_ADDRESS_CHARACTERS = 1000
MAX_NAME_CHARACTERS = 80
MAX_ID_CHARACTERS = 255

Address = Annotated[str, Form(max_length=MAX_ADDRESS_CHARACTERS)]
Id = Annotated[str, Form(max_length=MAX_ID_CHARACTERS)]


@dataclass(frozen=True)
class DeploymentRow:
    id: str
    seen_at: str
    is_waiting: bool


@dataclass(frozen=True)
class PlatformRow:
    name: str
    issuer: str
    client_id: str
    frames: str
    is_open: bool
    action: str
    deployments: tuple[DeploymentRow, ...]


@dataclass(frozen=True)
class KeyRow:
    kid: str
    state: str


@dataclass(frozen=True)
class RegistrationsPage:
    template: ClassVar[str] = "registrations.html"
    frame: Frame
    addresses: SiteAddresses
    platforms: tuple[PlatformRow, ...]
    keys: tuple[KeyRow, ...]
    typed: dict[str, str]
    problem: str


@router.get("/lti/jwks")
async def public_keys(context: RequestContextDep) -> Response:
    """The public keys, which platforms check our signatures with."""
    keys = await read_public_keys(context.site.store.lti_registrations, context.site.settings.secret)
    return JSONResponse(publish_keys(keys), headers={"cache-control": "public, max-age=3600"})


@router.get("/lti/config.json")
async def configuration(context: RequestContextDep) -> Response:
    return JSONResponse(describe_tool(context.site.settings, context.course.title))


@router.api_route(HOME, methods=["GET", "HEAD"])
async def registrations_page(context: RequestContextDep) -> Response:
    return await _show(context)


@router.post(f"{HOME}/new")
async def register(
    context: RequestContextDep,
    name: Annotated[str, Form(max_length=MAX_NAME_CHARACTERS)] = "",
    issuer: Id = "",
    client_id: Id = "",
    auth_url: Address = "",
    token_url: Address = "",
    jwks_url: Address = "",
    token_audience: Address = "",
    frames: Address = "",
) -> Response:
    typed = {
        "name": " ".join(name.split()),
        "issuer": issuer.strip(),
        "client_id": client_id.strip(),
        "auth_url": auth_url.strip(),
        "token_url": token_url.strip(),
        "jwks_url": jwks_url.strip(),
        "token_audience": token_audience.strip(),
        "frames": " ".join(frames.split()),
    }
    if problem := find_problem(typed):
        return await _show(context, problem, typed)
    origins = frames.split() or [typed["issuer"], typed["auth_url"]]
    registration = Registration(
        id="",
        frame_origins=tuple(dict.fromkeys(map(origin_of, origins))),
        is_open=True,
        **{key: text for key, text in typed.items() if key != "frames"},
    )
    actor = actor_of(context)
    if not await context.site.store.lti_registrations.add(registration, actor):
        return await _show(context, "A platform with this issuer and this client id is registered already.", typed)
    await prepare_keys(context.site.store.lti_registrations, context.site.settings.secret, actor)
    return RedirectResponse(HOME, 303)


@router.post(f"{HOME}/key")
async def make_key(context: RequestContextDep) -> Response:
    """Replace the key that signs, from tomorrow on."""
    await replace_key(context.site.store.lti_registrations, context.site.settings.secret, actor_of(context))
    return RedirectResponse(HOME, 303)


@router.post(f"{HOME}/{{registration}}/state")
async def set_state(context: RequestContextDep, registration: str, is_open: Annotated[bool, Form()]) -> Response:
    store = context.site.store.lti_registrations
    if not await store.set_open(registration, is_open, actor_of(context)):
        raise HTTPException(404, "There is no such learning platform.")
    return RedirectResponse(HOME, 303)


@router.post(f"{HOME}/{{registration}}/deployment")
async def allow_deployment(context: RequestContextDep, registration: str, deployment: Id) -> Response:
    store = context.site.store.lti_registrations
    if not await store.allow_deployment(registration, deployment, actor_of(context)):
        raise HTTPException(404, "No deployment with this id waits for a yes.")
    return RedirectResponse(HOME, 303)


def find_problem(typed: dict[str, str]) -> str:
    """What is wrong with what an operator typed, in words, or nothing."""
    words = {"name": "The name", "issuer": "The issuer", "client_id": "The client id"}
    for field, word in words.items():
        if not typed[field]:
            return f"{word} is empty; copy it from the platform."
    addresses = [typed[field] for field in ("auth_url", "token_url", "jwks_url")]
    for address in [*addresses, *typed["frames"].split()]:
        if not is_encrypted(address):
            return f"“{address}” is no https address; copy the whole address from the platform."
    return (
        ""
        if typed["frames"] or is_encrypted(typed["issuer"])
        else ("The issuer is no https address, so name the addresses where people see the course.")
    )


async def _show(context: RequestContext, problem: str = "", typed: dict[str, str] | None = None) -> Response:
    store = context.site.store.lti_registrations
    deployments = await store.deployments()
    names = ("name", "issuer", "client_id", "auth_url", "token_url", "jwks_url", "token_audience", "frames")
    page = RegistrationsPage(
        frame=await context.frame("Learning platforms", "The systems of schools that open this course by LTI 1.3."),
        addresses=find_addresses(context.site.settings),
        platforms=tuple(_show_platform(one, deployments) for one in await store.all()),
        keys=await _show_keys(context),
        typed=typed or dict.fromkeys(names, ""),
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_platform(registration: Registration, deployments: Sequence[Deployment]) -> PlatformRow:
    return PlatformRow(
        name=registration.name,
        issuer=registration.issuer,
        client_id=registration.client_id,
        frames=" ".join(registration.frame_origins),
        is_open=registration.is_open,
        action=f"{HOME}/{registration.id}",
        deployments=tuple(
            DeploymentRow(one.deployment_id, f"{one.seen_at:%Y-%m-%d %H:%M} UTC", one.allowed_at is None)
            for one in deployments
            if one.registration == registration.id
        ),
    )


async def _show_keys(context: RequestContext) -> tuple[KeyRow, ...]:
    keys = await context.site.store.lti_registrations.keys()
    secret = context.site.settings.secret
    usable = [key for key in keys if unlock_key(key, secret)]
    signing = find_signing_key(usable, context.now)

    def describe(kid: str) -> str:
        if signing is not None and kid == signing.kid:
            return "signs now"
        later = next((key for key in usable if key.kid == kid and key.signs_from > context.now), None)
        return f"signs from {later.signs_from:%Y-%m-%d %H:%M} UTC on" if later else "signs no more"

    return tuple(KeyRow(key.kid, describe(key.kid)) for key in keys)
