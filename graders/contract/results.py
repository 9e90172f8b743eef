"""The results of jobs: a verdict on a submission, or the end of a cell's run."""

import json
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, model_validator

from graders.contract.chart import HELD
from graders.contract.model import ExerciseName, Message
from graders.contract.trace import Trace


class Outcome(StrEnum):
    """How a job can end. Only a submission that passes all its cases ends with `passed`. A cell that ran, and public
    checks that all pass, end with `ok`, so that neither can be taken for a pass."""

    OK = "ok"
    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    NOT_FINITE = "not_finite"
    SYNTAX_ERROR = "syntax_error"
    OVER_BUDGET = "over_budget"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    CRASHED = "crashed"
    FORBIDDEN = "forbidden"
    NO_RESULT = "no_result"
    PROTOCOL_ERROR = "protocol_error"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    GRADER_FAULT = "grader_fault"

    @property
    def costs_an_attempt(self) -> bool:
        """False for a fault of ours and for a run that the learner cancelled or replaced."""
        return self not in (Outcome.GRADER_FAULT, Outcome.CANCELLED, Outcome.SUPERSEDED)


class MeasuredBy(StrEnum):
    """Who measured a number. Only numbers from the kernel and the judge can affect credit."""

    KERNEL = "kernel"
    JUDGE = "judge"
    CARD = "card"
    """Read from the card's driver, outside the box: shown, and never credited."""
    LEARNER_PROCESS = "learner_process"


MEDIAN_TIME = "median time"
CARD_MEMORY = "card memory, with CUDA's own"
"""Names of measures that website and grader share."""


class Measure(Message):
    """A number with its unit and who measured it; `most` is the exercise's budget for it, if it has one."""

    name: str
    value: float
    unit: str
    measured_by: MeasuredBy
    most: float | None = None


class Finding(Message):
    """What went wrong: a code that tests can name, one line for the learner, and what to do about it."""

    code: str
    short: str
    long: str = ""


class Mistake(Message):
    """An error raised by the learner's own code, as the learner's process reported it."""

    type: str
    message: str
    line: int | None = None
    traceback: str = ""


MAX_SCHEDULE_STEPS = 600


class Schedule(Message):
    """What a program asked of a metered machine, in columns, one row per call, as the judge counted it.

    States and gradients have numbers; 0 is the state that the machine begins with. `layer` is -1 for `loss` and
    `free`; `takes` has the state that was passed in (for `vjp` also the gradient); `makes` is the result, or -1;
    `held` the units alive after the call. `calls` counts all calls, even those beyond the cap on rows.
    """

    layers: int
    calls: int = 0
    kind: tuple[Literal["forward", "loss", "vjp", "free"], ...] = ()
    layer: tuple[int, ...] = ()
    takes: tuple[tuple[int, ...], ...] = ()
    makes: tuple[int, ...] = ()
    held: tuple[int, ...] = ()


class Difference(Message):
    """The first element of an answer that is not as expected: its value's name, its index, and how far off it is.

    `index` is empty for a single value; `label` names the element in the case's own words, if it has some. `off_by`
    is None where a distance has no meaning, as between texts. `others` counts the other elements that differ, over
    all the answer's values.
    """

    name: str
    index: tuple[int, ...] = ()
    label: str = ""
    got: str
    expected: str
    off_by: float | None = None
    others: int = 0


class GraphNode(Message):
    """A step of a case's graph. `operands` are places of earlier nodes; `right` is None where it has no answer."""

    name: str
    op: str = ""
    operands: tuple[int, ...] = ()
    value: str = ""
    got: str = ""
    expected: str = ""
    right: bool | None = None


class CaseGraph(Message):
    """The small graph that a public case is about, with what was answered at its nodes, operands before results.

    `first_wrong` is the first node that differs in the direction of `walk`: from the output back to the leaves, or
    forwards.
    """

    walk: Literal["backward", "forward"] = "backward"
    nodes: tuple[GraphNode, ...]
    first_wrong: int | None = None


