"""Claims on other releases of torch: what is run, kept and compared."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import releases
from app.course.loader import load_course
from app.course.release_changes import compare_releases, list_claims, list_releases
from app.course.releases import FILE, order_releases

FAKE = Path(__file__).parent / "checking" / "fake_graders.py"

COURSE = """\
format = 1
title = "Provable"
tagline = "One chapter."
torch = "2.13.0"

[concepts]
accumulation = "Adding up"

[[modules]]
id = "one"
number = 1
title = "One"
summary = "One."
chapters = [{ slug = "sums" }]
"""

CHAPTER = """\
---
title: Sums
subtitle: They add.
minutes: 3
objectives: [Add]
concepts: [accumulation]
---

```{claim} adds
One and one are two.
---
torch = 1 + 1
assert torch == 2
```

```{claim} has-fork
The module can fork.
---
torch = "two"
assert torch == "two", "no fork"
```

```{claim} plain
No release of it can matter here.
---
total = 1 + 1
assert total == 2
```

:::{question} how-many
:kind: number
:role: factual
:concepts: accumulation
:value: 2
:tolerance: 0
How many are one and one?

- [ ] 1
  > Count both.

+++
Two.
:::
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "chapters" / "sums").mkdir(parents=True)
    (tmp_path / "chapters" / "sums" / "chapter.md").write_text(CHAPTER)
    return tmp_path


def run(root: Path, release: str) -> int:
    """With graders that have torch 2.13.0, whatever release they are asked for."""
    graders = [sys.executable, str(FAKE), "", str(root / "exercises")]
    return releases.main([release, "--course", str(root)], graders)


def edit(root: Path, change: Callable[[Any], None]) -> None:
    document = json.loads((root / FILE).read_text())
    change(document)
    (root / FILE).write_text(json.dumps(document))


def as_another_release(document: Any) -> None:
    """The same run, as if an older torch had given it, on which the module could not fork."""
    older = document["runs"].pop("2.13.0")
    older["claims"]["sums/has-fork"]["message"] = "AssertionError: no fork"
    document["runs"]["2.12.1"] = older | {"build": "2.12.1+cpu"}


def test_releases_are_ordered_by_number_and_not_as_text() -> None:
    assert order_releases(["2.12.0", "2.9.1", "1.13.1", "2.12"]) == ["1.13.1", "2.9.1", "2.12", "2.12.0"]


def test_every_claim_that_uses_torch_runs_and_is_kept_under_the_release_that_ran(root: Path) -> None:
    assert run(root, "2.13.0") == 0

    kept = json.loads((root / FILE).read_text())["runs"]["2.13.0"]
    assert sorted(kept["claims"]) == ["sums/adds", "sums/has-fork"]
    assert kept["build"] == "2.13.0"
    assert "message" not in kept["claims"]["sums/adds"]


def test_a_claim_that_fails_is_kept_with_its_error(root: Path) -> None:
    chapter = root / "chapters" / "sums" / "chapter.md"
    chapter.write_text(CHAPTER.replace('torch = "two"', 'torch = "three"'))

    assert run(root, "2.13.0") == 0

    kept = json.loads((root / FILE).read_text())["runs"]["2.13.0"]["claims"]
    assert kept["sums/has-fork"]["message"] == "AssertionError: no fork"


def test_an_assert_without_words_is_told_by_its_line(root: Path) -> None:
    chapter = root / "chapters" / "sums" / "chapter.md"
    chapter.write_text(CHAPTER.replace("torch = 1 + 1", "torch = 1 + 2"))

    run(root, "2.13.0")

    kept = json.loads((root / FILE).read_text())["runs"]["2.13.0"]["claims"]
    assert kept["sums/adds"]["message"] == "AssertionError: assert torch == 2"


def test_only_what_differs_between_releases_has_changed(root: Path) -> None:
    run(root, "2.13.0")
    same, _ = load_course(root)
    run_here = json.loads((root / FILE).read_text())["runs"]["2.13.0"]
    edit(root, as_another_release)
    edit(root, lambda document: document["runs"].update({"2.13.0": run_here}))
    course, problems = load_course(root)

    assert (problems, compare_releases(same)) == ((), ())
    (changed,) = compare_releases(course)
    assert (changed.claim.id, dict(changed.results)) == (
        "has-fork",
        {"2.12.1": "AssertionError: no fork", "2.13.0": ""},
    )
    assert list_releases(course) == ["2.12.1", "2.13.0"]


def test_the_result_of_a_claim_that_was_edited_since_counts_no_more(root: Path) -> None:
    run(root, "2.13.0")
    run_here = json.loads((root / FILE).read_text())["runs"]["2.13.0"]
    edit(root, as_another_release)
    edit(root, lambda document: document["runs"].update({"2.13.0": run_here}))
    chapter = root / "chapters" / "sums" / "chapter.md"
    chapter.write_text(CHAPTER.replace('"no fork"', '"no fork at all"'))
    course, _ = load_course(root)

    assert compare_releases(course) == ()
    assert len(list_claims(course)) == 2


def test_a_release_that_cannot_be_installed_is_listed_with_what_pip_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(folder: Path, release: str) -> str:
        raise releases.ReleaseMissing(f"ERROR: No matching distribution found for torch=={release}")

    monkeypatch.setattr(releases, "make_environment", refuse)

    assert releases.main(["0.1.0", "--course", str(root)]) == 1

    assert "torch 0.1.0 was not run: ERROR: No matching distribution" in capsys.readouterr().err
    course, _ = load_course(root)
    assert course.releases.not_run == {"0.1.0": "ERROR: No matching distribution found for torch==0.1.0"}


def test_graders_that_do_not_start_leave_the_release_not_run(root: Path) -> None:
    assert releases.main(["2.12.1", "--python", "/bin/false", "--course", str(root)]) == 1

    course, _ = load_course(root)
    assert set(course.releases.not_run) == {"2.12.1"}


def test_a_file_that_cannot_be_read_is_a_problem_at_its_place(root: Path) -> None:
    (root / FILE).write_text('{"runs": {"2.12.1": {}}}')

    _, problems = load_course(root)

    (problem,) = problems
    assert (problem.path, "runs.2.12.1" in problem.message) == (FILE, True)
