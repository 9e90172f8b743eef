"""Figures, walks, incidents, terms, dependencies and concepts: what they become, and their mistakes."""

from pathlib import Path

import pytest
from markupsafe import Markup

from app.course.block_tree import blocks_of
from app.course.blocks import Cell, Graph, Illustration, Incident, LadderPlace, Steps
from app.course.checking.concepts import advise_variants
from app.course.checking.hidden_setup import cell_job
from app.course.loader import load_course
from app.course.model import Chapter, Course

FIXTURE = Path(__file__).parents[3] / "course"

TOML = """\
format = 1
title = "Told"
tagline = "One chapter."
torch = "2.13.0"

[concepts]
adding = "Adding up"
telling = "Telling"

[[modules]]
id = "one"
number = 1
title = "One"
summary = "One."
chapters = [{ slug = "told" }]
"""

HEAD = """\
---
title: Told
subtitle: Shown.
minutes: 5
objectives: [See]
concepts: [adding]
---

:::{question} sum
:kind: number
:role: factual
:concepts: adding
:value: 4
2 + 2?

- [ ] 22
  > Those are texts.

+++
4.
:::

"""

FIRST = HEAD.count("\n") + 1
"""The line on which what a test adds begins."""


@pytest.fixture(scope="module")
def course() -> Course:
    loaded, problems = load_course(FIXTURE)
    assert problems == ()
    return loaded


@pytest.fixture
def chapter(course: Course) -> Chapter:
    return course.chapters[1]


def read(root: Path, body: str, glossary: str = "", head: str = HEAD) -> tuple[Course, list[tuple[int, str, str]]]:
    folder = root / "chapters" / "told"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "there.svg").write_text("<svg/>")
    (root / "course.toml").write_text(TOML)
    (folder / "chapter.md").write_text(head + body)
    if glossary:
        (root / "glossary.md").write_text(glossary)
    loaded, problems = load_course(root)
    return loaded, [(found.line, found.rule.value, found.remedy) for found in problems]


def test_a_walk_has_its_code_and_its_states(chapter: Chapter) -> None:
    (steps,) = blocks_of(Steps, chapter.blocks)

    assert steps.cell.source == "grad = None\ngrad = 2\ngrad = grad + 3"
    assert [state.lines for state in steps.states] == [(1,), (2, 3)]
    assert steps.states[1].html == "Two contributions, and they <strong>add</strong>."


def test_an_incident_gives_its_switches_to_its_cell(chapter: Chapter) -> None:
    (incident,) = blocks_of(Incident, chapter.blocks)

    assert [(switch.name, switch.html, switch.on) for switch in incident.cell.switches] == [
        ("clear", "Clear the gradient before each step", False),
        ("twice", "Walk the graph twice a step", True),
    ]
    assert "After a refactoring" in incident.story


def test_the_switches_are_set_before_the_cell_runs(chapter: Chapter) -> None:
    (incident,) = blocks_of(Incident, chapter.blocks)

    assert cell_job(incident.cell).setup.endswith("clear = False\ntwice = True\n")
    assert cell_job(incident.cell, "print(clear)", ["clear", "unknown"]).setup.endswith(
        "clear = True\ntwice = False\n"
    )


def test_a_figure_is_served_from_its_chapter(chapter: Chapter) -> None:
    (figure,) = blocks_of(Illustration, chapter.blocks)

    assert (figure.address, figure.alt) == (
        "/chapters/a-second-look/figures/two-nodes.svg",
        "Two circles joined by a line",
    )
    assert 'href="/glossary#leaf"' in figure.caption


