"""A website of several processes answers one scrape with the metrics of all of them."""

from pathlib import Path

import httpx2

from app.main import create_app
from app.settings import Settings
from app.web.edge.metrics import Metrics
from app.web.edge.processes import SiteProcess, answer_others, ask_all, ask_process, join_metrics

FIRST = b"# HELP a_total A\n# TYPE a_total counter\na_total 1.0\n# HELP b B\n# TYPE b gauge\nb 2.0\n"
SECOND = b'# HELP a_total A\n# TYPE a_total counter\na_total 3.0\n# HELP c C\n# TYPE c gauge\nc{d="{e} f"} 4.0\n'


def test_a_joined_text_has_each_family_once_and_says_whose_each_series_is():
    assert join_metrics({1: FIRST, 2: SECOND}).decode().splitlines() == [
        "# HELP a_total A",
        "# TYPE a_total counter",
        'a_total{process="1"} 1.0',
        'a_total{process="2"} 3.0',
        "# HELP b B",
        "# TYPE b gauge",
        'b{process="1"} 2.0',
        "# HELP c C",
        "# TYPE c gauge",
        'c{process="2",d="{e} f"} 4.0',
    ]


async def test_whoever_is_asked_asks_the_others_and_does_without_one_that_is_gone(tmp_path: Path) -> None:
    async def first() -> bytes:
        return FIRST

    async def second() -> bytes:
        return SECOND

    data = tmp_path / ("a-long-name-" * 12)  # longer than the address of a Unix socket
    data.mkdir()
    async with answer_others(data, 2, second):
        both = await ask_all(data, SiteProcess(1, 3), first)
    assert both == join_metrics({1: FIRST, 2: SECOND})
    assert await ask_process(data, 2) == b""
    async with answer_others(data, 2, first):
        assert await ask_process(data, 2) == FIRST


def test_only_the_first_process_exports_what_the_ledger_says() -> None:
    text = Metrics(of_installation=False).render(None).decode()

    assert "http_server_active_requests" in text
    assert 'unwind_faults_total{where="website"}' in text
    assert 'where="grader"' not in text
    assert "unwind_grader_slots" not in text


async def test_processes_on_one_sqlite_file_count_acts_together(settings: Settings) -> None:
    strict = settings.model_copy(update={"rate_factor": 0.1})
    apps = [create_app(strict, process=SiteProcess(number, 2)) for number in (1, 2)]
    statuses, headers = [], {}
    async with apps[0].router.lifespan_context(apps[0]), apps[1].router.lifespan_context(apps[1]):
        for turn in range(6):
            transport = httpx2.ASGITransport(app=apps[turn % 2], raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=headers) as asks:
                body = {"source": "x = 1", "idempotency_key": f"key-number-{turn}"}
                answer = await asks.post("/api/exercises/double/submissions", json=body)
            statuses.append(answer.status_code)
            headers = headers or {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert statuses == [202, 202, 202, 429, 429, 429]
