"""A chapter goes out as a notebook and comes back; any other notebook becomes a draft that can be read."""

import contextlib
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Cell
from app.course.loader import load_course
from app.exchange import export, import_

FIXTURE = Path(__file__).resolve().parents[1] / "course"
SLUGS = ("a-first-graph", "a-second-look")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache")))


def export_chapter(root: Path, slug: str) -> Path:
    path = root.parent / f"{slug}.ipynb"
    assert export([str(root / "chapters" / slug), "--out", str(path)], io.StringIO()) == 0
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def bring_in(root: Path, notebook: Path, name: str) -> tuple[int, str]:
    out = io.StringIO()
    return import_([str(notebook), name, "--course", str(root)], out), out.getvalue()


def foreign(path: Path, *cells: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": list(cells)}))
    return path


def prose(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": [f"{line}\n" for line in lines]}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": list(outputs), "source": source}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [text]}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_has_what_its_format_requires(root: Path, slug: str) -> None:
    document = read(export_chapter(root, slug))

    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", cell["id"])
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert {"cell_type", "id", "metadata", "source"} | code == set(cell) - {"attachments"}
        assert cell["source"]
        for output in cell.get("outputs", ()):
            assert set(output) == {"output_type", "name", "text"}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_cell_of_a_chapter_is_there_with_its_setup_and_what_it_prints(root: Path, slug: str) -> None:
    cells = [cell for cell in read(export_chapter(root, slug))["cells"] if cell["cell_type"] == "code"]
    sources = {"".join(cell["source"]): cell for cell in cells}

    chapter = next(chapter for chapter in load_course(root)[0].chapters if chapter.slug == slug)
    for cell in blocks_of(Cell, chapter.blocks):
        # What a cell depends on ran before it in the notebook, and is not repeated.
        found = sources.get(f"{cell.setup}\n\n{cell.source}") or sources[cell.source]
        assert found["outputs"] == ([{**printed(f"{cell.expected}\n")}] if cell.expected else [])


def test_an_answer_is_behind_its_summary(root: Path) -> None:
    cells = read(export_chapter(root, "a-first-graph"))["cells"]
    (predict,) = [text for cell in cells if (text := "".join(cell["source"])).startswith("**Predict**")]

    asked, _, answer = predict.partition("<details>")

    assert "- 4" in asked
    assert "[x]" not in asked
    assert "Both operands" not in asked
    assert "- [x] 4" in answer


def test_a_question_with_a_variant_is_asked_with_its_first_draw(root: Path) -> None:
    notebook = read(export_chapter(root, "a-second-look"))
    told = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    several = next(text for text in told if "Which sums are tracked?" in text)

    assert not [text for text in told if "{{" in text]
    assert "`requires_grad` is False of `a`, False of `b`, True of `c`." in several
    assert "Right: b + c, c + a" in several.partition("<summary>Answer")[2]
    assert any("5. optimizer" in text or "optimizer.zero_grad()\noptimizer.step()" in text for text in told)


def test_the_prose_of_a_fold_is_folded(root: Path) -> None:
    notebook = read(export_chapter(root, "a-second-look"))
    told = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")

    assert "<details><summary>More of the same</summary>\n\nNothing here has to be read." in told


def test_a_picture_travels_with_its_notebook_and_comes_back(root: Path) -> None:
    notebook = export_chapter(root, "a-first-graph")
    (attached,) = [cell for cell in read(notebook)["cells"] if "attachments" in cell]
    assert "](attachment:two-nodes.svg)" in "".join(attached["source"])

    bring_in(root, notebook, "once-more")

    figure = root / "chapters/once-more/figures/two-nodes.svg"
    assert figure.read_bytes() == (root / "chapters/a-first-graph/figures/two-nodes.svg").read_bytes()


@pytest.mark.parametrize("slug", SLUGS)
def test_a_chapter_that_comes_back_unchanged_is_the_same(root: Path, slug: str) -> None:
    status, _ = bring_in(root, export_chapter(root, slug), "once-more")

    assert status == 0
    assert (root / "chapters/once-more/chapter.md").read_text() == (
        root / "chapters" / slug / "chapter.md"
    ).read_text()


