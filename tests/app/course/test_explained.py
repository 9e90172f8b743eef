"""course.toml says where the player's formulas are explained, and its mistakes are reported at their lines."""

from pathlib import Path

import pytest

from app.course.explained import check_rules
from app.course.loader import load_course
from app.course.model import Explanation
from app.pictures.graph.formulas import FORMULAS, RULES

FIXTURE = Path(__file__).parents[2] / "course"
CHAPTER = """\
---
title: First
subtitle: A look
minutes: 1
objectives: ["See"]
concepts: [recording]
prerequisites: []
---

## A look

Text.
"""
COURSE = """\
format = 1
title = "C"
tagline = "T"
torch = "2.13.0"
[concepts]
recording = "R"
[explained]
# mul and any stand in this comment too
{entries}
[[modules]]
id = "m"
number = 1
title = "M"
summary = "S"
chapters = [{{ slug = "first" }}, {{ slug = "planned", title = "Planned" }}]
"""


def load(
    root: Path, entries: str, chapter: str = CHAPTER
) -> tuple[dict[str, Explanation], list[tuple[int, str, str]]]:
    (root / "chapters" / "first").mkdir(parents=True)
    (root / "chapters" / "first" / "chapter.md").write_text(chapter)
    (root / "course.toml").write_text(COURSE.format(entries=entries))
    course, problems = load_course(root)
    found = [*problems, *check_rules(course, RULES)]
    told = [(item.line, item.rule.value, item.remedy) for item in sorted(found) if item.path == "course.toml"]
    return dict(course.explained), told


def test_a_rule_is_explained_by_a_chapter_or_a_section_in_words() -> None:
    course, _ = load_course(FIXTURE)
    assert {rule: (place.href, place.words) for rule, place in course.explained.items()} == {
        "any": ("/chapters/a-first-graph#predict-first", "1.1 A first graph: Predict first"),
        "mul": ("/chapters/a-second-look#another-look", "1.2 A second look: Another look"),
        "accumulate": ("/chapters/a-second-look", "1.2 A second look"),
    }
    assert check_rules(course, RULES) == []


@pytest.mark.parametrize(
    ("entry", "rule", "remedy"),
    [
        ('mull = "first"', "unknown-rule", "did you mean 'mul'?"),
        ('mul = "firts"', "dead-link", "did you mean 'first'?"),
        ('mul = "first#a-lok"', "dead-link", "did you mean 'a-look'?"),
        ('any = "planned"', "dead-link", "write its title as text"),
    ],
)
def test_a_mistake_is_told_at_its_line(tmp_path: Path, entry: str, rule: str, remedy: str) -> None:
    _, told = load(tmp_path, f'exp = "first#a-look"\n{entry}')
    assert told == [(10, rule, remedy)]


def test_a_draft_explains_nothing_to_learners(tmp_path: Path) -> None:
    explained, told = load(tmp_path, 'mul = "first"', CHAPTER.replace("minutes:", "draft: true\nminutes:"))
    assert explained == {}
    assert [(line, rule) for line, rule, _ in told] == [(9, "draft")]


def test_every_formula_may_be_named() -> None:
    assert FORMULAS.keys() | {"any", "custom", "accumulate"} == RULES
