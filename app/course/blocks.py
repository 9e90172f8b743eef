"""What a chapter is made of, as data; `block_tree` has the closed union of it all. HTML is already safe."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from graders.contract.jobs import Flavour

Html = str
"""HTML made by our own renderer from trusted course text: the only strings a template marks safe."""


class Role(StrEnum):
    """What a retrieval question asks for."""

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

    `id` is made of its words; while a draw has yet to fill them, it is the words themselves, marks included.
    """

    id: str
    html: Html
    right: bool
    feedback: Html


Value = bool | int | float | str
"""What a generator may return for a name."""


@dataclass(frozen=True)
class VariantDraw:
    """One drawing of a question's variant: what its generator returned for a seed, committed by the check."""

    seed: int
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Variant:
    """The generator of a question: `code` defines `draw(rng)`, which computes the answer by running code.

    While a question has one, its texts hold marks that a draw fills; see `app.course.questions.marks`. `draws` is
    empty until the check has drawn and committed some.
    """

    id: str
    code: str
    flavour: Flavour
    wanted: int
    code_line: int
    draws: tuple[VariantDraw, ...] = ()


@dataclass(frozen=True)
class Predict:
    """A prompt whose answer is committed, with a confidence, before the run that settles it."""

    id: str
    prompt: Html
    options: tuple[Option, ...]
    resolved_by: str
    """The id of the cell whose run shows the truth."""
    truth: Html
    where: Where
    content_hash: str
    """Of its wording, as for a question."""


@dataclass(frozen=True)
class Switch:
    """A boolean variable that a reader may set before an incident's cell runs; `on` as it was that night."""

    name: str
    html: Html
    on: bool


@dataclass(frozen=True)
class Cell:
    """Code that a reader runs. `setup` runs first, folded away; `expected` is the checked standard output."""

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
    """The type of the error with which the cell is meant to end, or empty."""
    html: Html = ""
    """The source in colours; see `app.course.language.code.highlight`."""
    setup_html: Html = ""
    """What runs first, in colours, as a reader may look at it; empty where nothing does."""
    code_line: int = 0
    """The file's line on which the source begins, for messages."""
    needs: Literal["cpu", "gpu"] = "cpu"
    switches: tuple[Switch, ...] = ()
    tabulates: bool = False
    """Whether it leaves a table in `result`: a measurement."""


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


@dataclass(frozen=True)
class Cuts:
    """A strip of layers whose cuts a reader moves: the code's list `name` says after which layers they stand."""

    name: str
    layers: int
    places: tuple[int, ...]
    """As the chapter has them: rising, each between two layers."""


@dataclass(frozen=True)
class Measurement:
    """A table by columns, with when and where it was taken. `stale`: its code has changed since."""

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
    """Code that leaves a table in `result`, with the table that is committed. `exact`: each run gives the same."""

    id: str
    cell: Cell
    chart: ChartPlan
    exact: bool
    where: Where
    committed: Measurement | None = None
    cuts: Cuts | None = None


@dataclass(frozen=True)
class Graph:
    """A picture of a graph, drawn by the server from the committed trace of `source`; no script needed."""

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
    """A sentence of the course with the code that fails if it is false."""

    id: str
    sentence: Html
    text: str
    code: str
    myth: Html
    """The circulating belief this corrects, or empty."""
    needs: Literal["cpu", "gpu"]
    where: Where
    html: Html = ""
    """The code in colours."""
    code_line: int = 0


@dataclass(frozen=True)
class ExerciseLink:
    """A place in a chapter where an exercise is offered."""

    name: str
    note: Html


@dataclass(frozen=True)
class Illustration:
    """A picture with its words: `alt` says what it shows to a reader who cannot see it."""

    id: str
    address: str
    alt: str
    caption: Html
    where: Where


@dataclass(frozen=True)
class StepState:
    """How things stand after some lines have run."""

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
    """A failure told and replayed: the cell's switches are what might have been done otherwise."""

    id: str
    title: Html
    story: Html
    cell: Cell
    where: Where


@dataclass(frozen=True)
class LadderPlace:
    """Where a chapter shows how far its reader is with it."""


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
)
"""Those that are no question and hold no others."""
