"""`check` draws variants and takes measurements, commits them on request, and says when they no longer fit."""

import json
from typing import Any

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Measure
from app.course.loader import load_course
from app.course.questions.question import QuestionBase

from .conftest import Desk

VARIANT = """
```{variant} sums
:draws: 4
:flavour: plain
def draw(rng):
    one, other = rng.randint(0, 9), rng.randint(0, 9)
    return {"one": one, "other": other, "answer": one + other, "product": one * other}
```

:::{question} add
:kind: number
:role: synthetic
:concepts: accumulation
:variant: sums
What is {{one}} + {{other}}?

- [ ] {{product}}
  > That is the product.

+++
{{answer}}.
:::
"""

MEASURE = """
```{measure} squares
:alt: Squares
:chart: line
:x: n
:y: square
:exact:
result = [{"n": n, "square": n * n} for n in range(3)]
```
"""

TOLD = """
:::{steps} walk
:flavour: plain
```python
one = 1
two = one + 1
```

- [1] one
- [2] two
:::

::::{incident} night
:title: A night
It went wrong.

- [ ] `careful` Take care

```{cell} replay
:flavour: plain
print("saved" if careful else "lost")
---
lost
```
::::
"""


@pytest.fixture
def drawn(desk: Desk) -> Desk:
    with desk.chapter.open("a") as file:
        file.write(VARIANT + MEASURE)
    desk.edit("minutes: 3", "minutes: 6")
    return desk


def read(desk: Desk, kind: str, name: str) -> dict[str, Any]:
    document = json.loads((desk.chapter.parent / kind / f"{name}.json").read_text())
    assert isinstance(document, dict)
    return document


def found_by(desk: Desk) -> list[tuple[str, int]]:
    return [(found["rule"], found["line"]) for found in desk.check()["problems"]]


def test_a_concept_asked_with_the_same_numbers_each_time_is_advised_and_no_mistake(desk: Desk) -> None:
    before = desk.check()
    with desk.chapter.open("a") as file:
        file.write(VARIANT)
    after = desk.check("--update")

    rules = [[found["rule"] for found in said["advice"]] for said in (before, after)]
    assert (before["status"], rules) == (
        0,
        [["concept-without-variant", "offered", "few-right-answers"], ["offered", "few-right-answers"]],
    )


def test_what_is_not_committed_asks_for_an_update(drawn: Desk) -> None:
    assert found_by(drawn) == [
        ("variant-changed", drawn.line_of("{question} add")),
        ("measure-changed", drawn.line_of("{measure} squares")),
    ]


def test_update_commits_draws_in_which_every_distractor_is_wrong(drawn: Desk) -> None:
    said = drawn.check("--update")
    draws = [draw["values"] for draw in read(drawn, "variants", "add")["draws"]]

    assert (said["status"], len(said["updated"]), len(draws)) == (0, 2, 4)
    assert all(draw["answer"] == draw["one"] + draw["other"] != draw["product"] for draw in draws)
    assert drawn.check()["problems"] == []


def test_update_commits_a_measurement_with_its_machine(drawn: Desk) -> None:
    drawn.check("--update")
    table = read(drawn, "measures", "squares")

    assert table["columns"] == {"n": [0, 1, 2], "square": [0, 1, 4]}
    assert (table["torch"], table["device"], table["python"]) == ("2.13.0", "cpu", "3.11.0")
    assert "core" in table["machine"]


def test_the_course_is_read_with_what_was_committed(drawn: Desk) -> None:
    drawn.check("--update")
    (chapter,) = load_course(drawn.root)[0].chapters
    (measure,) = blocks_of(Measure, chapter.blocks)
    question = next(found for found in blocks_of(QuestionBase, chapter.blocks) if found.id == "add")

    assert measure.committed
    assert not measure.committed.stale
    assert question.variant
    assert len(question.variant.draws) == 4


@pytest.mark.parametrize(
    ("old", "new", "rule", "at"),
    [
        ("randint(0, 9)", "randint(1, 9)", "variant-changed", "{question} add"),
        ("one * other}", "one + other}", "variant-failed", "{question} add"),
        ("What is {{one}}", "What is {{two}}", "variant-failed", "{question} add"),
        ("    one, other =", "    lost\n    one, other =", "variant-failed", "    lost"),
        ("n * n}", "n + n}", "measure-changed", "{measure} squares"),
        (":y: square", ":y: cube", "measure-failed", "{measure} squares"),
        ("result = [", "results = [", "measure-failed", "results = ["),
    ],
)
def test_what_no_longer_fits_is_reported_at_its_line(drawn: Desk, old: str, new: str, rule: str, at: str) -> None:
    drawn.check("--update")
    drawn.edit(old, new)

    assert found_by(drawn) == [(rule, drawn.line_of(at))]


def test_a_measurement_whose_code_changed_is_shown_as_such(drawn: Desk) -> None:
    drawn.check("--update")
    drawn.edit("n * n}", "n + n}")
    (measure,) = blocks_of(Measure, load_course(drawn.root)[0].chapters[0].blocks)

    assert measure.committed
    assert measure.committed.stale


def test_the_words_of_a_question_may_change_without_a_new_draw(drawn: Desk) -> None:
    drawn.check("--update")
    before = read(drawn, "variants", "add")
    drawn.edit("That is the product.", "That multiplies.")

    assert drawn.check()["problems"] == []
    assert read(drawn, "variants", "add") == before


@pytest.mark.parametrize("name", ["variants/add", "measures/squares"])
def test_a_committed_file_that_cannot_be_read_is_reported(drawn: Desk, name: str) -> None:
    drawn.check("--update")
    (drawn.chapter.parent / f"{name}.json").write_text("{}")

    assert [found.path for found in load_course(drawn.root)[1]] == [f"chapters/sums/{name}.json"]


@pytest.fixture
def told(desk: Desk) -> Desk:
    with desk.chapter.open("a") as file:
        file.write(TOLD)
    assert desk.check()["problems"] == []
    return desk


@pytest.mark.parametrize(
    ("old", "new", "rule", "at"),
    [
        ("two = one + 1", "two = lost + 1", "cell-failed", "two = lost"),
        ('"saved" if careful else "lost"', '"lost" if careful else "lost"', "incident", "{incident} night"),
        ("---\nlost", "---\nfound", "cell-output", "found"),
    ],
)
def test_what_is_told_is_run_and_each_switch_has_to_change_something(
    told: Desk, old: str, new: str, rule: str, at: str
) -> None:
    told.edit(old, new)

    assert (rule, told.line_of(at)) in found_by(told)


@pytest.mark.parametrize(
    ("old", "new", "file"),
    [
        ("one, other = rng.randint(0, 9), rng", "import os; one, other = os.getpid() % 89, rng", "variants/add.json"),
        ('"square": n * n', '"square": __import__("os").getpid()', "measures/squares.json"),
    ],
)
def test_numbers_that_come_out_differently_each_time_are_reported_and_not_committed(
    drawn: Desk, old: str, new: str, file: str
) -> None:
    drawn.edit(old, new)

    said = drawn.check("--update")

    assert [found["rule"] for found in said["problems"]] == ["unrepeatable"]
    assert not (drawn.chapter.parent / file).exists()


def test_times_that_are_not_called_exact_may_differ(drawn: Desk) -> None:
    drawn.edit('"square": n * n', '"square": __import__("os").getpid()')
    drawn.edit(":exact:\n", "")

    assert drawn.check("--update")["status"] == 0
