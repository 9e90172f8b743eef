"""Runs an exercise's own programs: draws its cases, and answers them with its solution. Never a learner's code."""

import copy
import random
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from graders.contract.manifest import Inputs, Judge
from graders.trusted.case import HOST, CaseFacts, split_cases
from graders.trusted.compare import is_finite
from graders.trusted.exercise import read_file
from graders.trusted.faults import ExerciseProblem
from graders.trusted.wire import Answer, Frame, decode_answer, encode_answer, encode_case, read_layout


class DrawnCases:
    """The cases of one run, as this process keeps them for later questions."""

    def __init__(self, codes: frozenset[str], diagnose: Any) -> None:
        self.codes = codes
        self.diagnose = diagnose
        self.inputs: list[dict[str, Any]] = []
        self.expected: list[Answer] = []


@dataclass(frozen=True)
class DrawRequest:
    """What the cases of one run are drawn from, and what they are checked against."""

    seed: int
    findings: frozenset[str]
    judge: Judge
    inputs: Inputs = Inputs.MAY_CHANGE


def prepare_cases(folder: Path, draw: DrawRequest) -> tuple[DrawnCases, list[dict[str, Any]], bytes]:
    """(the cases, their facts and sizes, and all frames joined): per case the question and the expected answer."""
    cases_module = run_file(folder, "cases.py")
    solve = answer_nothing if draw.judge is Judge.MACHINE else load_solution(folder)
    drawn = DrawnCases(draw.findings, getattr(cases_module, "diagnose", None))
    facts, raw = [], []
    told = cases_module.draw_cases(random.Random(draw.seed))
    for place, (case, inputs) in enumerate(split_cases(told, draw.findings, draw.judge)):
        question = encode_case(inputs if case.machine is None else {**inputs, "machine": case.machine.model_dump()})
        # A copy, because a solution that trains in place would give `diagnose` other inputs than the learner had.
        hosting = {HOST: told[place][HOST]} if case.hosted else {}
        asking = {"ask": ask_freely(open_host(folder, hosting[HOST]))} if case.hosted else {}
        given = copy.deepcopy(dict(inputs))
        expected = (answer_nothing if case.machine else solve)(given | asking)
        values = decode_answer(read_layout(expected.header), expected.body)
        check_finite(case, values)
        if draw.inputs is Inputs.UNTOUCHED and (changed := find_changed(inputs, given)):
            raise ExerciseProblem(describe_changed(case, changed))
        drawn.inputs.append(dict(inputs) | hosting)
        drawn.expected.append(values)
        frames: tuple[Frame, Frame] = (question, expected)
        facts.append({"facts": case.model_dump(), "sizes": [[len(f.header), len(f.body)] for f in frames]})
        raw += [part for f in frames for part in (f.header, f.body)]
    return drawn, facts, b"".join(raw)


def check_finite(case: CaseFacts, expected: Answer) -> None:
    """Refuse infinity and NaN, except in answers in which the case allows them: there they are compared exactly."""
    if unknown := [name for name in case.not_finite if name not in expected]:
        raise ExerciseProblem(
            f"cases.py: case {case.name!r}: not_finite names {unknown[0]!r}; name an answer of probe.py, such as "
            f"{next(iter(expected), 'none')!r}"
        )
    if not is_finite({name: value for name, value in expected.items() if name not in case.not_finite}):
        raise ExerciseProblem(
            f"solution.py answers case {case.name!r} with NaN or infinity; draw other inputs, or name the answer in "
            "the case's not_finite"
        )


def find_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The name of the first input that is no longer the same, to the last bit; "" if all are."""
    return next(
        (name for name in before if encode_case({name: before[name]}) != encode_case({name: after.get(name)})), ""
    )


def describe_changed(case: CaseFacts, name: str) -> str:
    return (
        f"solution.py or probe.py changes the input {name!r} of case {case.name!r}, and exercise.toml has "
        'inputs = "untouched"; work on a copy'
    )


def answer_nothing(inputs: dict[str, Any]) -> Frame:
    """An empty expected answer: the judge itself computes a machine's gradient."""
    return encode_answer({})


def load_solution(folder: Path) -> Callable[[dict[str, Any]], Frame]:
    probe, solution = (run_file(folder, name) for name in ("probe.py", "solution.py"))
    prepare = getattr(probe, "prepare", dict)
    return lambda inputs: encode_answer(probe.probe(solution, prepare(inputs)))


def run_file(folder: Path, name: str) -> Any:
    path = folder / name
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(read_file(folder, name), str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def describe_fault(folder: Path, error: Exception) -> str:
    if isinstance(error, ExerciseProblem):
        return f"{folder.name}: {error}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{folder.name}: {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"


def open_host(folder: Path, hidden: Any) -> Any:
    """A new host of a case: the part that a learner's program may ask but not read."""
    return run_file(folder, "host.py").Host(copy.deepcopy(hidden))


def ask_freely(host: Any) -> Callable[[Sequence[float]], list[float]]:
    """The `ask` function that the solution gets; a learner's program asks through the judge instead."""
    return lambda numbers: list(np.asarray(host.answer(np.array(numbers, np.float64)), np.float64).tolist())
