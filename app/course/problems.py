"""What is wrong with a course, in words an author can act on: place, rule, value, message and remedy."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.course.questions.placeholders import unmark


class Rule(StrEnum):
    """The closed set of rules that a course can break; each kind of mistake has one name."""

    COURSE_FILE = "course-file"
    FRONT_MATTER = "front-matter"
    UNKNOWN_DIRECTIVE = "unknown-directive"
    UNKNOWN_OPTION = "unknown-option"
    OPTION_VALUE = "option-value"
    OPTION_SYNTAX = "option-syntax"
    MISSING_OPTION = "missing-option"
    DUPLICATE_OPTION = "duplicate-option"
    ARGUMENT = "argument"
    WRONG_FENCE = "wrong-fence"
    UNCLOSED = "unclosed-fence"
    STRAY_FENCE = "stray-fence"
    NESTING = "nesting"
    MISPLACED = "misplaced"
    STRAY_SPLIT = "stray-split"
    MISSING_PART = "missing-part"
    DUPLICATE_ID = "duplicate-id"
    UNKNOWN_ID = "unknown-id"
    UNKNOWN_CONCEPT = "unknown-concept"
    UNKNOWN_CHAPTER = "unknown-chapter"
    UNKNOWN_EXERCISE = "unknown-exercise"
    MISSING_FEEDBACK = "missing-feedback"
    ANSWER_KEY = "answer-key"
    PYTHON = "python-syntax"
    MATH = "math"
    DEAD_LINK = "dead-link"
    IMAGE_ALT = "image-alt"
    MISSING_FILE = "missing-file"
    OUTSIDE = "outside-the-course"
    HEADING = "heading"
    TABLE_HEADING = "table-heading"
    TABLE_CELLS = "table-cells"
    RAW_HTML = "raw-html"
    INVISIBLE = "invisible-character"
    FOOTNOTE = "footnote"
    READING_TIME = "reading-time"
    DRAFT = "draft"
    EXERCISE_FILE = "exercise-file"
    DIAGNOSIS = "diagnosis"
    EVIDENCE_FILE = "evidence-file"
    CELL_OUTPUT = "cell-output"
    CELL_FAILED = "cell-failed"
    CLAIM_FAILED = "claim-failed"
    IDLE_CLAIM = "idle-claim"
    GRAPH_FAILED = "graph-failed"
    GRAPH_CHANGED = "graph-changed"
    GRAPH_TARGET = "graph-target"
    EXERCISE_CODE = "exercise-code"
    EXERCISE_PROOF = "exercise-proof"
    VARIANT_FAILED = "variant-failed"
    VARIANT_CHANGED = "variant-changed"
    MEASURE_FAILED = "measure-failed"
    MEASURE_CHANGED = "measure-changed"
    MEASURES_DISAGREE = "measures-disagree"
    UNREPEATABLE = "unrepeatable"
    STEPS = "steps"
    INCIDENT = "incident"
    UNKNOWN_RULE = "unknown-rule"
    UNKNOWN_TERM = "unknown-term"
    GALLERY = "gallery"
    DRILL = "drill"
    GLOSSARY_FILE = "glossary-file"
    DEBUGGING_FILE = "debugging-file"
    CONCEPT_UNASKED = "concept-unasked"
    CONCEPT_UNVARIED = "concept-without-variant"
    TIGHT_LIMIT = "tight-limit"
    CHECKS = "checks"
    CONFLICT = "merge-conflict"
    PICTURE = "picture"
    TORCH_VERSION = "torch-version"
    DOUBLED_WORD = "doubled-word"
    UNDONE = "undone"
    UNUSED_FINDING = "unused-finding"
    UNUSED_FILE = "unused-file"
    NO_CHEAT = "no-cheat"
    FEW_RIGHT = "few-right-answers"
    OFFERED = "offered"
    UNSEEDED = "unseeded"


ADVICE = frozenset(
    {
        Rule.CONCEPT_UNVARIED, Rule.DOUBLED_WORD, Rule.UNDONE, Rule.UNUSED_FINDING, Rule.UNUSED_FILE, Rule.NO_CHEAT,
        Rule.FEW_RIGHT, Rule.OFFERED, Rule.UNSEEDED,
    }
)  # fmt: skip
"""Rules whose breach is worth a look and fails only a strict check."""


@dataclass(frozen=True, order=True)
class ContentProblem:
    """One mistake of an author. `path` is relative to the course's root, `line` counts from 1.

    Problems sort by place, so that a report reads from top to bottom.
    """

    path: str
    line: int
    rule: Rule
    value: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]\n    {self.remedy}"


def suggest(value: str, known: Iterable[str], otherwise: str) -> str:
    """The remedy for an unknown name: the most similar known name, else `otherwise`."""
    close = difflib.get_close_matches(value, list(known), n=1, cutoff=0.55)
    return f"did you mean '{close[0]}'?" if close else otherwise


def one_of(names: Iterable[str]) -> str:
    """The known names as a remedy: "write one of a, b, c"."""
    listed = ", ".join(sorted(names))
    return f"write one of {listed}" if listed else "there is none yet; add it first"


class Report:
    """Collects the problems of one file while it is read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[ContentProblem] = []

    def add(self, line: int, rule: Rule, value: str, message: str, remedy: str) -> None:
        self.problems.append(ContentProblem(self.path, line, rule, unmark(value), unmark(message), unmark(remedy)))


INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def report_invisible(lines: Iterable[str], report: Report) -> None:
    """Reports invisible characters: they break code that looks right, or reverse the order of a line's letters."""
    for number, line in enumerate(lines, 1):
        for found in dict.fromkeys(INVISIBLE.findall(line)):
            name = unicodedata.name(found, "a control character").lower()
            shown = f"U+{ord(found):04X}"
            report.add(
                number, Rule.INVISIBLE, shown, f"this line has an invisible character: {name}, {shown}", "remove it"
            )
