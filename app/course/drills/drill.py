"""A drill as a course holds it: a question, the generator of its programs, and what the check proved of them."""

import hashlib
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.course.blocks import Value, VariantDraw
from app.course.questions.kinds import Question

FOLDER = "drills"
ANSWERS = "~drills"
"""Answers to drills are kept under this name, in the place of a chapter's: no chapter can have it."""
CODE = "code"
OBSERVED = "observe"
"""The values that every draw of a drill must have: the program, and what of its run answers the question."""
LEVELS = (1, 2, 3)
PROVEN = 200


@dataclass(frozen=True)
class Drill:
    """`question` has marks where a draw fills in values. `code` defines `draw(rng, level)`, and `shared` are the
    modules that it imports, by name."""

    id: str
    question: Question
    code: str
    shared: tuple[tuple[str, str], ...]
    evidence: "DrillEvidence | None" = None

    @property
    def digest(self) -> str:
        """Identifies the generator. Graphs drawn by another one are not shown any more."""
        return hashlib.sha256(repr((self.code, self.shared)).encode()).hexdigest()[:16]

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.id}.md"

    def ask(self, graph: "DrillGraph") -> Question:
        """The question about one drawn graph."""
        return self.question.fill(graph.draw)


@dataclass(frozen=True)
class DrillGraph:
    """One drawn program that was run: its values, answer included, and the trace of its run as JSON."""

    seed: int
    level: int
    values: dict[str, Value]
    trace_json: str
    nodes: int

    @property
    def source(self) -> str:
        return str(self.values[CODE])

    @property
    def draw(self) -> VariantDraw:
        return VariantDraw(self.seed, self.values)


class DrillEvidence(BaseModel):
    """drills/ID.json: how many draws the check proved, on which torch, and why it refused others.

    `answers` is a digest of all kept seeds with their answers; it changes whenever any of them does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = 1
    content: str
    torch: str
    proven: int
    tried: int
    refused: dict[str, int]
    nodes: tuple[int, int]
    """The smallest and the largest graph."""
    answers: str
