"""OpenLearning's LTI library as a small platform: it signs launches, gives tokens and judges what comes back.

python tests/platforms/openlearning.py PORT TOOL [TOOL_FROM_HERE]. Scores and members are kept here.
"""

import sys
from typing import Any

import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration

PORT, TOOL = int(sys.argv[1]), sys.argv[2]
TOOL_FROM_HERE = sys.argv[3] if len(sys.argv) > 3 else TOOL
BASE = f"http://127.0.0.1:{PORT}"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
AGS, NRPS = "https://purl.imsglobal.org/spec/lti-ags/scope", "https://purl.imsglobal.org/spec/lti-nrps/scope"
PEOPLE = {"teacher": ("Tess Teacher", "Instructor"), "student": ("Stu Student", "Learner")}
PEOPLE |= {f"s{number}": (f"Student {number:02}", "Learner") for number in range(12)}
MEMBERS_A_PAGE = 5

app = FastAPI()
kept: dict[str, Any] = {"lineitems": [], "scores": {}, "chosen": []}


def make_registration() -> Registration:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    made = Registration().set_iss(BASE).set_client_id("client-1").set_deployment_id("1")
    made.set_launch_url(f"{TOOL}/lti/launch").set_deeplink_launch_url(f"{TOOL}/lti/launch")
    made.set_oidc_login_url(f"{TOOL}/lti/login").set_tool_key_set_url(f"{TOOL_FROM_HERE}/lti/jwks")
    made.set_platform_private_key(private.decode()).set_platform_public_key(public.decode())
    return made


class Platform(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, **kwargs: Any) -> None:
        self._registration = make_registration()

    def get_registration_by_params(self, **kwargs: Any) -> Registration:
        return self._registration


class Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, **kwargs: Any) -> None:
        self._lti_message_hint = kwargs["hint"]

    def get_redirect(self, url: str) -> RedirectResponse:
        return RedirectResponse(url, 302)


class Launch(LTIAdvantageMessageLaunchAbstract):
    def get_preflight_response(self) -> dict[str, Any]:
        return dict(self._request.query_params)

    def prepare_launch(self, preflight_response: dict[str, Any]) -> None:
        user, (name, role) = preflight_response["login_hint"], PEOPLE[preflight_response["login_hint"]]
        kind, _, assignment = preflight_response["lti_message_hint"].partition(":")
        self.set_user_data(user, [f"{MEMBERSHIP}#{role}"], name, f"{user}@uni.example")
        self.set_resource_link_claim("link-1")
        self.set_launch_context_claim("course-1", ["CourseOffering"], "Deep Learning")
        self.set_ags(f"{BASE}/lineitems")
        self.set_nrps(f"{BASE}/members")
        if assignment:
            self.set_custom_parameters_claim({"assignment": assignment})
        if kind == "deep":
            self.set_dl(f"{BASE}/return", accept_types={"ltiResourceLink"})

    def render_launch_form(self, launch_data: dict[str, Any], **kwargs: Any) -> HTMLResponse:
        action = launch_data["launch_url"]
        fields = "".join(f'<input name="{name}" value="{launch_data[name]}">' for name in ("state", "id_token"))
        return HTMLResponse(f'<form method="post" action="{action}">{fields}<button>Go</button></form>')


platform = Platform()


@app.get("/describe")
def describe() -> dict[str, str]:
    return {
        "issuer": BASE,
        "client_id": "client-1",
        "auth_url": f"{BASE}/auth",
        "token_url": f"{BASE}/token",
        "jwks_url": f"{BASE}/keys",
    }


@app.get("/state")
def state() -> dict[str, Any]:
    """Points by person, what was chosen, and the columns that the tool made."""
    return kept


@app.get("/start/{user}")
def start(request: Request, user: str, deep: bool = False, assignment: str = "") -> Response:
    """A click in the platform."""
    login = Login(request, platform)
    login.set_lti_message_hint(hint=f"{'deep' if deep else 'link'}:{assignment}")
    return login.initiate_login(user)


@app.get("/course/{user}")
def show_in_frame(request: Request, user: str) -> HTMLResponse:
    """A page of the platform that shows the tool in a frame."""
    return HTMLResponse(f'<iframe src="/start/{user}?{request.url.query}" width="900" height="800"></iframe>')


@app.get("/auth")
def authenticate(request: Request) -> Response:
    return Launch(request, platform).lti_launch()


@app.get("/keys")
def keys() -> Any:
    return platform.get_jwks()


@app.post("/replace-keys")
def replace_keys() -> None:
    platform._registration = make_registration()


@app.post("/token")
async def token(request: Request) -> Any:
    return platform.get_access_token(dict(await request.form()))


@app.post("/return")
async def take_choice(request: Request) -> Any:
    kept["chosen"] = platform.validate_deeplinking_resp(dict(await request.form()))
    return kept["chosen"]


def check(request: Request, scope: str) -> None:
    assert platform.validate_token(request.headers["authorization"].removeprefix("Bearer "), [scope])


@app.get("/lineitems")
def list_line_items(request: Request) -> Any:
    check(request, f"{AGS}/lineitem")
    return kept["lineitems"]


@app.post("/lineitems")
async def make_line_item(request: Request) -> Response:
    check(request, f"{AGS}/lineitem")
    item = {**await request.json(), "id": f"{BASE}/lineitems/{len(kept['lineitems'])}"}
    kept["lineitems"].append(item)
    return JSONResponse(item, 201)


@app.post("/lineitems/{number}/scores")
async def take_score(request: Request, number: int) -> Response:
    check(request, f"{AGS}/score")
    score = await request.json()
    assert score["userId"] in PEOPLE
    kept["scores"][score["userId"]] = score["scoreGiven"] / score["scoreMaximum"]
    return Response(status_code=200)


@app.get("/members")
def list_members(request: Request, page: int = 0) -> Response:
    check(request, f"{NRPS}/contextmembership.readonly")
    listed = [
        {"user_id": user, "status": "Active", "name": name, "roles": [f"{MEMBERSHIP}#{role}"]}
        for user, (name, role) in PEOPLE.items()
    ]
    following = MEMBERS_A_PAGE * (page + 1)
    more = {"link": f'<{BASE}/members?page={page + 1}>; rel="next"'} if following < len(listed) else {}
    return JSONResponse({"id": "x", "members": listed[MEMBERS_A_PAGE * page : following]}, headers=more)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
