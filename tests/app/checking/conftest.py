"""A course of one chapter that needs no torch, and graders that need no box."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.check import main

HERE = Path(__file__).parent
EXERCISE = HERE.parents[1] / "course" / "exercises" / "double"

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

```{cell} prints
print(1 + 1)
print("two")
---
2
two
```

```{cell} fails-on-purpose
:raises: ZeroDivisionError
1 / 0
```

```{graph} leaves
:alt: One leaf
x = 1.0
```

```{claim} adds
One and one are two.
---
total = 1 + 1
assert total == 2
```

```{claim} needs-gpu
:needs: gpu
Something that only a GPU can show.
---
shown = [1]
assert shown == [1]
```

:::{question} click
:kind: graph-click
:role: factual
:concepts: accumulation
:cell: leaves
:targets: x
Click the leaf.

- [ ] *
  > No.

+++
x.
:::
"""


@dataclass
class Desk:
    """An author's desk: a course, and what `check` says of it."""

    root: Path

    @property
    def chapter(self) -> Path:
        return self.root / "chapters" / "sums" / "chapter.md"

    def edit(self, old: str, new: str) -> None:
        text = self.chapter.read_text()
        assert old in text
        self.chapter.write_text(text.replace(old, new))

    def line_of(self, text: str) -> int:
        lines = self.chapter.read_text().split("\n")
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def check(self, *arguments: str, mode: str = "") -> dict[str, Any]:
        out = io.StringIO()
        graders = [sys.executable, str(HERE / "fake_graders.py"), mode, str(self.root / "exercises")]
        status = main([str(self.root), "--json", *arguments], graders, out)
        return {**json.loads(out.getvalue()), "status": status}

    def evidence(self) -> dict[str, Any]:
        claims = json.loads((self.chapter.parent / "evidence.json").read_text())["claims"]
        assert isinstance(claims, dict)
        return claims


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each check starts graders in a process of their own: half a second, a hundred times."""
    for item in items:
        if "make_desk" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def make_desk(tmp_path: Path) -> Callable[[], Desk]:
    def make() -> Desk:
        (tmp_path / "course.toml").write_text(COURSE)
        desk = Desk(tmp_path)
        desk.chapter.parent.mkdir(parents=True)
        desk.chapter.write_text(CHAPTER)
        shutil.copytree(EXERCISE, tmp_path / "exercises" / "double")
        return desk

    return make


@pytest.fixture
def desk(make_desk: Callable[[], Desk]) -> Desk:
    """A course that holds: its graph is committed already."""
    made = make_desk()
    assert made.check("--update")["status"] == 0
    return made
