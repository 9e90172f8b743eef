"""How long a chapter of four thousand words takes to parse: everything new, formulas known, and parsed before.

Measures processor time, so that other work on the machine does not count.
"""

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.course.chapter import ChapterParser  # noqa: E402
from app.course.language.code import highlight  # noqa: E402
from app.course.language.python_code import find_idle_check, find_syntax_mistake, has_code  # noqa: E402
from app.course.language.typeset import Typesetter  # noqa: E402
from app.course.loader import KATEX  # noqa: E402

GOAL_MS = 40.0
WORDS = 4000
RUNS = 15

FIXTURE = ROOT / "tests" / "course" / "chapters" / "a-first-graph" / "chapter.md"

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


def take(parser: ChapterParser, text: str) -> float:
    """Milliseconds of processor time for one parse."""
    started = time.process_time()
    parsed = parser.parse(text, "chapter.md", "bench")
    assert parsed.chapter is not None
    return (time.process_time() - started) * 1000


def measure(name: str, text: str) -> None:
    source = KATEX.read_text(encoding="utf-8")
    typesetter = Typesetter(source)
    typesetter.typeset("x", display=False)
    started = time.process_time()
    Typesetter(source).typeset("x", display=False)
    engine_ms = (time.process_time() - started) * 1000
    first_ms = take(ChapterParser(typesetter), text)
    forget_code()
    known_ms = take(ChapterParser(typesetter), text)
    again_ms = statistics.median(take(ChapterParser(typesetter), text) for _ in range(RUNS))
    print(f"{name}: {len(text.split())} words, {len(text.splitlines())} lines")
    print(f"  KaTeX loaded, once a process: {engine_ms:.0f} ms")
    for what, took_ms in (("everything new", first_ms), ("formulas known", known_ms), ("after an edit", again_ms)):
        print(f"  {what}: {took_ms:.1f} ms, {took_ms / GOAL_MS:.2f} of the goal of {GOAL_MS:.0f} ms")


def forget_code() -> None:
    """Clears the caches, as in a new process: code is checked and coloured again."""
    for kept in (find_syntax_mistake, has_code, find_idle_check, highlight):
        kept.cache_clear()


def main() -> None:
    measure("the fixture's chapter with prose", make_chapter())
    for path in sys.argv[1:]:
        measure(path, Path(path).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
