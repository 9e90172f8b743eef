"""A claim has evidence as long as its code held, and a claim that proves nothing is reported."""

import json
from pathlib import Path

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Claim
from app.course.loader import load_course
from app.web.edge.rendering import Renderer
from app.web.views.presenting import ChapterState, present_claim

from .conftest import Desk


def test_a_claim_made_false_is_reported_and_its_evidence_says_so(desk: Desk) -> None:
    desk.edit("assert total == 2", 'assert total == 3, "it is not three"')

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["line"]) == ("claim-failed", desk.line_of("assert total"))
    evidence = load_course(desk.root)[0].evidence["sums/adds"]
    assert (evidence.held, evidence.message) == (False, "AssertionError: it is not three")


def test_a_claim_made_false_loses_its_mark_on_the_page_and_gets_it_back_when_fixed(desk: Desk) -> None:
    marks = [mark_of_the_claim(desk)]
    desk.edit("assert total == 2", "assert total == 3")
    marks.append(mark_of_the_claim(desk))
    statuses = [desk.check()["status"]]
    marks.append(mark_of_the_claim(desk))
    desk.edit("assert total == 3", "assert total == 2")
    statuses.append(desk.check()["status"])
    marks.append(mark_of_the_claim(desk))

    assert statuses == [1, 0]
    assert marks == ["is-held", "is-waiting", "is-broken", "is-held"]


def mark_of_the_claim(desk: Desk) -> str:
    """The class that the page's block has, read from the course as it is on disk now."""
    course, _ = load_course(desk.root)
    (chapter,) = course.chapters
    claim = next(claim for claim in blocks_of(Claim, chapter.blocks) if claim.id == "adds")
    html = Renderer().block(present_claim(claim, ChapterState(course, chapter)))
    (mark,) = [name for name in ("is-held", "is-waiting", "is-broken") if name in html]
    assert ("✓" in html) == (mark == "is-held")
    return mark


def test_a_claim_whose_code_changed_has_no_evidence_until_it_is_run(desk: Desk) -> None:
    assert load_course(desk.root)[0].evidence["sums/adds"].held

    desk.edit("assert total == 2", "assert total == 4 - 2")

    assert load_course(desk.root)[0].evidence == {}


def test_evidence_names_version_device_and_date(desk: Desk) -> None:
    entry = desk.evidence()["adds"]

    assert (entry["held"], entry["torch"], entry["device"], entry["python"]) == (True, "2.13.0", "cpu", "3.11.0")
    assert len(entry["checked_on"]) == len("2026-01-01")


def test_a_claim_that_held_again_keeps_its_date(desk: Desk) -> None:
    path = desk.chapter.parent / "evidence.json"
    (desk.root / ".cache" / "check.json").unlink()
    path.write_text(path.read_text().replace(desk.evidence()["adds"]["checked_on"], "2001-01-01"))

    desk.check()

    assert desk.evidence()["adds"]["checked_on"] == "2001-01-01"


def test_evidence_of_a_claim_that_is_gone_is_dropped(desk: Desk) -> None:
    desk.edit("{claim} adds", "{claim} sums-up")

    desk.check()

    assert set(desk.evidence()) == {"sums-up"}


def test_a_claim_that_needs_a_gpu_runs_where_there_is_one_and_keeps_that_evidence_elsewhere(desk: Desk) -> None:
    (desk.root / ".cache" / "check.json").unlink()
    with_gpu = desk.check(mode="gpu")
    (desk.root / ".cache" / "check.json").unlink()
    without = desk.check()

    assert (with_gpu["waiting_for_gpu"], without["waiting_for_gpu"]) == (0, 1)
    assert desk.evidence()["needs-gpu"]["device"] == "cuda: fake"


COMPILED = """
```{claim} compiled
:needs: compiler
Outside the box, this interpreter runs isolated.
---
import sys

assert sys.flags.isolated and __name__ == "__main__"
```

```{measure} compiled-table
:needs: compiler
:alt: Two numbers
:exact:
result = {"number": [1, 2]}
```

:::{question} click"""


@pytest.fixture
def with_compiler(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose `g++` says its name: these programs compile nothing."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "g++").write_text("#!/bin/sh\necho g++ 1.2.3\necho more\n")
    (folder / "g++").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.usefixtures("with_compiler")
def test_what_needs_a_compiler_runs_outside_the_box_and_only_when_asked(desk: Desk) -> None:
    desk.edit(":::{question} click", COMPILED.lstrip())

    without = desk.check("--update")
    asked = desk.check("--update", "--outside")
    again = desk.check("--outside")

    assert (without["waiting_outside"], asked["waiting_outside"]) == ({"compiler": 2}, {})
    assert (asked["status"], again["status"], again["ran"]) == (0, 0, 0)
    assert desk.evidence()["compiled"]["device"] == "cpu with g++ 1.2.3"
    table = json.loads((desk.chapter.parent / "measures" / "compiled-table.json").read_text())
    assert (table["columns"], table["device"]) == ({"number": [1, 2]}, "cpu with g++ 1.2.3")


@pytest.mark.usefixtures("with_compiler")
def test_a_claim_that_fails_outside_the_box_is_reported_with_its_error(desk: Desk) -> None:
    desk.edit(":::{question} click", COMPILED.lstrip().replace("sys.flags.isolated", "sys.flags.isolated > 5"))

    said = desk.check("--update", "--outside")

    assert [found["rule"] for found in said["problems"]] == ["claim-failed"]
    assert "AssertionError" in said["problems"][0]["message"]


def test_without_a_compiler_what_needs_one_is_left_out_and_counted(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.edit(":::{question} click", COMPILED.lstrip())
    monkeypatch.setenv("PATH", str(tmp_path))

    said = desk.check("--outside")

    assert (said["status"], said["waiting_outside"]) == (0, {"compiler": 2})


def test_an_assert_in_a_loop_that_is_never_entered_proves_nothing(desk: Desk) -> None:
    desk.edit("assert total == 2", "for total in []:\n    assert total == 2")

    said = desk.check()

    assert [(found["rule"], found["line"]) for found in said["problems"]] == [
        ("idle-claim", desk.line_of("    assert total"))
    ]


def test_asserts_under_a_condition_need_not_run(desk: Desk) -> None:
    loop = "for n in [1]:\n    assert (\n        n == 1\n    ), 'one'\n"
    desk.edit("assert total == 2", f"{loop}if total > 5:\n    assert False == total\nassert total == 2")

    assert desk.check()["problems"] == []
