"""A case as an author draws it: one idea, its inputs, and the finding for when it fails."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from graders.contract.manifest import Judge, Slug
from graders.contract.results import Outcome
from graders.trusted.faults import ExerciseProblem

MAX_CASES = 64
HOST = "host"
SMALLEST_UNIT_BYTES = 1 << 20
"""The kernel counts in steps of 256 KiB per core, so it could not count smaller units reliably."""


class MachineSpec(BaseModel):
    """A metered machine as an exercise specifies it: layers and their costs, the weights of states, and the budgets.

    `units` has one entry per state, from the input to the output; without it each state weighs 1. A gradient weighs
    as much as its state. `costs` has one entry per layer: how many forward steps one run of it counts as; without it
    each counts as 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    layers: int = Field(ge=1, le=256)
    units: list[Annotated[int, Field(ge=1, le=1_000_000)]] = []
    costs: list[Annotated[int, Field(ge=1, le=1_000_000)]] = []
    most_forwards: int | None = Field(default=None, ge=1)
    most_held: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.units and len(self.units) != self.layers + 1:
            raise ValueError(f"units has {len(self.units)} entries; write one per state, {self.layers + 1} in all")
        if self.costs and len(self.costs) != self.layers:
            raise ValueError(f"costs has {len(self.costs)} entries; write one per layer, {self.layers} in all")
        return self


class NodeSpec(BaseModel):
    """A node of a case's graph. `answer` names its part of the answer: "loss", "gradients[2]" or "weight[0, 1]"."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=24)
    op: str = Field(default="", max_length=24)
    operands: list[Annotated[int, Field(ge=0)]] = []
    value: str = Field(default="", max_length=40)
    answer: str | None = Field(default=None, pattern=r"^[A-Za-z_]\w*(\[\d+(, ?\d+)*\])?$")


class GraphSpec(BaseModel):
    """The graph that a public case is about: its nodes, operands before results, and the direction to read it in."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    walk: Literal["backward", "forward"] = "backward"
    nodes: list[NodeSpec] = Field(min_length=1, max_length=64)

    @model_validator(mode="after")
    def _check_operands(self) -> Self:
        for place, node in enumerate(self.nodes):
            if late := [operand for operand in node.operands if operand >= place]:
                raise ValueError(f"node {node.name!r} has operand {late[0]}; put an operand before its result")
        return self


class PeakSpec(BaseModel):
    """How much memory, as the kernel counts it, the learner's program may take in a case, in the exercise's units."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unit_bytes: int = Field(ge=SMALLEST_UNIT_BYTES, le=1 << 30)
    most_units: float = Field(gt=0)


Label = Annotated[str, Field(min_length=1, max_length=80)]


class CaseFacts(BaseModel):
    """All facts of a case except its inputs.

    `slow` is the finding for a run that ran out of time in this case; `instead` replaces the engine's words for
    an outcome; `not_finite` names the answers in which infinity or NaN can be right. `labels` names the parts of an
    answer in their order, each with its shape; [] is a single element.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=80)
    idea: str = Field(min_length=1, max_length=400)
    finding: Slug
    public: bool
    shown: str = Field(default="", max_length=4000)
    slow: Slug | None = None
    instead: dict[Literal["wrong_shape", "wrong_dtype", "not_finite"], Slug] = {}
    not_finite: list[str] = []
    labels: dict[str, dict[Label, list[Annotated[int, Field(ge=0)]]]] = {}
    machine: MachineSpec | None = None
    graph: GraphSpec | None = None
    peak: PeakSpec | None = None
    hosted: bool = False
    """Whether a part of it, its "host", stays in the reference process and is served by host.py."""

    def find_instead(self, outcome: Outcome) -> Slug | None:
        return next((code for name, code in self.instead.items() if name == outcome.value), None)


def split_cases(
    drawn: Any, findings: Collection[str], judge: Judge = Judge.ANSWERS
) -> list[tuple[CaseFacts, Mapping[str, Any]]]:
    """The facts and inputs of what draw_cases returned. Raises ExerciseProblem, e.g. for a code not in `findings`."""
    if not isinstance(drawn, list) or not 1 <= len(drawn) <= MAX_CASES:
        raise ExerciseProblem(
            f"cases.py: draw_cases returned {type(drawn).__name__}; return a list of 1 to {MAX_CASES} dicts"
        )
    cases = []
    for number, case in enumerate(drawn):
        if not isinstance(case, dict) or not isinstance(case.get("inputs"), dict):
            raise ExerciseProblem(
                f"cases.py: case {number} is not a dict with a dict 'inputs'; see docs/writing-an-exercise.md"
            )
        cases.append((_read_facts(number, case), case["inputs"]))
    _check_names([facts for facts, _ in cases], findings)
    _check_machines([facts for facts, _ in cases], judge)
    return cases


def _read_facts(number: int, case: Mapping[str, Any]) -> CaseFacts:
    try:
        facts = {key: value for key, value in case.items() if key not in ("inputs", HOST)}
        return CaseFacts.model_validate(facts | ({"hosted": True} if HOST in case else {}))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        which = f"case {case['name']!r}" if isinstance(case.get("name"), str) else f"case {number}"
        if first["type"] == "missing":
            raise ExerciseProblem(f"cases.py: {which} has no {where!r}; give it one", _word(case)) from error
        if first["type"] == "extra_forbidden":
            raise ExerciseProblem(f"cases.py: {which} has the key {where!r}; no case has that key", where) from error
        raise ExerciseProblem(
            f"cases.py: {which}: {where} is {first.get('input')!r}; {first['msg']}", where.split(".")[0]
        ) from error


def _word(case: Mapping[str, Any]) -> str:
    return str(case.get("name") or "inputs")


def _check_names(cases: list[CaseFacts], findings: Collection[str]) -> None:
    names = [case.name for case in cases]
    if again := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ExerciseProblem(
            f"cases.py: two cases are called {again[0]!r}; give each case a different name", again[0]
        )
    for case in cases:
        said = (case.finding, case.slow, *case.instead.values())
        if unknown := [code for code in said if code and code not in findings]:
            raise ExerciseProblem(
                f"cases.py: case {case.name!r}: finding {unknown[0]!r} is not in exercise.toml; "
                f"add [findings.{unknown[0]}]",
                unknown[0],
            )


def _check_machines(cases: list[CaseFacts], judge: Judge) -> None:
    for case in cases:
        if case.hosted and (case.machine is not None or case.peak is not None):
            raise ExerciseProblem(
                f"cases.py: case {case.name!r} has 'host' together with 'machine' or 'peak'; remove one of them"
            )
        if judge is not Judge.BOTH and (case.machine is not None) != (judge is Judge.MACHINE):
            wrong = "is missing from" if judge is Judge.MACHINE else "is in"
            remedy = "add it to every case" if judge is Judge.MACHINE else 'write judge = "machine"'
            raise ExerciseProblem(
                f"cases.py: 'machine' {wrong} case {case.name!r}, and exercise.toml has judge = \"{judge}\"; {remedy}"
            )
        if case.machine is not None and case.peak is not None:
            raise ExerciseProblem(
                f"cases.py: case {case.name!r} has 'machine' and 'peak'; a machine holds the states itself, so "
                "remove 'peak'"
            )
