"""How long a chapter of four thousand words takes to parse: with every formula new, and with formulas known."""

import statistics
import time
from pathlib import Path

from app.course.chapter import ChapterParser
from app.course.loader import KATEX
from app.course.typeset import Typesetter

GOAL_MS = 40.0
WORDS = 4000
RUNS = 15

FIXTURE = Path(__file__).parents[1] / "tests" / "course" / "chapters" / "a-first-graph" / "chapter.md"

PARAGRAPH = (
    "The forward pass records what the backward pass will need, and `grad_fn` points at the last of it. "
    "A *leaf* has none, a product keeps its operands, and a sum keeps **nothing** at all: see [above](#the-product). "
)


def make_chapter() -> str:
    """The fixture's chapter, every directive in it, with prose added until it has the words."""
    text = FIXTURE.read_text(encoding="utf-8")
    paragraphs = []
    number = 0
    while len(text.split()) + sum(len(part.split()) for part in paragraphs) < WORDS:
        number += 1
        formula = f"$x_{{{number}}} = \\frac{{{number}}}{{n}}$" if number % 5 == 0 else "a number"
        heading = f"## Section {number}\n\n" if number % 10 == 1 else ""
        paragraphs.append(f"{heading}{PARAGRAPH * 2}Here it is {formula}.\n")
    return text + "\n" + "\n".join(paragraphs)


def main() -> None:
    source = KATEX.read_text(encoding="utf-8")
    text = make_chapter()
    typesetter = Typesetter(source)
    started = time.perf_counter()
    parsed = ChapterParser(typesetter).parse(text, "chapter.md", "bench")
    first_ms = (time.perf_counter() - started) * 1000
    assert parsed.chapter is not None
    times = []
    for _ in range(RUNS):
        parser = ChapterParser(typesetter)
        started = time.perf_counter()
        parser.parse(text, "chapter.md", "bench")
        times.append((time.perf_counter() - started) * 1000)
    median = statistics.median(times)
    print(f"{parsed.chapter.words} words, {len(text.splitlines())} lines")
    print(f"first parse, KaTeX and every formula new: {first_ms:.0f} ms")
    print(f"again, formulas known: {median:.1f} ms, {median / GOAL_MS:.2f} of the goal of {GOAL_MS:.0f} ms")


if __name__ == "__main__":
    main()
