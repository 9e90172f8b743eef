"""What a drawing process is asked, and what a page gets: data alone, so that a graph never enters the website."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from graders.contract.model import Message


class DrawPicture(Message):
    """A picture of the trace's graph. The answer is a `Figure`.

    `source` is the code that its spans point into, `opened` names the folds that are open, and `step` is how many
    steps of the tape have been taken: None is the whole graph. `rows`: how many rows of the tape to give around
    `step`. `list_nodes`: give the names of all nodes.
    """

    kind: Literal["picture"] = "picture"
    source: str
    id_prefix: str
    opened: tuple[str, ...] = ()
    step: int | None = None
    rows: int = 0
    list_nodes: bool = False


class WritePlayed(Message):
    """What the browser's player needs: picture, words and tape, as one JSON object.

    `explained`: for the name of a rule, the address and the words of the link to its explanation.
    """

    kind: Literal["played"] = "played"
    source: str
    id_prefix: str
    explained: Mapping[str, tuple[str, str]] = Field(default_factory=dict)


class WriteWhole(Message):
    """The graph with nothing folded, as JSON for a canvas."""

    kind: Literal["whole"] = "whole"
    source: str


class WritePlotly(Message):
    """The picture as Plotly's JSON."""

    kind: Literal["plotly"] = "plotly"
    source: str
    opened: tuple[str, ...] = ()


class WriteTrace(Message):
    """The trace itself, checked, as JSON."""

    kind: Literal["trace"] = "trace"


Task = Annotated[DrawPicture | WritePlayed | WriteWhole | WritePlotly | WriteTrace, Field(discriminator="kind")]
TASK: TypeAdapter[DrawPicture | WritePlayed | WriteWhole | WritePlotly | WriteTrace] = TypeAdapter(Task)


class ClosedFold(Message):
    """A fold that `opened` may name."""

    key: str
    words: str


class NamedNode(Message):
    """A node in a list, and every name under which a reader may know it."""

    label: str
    names: tuple[str, ...]


class TapeRow(Message):
    """One step of the tape in words; steps count from 1, and `line` is 0 where the step has no line."""

    step: int
    sentence: str
    line: int
    held_bytes: int


class TapePart(Message):
    """Some rows of a tape of `total` steps, the present step's among them."""

    total: int
    rows: tuple[TapeRow, ...]


class Figure(Message):
    """A drawn graph. `notes` says what the trace left out; `has_tape`: it can be stepped through; `weighs`: the
    bytes held are counted, which they are not where an engine of the learner's own ran."""

    svg: str
    text: str
    width: float
    height: float
    folds: tuple[ClosedFold, ...]
    notes: str
    node_total: int
    has_tape: bool
    weighs: bool
    nodes: tuple[NamedNode, ...] = ()
    tape: TapePart | None = None


class NotDrawn(Exception):
    """There is no picture. The message is a sentence for the reader.

    `final`: the same trace would be refused again, so the refusal may be kept instead of the picture.
    """

    def __init__(self, sentence: str, *, final: bool = True) -> None:
        super().__init__(sentence)
        self.final = final
