"""The data of a block's template: the course's block with this learner's work on it. No I/O, no decisions.

Each view names its template: blocks/NAME.html, rendered with the view as `block`. `Html` fields are safe markup
from the course; `str` fields are text, and are escaped.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from app.course.blocks import Html, Need, Slider, Switch
from app.course.claim_status import ClaimStatus
from app.course.model import Evidence
from app.web.views.ladder import LadderView
from app.web.views.steps import StepsView


@dataclass(frozen=True)
class ProseView:
    template: ClassVar[str] = "prose"
    html: Html


@dataclass(frozen=True)
class HeadingView:
    template: ClassVar[str] = "heading"
    level: int
    html: Html
    text: str
    anchor: str


@dataclass(frozen=True)
class OptionView:
    """One option. `feedback` is empty until the option was chosen and the feedback may be shown."""

    id: str
    html: Html
    chosen: bool = False
    right: bool | None = None
    """None until the reader may see it."""
    feedback: Html = ""


@dataclass(frozen=True)
class ConfidenceView:
    """`value` is what the form sends: guess, fairly-sure or certain."""

    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class PredictView:
    """A prediction: open (a form), committed (waiting for its run), resolved (beside the truth).

    `truth`, each option's `right` and `feedback`, and `right` are empty before the run. `dont_know` means that the
    answer was "I don't know". `problem` is a sentence about a form that could not be accepted.
    """

    template: ClassVar[str] = "predict"
    id: str
    anchor: str
    action: str
    state: Literal["open", "committed", "resolved"]
    prompt: Html
    options: tuple[OptionView, ...]
    confidences: tuple[ConfidenceView, ...]
    cell_anchor: str
    """The anchor of the cell whose run settles it."""
    dont_know: bool = False
    right: bool | None = None
    truth: Html = ""
    problem: str = ""


@dataclass(frozen=True)
class LineView:
    """A line of code in an order or wrong-line question.

    wrong-line: the form sends `line` = the chosen line's `value`. order: `value` is the line's letter, and the form
    sends `order`, the letters in the order that the learner thinks right.
    """

    value: str
    number: int
    text: str
    html: Html
    chosen: bool = False


@dataclass(frozen=True)
class NodeView:
    """A node of a graph question's picture, for the list that replaces a click.

    The form sends `node` = `value`, the number in the picture's data-node.
    """

    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class RubricView:
    """A point that learners tick if their answer made it; `value` is what the form sends in `rubric`."""

    value: str
    html: Html
    ticked: bool = False


QuestionState = Literal["unanswered", "wrong", "right", "answered", "rated"]


@dataclass(frozen=True)
class QuestionView:
    """A retrieval question, and the result of the last attempt.

    `state`: unanswered; wrong (may be tried again); right; answered (open: compare with the model answer and
    tick the rubric); rated (the ticks are stored). `given` is the last text, number or order. Only the part that
    belongs to `kind` is filled: options (choice, several), `unit` (number), `lines` (order, wrong-line), `nodes`
    and `graph_id` (graph-click: the anchor of the picture), `rubric` (open, after the answer).

    `worth` says before the first attempt what the learner's words of confidence were worth on this subject.

    A question with a variant has `draw`, which the form sends back, and, once it is answered, `another_action`: a
    form (no fields) that asks for another draw.
    """

    template: ClassVar[str] = "question"
    id: str
    anchor: str
    action: str
    kind: str
    """One of the names in `app.course.questions.kinds`."""
    role: Literal["factual", "conceptual", "synthetic"]
    prompt: Html
    state: QuestionState
    options: tuple[OptionView, ...] = ()
    unit: str = ""
    lines: tuple[LineView, ...] = ()
    nodes: tuple[NodeView, ...] = ()
    graph_id: str = ""
    given: str = ""
    attempts: int = 0
    feedback: Html = ""
    answer: Html = ""
    rubric: tuple[RubricView, ...] = ()
    problem: str = ""
    draw: str = ""
    another_action: str = ""
    worth: str = ""


@dataclass(frozen=True)
class CellView:
    """Code to run. `source` is the course's, `text` the editor's (the learner's draft, or the source).

    `chapter` is empty for a cell that belongs to no chapter; then `id` is not sent along with the code.
    `draft_key` completes PUT /api/drafts/...; it is empty if no draft is stored.
    """

    template: ClassVar[str] = "cell"
    id: str
    anchor: str
    action: str
    chapter: str
    source: str
    text: str
    caption: Html
    graph: bool
    editable: bool
    flavour: Literal["plain", "torch"]
    draft_key: str
    expected: str = ""
    """What the cell printed in the last check; empty if it printed nothing or was not checked."""
    predicts: tuple[str, ...] = ()
    """Ids of the predictions that a run of this cell settles."""
    needs: Need = "cpu"
    """A cell that needs something else than a CPU is shown but cannot run here."""
    switches: tuple[Switch, ...] = ()
    """The form sends `switch` = `name` for each switch that is on, and always sends `switched`."""
    setup_html: Html = ""
    """The hidden code that runs before the cell, for readers to look at; empty if there is none."""
    setup_shown_by: str = ""
    """The anchor of the earlier cell that shows this code, if one does."""
    picture: Html = ""
    """The graph of an earlier run of the same code, shown until the reader runs it; empty without one."""
    picture_text: str = ""
    tape_href: str = ""
    """The URL of that run's tape, to step through it without running anything."""

    @classmethod
    def of_no_chapter(cls, name: str, source: str, expected: str = "") -> "CellView":
        """A cell that draws the graph of its current text as it changes, and stores no draft."""
        return cls(
            id=name,
            anchor=f"cell_{name}",
            action="/runs",
            chapter="",
            source=source,
            text=source,
            caption="",
            graph=True,
            editable=True,
            flavour="torch",
            draft_key="",
            expected=expected,
        )


@dataclass(frozen=True)
class TableView:
    """A table of results. `numeric` says for each column whether it holds numbers, which are right-aligned."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CutsView:
    """A strip of layers in segments, each with its layers' numbers, as the chapter cuts it; a script moves cuts."""

    name: str
    layers: int
    segments: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class MeasurementView:
    """A measurement: its table, the chart that a script draws of it, and the code that measures again.

    `figure` is Plotly's JSON, or empty if no chart is wanted. `live` means that this reader has just measured it.
    If nothing was measured yet, `table` is None and `problem` says why. `cell` runs the code.
    """

    template: ClassVar[str] = "measure"
    id: str
    anchor: str
    caption: Html
    alt: str
    table: TableView | None
    figure: str
    cell: "CellView"
    live: bool = False
    torch: str = ""
    device: str = ""
    machine: str = ""
    python: str = ""
    measured_on: str = ""
    stale: bool = False
    problem: str = ""
    cuts: CutsView | None = None
    sliders: tuple[Slider, ...] = ()
    agrees_with: str = ""
    """The anchor of a measurement with which the check compares this one; empty if there is none."""


@dataclass(frozen=True)
class GraphView:
    """A picture drawn by the server. `source` is the code that was traced; `text` describes the graph in words."""

    template: ClassVar[str] = "graph"
    id: str
    anchor: str
    svg: Html
    text: str
    alt: str
    caption: Html
    source: str
    source_html: Html
    width: int
    height: int
    problem: str = ""
    """Set instead of `svg` if no trace has been recorded yet."""
    tape_href: str = ""
    """The URL of its tape, for stepping; empty if nothing was recorded step by step."""


@dataclass(frozen=True)
class FigureView:
    template: ClassVar[str] = "figure"
    anchor: str
    address: str
    alt: str
    caption: Html


@dataclass(frozen=True)
class IncidentView:
    """A failure, described and replayed; the switches are in the cell's form."""

    template: ClassVar[str] = "incident"
    anchor: str
    title: Html
    story: Html
    cell: CellView


@dataclass(frozen=True)
class ClaimView:
    template: ClassVar[str] = "claim"
    id: str
    anchor: str
    sentence: Html
    myth: Html
    code_html: Html
    needs: Need
    status: ClaimStatus
    torch: str
    """The torch version that runs here, to compare with the evidence."""
    ran_on: str
    """What the evidence is of: a version of torch, or of Python for a claim without torch."""
    evidence: Evidence | None


@dataclass(frozen=True)
class ExerciseLinkView:
    template: ClassVar[str] = "exercise_link"
    href: str
    note: Html
    title: str
    summary: str
    kind: str
    difficulty: str
    minutes: int
    attempts: int
    passed: bool


@dataclass(frozen=True)
class DrillView:
    """A drill in a chapter: a form that asks for a graph, or the graph with its question, or with the answer.

    `chapter` is what the form sends. Before a graph is asked for, `question` and `graph` are None.
    """

    template: ClassVar[str] = "drill"
    id: str
    anchor: str
    chapter: str
    note: Html
    question: QuestionView | None = None
    graph: GraphView | None = None
    confidences: tuple[ConfidenceView, ...] = ()
    problem: str = ""

    @property
    def answered(self) -> bool:
        return self.question is not None and self.question.state != "unanswered"


@dataclass(frozen=True)
class BoxView:
    """`kind` is a class name and `label` its text; `title` may be empty."""

    template: ClassVar[str] = "box"
    kind: str
    label: str
    title: Html
    blocks: "tuple[BlockView, ...]"


@dataclass(frozen=True)
class RevealView:
    template: ClassVar[str] = "reveal"
    kind: Literal["interview", "faq", "fold"]
    prompt: Html
    level: str
    blocks: "tuple[BlockView, ...]"


@dataclass(frozen=True)
class ProblemView:
    """A mistake in a file of the course, for its author in a preview; `path` is within the course."""

    template: ClassVar[str] = "problem"
    path: str
    line: int
    rule: str
    message: str
    remedy: str


BlockView = (
    ProblemView
    | ProseView
    | HeadingView
    | PredictView
    | QuestionView
    | CellView
    | MeasurementView
    | GraphView
    | ClaimView
    | FigureView
    | StepsView
    | IncidentView
    | LadderView
    | ExerciseLinkView
    | DrillView
    | BoxView
    | RevealView
)