def test_what_was_edited_in_the_notebook_is_edited_in_the_chapter_and_the_rest_is_not(root: Path) -> None:
    notebook = export_chapter(root, "a-first-graph")
    document = read(notebook)
    for cell in document["cells"]:
        cell["source"] = [
            line.replace("y = x * 3", "y = x * 5").replace("Code that is only read", "Code only to read")
            for line in cell["source"]
        ]
    notebook.write_text(json.dumps(document))

    bring_in(root, notebook, "once-more")

    text = (root / "chapters/a-first-graph/chapter.md").read_text()
    fresh = (root / "chapters/once-more/chapter.md").read_text()
    wanted = text.replace("y = x * 3", "y = x * 5").replace("Code that is only read", "Code only to read")
    assert [line for line in fresh.split("\n") if line] == [line for line in wanted.split("\n") if line]


def test_a_notebook_of_somebody_elses_is_a_draft_without_a_problem(root: Path) -> None:
    notebook = foreign(
        root.parent / "theirs.ipynb",
        prose("# Chain rule", "", "Some words.", "### Deep at once", "<!-- note -->"),
        code("%matplotlib inline\nimport torch"),
        code("x = torch.tensor(2.0, requires_grad=True)"),
        prose("## Then"),
        code("y = x * x\ny.backward()\nx.grad", {"output_type": "execute_result", "data": {}, "metadata": {}}),
        code("print(1 + 1)", printed("2\n")),
        code("1 / 0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "", "traceback": []}),
        code("!pip install torch"),
        code("this is no Python"),
    )

    status, said = bring_in(root, notebook, "theirs")

    course, problems = load_course(root)
    assert (status, problems) == (0, ())
    assert "--update" in said
    (chapter,) = (chapter for chapter in course.chapters if chapter.slug == "theirs")
    assert (chapter.title, chapter.draft) == ("Chain rule", True)
    cells = {cell.id: cell for cell in blocks_of(Cell, chapter.blocks)}
    assert ":depends-on: cell-1, cell-2\n" in (root / "chapters/theirs/chapter.md").read_text()
    assert cells["cell-3"].source == "y = x * x\ny.backward()\nprint(x.grad)"
    assert (cells["cell-4"].setup, cells["cell-4"].expected, cells["cell-4"].flavour) == ("", "2", "plain")
    assert cells["cell-5"].raises == "ZeroDivisionError"
    assert len(cells) == 5


def test_a_picture_with_a_path_for_a_name_stays_in_its_folder(root: Path) -> None:
    cell = prose("![A dot](attachment:../../../dot.png)")
    cell["attachments"] = {"../../../dot.png": {"image/png": "iVBORw0KGgpJRU5E"}}

    bring_in(root, foreign(root.parent / "sly.ipynb", cell), "sly")

    written = sorted(path.name for path in (root / "chapters/sly/figures").iterdir())
    assert len(written) == 1
    assert written[0].endswith("dot.png")
    assert load_course(root)[1] == ()


@pytest.mark.parametrize("text", ["", "[]", '{"nbformat": 3, "worksheets": []}', '{"nbformat": 4}'])
def test_what_is_no_notebook_is_refused_and_nothing_is_written(root: Path, text: str) -> None:
    path = root.parent / "none.ipynb"
    path.write_text(text)
    before = sorted(root.rglob("*"))

    status, said = bring_in(root, path, "none")

    assert (status, "Jupyter" in said or "JSON" in said) == (1, True)
    assert sorted(root.rglob("*")) == before


def test_a_notebook_does_not_overwrite_a_chapter(root: Path) -> None:
    status, said = bring_in(root, export_chapter(root, "a-first-graph"), "a-second-look")

    assert status == 1
    assert "already exists" in said


INCIDENT = """
:::::{incident} night
:title: The night it grew
It went wrong. See [the leaf](term:leaf) and [the guide](debugging:never-cleared).

- [ ] `careful` Take care
- [x] `shared` Two share it

```{cell} replay-night
:flavour: plain
print("saved" if careful else "lost", shared)
---
lost True
```
:::::

:::{question} put-in-order
:kind: order
:role: factual
:concepts: accumulation
Put them in order.

```python
first = 1
second = first + 1
third = second + 1
```

- [ ] *
  > Look at what each line needs.

+++
One by one.
:::

:::{faq}
Does it matter?

+++
It does.
:::

:::{faq}
Does `0.1 + 0.2` equal `0.3`?

+++
It does not.

```{cell} binary
:flavour: plain
print(0.1 + 0.2)
---
0.30000000000000004
```

Neither number is exact.

```{claim} binary-claim
The sum is larger.
---
assert 0.1 + 0.2 > 0.3
```
:::

:::::{break-it} A line too many
Make it print 3.

```{cell} broken
:flavour: plain
print(1 + 1)
---
2
```

:::{fold} Solution, and why `+` is it
Add another one.

```{cell} mended
:flavour: plain
print(1 + 1 + 1)
---
3
```
:::
:::::

:::{fold} More evidence
Before the claim.

```{claim} more-claim
One is one.
---
assert 1 == 1
```

After the claim.
:::

:::{figure} carried
:file: two-nodes.svg
:alt: Two nodes
A caption.
:::
"""


@pytest.fixture
def exported(root: Path) -> list[dict[str, Any]]:
    chapter = root / "chapters/a-first-graph/chapter.md"
    chapter.write_text(chapter.read_text() + INCIDENT)
    cells = read(export_chapter(root, "a-first-graph"))["cells"]
    assert isinstance(cells, list)
    return cells


def text_of(cells: list[dict[str, Any]], words: str) -> str:
    return next(text for cell in cells if words in (text := "".join(cell["source"])))


def test_an_exported_incident_runs_as_it_went(exported: list[dict[str, Any]]) -> None:
    source = text_of(exported, 'if careful else "lost"')

    printed_lines = io.StringIO()
    with contextlib.redirect_stdout(printed_lines):
        exec(source, {})
    assert printed_lines.getvalue() == "lost True\n"
    assert "careful = False  # Take care\nshared = True  # Two share it" in source


def test_an_exported_order_question_does_not_show_the_order(exported: list[dict[str, Any]]) -> None:
    asked, _, answer = text_of(exported, "Put them in order.").partition("<details>")

    lines = ["first = 1", "second = first + 1", "third = second + 1"]
    assert "\n".join(lines) not in asked
    assert all(line in asked for line in lines)
    assert "\n".join(lines) in answer


def test_exported_answers_are_folded_figures_carried_and_no_link_is_dead(exported: list[dict[str, Any]]) -> None:
    told = "\n".join("".join(cell["source"]) for cell in exported if cell["cell_type"] == "markdown")
    figure = next(cell for cell in exported if "![Two nodes](attachment:two-nodes.svg)" in "".join(cell["source"]))

    assert "It does." in text_of(exported, "Does it matter?").partition("<summary>Answer</summary>")[2]
    assert list(figure["attachments"]) == ["two-nodes.svg"]
    assert "See the leaf and the guide." in told
    assert not re.search(r"\]\((term|debugging|exercise):", told)
    assert "**The night it grew**" in told


def test_an_exported_answer_is_folded_with_its_code(exported: list[dict[str, Any]]) -> None:
    asked, _, answer = text_of(exported, "Does `0.1 + 0.2` equal").partition("<details><summary>Answer</summary>")

    assert asked == "**Question**\n\nDoes `0.1 + 0.2` equal `0.3`?\n\n"
    assert answer == (
        "\n\nIt does not.\n\n"
        "```python\nprint(0.1 + 0.2)\n```\n\n```text\n0.30000000000000004\n```\n\n"
        "Neither number is exact.\n\n"
        "```python\n# The sum is larger.\nassert 0.1 + 0.2 > 0.3\n```\n\n</details>"
    )


def test_the_solution_of_a_task_is_folded_with_its_code_and_the_task_still_runs(
    exported: list[dict[str, Any]],
) -> None:
    solution = text_of(exported, "Add another one.")
    code_cells = ["".join(cell["source"]) for cell in exported if cell["cell_type"] == "code"]

    assert solution == (
        "<details><summary>Solution, and why <code>+</code> is it</summary>\n\nAdd another one.\n\n"
        "```python\nprint(1 + 1 + 1)\n```\n\n```text\n3\n```\n\n</details>"
    )
    assert "print(1 + 1)" in code_cells
    assert not [source for source in code_cells if "1 + 1 + 1" in source]


def test_the_code_of_any_other_fold_runs_and_is_hidden_where_the_program_can(exported: list[dict[str, Any]]) -> None:
    (claim,) = [cell for cell in exported if "assert 1 == 1" in "".join(cell["source"])]

    assert claim["cell_type"] == "code"
    assert claim["metadata"]["jupyter"] == {"source_hidden": True, "outputs_hidden": True}
    assert text_of(exported, "Before the claim.").startswith("<details><summary>More evidence</summary>")
    assert text_of(exported, "After the claim.").startswith("<details><summary>More evidence (continued)</summary>")


def test_a_chapter_with_answers_that_hold_code_comes_back_unchanged(
    root: Path, exported: list[dict[str, Any]]
) -> None:
    bring_in(root, root.parent / "a-first-graph.ipynb", "once-more")

    chapters = root / "chapters"
    assert (chapters / "once-more/chapter.md").read_text() == (chapters / "a-first-graph/chapter.md").read_text()
