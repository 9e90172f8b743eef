"""A drill without torch: its text, a generator of sums, and what a job that drew them printed."""

import base64
import json
import zlib
from typing import Any

from app.course.chapter import ChapterParser
from app.course.drills.drill import Drill
from app.course.drills.reading import ReadDrills, read_drills
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX

TEXT = """\
:::{question} sums
:kind: number
:role: synthetic
:concepts: accumulation
:variant: sums
What is `{{leaf}}.grad`?

- [ ] {{half}}
  > That is one of the two paths.
- [ ] *
  > Add both paths.

+++
{{answer}}.
:::
"""
GENERATOR = "from program import make\n\ndef draw(rng, level):\n    return make(rng, level)\n"
CONCEPTS = {"accumulation": "Adding up"}


def read(**files: str) -> ReadDrills:
    """Reads a folder; a keyword such as `sums_md` is the text of sums.md."""
    texts = {"sums_md": TEXT, "sums_py": GENERATOR, "program_py": "make = dict\n"} | files
    named = {name.replace("_", "."): text for name, text in texts.items() if text}
    parser = ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))
    return read_drills(named, CONCEPTS, parser)


def sums() -> Drill:
    (drill,) = read().drills
    return drill


def print_drawn(seed: int, values: dict[str, Any], trace: str, failed: str = "", number: float | None = None) -> str:
    packed = base64.b64encode(zlib.compress(trace.encode())).decode()
    return f"drill: {json.dumps([seed, 1, values, packed, failed, number])}"
