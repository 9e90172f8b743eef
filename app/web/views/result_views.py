"""The data of the templates for a submission and a run: a verdict, case by case. No I/O, no decisions."""

from dataclasses import dataclass
from typing import ClassVar

from app.course.blocks import Html
from app.web.edge.frame import Link
from app.web.views.blocks import PredictView
from app.web.views.diffs import ComparisonView
from app.web.views.steps import CodeLineView
from app.web.views.tapes import TapeView


@dataclass(frozen=True)
class FindingView:
    short: str
    long: str = ""


@dataclass(frozen=True)
class MistakeView:
    """An error that the learner's code raised; `line` is its line in their text, or None."""

    type: str
    message: str
    line: int | None
    traceback: str


@dataclass(frozen=True)
class MeasureView:
    """A number, its unit, and who reported it: kernel, judge, or learner_process. `most` is its budget, or empty."""

    name: str
    value: str
    unit: str
    measured_by: str
    most: str = ""


@dataclass(frozen=True)
class DifferenceView:
    """The first element of an answer that is wrong. `place` names it, e.g. "gradients[2]"; `off_by` may be empty.

    `is_part` is false if the whole answer is one value, which its name alone says.
    """

    place: str
    is_part: bool
    got: str
    expected: str
    off_by: str
    others: str


@dataclass(frozen=True)
class CaseGraphView:
    """A case's graph with its first wrong node marked. `rows`: node, step, yours, expected, whether it is right."""

    svg: Html
    words: str
    rows: tuple[tuple[str, str, str, str, bool | None], ...]


@dataclass(frozen=True)
class LayerRow:
    """A layer of a metered machine: its forward runs, and the steps in which it was pulled back and the state before
    it was held."""

    layer: int
    runs: int
    pulled_back: str
    held: str


@dataclass(frozen=True)
class ScheduleView:
    """What a program asked of a metered machine. `cut` says how much of it is drawn, and is empty if all is."""

    svg: Html
    words: str
    cut: str
    rows: tuple[LayerRow, ...]


@dataclass(frozen=True)
class CaseView:
    """One case of a verdict. A hidden case has its idea and finding, but no values."""

    name: str
    idea: str
    passed: bool
    public: bool
    input: str
    got: str
    expected: str
    finding: FindingView | None
    difference: DifferenceView | None = None
    graph: CaseGraphView | None = None
    schedule: ScheduleView | None = None
    measures: tuple[MeasureView, ...] = ()


@dataclass(frozen=True)
class OtherWayView:
    """Another right answer, and what distinguishes it."""

    why: str
    html: Html


@dataclass(frozen=True)
class SaidView:
    """A bug hunt's diagnosis: the kind of fault, and the faulty lines of the starter with their numbers."""

    kind: str
    lines: tuple[CodeLineView, ...]
    right: bool | None = None
    """None if the diagnosis was not judged."""


@dataclass(frozen=True)
class ReferenceView:
    """The reference answer, how the learner's differs, and other right answers; created only after a pass.

    `fault` is what was wrong with the starter of a bug hunt.
    """

    html: Html
    beside: ComparisonView
    others: tuple[OtherWayView, ...] = ()
    fault: SaidView | None = None


@dataclass(frozen=True)
class SubmissionView:
    """A submission, from queued to its verdict. It is rendered within a page, and alone as a fragment.

    While `finished` is false, `status` says what is happening, `ahead` how many are queued before it, and
    `refresh_seconds` when to reload. Afterwards: `passed`, `outcome` (the outcome's value), `headline`, and the
    cases with the first failing one first. `ours` marks a fault of ours, which cost no attempt.
    """

    template: ClassVar[str] = "submission"
    id: str
    href: str
    events_href: str
    exercise: Link
    finished: bool
    status: str
    ahead: int
    estimate_seconds: float
    refresh_seconds: int
    submitted_at: str
    outcome: str = ""
    passed: bool = False
    ours: bool = False
    headline: str = ""
    finding: FindingView | None = None
    cases: tuple[CaseView, ...] = ()
    cases_total: int = 0
    cases_passed: int = 0
    mistake: MistakeView | None = None
    stdout: str = ""
    stderr: str = ""
    untimed: str = ""
    measures: tuple[MeasureView, ...] = ()
    profile: str = ""
    code: tuple[CodeLineView, ...] = ()
    reference: ReferenceView | None = None
    public_only: bool = False
    """Only the public checks ran, so it is no attempt. If all passed, `held` is true and `passed` is not."""
    held: bool = False
    said: SaidView | None = None
    next_step: Link | None = None
    """Where to go after a pass; None before one."""


@dataclass(frozen=True)
class LossesView:
    """The losses of a file that was run. `figure` is Plotly's JSON; `source` says where the numbers come from."""

    figure: str
    alt: str
    source: str
    across: str
    rows: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class RunView:
    """A cell's run, for readers without script: its output, its graph, and the predictions that it settled."""

    template: ClassVar[str] = "run"
    id: str
    href: str
    stop_action: str
    back: Link
    finished: bool
    status: str
    refresh_seconds: int
    code: tuple[CodeLineView, ...]
    outcome: str = ""
    ok: bool = False
    headline: str = ""
    finding: FindingView | None = None
    mistake: MistakeView | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    svg: Html = ""
    text: str = ""
    trace_note: str = ""
    """Why there is no picture although one was asked for, or empty."""
    tape: TapeView | None = None
    measures: tuple[MeasureView, ...] = ()
    resolved: tuple[PredictView, ...] = ()
    losses: LossesView | None = None
    """For an exercise's file."""
