"""A launch from a learning platform: the login that it begins with, and the token that it ends with.

Both requests come from another site, so the check of a form's origin does not hold for them. What holds instead: the
launch must bring the state of a login, which works once, and a cookie that this browser got with it. The cookie is
partitioned (CHIPS), because browsers send no other one within a platform's frame. Neither request reads or makes a
session; see opening.py.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.access.tokens import hash_token, make_token
from app.linking.lti import Launch, LaunchRefused, Registration, read_launch
from app.storage.lti_launches import Login
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.lti.addresses import find_addresses, is_ours
from app.web.lti.framing import let_frame, refuse
from app.web.lti.opening import show_arrival
from app.web.lti.picking import show_picker

router = APIRouter(include_in_schema=False)

FROM_PLATFORMS = frozenset({("POST", "/lti/login"), ("POST", "/lti/launch")})
"""What another site is meant to send here."""
LASTS = timedelta(minutes=10)
MAX_TOKEN_CHARACTERS = 64 * 1024
MAX_STATE_CHARACTERS = 100
MAX_PARAMETER_CHARACTERS = 8000
NEEDED = ("iss", "login_hint", "target_link_uri")
OPTIONAL = ("client_id", "lti_message_hint", "lti_deployment_id")


@dataclass(frozen=True)
class LaunchAgainPage:
    """For a browser that sent no cookie back: the same login, in a tab of its own."""

    template: ClassVar[str] = "launch_again.html"
    frame: Frame
    asked: dict[str, str]


@router.get("/lti/login")
async def begin_by_link(context: RequestContextDep) -> Response:
    return await _begin(context, dict(context.request.query_params))


@router.post("/lti/login")
async def begin_by_form(context: RequestContextDep) -> Response:
    form = await context.request.form()
    return await _begin(context, {name: value for name, value in form.items() if isinstance(value, str)})


@router.post("/lti/launch")
async def launch(
    context: RequestContextDep,
    state: Annotated[str, Form()] = "",
    id_token: Annotated[str, Form()] = "",
    error: Annotated[str, Form()] = "",
    error_description: Annotated[str, Form()] = "",
) -> Response:
    await context.count(Act.SIGN_IN)
    try:
        login = await _take_login(context, state)
        registration = await _find_registration(context, login.registration)
        let_frame(context, registration)
        if not _has_cookie(context, login):
            return await _offer_again(context, login)
        _send_cookie(context, login.state_hash, "", 0)
        if error:
            raise LaunchRefused(f"{registration.name} did not let you through.", f"{error}: {error_description}")
        found = await _check(context, registration, login, id_token)
        if found.deep_linking is not None:
            return await show_picker(context, registration, found, found.deep_linking)
        return await show_arrival(context, registration, found)
    except LaunchRefused as refusal:
        return refuse(context, refusal)


async def _begin(context: RequestContext, sent: dict[str, str]) -> Response:
    await context.count(Act.SIGN_IN)
    try:
        asked = _read_asked(context, sent)
        registration = await context.site.store.lti_registrations.find_for_login(
            asked["iss"], asked.get("client_id", "")
        )
        if registration is None:
            raise LaunchRefused(
                "This learning platform is not registered here, or it is closed. Ask the person who runs this site.",
                f"no open registration of {asked['iss']!r} with client id {asked.get('client_id')!r}",
            )
    except LaunchRefused as refusal:
        return refuse(context, refusal)
    return RedirectResponse(await _keep_login(context, registration, asked), 303)


def _read_asked(context: RequestContext, sent: dict[str, str]) -> dict[str, str]:
    """What a login is begun with. Raises LaunchRefused."""
    asked = {name: sent[name] for name in (*NEEDED, *OPTIONAL) if sent.get(name)}
    missing = [name for name in NEEDED if name not in asked]
    if missing:
        raise LaunchRefused(f"The learning platform did not send {' or '.join(missing)}.")
    if sum(map(len, asked.values())) > MAX_PARAMETER_CHARACTERS:
        raise LaunchRefused("What the learning platform sent is too long to be a login.")
    if not is_ours(asked["target_link_uri"], context.site.settings):
        raise LaunchRefused(
            "The learning platform wants to open an address that is not of this site. Its administrator has to set "
            f"the tool's address to {find_addresses(context.site.settings).launch}.",
            f"target_link_uri is {asked['target_link_uri']!r}",
        )
    return asked


async def _keep_login(context: RequestContext, registration: Registration, asked: dict[str, str]) -> str:
    """Keep the login and give the browser its cookie; returns where the platform is to confirm it."""
    state, nonce, browser = make_token(), make_token(), make_token()
    login = Login(hash_token(state), registration.id, hash_token(browser), nonce, json.dumps(asked))
    await context.site.store.lti_launches.keep_login(login, context.now + LASTS)
    _send_cookie(context, login.state_hash, browser, int(LASTS.total_seconds()))
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": registration.client_id,
        "redirect_uri": find_addresses(context.site.settings).launch,
        "state": state,
        "nonce": nonce,
        "login_hint": asked["login_hint"],
    }
    if "lti_message_hint" in asked:
        query["lti_message_hint"] = asked["lti_message_hint"]
    return f"{registration.auth_url}{'&' if '?' in registration.auth_url else '?'}{urlencode(query)}"


async def _take_login(context: RequestContext, state: str) -> Login:
    login = await context.site.store.lti_launches.take_login(hash_token(state[:MAX_STATE_CHARACTERS]), context.now)
    if login is None:
        raise LaunchRefused("This launch was used already, took too long, or was not begun here.")
    return login


async def _find_registration(context: RequestContext, registration: str) -> Registration:
    found = await context.site.store.lti_registrations.find(registration)
    if found is None:
        raise LaunchRefused("This learning platform was closed here meanwhile. Ask the person who runs this site.")
    return found


async def _check(context: RequestContext, registration: Registration, login: Login, token: str) -> Launch:
    """The launch, if its token is genuine and its installation is allowed. Raises LaunchRefused."""
    claims = await context.site.platforms.check(registration, token[: MAX_TOKEN_CHARACTERS + 1], login.nonce)
    found = read_launch(claims)
    store = context.site.store.lti_registrations
    if not await store.see_deployment(registration.id, found.deployment, context.now):
        raise LaunchRefused(
            f"This installation at {registration.name} waits for the yes of the person who runs this site. Tell them "
            f"its deployment id: {found.deployment}",
        )
    return found


async def _offer_again(context: RequestContext, login: Login) -> Response:
    frame = await context.frame("Open this in a tab of its own", "Your browser keeps no cookies within this page.")
    return context.site.renderer.page(LaunchAgainPage(frame, json.loads(login.asked)))


def _has_cookie(context: RequestContext, login: Login) -> bool:
    browser = context.request.cookies.get(_cookie_name(context, login.state_hash), "")
    return hash_token(browser) == login.browser_hash


def _cookie_name(context: RequestContext, state_hash: str) -> str:
    prefix = "__Host-" if context.site.settings.secure_cookies else ""
    return f"{prefix}lti-{state_hash[:16]}"


def _send_cookie(context: RequestContext, state_hash: str, value: str, seconds: int) -> None:
    """Partitioned, which needs TLS. Without it, in development, platform and site are one machine: Lax is enough."""
    place = "SameSite=None; Secure; Partitioned" if context.site.settings.secure_cookies else "SameSite=Lax"
    cookie = f"{_cookie_name(context, state_hash)}={value}; Path=/; Max-Age={seconds}; HttpOnly; {place}"
    context.request.state.cookies.append(cookie)
