"""A claim's mark: held only where its code held, as it stands, on the torch that runs here."""

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from site_parts import HELLO

from app.course.blocks import Claim, Where
from app.course.checking.evidence import hash_claim
from app.course.claim_status import ClaimStatus, find_status, name_surroundings
from app.course.loader import load_course
from app.course.model import Chapter, Evidence
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.rates import Rates
from app.web.edge.rendering import Renderer
from app.web.views.presenting import ChapterState, present_claim

FIXTURE = Path(__file__).resolve().parents[3] / "course"

CLAIM = Claim("id", "", "", "import torch\nassert torch", "", "cpu", Where("", 1))
EVIDENCE = Evidence(True, "2.13.0+cpu", "cpu", "3.11.7", "2026-01-02", 0.5)


@pytest.mark.parametrize(
    ("claim", "evidence", "torch", "standing"),
    [
        (CLAIM, EVIDENCE, "2.13.0", ClaimStatus.HELD),
        (CLAIM, EVIDENCE, "2.13.0+cu130", ClaimStatus.HELD),
        (CLAIM, EVIDENCE, "2.14.0+cpu", ClaimStatus.OTHER_VERSION),
        (CLAIM, None, "2.13.0", ClaimStatus.WAITING),
        (CLAIM, replace(EVIDENCE, held=False), "2.13.0", ClaimStatus.BROKEN),
        (CLAIM, replace(EVIDENCE, held=False), "2.14.0", ClaimStatus.BROKEN),
        (replace(CLAIM, needs="gpu"), None, "2.13.0", ClaimStatus.WAITING),
        (replace(CLAIM, needs="gpu"), replace(EVIDENCE, device="cuda"), "2.13.0", ClaimStatus.OTHER_DEVICE),
        (replace(CLAIM, needs="gpu"), replace(EVIDENCE, held=False), "2.13.0", ClaimStatus.BROKEN),
    ],
)
def test_only_what_held_on_the_version_that_runs_here_stands_as_held(
    claim: Claim, evidence: Evidence | None, torch: str, standing: ClaimStatus
) -> None:
    assert find_status(claim, evidence, torch) is standing


class Copy:
    """The fixture course in its own folder, whose claim can be made false."""

    def __init__(self, root: Path) -> None:
        self.chapter = root / "chapters" / "a-first-graph"
        self.root = root

    def edit_code(self) -> None:
        path = self.chapter / "chapter.md"
        text = path.read_text()
        assert "assert " in text
        path.write_text(text.replace("assert ", "assert not ", 1))

    def edit_evidence(self, **fields: Any) -> None:
        path = self.chapter / "evidence.json"
        document = json.loads(path.read_text())
        for entry in document["claims"].values():
            entry.update(fields)
        path.write_text(json.dumps(document))

    def render_claim(self) -> str:
        course, problems = load_course(self.root)
        assert problems == ()
        chapter = next(chapter for chapter in course.chapters if chapter.slug == "a-first-graph")
        return Renderer().block(present_claim(_claim_of(chapter), ChapterState(course, chapter)))


def _claim_of(chapter: Chapter) -> Claim:
    return next(block for block in chapter.blocks if isinstance(block, Claim))


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache"))))


def test_a_claim_that_held_opens_its_evidence_and_its_code(copy: Copy) -> None:
    html = copy.render_claim()

    assert "is-held" in html
    assert "held on torch 2.13.0" in html
    assert "Python 3.11.7" in html
    assert "cpu" in html
    assert " s.</p>" in html
    assert "assert" in html


def test_a_claim_whose_code_was_edited_is_no_longer_marked_as_held(copy: Copy) -> None:
    copy.edit_code()

    html = copy.render_claim()

    assert "is-waiting" in html
    assert "not run here yet" in html
    assert "✓" not in html


def test_a_claim_that_did_not_hold_is_unverified_and_says_why(copy: Copy) -> None:
    copy.edit_evidence(held=False, message="AssertionError: it is not three")

    html = copy.render_claim()

    assert "is-broken" in html
    assert "did not hold on torch" in html
    assert "it is not three" in html
    assert "✓" not in html


def test_what_held_on_another_torch_is_unverified_on_this_one(copy: Copy) -> None:
    copy.edit_evidence(torch="2.12.0+cpu")

    html = copy.render_claim()

    assert "is-waiting" in html
    assert "unverified on torch 2.13.0; it held on 2.12.0+cpu" in html


