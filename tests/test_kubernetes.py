"""The manifests in docs/kubernetes fit the program, each other, and the schemas. They have run on no cluster."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from keda_schema import ScaledObject, TriggerAuthentication
from postgresql_server import MISSING, find_programs, run_server
from psycopg.errors import InsufficientPrivilege

from app.settings import Settings
from app.storage.database import migrate
from app.web.api.health import router
from graders.__main__ import read_arguments
from graders.contract.settings import GraderSettings

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "kubernetes"
VALIDATOR = ROOT / ".venv-kubernetes" / "bin" / "kubernetes-validate"
Resource = dict[str, Any]


def read_resources() -> list[Resource]:
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    return [one for name in listed for one in yaml.safe_load_all((FOLDER / name).read_text())]


RESOURCES = read_resources()
WORKLOADS = [one for one in RESOURCES if one["kind"] in ("Deployment", "Job")]


def of_kind(kind: str) -> list[Resource]:
    return [one for one in RESOURCES if one["kind"] == kind]


def find(kind: str, name: str) -> Resource:
    return next(one for one in of_kind(kind) if one["metadata"]["name"] == name)


def pod_of(workload: Resource) -> Resource:
    spec: Resource = workload["spec"]["template"]["spec"]
    return spec


def containers() -> Iterator[Resource]:
    for workload in WORKLOADS:
        yield from pod_of(workload)["containers"]


def labels_of_pods() -> list[dict[str, str]]:
    return [workload["spec"]["template"]["metadata"]["labels"] for workload in WORKLOADS]


def test_every_manifest_is_listed_and_is_in_the_one_namespace() -> None:
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in FOLDER.glob("*.yaml")} == {*listed, "kustomization.yaml"}
    assert {one["metadata"].get("namespace") for one in RESOURCES if one["kind"] != "Namespace"} == {"unwind"}


def test_images_are_those_of_the_compose_file_and_name_no_registry() -> None:
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"].values()
    assert {one["image"] for one in containers()} == {service["image"] for service in composed}


def test_settings_exist_and_have_values_that_the_program_takes() -> None:
    settings = {f"UNWIND_{name.upper()}" for name in Settings.model_fields | GraderSettings.model_fields}
    given = dict(find("ConfigMap", "unwind-site")["data"])
    for one in containers():
        given |= {variable["name"]: variable.get("value", "") for variable in one["env"]}
    assert given.keys() <= settings
    Settings(env=given["UNWIND_ENV"], trust_proxy=given["UNWIND_TRUST_PROXY"], secret="x" * 32)
    GraderSettings(slots=given["UNWIND_SLOTS"])


def test_secrets_are_references_to_what_the_page_tells_you_to_make() -> None:
    page = (FOLDER / "README.md").read_text()
    sources = [variable["valueFrom"] for one in containers() for variable in one["env"] if "valueFrom" in variable]
    references = {(found["secretKeyRef"]["name"], found["secretKeyRef"]["key"]) for found in sources}
    wanted = find("TriggerAuthentication", "unwind-queue")["spec"]["secretTargetRef"]
    references |= {(one["name"], one["key"]) for one in wanted}
    for name, key in references:
        assert any(f"generic {name} " in line and f"--from-file={key}=" in line for line in page.splitlines()), name
    assert not of_kind("Secret")


def test_graders_run_commands_that_exist_and_serve_the_queue_that_scales_them() -> None:
    for one in of_kind("ScaledObject"):
        deployment = find("Deployment", one["spec"]["scaleTargetRef"]["name"])
        arguments = pod_of(deployment)["containers"][0]["args"]
        assert arguments[:3] == [".venv/bin/python", "-m", "graders"]
        queue = read_arguments(arguments[3:]).queue
        assert [f"queue = '{queue}'" in trigger["metadata"]["query"] for trigger in one["spec"]["triggers"]] == [True]


def test_the_job_gives_the_graders_role_its_rights_and_the_page_says_how_to_make_it() -> None:
    arguments = pod_of(find("Job", "unwind-migrate"))["containers"][0]["args"]
    assert arguments[:-1] == [".venv/bin/python", "-m", "app", "migrate", "--worker-role"]
    assert f"CREATE ROLE {arguments[-1]} LOGIN" in (FOLDER / "README.md").read_text()


def test_every_container_runs_without_root_rights_or_a_writable_root() -> None:
    for workload in WORKLOADS:
        pod = pod_of(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"]["type"] in ("RuntimeDefault", "Localhost")
        for one in pod["containers"]:
            context = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
            assert one["securityContext"] == context | {"capabilities": {"drop": ["ALL"]}}
            assert "memory" in one["resources"]["limits"]


def test_only_graders_use_the_profile_that_lets_the_box_be_made_and_its_file_exists() -> None:
    users = {
        workload["metadata"]["name"]: Path(profile["localhostProfile"]).name
        for workload in WORKLOADS
        if (profile := pod_of(workload)["securityContext"]["seccompProfile"])["type"] == "Localhost"
    }
    assert users.keys() == {"unwind-grader", "unwind-grader-gpu"}
    assert {(ROOT / "graders" / "box" / name).is_file() for name in users.values()} == {True}


def test_probes_ask_for_addresses_that_the_website_has_and_never_for_its_database() -> None:
    known = {getattr(route, "path", "") for route in router.routes}
    site = pod_of(find("Deployment", "unwind-site"))["containers"][0]
    asked = {site[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert asked == {"/healthz"} <= known


def test_what_selects_pods_selects_some() -> None:
    selectors = [one["spec"]["selector"] for one in of_kind("Service")]
    for kind in ("Deployment", "PodDisruptionBudget"):
        selectors += [one["spec"]["selector"]["matchLabels"] for one in of_kind(kind)]
    for policy in of_kind("NetworkPolicy"):
        selector = policy["spec"]["podSelector"]
        selectors.append(selector.get("matchLabels", {}))
        for rule in selector.get("matchExpressions", ()):
            selectors += [{rule["key"]: value} for value in rule["values"]]
    for selector in selectors:
        assert any(selector.items() <= labels.items() for labels in labels_of_pods()), selector


def test_the_ingress_leads_to_the_websites_and_holds_no_event_back() -> None:
    ingress = find("Ingress", "unwind")
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    service = find("Service", backend["name"])
    assert backend["port"]["name"] == service["spec"]["ports"][0]["name"] == service["spec"]["ports"][0]["targetPort"]
    assert ingress["spec"]["rules"][0]["host"] == find("ConfigMap", "unwind-site")["data"]["UNWIND_HOSTS"]


def allowed_to(labels: dict[str, str]) -> set[tuple[str, int]]:
    """The pods, by the values of their labels, and the ports that a pod with these labels may reach."""
    reached = set()
    for policy in of_kind("NetworkPolicy"):
        selector = policy["spec"]["podSelector"]
        named = [rule for rule in selector.get("matchExpressions", ()) if labels.get(rule["key"]) in rule["values"]]
        matched = selector.get("matchLabels", {}).items() <= labels.items()
        if matched and len(named) == len(selector.get("matchExpressions", ())):
            for rule in policy["spec"].get("egress", ()):
                for to in rule["to"]:
                    target = "".join(to["podSelector"]["matchLabels"].values())
                    reached |= {(target, port["port"]) for port in rule["ports"]}
    return reached


def test_a_grader_reaches_the_database_and_the_name_server_and_nothing_else() -> None:
    assert find("NetworkPolicy", "nothing-by-default")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
    }
    for name in ("unwind-grader", "unwind-grader-gpu"):
        labels = find("Deployment", name)["spec"]["template"]["metadata"]["labels"]
        assert allowed_to(labels) == {("postgresql", 5432), ("kube-dns", 53)}


def test_kedas_resources_fit_the_schema_and_each_other() -> None:
    authentications = [TriggerAuthentication.model_validate(one) for one in of_kind("TriggerAuthentication")]
    scaled = [ScaledObject.model_validate(one) for one in of_kind("ScaledObject")]
    assert {one["kind"] for one in RESOURCES if "keda" in one["apiVersion"]} == {
        "TriggerAuthentication",
        "ScaledObject",
    }
    names = {one.metadata.name for one in authentications}
    for one in scaled:
        assert one.spec.minReplicaCount < one.spec.maxReplicaCount
        assert {trigger.authenticationRef.name for trigger in one.spec.triggers} <= names
        assert "replicas" not in find("Deployment", one.spec.scaleTargetRef.name)["spec"]


@pytest.mark.postgresql
def test_the_scalers_role_counts_what_is_unfinished_and_reads_nothing_else(tmp_path: Path) -> None:
    programs = find_programs()
    if programs is None:
        pytest.skip(MISSING)
    columns = (
        "id, learner, idempotency_key, kind, queue, priority, job, state, claim_number, lost_workers, last_seq, "
        "submitted_at"
    )
    with run_server(programs) as server:
        migrate(server.url("postgres"), tmp_path)
        rows = [("cpu", "queued"), ("cpu", "running"), ("cpu", "finished"), ("gpu", "queued")]
        for number, (queue, state) in enumerate(rows):
            values = f"'{number}', 'ann', '{number}', 'run', '{queue}', 0, '{{}}', '{state}', 0, 0, 0, 0"
            server.execute(f"INSERT INTO submissions ({columns}) VALUES ({values})")
        server.execute((FOLDER / "scaler-role.sql").read_text())
        scaler = server.url("postgres").replace("unwind@", "unwind_scaler@")
        with psycopg.connect(scaler, autocommit=True) as connection:
            triggers = [trigger for one in of_kind("ScaledObject") for trigger in one["spec"]["triggers"]]
            counted = [connection.execute(one["metadata"]["query"]).fetchall() for one in triggers]
            for statement in ("SELECT job FROM submissions", "SELECT 1 FROM events", "DELETE FROM submissions"):
                with pytest.raises(InsufficientPrivilege):
                    connection.execute(statement)
    assert counted == [[(2,)], [(1,)]]


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["1.30", "1.37"])
def test_every_other_resource_fits_the_schemas_of_kubernetes(version: str) -> None:
    if not VALIDATOR.exists():
        pytest.skip("`make test-kubernetes` makes the environment of the validator")
    names = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    files = [str(FOLDER / name) for name in names if name != "scaling.yaml"]
    command = [str(VALIDATOR), "--strict", "--kubernetes-version", version, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INFO" in done.stdout + done.stderr
