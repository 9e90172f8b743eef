"""The kinds of question that only a drill can draw: a click on its own picture, and known wrong orders."""

from drill_parts import read

from app.course.blocks import VariantDraw
from app.course.chapter import ChapterParser
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX
from app.course.questions.graph_click import GraphClick
from app.course.questions.kinds import Order
from app.course.questions.marking import QuestionResponse

CLICK = """\
:::{question} sums
:kind: graph-click
:role: synthetic
:concepts: accumulation
:variant: sums
Click the leaf.

- [ ] {{wrong}}
  > That is `{{wrong}}`.
- [ ] *
  > Look again.

+++
`{{answer}}`.
:::
"""
ORDER = """\
:::{question} sums
:kind: order
:role: synthetic
:concepts: accumulation
:variant: sums
Which comes first?

```python
{{answer}}
```

- [ ] {{forward}}
  > That is the forward order.
- [ ] *
  > Start at the end.

+++
From the end.
:::
"""
LINES = {"answer": "c = b + a\nb = a * a\na = x + x", "forward": "a = x + x\nb = a * a\nc = b + a", "shuffle": 3}


def test_a_click_is_marked_by_the_draw_and_a_known_wrong_node_is_told_by_name() -> None:
    (drill,) = read(sums_md=CLICK).drills
    question = drill.question.fill(VariantDraw(0, {"answer": "x", "wrong": "y"}))
    assert isinstance(question, GraphClick)
    assert question.mark(QuestionResponse(node_names=("x", "leaf"))).right
    assert question.mark(QuestionResponse(node_names=("y", "mul"))).feedback == "<p>That is <code>y</code>.</p>"
    assert question.mark(QuestionResponse(node_names=("z",))).feedback == "<p>Look again.</p>"
    assert drill.question.why_not(VariantDraw(0, {"answer": "x", "wrong": "x"}), ()) != ""


def test_a_known_wrong_order_is_told_by_name_and_each_draw_is_shuffled_in_its_own_way() -> None:
    (drill,) = read(sums_md=ORDER).drills
    question = drill.question.fill(VariantDraw(0, LINES))
    assert isinstance(question, Order)

    def write(lines: str) -> QuestionResponse:
        letters = {question.lines[index]: letter for letter, index in question.letters().items()}
        return QuestionResponse(text=" ".join(letters[line] for line in lines.split("\n")))

    assert question.mark(write(LINES["answer"])).right
    assert question.mark(write(LINES["forward"])).feedback == "<p>That is the forward order.</p>"
    assert question.mark(write("b = a * a\nc = b + a\na = x + x")).feedback == "<p>Start at the end.</p>"
    shown = {tuple(drill.question.fill(VariantDraw(0, LINES | {"shuffle": n})).letters().values()) for n in range(20)}
    assert len(shown) > 1
    assert drill.question.why_not(VariantDraw(0, LINES | {"forward": LINES["answer"]}), ()) != ""


def test_in_a_chapter_a_click_cannot_be_drawn_because_its_picture_cannot() -> None:
    chapter = "```{variant} sums\n:flavour: plain\ndef draw(rng):\n    return {}\n```\n\n" + CLICK
    found = ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8"))).parse(chapter, "chapter.md", "one")
    told = [problem for problem in found.problems if "graph-click" in problem.message]
    assert [(problem.line, problem.rule) for problem in told] == [(11, "unknown-option")]