def test_a_claim_that_needs_a_gpu_shows_the_device_on_which_it_held(copy: Copy) -> None:
    course, _ = load_course(copy.root)
    chapter = course.chapters[0]
    claim = replace(_claim_of(chapter), needs="gpu")
    there = replace(EVIDENCE, device="NVIDIA H200")
    course = replace(course, evidence={f"{chapter.slug}/{claim.id}": there})

    html = Renderer().block(present_claim(claim, ChapterState(course, chapter)))

    assert "held on NVIDIA H200, torch 2.13.0+cpu; not verified here" in html
    assert "✓" not in html


Open = Callable[[str], Awaitable[str]]


@asynccontextmanager
async def serve(settings: Settings, assets: Assets, torch: str) -> AsyncIterator[Open]:
    app = create_app(settings, rates=Rates(factor=100), assets=assets)
    async with app.router.lifespan_context(app):
        await app.state.site.ledger.say_hello(HELLO.model_copy(update={"torch": torch}))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:

            async def open_page(path: str) -> str:
                return (await client.get(path)).text

            yield open_page


@pytest.mark.parametrize(("torch", "held", "older"), [("2.13.0+cpu", True, False), ("2.14.0+cpu", False, True)])
async def test_pages_hold_claims_against_the_torch_that_the_graders_run(
    settings: Settings, assets: Assets, torch: str, held: bool, older: bool
) -> None:
    async with serve(settings, assets, torch) as open_page:
        chapter, claims = await open_page("/chapters/a-first-graph"), await open_page("/claims")

    assert ("1 held" in claims, "not verified on this torch" in claims) == (held, older)
    assert ("is-held" in chapter) is held
    assert f"Torch {torch} runs here" in claims


async def test_the_list_of_claims_shows_the_myths_that_they_correct(settings: Settings, assets: Assets) -> None:
    async with serve(settings, assets, "2.13.0") as open_page:
        claims = await open_page("/claims")

    assert "Often said, but false:" in claims
    assert "A tensor that is used twice gets the gradient of its last use." in claims


async def test_claims_can_be_searched_by_the_words_of_a_claim_or_its_myth(settings: Settings, assets: Assets) -> None:
    async with serve(settings, assets, "2.13.0") as open_page:
        found, none = await open_page("/claims?q=LAST+twice"), await open_page("/claims?q=nowhere+at+all")

    assert "1 claim contains “LAST twice”" in found
    assert '<details class="claim-group" open>' in found
    assert "0 claims contain" in none
    assert "A tensor that is used twice gets the gradient of its last use." not in none


def test_a_claim_without_torch_is_held_on_python_whatever_torch_runs_here() -> None:
    plain = replace(CLAIM, code="import numpy\nassert numpy")
    held = Evidence(True, "2.13.0+cpu", "cpu", "3.11.7", "2026-01-02", 0.5, "")

    assert find_status(plain, held, "2.14.0+cpu") is ClaimStatus.HELD
    assert name_surroundings(plain, held) == "Python 3.11.7 with numpy"
    assert name_surroundings(CLAIM, held) == "torch 2.13.0+cpu"


async def test_a_page_tells_which_claims_hold_on_some_releases_alone(
    settings: Settings, assets: Assets, copy: Copy
) -> None:
    course, _ = load_course(copy.root)
    content = hash_claim(_claim_of(course.chapters[0]))
    failed = {"content": content, "message": "AssertionError: it was the last"}
    older = {"build": "2.0.1+cpu", "python": "3.11.7", "ran_on": "2026-01-02"}
    runs = {"2.0.1": older | {"claims": {"a-first-graph/square-gradient": failed}}}
    document = {"runs": runs, "not_run": {"1.0.0": "no wheel for Python 3.11"}}
    (copy.root / "torch-releases.json").write_text(json.dumps(document))

    async with serve(settings.model_copy(update={"course": copy.root}), assets, "2.13.0") as open_page:
        page, course_map = await open_page("/course/torch"), await open_page("/course")

    assert "AssertionError: it was the last" in page
    assert "✗</span> 2.0.1" in page
    assert "✓</span> 2.13.0" in page
    assert "torch 1.0.0: no wheel for Python 3.11" in page
    assert 'href="/course/torch"' in course_map


async def test_a_course_that_ran_on_one_release_has_no_page_of_releases(settings: Settings, assets: Assets) -> None:
    async with serve(settings, assets, "2.13.0") as open_page:
        assert "one release of torch alone" in await open_page("/course/torch")