class CaseResult(Message):
    """One case: its input, the program's answer and the expected one. Hidden cases show no input and no values.

    Cases that are judged by their cost have `measures`; cases on a metered machine also have the `schedule` that the
    judge recorded. `difference` and `graph` are for public cases whose answer had the right layout.
    """

    name: str
    idea: str
    passed: bool
    public: bool
    input: str = ""
    got: str = ""
    expected: str = ""
    finding: Finding | None = None
    measures: tuple[Measure, ...] = ()
    schedule: Schedule | None = None
    difference: Difference | None = None
    graph: CaseGraph | None = None


class Verdict(Message):
    """The judgement of one submission, or of a run of its public checks.

    `public_only`: only the public checks were run; this counts no attempt, and its outcome is never `passed`.
    `diagnosis_right`: whether the learner's diagnosis in a bug hunt was right; None if it was not judged, because the
    exercise asks for none or the code failed before. `exercise_digest` is the digest of the files that judged; empty
    if none did.
    """

    kind: Literal["verdict"] = "verdict"
    outcome: Outcome
    exercise: ExerciseName
    exercise_digest: str = ""
    finding: Finding | None = None
    cases: tuple[CaseResult, ...] = ()
    cases_total: int = 0
    public_only: bool = False
    diagnosis_right: bool | None = None
    mistake: Mistake | None = None
    stdout: str = ""
    stderr: str = ""
    measures: tuple[Measure, ...] = ()
    untimed: str = ""
    """Why a benchmark that was asked for has no times, in a sentence."""
    profile: str = ""

    @property
    def costs_an_attempt(self) -> bool:
        """As the outcome says, but a run of the public checks never counts."""
        return self.outcome.costs_an_attempt and not self.public_only

    @property
    def cases_passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def credit(self) -> float:
        """From 0 to 1: all or nothing, that is 1 for `passed` and 0 for any other outcome."""
        return 1.0 if self.outcome is Outcome.PASSED else 0.0

    @property
    def held_share(self) -> float | None:
        """How much a program that passed held at once, as a share of what it could, averaged over the public cases.

        None if it did not pass, or if no public case has such a bound. Numbers that its own process reported are left
        out.
        """
        if self.outcome is not Outcome.PASSED:
            return None
        shares = [
            measure.value / measure.most
            for case in self.cases
            if case.public
            for measure in case.measures
            if measure.name == HELD and measure.most and measure.measured_by is not MeasuredBy.LEARNER_PROCESS
        ]
        return sum(shares) / len(shares) if shares else None


class RunEnd(Message):
    """The end of a cell: how it ended, what it printed, and the trace of its graph if one was asked for.

    The trace is JSON inside JSON, so that a website reads a result without building a megabyte of columns: only what
    draws it parses it.
    """

    kind: Literal["run_end"] = "run_end"
    outcome: Outcome
    finding: Finding | None = None
    mistake: Mistake | None = None
    stdout: str = ""
    stderr: str = ""
    output_truncated: bool = False
    trace_json: str | None = None
    trace_refused: str = ""
    measures: tuple[Measure, ...] = ()
    profile: str = ""

    @model_validator(mode="before")
    @classmethod
    def _take_trace(cls, data: Any) -> Any:
        """Accept a `trace` as it is too: results that an earlier version stored have it as an object."""
        if not isinstance(data, dict) or "trace" not in data:
            return data
        trace, rest = data["trace"], {name: value for name, value in data.items() if name != "trace"}
        if trace is not None:
            rest["trace_json"] = trace.model_dump_json() if isinstance(trace, Trace) else json.dumps(trace)
        return rest

    @cached_property
    def trace(self) -> Trace | None:
        """The trace, parsed when it is first asked for."""
        return None if self.trace_json is None else Trace.model_validate_json(self.trace_json)


Result = Annotated[Verdict | RunEnd, Field(discriminator="kind")]
RESULT: TypeAdapter[Verdict | RunEnd] = TypeAdapter(Result)
