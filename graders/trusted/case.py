"""A case as an author draws it: one idea, its inputs, and what to say when it fails."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from graders.contract.manifest import Judge, Slug
from graders.trusted.faults import ExerciseProblem

MOST_CASES = 64


class MachineOrder(BaseModel):
    """A metered machine as an exercise wants it: how many layers, what each state weighs, and the budgets.

    `units` has one entry a state, from the input to the output; left out, each weighs 1. A gradient weighs as much
    as the state that it belongs to.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    layers: int = Field(ge=1, le=256)
    units: list[Annotated[int, Field(ge=1, le=1_000_000)]] = []
    most_forwards: int | None = Field(default=None, ge=1)
    most_held: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _check_units(self) -> Self:
        if self.units and len(self.units) != self.layers + 1:
            raise ValueError(f"units has {len(self.units)} entries; write one a state, {self.layers + 1} in all")
        return self


class CaseFacts(BaseModel):
    """Everything of a case but its inputs. `slow` is said when the time runs out during the case."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=80)
    idea: str = Field(min_length=1, max_length=400)
    finding: Slug
    public: bool
    shown: str = Field(default="", max_length=4000)
    slow: Slug | None = None
    machine: MachineOrder | None = None


CASES: TypeAdapter[list[CaseFacts]] = TypeAdapter(list[CaseFacts])


def split_cases(
    drawn: Any, findings: Collection[str], judge: Judge = Judge.ANSWERS
) -> list[tuple[CaseFacts, Mapping[str, Any]]]:
    """Facts and inputs of what draw_cases returned, which names codes of `findings` only. Raises ExerciseProblem."""
    if not isinstance(drawn, list) or not 1 <= len(drawn) <= MOST_CASES:
        raise ExerciseProblem(
            f"cases.py: draw_cases returned {type(drawn).__name__}; return a list of 1 to {MOST_CASES} dicts"
        )
    cases = []
    for number, case in enumerate(drawn):
        if not isinstance(case, dict) or not isinstance(case.get("inputs"), dict):
            raise ExerciseProblem(
                f"cases.py: case {number} is no dict with a dict 'inputs'; see docs/writing-an-exercise.md"
            )
        cases.append((_read_facts(number, case), case["inputs"]))
    _check_names([facts for facts, _ in cases], findings)
    _check_machines([facts for facts, _ in cases], judge)
    return cases


def _read_facts(number: int, case: Mapping[str, Any]) -> CaseFacts:
    try:
        return CaseFacts.model_validate({key: value for key, value in case.items() if key != "inputs"})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ExerciseProblem(
            f"cases.py: case {number}: {where} is {first.get('input')!r}; {first['msg']}"
        ) from error


def _check_names(cases: list[CaseFacts], findings: Collection[str]) -> None:
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise ExerciseProblem(f"cases.py: names repeat in {names}; give each case its own")
    said = {code for case in cases for code in (case.finding, case.slow) if code}
    if unknown := sorted(said - set(findings)):
        raise ExerciseProblem(
            f"cases.py: finding {unknown[0]!r} is not in exercise.toml; add [findings.{unknown[0]}]"
        )


def _check_machines(cases: list[CaseFacts], judge: Judge) -> None:
    for case in cases:
        if (case.machine is not None) != (judge is Judge.MACHINE):
            wrong = "is missing from" if judge is Judge.MACHINE else "stands in"
            remedy = "give every case one" if judge is Judge.MACHINE else 'write judge = "machine"'
            raise ExerciseProblem(
                f"cases.py: 'machine' {wrong} case {case.name!r}, and exercise.toml has judge = \"{judge}\"; {remedy}"
            )