def test_a_cell_that_depends_on_another_runs_it_first_in_silence(
    chapter: Chapter, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = next(found for found in blocks_of(Cell, chapter.blocks) if found.id == "doubled-again")
    names: dict[str, object] = {}

    exec(cell.setup, names)
    exec(cell.source, names)

    assert capsys.readouterr().out == "8\n"


def test_a_reader_can_look_at_the_code_that_runs_before_a_cell(chapter: Chapter) -> None:
    cells = {cell.id: cell for cell in blocks_of(Cell, chapter.blocks)}

    assert "redirect_stdout" in cells["doubled-again"].setup
    assert "redirect_stdout" not in cells["doubled-again"].setup_html
    assert Markup(cells["doubled-again"].setup_html).striptags() == " ".join(cells["plain-cell"].source.split())


def test_the_ladder_may_stand_in_the_text(chapter: Chapter) -> None:
    assert blocks_of(LadderPlace, chapter.blocks) == (LadderPlace(),)


def test_terms_stand_in_alphabetical_order_with_the_places_that_use_them(course: Course) -> None:
    assert [(term.id, term.name, term.uses) for term in course.glossary] == [
        ("leaf", "Leaf", (("a-second-look", "two-nodes-again"),)),
        ("node", "Node", ()),
    ]
    assert 'href="/chapters/a-first-graph#the-product"' in course.glossary[0].html


def test_a_graph_may_have_a_hidden_setup(tmp_path: Path) -> None:
    loaded, problems = read(
        tmp_path,
        "```{setup} two\nx = 2\n```\n\n```{graph} square\n:alt: A square\n:setup: two\ny = x * x\n```\n",
    )

    assert problems == []
    assert blocks_of(Graph, loaded.chapters[0].blocks)[0].setup == "x = 2"


STEPS = ":::{steps} walk\n```python\nx = 1\ny = 2\n```\n\n- [1] one\n- [2] two\n:::\n"
MEASURE = "```{measure} m\n:alt: A table\nresult = {}\n```\n"
INCIDENT = (
    "::::{incident} night\n:title: A night\nIt grew.\n\n- [ ] `clip` Clip it\n\n"
    "```{cell} replay\nprint(clip)\n---\nFalse\n```\n::::\n"
)


@pytest.mark.parametrize(
    ("good", "old", "new", "line", "rule", "remedy"),
    [
        (STEPS, "- [2] two", "- [3] two", 7, "steps", "write a line from 1 to 2"),
        (STEPS, "- [2] two", "- two", 7, "steps", "begin it with `[2]` or `[1-3]`"),
        (STEPS, "- [2] two\n", "", 0, "steps", "list at least 2, each written as `- [2] what holds after line 2`"),
        (STEPS, "y = 2", "y = = 2", 3, "python-syntax",
         "fix it, or mark the fence ```text if it is not meant to parse"),
        (INCIDENT, "- [ ] `clip` Clip it", "- [ ] Clip it", 4, "incident", "write `- [ ] `name` what it does`"),
        (INCIDENT, "print(clip)", "print(False)", 0, "incident", "use it as a boolean variable, or remove it"),
        (INCIDENT, "---\nFalse\n", "", 6, "incident",
         "write `---` and then what it prints with the switches as they were in the incident"),
        (INCIDENT, ":title: A night\n", "", 0, "missing-option", "write what happened, in a few words"),
        (":::{figure} there\n:file: there.svg\n:alt: There\n:::\n", "there.svg", "their.svg", 1, "missing-file",
         "did you mean 'figures/there.svg'?"),
        (":::{figure} there\n:file: there.svg\n:alt: There\n:::\n", ":alt: There\n", "", 0, "missing-option",
         "say in words what the picture shows"),
        ("```{cell} one\nx = 1\n```\n\n```{cell} two\n:depends-on: one\nx\n```\n", ": one", ": once", 5, "unknown-id",
         "did you mean 'one'?"),
        ("A price of 5 $, or $5, and $x$.\n", "$x$", "$x", 0, "math",
         "write $...$ without spaces next to the signs, or put the sign in backticks"),
        (MEASURE, ":alt: A table\n", ":alt: A table\n:chart: line\n:x: n\n", 0,
         "missing-option", "write `:y:` and names of columns of `result`"),
        (MEASURE, ":alt: A table\n", ":alt: A table\n:x: n\n", 2,
         "option-value", "write `:chart: line`, bar or scatter"),
        (MEASURE, "result = {}\n", "result = {}\n---\n1\n", 3,
         "missing-part", "remove the `---` line and what follows: the check measures and writes the output itself"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_at_its_line_and_without_it_there_is_none(
    tmp_path: Path, good: str, old: str, new: str, line: int, rule: str, remedy: str
) -> None:
    assert read(tmp_path / "good", good)[1] == []
    assert read(tmp_path / "bad", good.replace(old, new, 1))[1] == [(FIRST + line, rule, remedy)]


VARIANT = "```{variant} sums\n:draws: 2\ndef draw(rng):\n    return {}\n```\n\n"
ASKED = (
    ":::{question} drawn\n:kind: number\n:role: synthetic\n:concepts: adding\n:variant: sums\n"
    "What is {{a}}?\n\n- [ ] {{b}}\n  > No.\n\n+++\n{{answer}}.\n:::\n"
)


@pytest.mark.parametrize(
    ("old", "new", "line", "rule", "remedy"),
    [
        ("def draw(rng)", "def drawn(rng)", 0, "missing-part", "write `def draw(rng):`, returning a dict"),
        (":variant: sums", ":variant: sum", 10, "unknown-id", "did you mean 'sums'?"),
        (":variant: sums", ":variant: sums\n:value: 3", 11, "unknown-option",
         "write one of concepts, kind, role, tolerance, unit, variant"),
        ("- [ ] {{b}}\n  > No.\n", "", 6, "missing-part",
         "list what a reader with a wrong idea would answer: `- [ ] {{name}}`, with a quotation under it"),
        ("- [ ] {{b}}", "- [ ] {{answer}}", 13, "answer-key", "list wrong answers only, each with `- [ ]`"),
        ("  > No.\n", "", 13, "missing-feedback", "add a line `  > why it is right or wrong` under it"),
        (":draws: 2", ":draws: 1", 1, "option-value", "write how many draws are kept, from 2 to 64"),
    ],
)  # fmt: skip
def test_a_variant_s_mistake_is_reported_at_its_line(
    tmp_path: Path, old: str, new: str, line: int, rule: str, remedy: str
) -> None:
    assert read(tmp_path / "good", VARIANT + ASKED)[1] == []
    found = read(tmp_path / "bad", (VARIANT + ASKED).replace(old, new, 1))[1]
    assert (FIRST + line, rule, remedy) in found


def test_a_kind_that_cannot_be_drawn_says_which_can(tmp_path: Path) -> None:
    body = VARIANT + ASKED.replace(":kind: number", ":kind: open")
    _, problems = load_told(tmp_path, body)

    kinds = "choice, several, number, text, order, graph-click, wrong-line"
    assert f"{{question}} has no option :variant: in this kind; {kinds} has it" in problems


SEVERAL = (
    ":::{question} drawn\n:kind: several\n:role: synthetic\n:concepts: adding\n:variant: sums\n:known-wrong: wrong\n"
    "Which of {{a}}?\n\n- [ ] one\n  > It is {{a}}.\n- [ ] two\n  > It is {{b}}.\n:::\n"
)
GUILTY = (
    ":::{question} drawn\n:kind: wrong-line\n:role: synthetic\n:concepts: adding\n:variant: sums\n"
    "Which?\n\n```python\nx = {{a}}\n```\n\n- [ ] *\n  > No.\n\n+++\n{{answer}}.\n:::\n"
)


@pytest.mark.parametrize(
    ("good", "old", "new", "line", "rule", "remedy"),
    [
        (SEVERAL, "- [ ] one", "- [x] one", 14, "answer-key",
         "write `- [ ]`, and name the right ones in the draw's `answer`"),
        (SEVERAL, "- [ ] two", "- [ ] one", 16, "answer-key", "remove one"),
        (SEVERAL, ":known-wrong: wrong", ":known-wrong:", 11, "option-value",
         "write names of the draw's values, with commas between them"),
        (SEVERAL, ":known-wrong: wrong", ":known-wron: wrong", 11, "unknown-option", "did you mean 'known-wrong'?"),
        (GUILTY, ":variant: sums", ":variant: sums\n:lines: 1", 11, "unknown-option",
         "write one of concepts, kind, role, variant"),
        (GUILTY, "- [ ] *\n  > No.\n", "", 6, "missing-feedback", "add `- [ ] *` with a quotation under it"),
        (GUILTY, "- [ ] *", "- [ ] {{answer}}", 17, "answer-key", "list wrong answers only, each with `- [ ]`"),
        (GUILTY, "```python\nx = {{a}}\n```\n", "", 6, "missing-part", "write one ```python block in its body"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_drawn_list_or_listing_is_reported_at_its_line(
    tmp_path: Path, good: str, old: str, new: str, line: int, rule: str, remedy: str
) -> None:
    assert read(tmp_path / "good", VARIANT + good)[1] == []
    found = read(tmp_path / "bad", VARIANT + good.replace(old, new, 1))[1]
    assert (FIRST + line, rule, remedy) in found


ORDERED = (
    ":::{question} ordered\n:kind: order\n:role: factual\n:concepts: adding\nWhich first?\n\n"
    "```python\nx = 1\ny = x\nz = y\n```\n\n- [ ] *\n  > Read it again.\n\n+++\nSo.\n:::\n"
)


def test_a_wrong_order_is_named_by_no_letters(tmp_path: Path) -> None:
    assert load_told(tmp_path / "good", ORDERED)[1] == []
    _, problems = load_told(tmp_path / "bad", ORDERED.replace("- [ ] *", "- [ ] c b a"))
    assert problems == ["'c b a' is not an answer to a question about order"]


def load_told(root: Path, body: str) -> tuple[Course, list[str]]:
    loaded, _ = read(root, body)
    return loaded, [found.message for found in load_course(root)[1]]


def test_a_link_to_a_term_that_is_not_there_is_reported(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "A [leaf](term:leef).\n", "## Leaf\nIt is one.\n")

    assert problems == [(FIRST, "unknown-term", "did you mean 'leaf'?")]


@pytest.mark.parametrize(
    ("glossary", "line", "remedy"),
    [
        ("## Leaf\nIt is one.\n\n## Leaf\nAgain.\n", 4, "keep one"),
        ("## Leaf\n\n## Node\nA node.\n", 1, "write it under the heading"),
        ("Only words.\n", 1, "write `## the term` with its definition under it"),
    ],
)
def test_a_glossary_s_mistakes_are_reported_there(tmp_path: Path, glossary: str, line: int, remedy: str) -> None:
    assert read(tmp_path, "", glossary)[1] == [(line, "glossary-file", remedy)]


def test_a_concept_that_no_question_asks_for_is_a_mistake(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "", head=HEAD.replace("concepts: [adding]", "concepts: [adding, telling]", 1))

    assert [(line, rule) for line, rule, _ in problems] == [(6, "concept-unasked")]


def test_a_concept_without_a_variant_is_advice(tmp_path: Path, course: Course) -> None:
    told, problems = read(tmp_path, "")

    assert problems == []
    assert [(found.line, found.value) for found in advise_variants(told)] == [(9, "adding")]
    assert advise_variants(course) == ()
