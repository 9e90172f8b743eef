"""The blocks of a chapter as data; `block_tree` has the closed union of them. HTML is already safe."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from graders.contract.jobs import Flavour

Need = Literal["cpu", "gpu", "compiler", "ranks"]
"""What code needs to run. The box has a GPU on some machines, and never a compiler or two processes that talk."""

OUTSIDE: frozenset[Need] = frozenset({"compiler", "ranks"})
"""What only a run outside the box has."""

Html = str
"""HTML made by our own renderer from trusted course text. Templates mark no other strings as safe."""


class Role(StrEnum):
    """The kind of knowledge that a retrieval question asks for."""

    FACTUAL = "factual"
    CONCEPTUAL = "conceptual"
    SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Where:
    """A place in a course file, for messages: path relative to the course root, and a line from 1."""

    path: str
    line: int


@dataclass(frozen=True)
class Prose:
    """Rendered Markdown between directives."""

    html: Html


@dataclass(frozen=True)
class Heading:
    """A section's title; `anchor` is its permalink and stable id."""

    level: int
    html: Html
    text: str
    anchor: str


@dataclass(frozen=True)
class Option:
    """One answer of a choice, with the feedback that says why it is right or wrong.

    `id` is made from its text; before a draw fills the text, it is the text itself, marks included.
    """

    id: str
    html: Html
    right: bool
    feedback: Html


Value = bool | int | float | str
"""The types of value that a generator may return for a name."""


@dataclass(frozen=True)
class VariantDraw:
    """One draw of a question's variant: the values its generator returned for a seed, committed by the check."""

    seed: int
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Variant:
    """The generator of a question: `code` defines `draw(rng)`, which computes the answer by running code.

    The texts of a question with a variant hold marks that a draw fills; see `app.course.questions.placeholders`.
    `draws` is empty until the check has drawn and committed some.
    """

    id: str
    code: str
    flavour: Flavour
    wanted: int
    code_line: int
    draws: tuple[VariantDraw, ...] = ()


@dataclass(frozen=True)
class Predict:
    """A prompt that a reader answers, with a confidence, before the run that shows the right answer."""

    id: str
    prompt: Html
    options: tuple[Option, ...]
    resolved_by: str
    """The id of the cell whose run shows the truth."""
    truth: Html
    where: Where
    content_hash: str
    """The hash of its wording, as for a question."""


@dataclass(frozen=True)
class Switch:
    """A boolean variable that a reader may set before an incident's cell runs; `on` is its value in the incident."""

    name: str
    html: Html
    on: bool


@dataclass(frozen=True)
class Cell:
    """Code that a reader runs. `setup` runs first and is shown folded; `expected` is the checked standard output."""

    id: str
    source: str
    setup: str
    caption: Html
    graph: bool
    editable: bool
    flavour: Flavour
    expected: str | None
    where: Where
    raises: str = ""
    """The type of the error that the cell is meant to raise, or empty."""
    html: Html = ""
    """The highlighted source; see `app.course.language.code.highlight`."""
    setup_html: Html = ""
    """The highlighted code that runs first, for the reader to look at; empty if there is none."""
    setup_shown_by: str = ""
    """The earlier cell that shows the same code, which is shown once."""
    code_line: int = 0
    """The file's line on which the source begins, for messages."""
    needs: Need = "cpu"
    switches: tuple[Switch, ...] = ()
    tabulates: bool = False
    """Whether it is a measurement, which assigns a table to `result`."""


class Chart(StrEnum):
    """How a measurement is drawn beside its table; `none` draws nothing."""

    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"
    NONE = "none"


class Axis(StrEnum):
    X = "x"
    Y = "y"


@dataclass(frozen=True)
class ChartPlan:
    """Which columns a chart shows: `x` against each of `y`. `log` names the axes on a logarithmic scale."""

    kind: Chart
    x: str
    y: tuple[str, ...]
    log: tuple[Axis, ...]
    alt: str
    y_title: str = ""
    """What the numbers of `y` are, where the names of its columns do not say it."""
    series: str = ""
    """The column whose values each have a line of their own; empty: each column of `y` has one."""


@dataclass(frozen=True)
class Cuts:
    """A strip of layers whose cuts a reader moves: the code's list `name` holds the layers after which they are."""

    name: str
    layers: int
    places: tuple[int, ...]
    """The chapter's own cuts, in increasing order, each between two layers."""


@dataclass(frozen=True)
class Slider:
    """A number in a measurement's code that a reader moves from `low` to `high`; each as the author wrote it."""

    name: str
    low: str
    high: str
    step: str
    value: str
    """What the chapter's own code sets it to."""


@dataclass(frozen=True)
class Measurement:
    """A table by columns, with the date and machine. `stale` means that the code has changed since."""

    columns: Mapping[str, tuple[Value | None, ...]]
    torch: str
    device: str
    machine: str
    python: str
    measured_on: str
    seconds: float
    stale: bool = False


@dataclass(frozen=True)
class Measure:
    """Code that assigns a table to `result`, with the committed table. `exact`: every run gives the same table."""

    id: str
    cell: Cell
    chart: ChartPlan
    exact: bool
    where: Where
    agrees_with: str = ""
    """The id of another measurement of the chapter, whose committed columns of the same names hold the same."""
    committed: Measurement | None = None
    cuts: Cuts | None = None
    sliders: tuple[Slider, ...] = ()


@dataclass(frozen=True)
class Graph:
    """A picture of a graph, drawn by the server from the committed trace of `source`, so that it needs no script."""

    id: str
    source: str
    caption: Html
    alt: str
    trace_path: Path
    where: Where
    html: Html = ""
    code_line: int = 0
    setup: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of the course with code that fails if the sentence is false."""

    id: str
    sentence: Html
    text: str
    code: str
    myth: Html
    """The common belief that the claim corrects, or empty."""
    needs: Need
    where: Where
    html: Html = ""
    """The highlighted code."""
    code_line: int = 0


@dataclass(frozen=True)
class ExerciseLink:
    """A link to an exercise in a chapter."""

    name: str
    note: Html


@dataclass(frozen=True)
class DrillPlace:
    """The place in a chapter where one drill of the course is asked; `id` is the drill's, and the place's anchor."""

    id: str
    note: Html
    where: Where


@dataclass(frozen=True)
class Illustration:
    """A picture with its alternative text and caption; `alt` describes it to a reader who cannot see it."""

    id: str
    address: str
    alt: str
    caption: Html
    where: Where


@dataclass(frozen=True)
class StepState:
    """The state after some lines have run."""

    lines: tuple[int, ...]
    html: Html


@dataclass(frozen=True)
class Steps:
    """A walk through the states of a program. `cell` is its code, which the check runs; a page only shows it."""

    id: str
    intro: Html
    cell: Cell
    states: tuple[StepState, ...]
    where: Where


@dataclass(frozen=True)
class Incident:
    """A failure, as a story and as a cell that replays it. Its switches are what could have been done differently."""

    id: str
    title: Html
    story: Html
    cell: Cell
    where: Where


@dataclass(frozen=True)
class LadderPlace:
    """The place in a chapter that shows the reader's progress."""


PlainBlock = (
    Prose
    | Heading
    | Predict
    | Cell
    | Measure
    | Graph
    | Claim
    | Illustration
    | Steps
    | Incident
    | LadderPlace
    | ExerciseLink
    | DrillPlace
)
"""The blocks that are not questions and contain no other blocks."""
