"""Three notebooks, imported: every cell that the box can run runs afresh, and prints what it did in its notebook."""

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Cell, Illustration
from app.course.loader import load_course
from app.course.model import Chapter
from app.exchange import import_

FIXTURE = Path(__file__).resolve().parents[1] / "course"
PNG = "iVBORw0KGgpJRU5E"

PLAIN = [
    "import math\nfrom collections import Counter",
    "words = 'a rose is a rose'.split()",
    "counted = Counter(words)\nprint(counted['rose'])",
    "def square(x):\n    return x * x",
    "total = 0\nfor n in range(4):\n    total += square(n)\nprint(total)",
    "counted.update(['rose'])",
    "print(counted['rose'], math.sqrt(total + 2))",
    "table = {}\ntable['a'] = square(3)",
    "words.append('again')\nprint(len(words), table['a'])",
    "words.sort()\nprint(words[0], words[-1])",
]
PLOTTING = [
    "import numpy as np\nimport matplotlib.pyplot as plt\nplt.rcParams['figure.figsize'] = (3, 2)",
    "xs = np.linspace(0, 1, 5)\nys = xs ** 2",
    "plt.plot(xs, ys)\nplt.show()",
    "fig, ax = plt.subplots()\nax.plot(xs, ys)\nprint(ys.sum())",
    "def draw(values):\n    plt.bar(range(len(values)), values)",
    "draw(ys)\nprint(len(ys))",
    "import pandas as pd\nframe = pd.DataFrame({'x': xs})",
    "frame.describe()",
    "ys = ys + 1\nprint(ys.max())",
]
CHANGES = [
    "import torch",
    "x = torch.tensor([1.0, 2.0])",
    "x.requires_grad_(True)",
    "y = (x * x).sum()",
    "y.backward()",
    "print(x.grad)",
    "w = torch.ones(2, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.5)",
    "loss = (w * w).sum()\nloss.backward()\noptimizer.step()",
    "print(w)",
    "optimizer.zero_grad()\nhistory = []",
    "for _ in [1, 2]:\n    loss = (w * w).sum()\n    loss.backward()\n    optimizer.step()\n    history.append(loss)",
    "print(len(history), w.detach().sum().item())",
    "w.data.fill_(3.0)",
    "print(w)",
]


def run(source: str, names: dict[str, Any]) -> str | None:
    """What the code prints; None if it raises."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "cell.py", "exec"), names)
    except Exception:  # noqa: BLE001 - any error is a cell that does not run
        return None
    return printed.getvalue()


def bring_in(root: Path, cells: list[dict[str, Any]]) -> tuple[Chapter, str]:
    path = root.parent / "notebook.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    out = io.StringIO()
    assert import_([str(path), "brought", "--course", str(root)], out) == 0
    course, problems = load_course(root)
    assert problems == ()
    return next(chapter for chapter in course.chapters if chapter.slug == "brought"), out.getvalue()


def write_cells(sources: list[str], picture_at: int | None = None) -> list[dict[str, Any]]:
    """Code cells, one of them with a recorded picture."""
    picture = {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": "<Figure>"}, "metadata": {}}
    return [
        {"cell_type": "code", "source": source, "outputs": [picture] if n == picture_at else [], "metadata": {}}
        for n, source in enumerate(sources)
    ]


def count_running(chapter: Chapter) -> tuple[int, int]:
    """How many of the cells run afresh, and how many there are."""
    cells = blocks_of(Cell, chapter.blocks)
    return sum(run(f"{cell.setup}\n{cell.source}", {"__name__": "cell"}) is not None for cell in cells), len(cells)


def printed_in_order(sources: list[str]) -> list[str]:
    names: dict[str, Any] = {"__name__": "notebook"}
    return [printed for source in sources if (printed := run(source, names))]


def printed_afresh(chapter: Chapter) -> list[str]:
    cells = blocks_of(Cell, chapter.blocks)
    runs = [run(f"{cell.setup}\n{cell.source}", {"__name__": "cell"}) for cell in cells]
    return [printed for printed in runs if printed]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache")))


def test_a_plain_notebook_runs_cell_by_cell_as_it_did_in_order(root: Path) -> None:
    chapter, said = bring_in(root, write_cells(PLAIN))

    assert count_running(chapter) == (10, 10)
    assert printed_afresh(chapter) == printed_in_order(PLAIN)
    assert "note:" not in said


def test_what_a_notebook_plots_is_kept_as_a_picture_and_the_rest_runs(root: Path) -> None:
    chapter, said = bring_in(root, write_cells(PLOTTING, picture_at=2))

    assert count_running(chapter) == (5, 5)
    assert printed_afresh(chapter) == ["1.875\n", "5\n", "2.0\n"]
    (figure,) = blocks_of(Illustration, chapter.blocks)
    assert figure.address.endswith("cell-3-1.png")
    assert "cell 1 needs matplotlib, which a cell here cannot import" in said
    assert "cell 7 needs pandas" in said


@pytest.mark.torch
def test_what_method_calls_change_is_changed_for_the_cells_after_them(root: Path) -> None:
    chapter, _ = bring_in(root, write_cells(CHANGES))

    assert count_running(chapter) == (14, 14)
    assert printed_afresh(chapter) == printed_in_order(CHANGES)


def test_no_cell_runs_twice_before_another(root: Path) -> None:
    chapter, _ = bring_in(root, write_cells(PLAIN))

    last = blocks_of(Cell, chapter.blocks)[-1]
    assert last.setup.count("words = ") == 1
    assert len((root / "chapters/brought/chapter.md").read_text().split("\n")) < 100


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}", "$$\n\\begin{aligned}\na &= b"),
        ("\\begin{equation*}\nx = 1\n\\end{equation*}", "$$\nx = 1\n$$"),
        ("Inline \\(x^2\\) here", "Inline $x^2$ here"),
        ("\\[\ny = 2\n\\]", "$$\ny = 2\n$$"),
    ],
)
def test_formulas_of_other_systems_become_formulas(root: Path, written: str, shown: str) -> None:
    bring_in(root, [{"cell_type": "markdown", "source": f"# M\n\n{written}", "metadata": {}}])

    assert shown in (root / "chapters/brought/chapter.md").read_text()
