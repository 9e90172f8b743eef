"""docs/http-api.md names the keys of every payload as they are: those of the models, and of what the streams send."""

import json
import re
from pathlib import Path

import httpx2
import pytest
from pydantic import BaseModel
from site_parts import FakeWorker, StreamedEvent, read_stream

from app.web.api.drafts import DraftText
from app.web.api.graphs import GraphAnswer
from app.web.api.runs import RunRequest
from app.web.api.submissions import AcceptedAnswer, PublicCheckRequest, SubmissionAnswer, SubmissionRequest
from app.web.pages.chapter import ReadingPosition
from app.web.pages.search import FoundHit, FoundPiece, SearchAnswer
from graders.contract.events import EventKind
from graders.contract.results import CaseResult, Verdict

TEXT = (Path(__file__).resolve().parents[4] / "docs" / "http-api.md").read_text(encoding="utf-8")
SECTIONS = dict(section.partition("\n")[::2] for section in TEXT.split("\n## ")[1:])


def read_keys(section: str) -> dict[str, set[str]]:
    """The keys in braces of each payload that the section lists, by its name."""
    listed = re.findall(r"^- `?(\w+)`? `\{([^}]*)\}`", SECTIONS[section], re.MULTILINE)
    return {name: {key.strip() for key in keys.split(",")} for name, keys in listed}


def keys_of(events: list[StreamedEvent]) -> dict[str, set[str]]:
    return {event.event: set(event.data) for event in events}


@pytest.mark.parametrize(
    ("section", "name", "model"),
    [
        ("A run", "request", RunRequest),
        ("A submission", "request", SubmissionRequest),
        ("A submission", "answer", AcceptedAnswer),
        ("A submission", "state", SubmissionAnswer),
        ("A submission", "case", CaseResult),
        ("A submission", "finished", Verdict),
        ("A graph", "answer", GraphAnswer),
        ("A search", "answer", SearchAnswer),
        ("A search", "hit", FoundHit),
        ("A search", "piece", FoundPiece),
        ("A draft and a position", "draft", DraftText),
        ("A draft and a position", "position", ReadingPosition),
    ],
)
def test_documented_keys_are_those_of_the_model(section: str, name: str, model: type[BaseModel]) -> None:
    assert read_keys(section)[name] == set(model.model_fields)


def test_public_checks_take_what_is_said_of_them() -> None:
    assert "`/checks` takes `source` and `idempotency_key`" in SECTIONS["A submission"]
    assert set(PublicCheckRequest.model_fields) == {"source", "idempotency_key"}


async def test_the_events_of_a_run_are_documented(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    events = read_stream(await browser.post("/api/runs", json={"source": "x"}))

    documented = read_keys("A run")
    documented.pop("request")
    assert keys_of(events) == documented


async def test_the_events_of_a_submission_are_documented(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    case = CaseResult(name="small", idea="A small number.", passed=True, public=True)
    worker.cases = (case,)
    sent = await browser.post(
        "/api/exercises/double/submissions", json={"source": "x", "idempotency_key": "0123456789"}
    )
    events = read_stream(await browser.get(sent.json()["events"]))

    documented = {kind.value: read_keys("A submission")[kind.value] for kind in EventKind}
    assert keys_of(events) == documented


async def test_the_tape_of_a_graph_is_documented(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/api/chapters/a-first-graph/graphs/square-graph/tape")

    assert set(answer.json()) == read_keys("A graph")["tape"]


async def test_a_refusal_has_the_documented_keys(browser: httpx2.AsyncClient) -> None:
    (example,) = re.findall(r"^`(\{\"status\".*?\})`", TEXT, re.MULTILINE)

    assert set(json.loads(example)) == set((await browser.get("/api/submissions/nothing")).json())
