"""What an operator watches: outcomes, waits and runs of jobs, sizes, and alert rules that name real metrics."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from site_parts import FakeWorker, read_stream
from starlette.types import Message, Receive, Scope, Send

from app.web.edge.metrics import MeasureRequests, Metrics
from app.web.edge.site import Site
from graders.contract.outcome_sentences import find_stumble, make_end
from graders.contract.results import Mistake, Outcome
from graders.ledger import StorageRefused

ROOT = Path(__file__).resolve().parents[4]
ALERTS = ROOT / "docs" / "prometheus-alerts.yml"
DASHBOARD = ROOT / "docs" / "grafana-dashboard.json"
SUBMIT = "/api/exercises/double/submissions"
NAME = r"\b(?:unwind|http_server|process)_[a-z_]+"
PROMTOOL = shutil.which("promtool")
NO_PROMTOOL = "promtool is not installed: apt-get install prometheus"
SUFFIXES = re.compile(r"_(total|bucket|sum|count|created)$")


async def scrape(browser: httpx2.AsyncClient) -> dict[str, float]:
    lines = (await browser.get("/metrics")).text.splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


async def hand_in(browser: httpx2.AsyncClient, key: str) -> None:
    answer = (await browser.post(SUBMIT, json={"source": "x = 1", "idempotency_key": key})).json()
    assert read_stream(await browser.get(answer["events"]))[-1].event == "finished"


def read_rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


async def test_each_ending_is_counted_once_with_its_wait_and_its_run(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await hand_in(browser, "first-one")
    first = await scrape(browser)
    await hand_in(browser, "second-one")
    await scrape(browser)
    last = await scrape(browser)

    passed = 'unwind_job_outcomes_total{kind="grade",outcome="passed"}'
    assert (first[passed], last[passed]) == (1.0, 2.0)
    for name in ("unwind_queue_wait_seconds", "unwind_run_seconds"):
        assert last[f'{name}_count{{kind="grade"}}'] == 2.0
        assert last[f'{name}_bucket{{kind="grade",le="300.0"}}'] == 2.0


async def test_a_fault_of_the_grader_raises_the_fault_counter(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    fault = 'unwind_faults_total{where="grader"}'
    assert (await scrape(browser))[fault] == 0.0
    worker.end = lambda job: make_end(job, Outcome.GRADER_FAULT)
    await hand_in(browser, "our-fault")
    assert (await scrape(browser))[fault] == 1.0


async def test_what_a_submission_can_claim_at_will_raises_no_alert(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    stumble = find_stumble(Mistake(type="AttributeError", message="no 'x'"))
    worker.end = lambda job: make_end(job, Outcome.GRADER_FAULT, stumble)
    await hand_in(browser, "a-stumble")
    await hand_in(browser, "a-stumble-again")
    seen = await scrape(browser)

    alarm = next(rule["expr"] for rule in read_rules() if rule["alert"] == "UnwindGraderFault")
    assert 'where="grader"' in alarm
    assert seen['unwind_faults_total{where="grader"}'] == 0.0
    assert seen['unwind_faults_total{where="check"}'] == 2.0


async def test_what_waits_longer_than_what_came_later_is_counted_when_it_ends(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    ids = []
    for number in range(3):
        body = {"source": f"x = {number}", "idempotency_key": f"key-number-{number}"}
        ids.append((await browser.post("/api/exercises/double/checks", json=body)).json()["id"])
    owner = (await site.ledger.find(ids[0])).learner
    cancelled = 'unwind_job_outcomes_total{kind="check",outcome="cancelled"}'
    counts = []
    for one in (ids[2], ids[0], ids[1]):
        await site.ledger.cancel(one, owner)
        counts.append((await scrape(browser))[cancelled])
    assert counts == [1.0, 2.0, 3.0]
    assert (await scrape(browser))[cancelled] == 3.0
    assert 'unwind_run_seconds_count{kind="check"}' not in await scrape(browser)


async def test_graders_files_and_process_are_shown(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    seen = await scrape(browser)

    assert seen['unwind_graders{memory_meter="none",profile="P2"}'] == 1.0
    assert seen['unwind_database_bytes{file="database"}'] > 0
    assert seen["unwind_disk_free_bytes"] > 0
    assert seen["process_resident_memory_bytes"] > 0


async def test_a_refusal_of_the_database_is_counted(
    browser: httpx2.AsyncClient, site: Site, monkeypatch: object
) -> None:
    def refuse() -> None:
        raise StorageRefused("disk I/O error")

    object.__setattr__(site.disk, "check", refuse)
    assert (await browser.post(SUBMIT, json={"source": "x", "idempotency_key": "any-key-1"})).status_code == 503
    assert (await scrape(browser))["unwind_storage_refused_total"] == 1.0


async def test_the_alert_rules_name_metrics_that_there_are(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await hand_in(browser, "some-series")
    shown = {SUFFIXES.sub("", name.partition("{")[0]) for name in await scrape(browser)}
    rules = read_rules()

    named = {name for rule in rules for name in re.findall(NAME, rule["expr"]) if not name.endswith("_code")}
    assert {SUFFIXES.sub("", name) for name in named} - shown == set()
    asked = {(name, label) for rule in rules for name, label in re.findall(rf"({NAME}){{(\w+)=", rule["expr"])}
    lines = list(await scrape(browser))
    assert [
        (name, label)
        for name, label in asked
        if not any(line.startswith(f"{name}{{") and f'{label}="' in line for line in lines)
    ] == []
    assert all(rule["annotations"]["summary"] for rule in rules)


async def test_the_dashboard_shows_metrics_that_there_are_with_the_labels_that_they_have(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await hand_in(browser, "for-the-dashboard")
    exported = (await browser.get("/metrics")).text
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    choices = json.loads(DASHBOARD.read_text())["templating"]["list"]
    (chosen,) = [re.search(NAME, choice["query"]) for choice in choices if choice["type"] == "query"]
    assert chosen
    assert f"\n{chosen[0]}{{" in exported
    assert len({panel["id"] for panel in panels}) == len(panels)
    for expression in asked:
        (name,) = set(re.findall(rf"{NAME}(?={{)|\bup\b", expression))
        if name == "up":  # Prometheus makes this one itself
            continue
        lines = [line for line in exported.splitlines() if line.startswith((f"{name}{{", f"{name} "))]
        assert lines or f"# TYPE {name.removesuffix('_total')}" in exported, name
        grouped = re.search(r"by \(([^)]*)\)", expression)
        labels = set(grouped[1].split(", ")) - {"le", "instance"} if grouped else set()
        assert all(f'{label}="' in line for line in lines for label in labels), (expression, lines[:1])


async def test_a_request_is_timed_to_its_end_and_a_stream_to_its_beginning() -> None:
    metrics, at_end = Metrics(), []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        kind = b"text/event-stream" if scope["path"] == "/stream" else b"text/html"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        at_end.append(read(metrics))
        await send({"type": "http.response.body", "body": b"b"})

    async def unused() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        return

    for path in ("/page", "/stream"):
        scope = {"type": "http", "method": "GET", "path": path}
        await MeasureRequests(answer, metrics)(scope, unused, send)

    assert [*at_end, read(metrics)] == [(0, 1), (2, 1), (2, 0)]


def read(metrics: Metrics) -> tuple[float, float]:
    """How many requests are counted, and how many are being answered."""
    labels = {"http_request_method": "GET"}
    counted = metrics.registry.get_sample_value(
        "http_server_request_duration_seconds_count",
        {**labels, "http_route": "", "http_response_status_code": "200"},
    )
    return counted or 0, metrics.registry.get_sample_value("http_server_active_requests", labels) or 0


@pytest.mark.skipif(PROMTOOL is None, reason=NO_PROMTOOL)
async def test_prometheus_s_own_tool_accepts_the_rules_and_the_metrics(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await hand_in(browser, "for-promtool")
    exported = (await browser.get("/metrics")).text

    assert run_promtool("check", "rules", "--lint-fatal", str(ALERTS)) == 0
    assert run_promtool("check", "metrics", said=exported) == 0


def run_promtool(*arguments: str, said: str = "") -> int:
    return subprocess.run([str(PROMTOOL), *arguments], input=said, text=True).returncode


def test_the_log_lines_that_deserve_an_alert_are_written_somewhere() -> None:
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"These messages deserve an alert:(.*?)\n\n", text, re.S)
    sources = "\n".join(
        path.read_text(encoding="utf-8") for folder in ("app", "graders") for path in (ROOT / folder).rglob("*.py")
    )

    messages = [message.replace("\n", " ") for message in re.findall(r"`([^`]+)`", listed)]
    assert {"grader fault", "storage refused", "the database refused"} <= set(messages)
    assert [message for message in messages if message not in sources] == []
