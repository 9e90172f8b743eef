"""Open edX's own LTI code in a bare Django: its key set, launch, token, line items, scores, deep linking and members.

.venv-lti/bin/python tests/platforms/open_edx.py PORT TOOL. The LMS around them is stubbed. The package is under the
AGPL, so it runs in an environment and a process of its own and is in no image. `make test-lti` makes it.
"""

import sys
from types import SimpleNamespace
from typing import Any

import django
from django.conf import settings

PORT, TOOL = int(sys.argv[1]), sys.argv[2]
BASE = f"http://127.0.0.1:{PORT}"
BLOCK, COURSE = "block-v1:uni+unwind+2026+type@lti_consumer+block@ex1", "course-v1:uni+unwind+2026"

settings.configure(
    SECRET_KEY="x" * 50,
    TIME_ZONE="UTC",
    USE_TZ=True,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    PLATFORM_NAME="Open edX",
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"open-edx-{PORT}.sqlite3"}},
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "config_models",
        "lti_consumer",
    ],
    # In this order, because the caches ask for request.user.
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "edx_django_utils.cache.middleware.RequestCacheMiddleware",
        "edx_django_utils.cache.middleware.TieredCacheMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    LTI_BASE=BASE,
    LTI_API_BASE=BASE,
    LMS_ROOT_URL=BASE,
    LEARNING_MICROFRONTEND_URL=BASE,
    USAGE_ID_PATTERN=r"(?P<usage_id>(?:[^/]+))",
)
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402 - Django has to be set up before
from django.core.management import call_command  # noqa: E402
from django.http import HttpResponseRedirect, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from lti_consumer import api  # noqa: E402
from lti_consumer.data import Lti1p3LaunchData  # noqa: E402
from lti_consumer.models import (  # noqa: E402
    CourseAllowPIISharingInLTIFlag,
    Lti1p3Passport,
    LtiConfiguration,
    LtiDlContentItem,
)
from lti_consumer.plugin import compat  # noqa: E402
from lti_consumer.plugin.views import LtiNrpsContextMembershipViewSet  # noqa: E402
from opaque_keys.edx.keys import CourseKey, UsageKey  # noqa: E402

User = get_user_model()
PEOPLE = {"teacher": ("Tess Teacher", ["instructor"]), "student": ("Stu Student", ["student"])}
PEOPLE |= {f"s{number}": (f"Student {number:02}", ["student"]) for number in range(12)}
PUBLISHED: dict[str, float] = {}
CUSTOM: dict[str, str] = {}


def load_block(*_: Any) -> SimpleNamespace:
    def publish(user: Any, score: float, most: float, comment: str) -> None:
        PUBLISHED[user.username] = score

    usage = UsageKey.from_string(BLOCK)
    return SimpleNamespace(
        location=usage,
        scope_ids=SimpleNamespace(usage_id=usage),
        weight=10,
        display_name="Double it",
        context_id=CourseKey.from_string(COURSE),
        lti_1p3_passport_id=None,
        has_score=True,
        accept_grades_past_due=True,
        is_past_due=lambda: False,
        max_score=lambda: 10,
        set_user_module_score=publish,
    )


def list_members(_: Any) -> dict[int, dict[str, Any]]:
    return {
        user.id: {
            "id": user.id,
            "username": user.username,
            "email": user.email,
            "name": user.get_full_name(),
            "roles": PEOPLE[user.username][1],
        }
        for user in User.objects.all()
    }


def attach_names(self: Any, data: dict[int, dict[str, Any]]) -> None:
    for member in data.values():
        member["external_id"] = member["username"]


compat.load_enough_xblock = compat.load_block_as_user = load_block
compat.get_user_from_external_user_id = lambda name: User.objects.get(username=name)
compat.user_has_studio_write_access = lambda *_: True
compat.merge_course_forum_roles = lambda course, members: members
compat.get_course_members = list_members
LtiNrpsContextMembershipViewSet.attach_external_user_ids = attach_names


def start(request: Any, name: str) -> Any:
    """A click in the LMS."""
    found = LtiConfiguration.objects.get(location=UsageKey.from_string(BLOCK))
    user = User.objects.get(username=name)
    if not request.user.is_authenticated:
        from django.contrib.auth import login

        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    assignment = request.GET.get("assignment", "")
    data = Lti1p3LaunchData(
        user_id=user.id,
        external_user_id=name,
        user_role=PEOPLE[name][1][0],
        config_id=found.config_id,
        resource_link_id=BLOCK,
        name=user.get_full_name(),
        email=user.email,
        context_id=COURSE,
        context_type=["course_offering"],
        context_title="Deep Learning",
        launch_presentation_document_target="iframe",
        custom_parameters={"assignment": assignment} if assignment else {},
    )
    return HttpResponseRedirect(api.get_lti_1p3_launch_start_url(data, deep_link_launch="deep" in request.GET))


def describe(request: Any) -> JsonResponse:
    passport = Lti1p3Passport.objects.get()
    api_base = f"{BASE}/api/lti_consumer/v1"
    return JsonResponse(
        {
            "issuer": BASE,
            "client_id": passport.lti_1p3_client_id,
            "auth_url": f"{api_base}/launch/",
            "token_url": f"{api_base}/token/{passport.passport_id}",
            "jwks_url": f"{api_base}/public_keysets/{passport.passport_id}",
        }
    )


def state(request: Any) -> JsonResponse:
    chosen = [item.attributes for item in LtiDlContentItem.objects.all()]
    return JsonResponse({"scores": PUBLISHED, "chosen": chosen})


def replace_keys(request: Any) -> JsonResponse:
    Lti1p3Passport.objects.update(
        lti_1p3_internal_private_key="", lti_1p3_internal_private_key_id="", lti_1p3_internal_public_jwk=""
    )
    return JsonResponse({})


urlpatterns = [
    path("api/", include("lti_consumer.plugin.urls")),
    path("start/<str:name>", start),
    path("describe", describe),
    path("state", state),
    path("replace-keys", replace_keys),
]


def fill() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)
    for name, (full, _) in PEOPLE.items():
        first, last = full.split()
        User.objects.create_user(name, f"{name}@uni.example", first_name=first, last_name=last)
    CourseAllowPIISharingInLTIFlag.objects.create(course_id=CourseKey.from_string(COURSE), enabled=True)
    passport = Lti1p3Passport.objects.create(name="tool", lti_1p3_tool_keyset_url=f"{TOOL}/lti/jwks")
    LtiConfiguration.objects.create(
        location=UsageKey.from_string(BLOCK),
        version="lti_1p3",
        config_store="CONFIG_ON_DB",
        lti_1p3_passport=passport,
        lti_1p3_oidc_url=f"{TOOL}/lti/login",
        lti_1p3_launch_url=f"{TOOL}/lti/launch",
        lti_1p3_redirect_uris=[f"{TOOL}/lti/launch"],
        lti_advantage_enable_nrps=True,
        lti_advantage_ags_mode="declarative",
        lti_advantage_deep_linking_enabled=True,
        lti_advantage_deep_linking_launch_url=f"{TOOL}/lti/launch",
    )


if __name__ == "__main__":
    fill()
    call_command("runserver", f"127.0.0.1:{PORT}", use_reloader=False, verbosity=0)
