"""docs/writing-a-chapter.md is complete, and what it shows can be copied."""

import io
import re
import shutil
from pathlib import Path

import pytest

from app.check import main as check
from app.course.blocks import Role
from app.course.language.directive_specs import BOXES, LEVELS, SPECS, all_option_names
from app.course.language.front_matter import FrontMatter, HeadlineFields
from app.course.loader import load_course
from app.course.questions.kinds import KINDS

REPOSITORY = Path(__file__).parents[3]
DOCUMENT = (REPOSITORY / "docs" / "writing-a-chapter.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^````markdown\n(.*?)^````$", DOCUMENT, re.MULTILINE | re.DOTALL)

DRILL = """\
:::{question} sum-of-uses
:kind: number
:role: synthetic
:concepts: accumulation
:variant: sum-of-uses
What is `x.grad`?

- [ ] {{last}}
  > That is the share of the last use alone.

+++
{{answer}}.
:::
"""
DRAW = '''\
def draw(rng, level):
    """A leaf with several uses: the operations are the program's, the numbers its own."""
    factors = [rng.randint(2, 30) for _ in range(2 + level)]
    uses = " + ".join(f"{factor} * x" for factor in factors)
    lines = ["import torch", "", "x = torch.tensor(2.0, requires_grad=True)", f"y = {uses}", "y.backward()"]
    answer = {"answer": float(sum(factors)), "last": float(factors[-1])}
    return {"code": "\\n".join(lines), "observe": "gradient x"} | answer
'''


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_directive_is_documented_with_an_example_or_in_the_table_of_boxes(name: str) -> None:
    if name in BOXES:
        assert re.search(rf"^\| `{name}` \| {BOXES[name]}", DOCUMENT, re.MULTILINE)
    else:
        assert any(f"{{{name}}}" in example for example in EXAMPLES)


@pytest.mark.parametrize(
    ("directive", "option"), [(name, option) for name in sorted(SPECS) for option in sorted(all_option_names(name))]
)
def test_every_option_is_documented_and_shown(directive: str, option: str) -> None:
    assert f"`:{option}:`" in DOCUMENT
    if option not in ("needs",):
        assert any(f"\n:{option}:" in example for example in EXAMPLES)


@pytest.mark.parametrize("field", [*FrontMatter.model_fields, *HeadlineFields.model_fields])
def test_every_field_of_the_front_matter_is_documented(field: str) -> None:
    assert f"`{field}`" in DOCUMENT
    assert f"{field}:" in EXAMPLES[0]


@pytest.mark.parametrize("word", [*KINDS, *Role, *LEVELS])
def test_every_kind_role_and_level_is_named(word: str) -> None:
    assert word in DOCUMENT


def write_examples(root: Path) -> None:
    """The examples as one chapter of a course."""
    course, _, _, _, guide = re.findall(r"^```toml\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    (root / "course.toml").write_text(course, encoding="utf-8")
    (root / "debugging.toml").write_text(guide, encoding="utf-8")
    (root / "chapters" / "first-steps").mkdir(parents=True)
    (root / "chapters" / "first-steps" / "chapter.md").write_text("\n".join(EXAMPLES), encoding="utf-8")
    glossary = re.search(r"^```markdown\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert glossary
    (root / "glossary.md").write_text(glossary[1], encoding="utf-8")
    figures = root / "chapters" / "first-steps" / "figures"
    figures.mkdir()
    (figures / "two-paths.svg").write_text("<svg/>", encoding="utf-8")
    shutil.copytree(REPOSITORY / "tests" / "course" / "exercises" / "double", root / "exercises" / "double")
    (root / "drills").mkdir()
    (root / "drills" / "sum-of-uses.md").write_text(DRILL, encoding="utf-8")
    (root / "drills" / "sum-of-uses.py").write_text(DRAW, encoding="utf-8")


def test_the_examples_together_are_a_chapter_without_a_mistake(tmp_path: Path) -> None:
    write_examples(tmp_path)

    course, problems = load_course(tmp_path)

    assert problems == ()
    assert [chapter.slug for chapter in course.chapters] == ["first-steps"]


@pytest.mark.box
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.nightly
def test_the_examples_hold_when_they_are_run(tmp_path: Path) -> None:
    write_examples(tmp_path)
    out = io.StringIO()

    # A measurement is compared with another one once that is committed.
    check([str(tmp_path), "--update"])
    status = check([str(tmp_path), "--update"], out=out)

    assert status == 0, out.getvalue()
