"""docker-compose.fleet.yml and what it builds from, held against the program; tools/prove_fleet runs the fleet."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import Settings
from graders.contract.settings import GraderSettings

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docker-compose.fleet.yml").read_text(encoding="utf-8")
FLEET: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = FLEET["services"]
SECRETS = ("UNWIND_SECRET", "UNWIND_DATABASE_PASSWORD", "UNWIND_GRADER_PASSWORD")
OF_COMPOSE = re.compile(r"\$\{(\w+)(:[-?][^}]*)?\}")


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined_and_limited(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert {"mem_limit", "cpus", "pids_limit", "logging", "restart"} <= service.keys()
    assert "healthcheck" in service or name == "migrate"


def test_no_secret_has_a_default_and_the_example_names_each() -> None:
    used = dict(OF_COMPOSE.findall(TEXT))
    assert all(":?" in found for name, found in OF_COMPOSE.findall(TEXT) if name in SECRETS)
    assert set(SECRETS) <= used.keys()
    example = (ROOT / "tools/fleet/example.env").read_text(encoding="utf-8")
    assert [line for line in example.splitlines() if line.startswith(SECRETS)] == [f"{name}=" for name in SECRETS]


def test_settings_of_the_program_exist() -> None:
    fields = {f"UNWIND_{name.upper()}" for name in Settings.model_fields | GraderSettings.model_fields}
    for name in ("migrate", "web", "worker-cpu", "worker-gpu"):
        assert SERVICES[name]["environment"].keys() <= fields, name


def test_only_the_proxy_is_reachable_and_graders_know_only_their_own_password() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert FLEET["networks"]["inside"]["internal"] is True
    assert FLEET["networks"]["judging"]["internal"] is True
    judging = [name for name, service in SERVICES.items() if "judging" in service["networks"]]
    assert judging == ["database", "worker-cpu", "worker-gpu"]
    assert [name for name, service in SERVICES.items() if "outside" in service["networks"]] == ["proxy"]
    for name in ("worker-cpu", "worker-gpu"):
        assert SERVICES[name]["networks"] == ["judging"]
        known = str(SERVICES[name]["environment"])
        assert "unwind_grader:${UNWIND_GRADER_PASSWORD" in known
        assert "UNWIND_DATABASE_PASSWORD" not in known
        assert "UNWIND_SECRET" not in known


def test_graders_have_the_seccomp_profile_that_is_shipped() -> None:
    (profile,) = [one for one in SERVICES["worker-cpu"]["security_opt"] if one.startswith("seccomp=")]
    assert (ROOT / profile.removeprefix("seccomp=")).is_file()


def test_the_role_is_limited_by_the_service_that_migrates_and_made_by_the_database() -> None:
    role = SERVICES["migrate"]["command"][-1]
    assert SERVICES["migrate"]["command"][-2:] == ["--worker-role", role]
    assert f"ALTER ROLE {role} PASSWORD" in (ROOT / "tools/fleet/database.sh").read_text(encoding="utf-8")


def test_the_proxy_holds_back_no_events_and_writes_the_address_that_the_site_trusts() -> None:
    nginx = (ROOT / "tools/fleet/nginx.conf").read_text(encoding="utf-8")
    assert "proxy_buffering off;" in nginx
    # Not appended to what the client sent: the site counts rates by the last address, and others must not be forged.
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx
    assert SERVICES["web"]["environment"]["UNWIND_TRUST_PROXY"] == "true"
