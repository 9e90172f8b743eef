"""Looks for the mistakes of an exercise's author: draws from many seeds, answers with the solution, asks `diagnose`.

Runs in a fork of the reference process. It raises nothing: whatever the author's code does wrong is a fault with its
file and line, told once however many seeds have it.
"""

import copy
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graders.contract.examination import Examination, ExerciseFault
from graders.contract.exercise_files import CASES, PROBE, SOLUTION
from graders.contract.manifest import Inputs, Judge, Tolerance
from graders.trusted.case import HOST, CaseFacts, split_cases
from graders.trusted.compare import is_finite, matches
from graders.trusted.drawn_cases import ask_freely, describe_changed, find_changed, open_host, run_file
from graders.trusted.elements import as_elements, count_labelled
from graders.trusted.exercise import read_file
from graders.trusted.faults import ExerciseProblem
from graders.trusted.locate import find_near, line_of_def, line_of_word, locate, read_problem, suggest
from graders.trusted.wire import Answer, decode_answer, encode_answer, encode_case, read_layout

SEEDS = 300
"""How many seeds are drawn from: a mistake in 1 of 100 draws stays unseen in 5 of 100 exercises that have it."""

SLOW_SEEDS = 50
"""How many an exercise gets whose draws take long: a mistake in 5 of 100 draws stays unseen in 8 of 100 of them."""

DRAW_SECONDS = 4.0
SOLVE_SECONDS = 2.5
"""Of processor time, for the first SLOW_SEEDS; those that are slower still are drawn and solved less often."""

MORE_SECONDS = 0.5
"""Of processor time: past SLOW_SEEDS, no further seed is drawn or solved once that much is used."""

KEPT_BYTES = 256 * 2**20
"""Past SLOW_SEEDS, no further seed is drawn once the inputs drawn so far take that much memory."""

Note = Callable[[str], None]


@dataclass(frozen=True)
class ExamineRequest:
    """The folder, and what its exercise.toml says."""

    folder: Path
    findings: frozenset[str]
    judge: Judge
    tolerance: Tolerance
    inputs: Inputs = Inputs.MAY_CHANGE


class Mistaken(Exception):
    """Ends a part of an examination with a fault."""

    def __init__(self, fault: ExerciseFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


DrawnCase = tuple[CaseFacts, Mapping[str, Any], dict[str, Any]]
"""Its facts, its inputs, and what of it stays with the host."""
CaseSet = list[DrawnCase]
"""The cases that one seed gives."""


@dataclass
class _Examination:
    """What has been found so far."""

    request: ExamineRequest
    faults: list[ExerciseFault] = field(default_factory=list)
    seeds: int = 0
    solved: int = 0

    @property
    def folder(self) -> Path:
        return self.request.folder

    def text(self, file: str) -> str:
        return read_file(self.folder, file)

    def add(self, fault: ExerciseFault) -> None:
        """Once for each line: a second seed with the same mistake says nothing new."""
        if (fault.file, fault.line) not in [(known.file, known.line) for known in self.faults]:
            self.faults.append(fault)


def examine(request: ExamineRequest, note: Note) -> Examination:
    """Everything that is wrong with the folder's programs. `note` is called with the file that is about to be run."""
    found = _Examination(request)
    try:
        note(CASES)
        drawn = _draw_all(found)
        if not found.faults:
            _check_draws(drawn, found)
            note(SOLUTION)
            _solve_all(drawn, found)
    except Mistaken as mistaken:
        found.add(mistaken.fault)
    except ExerciseProblem as problem:
        found.add(read_problem(found.folder, problem))
    return Examination(faults=tuple(found.faults), seeds=found.seeds, solved=found.solved)


def _load(found: _Examination, file: str) -> Any:
    try:
        return run_file(found.folder, file)
    except ExerciseProblem:
        raise
    except Exception as error:
        raise Mistaken(locate(found.folder, error, file)) from error


def _find_function(found: _Examination, file: str, module: Any, name: str) -> Any:
    function = getattr(module, name, None)
    if callable(function):
        return function
    others = [other for other, value in vars(module).items() if callable(value) and not other.startswith("_")]
    remedy = suggest(name, others, f"write `def {name}(...)`; docs/writing-an-exercise.md shows it")
    line = line_of_def(found.text(file), next(iter(find_near(name, others)), ""))
    raise Mistaken(ExerciseFault(file=file, line=line, message=f"{file} has no function {name!r}", remedy=remedy))


def _draw_all(found: _Examination) -> list[CaseSet]:
    """The cases of every seed, with a fault for each line that some of the seeds do not come past."""
    draw_cases = _find_function(found, CASES, _load(found, CASES), "draw_cases")
    drawn: list[CaseSet] = []
    crashed: dict[tuple[str, int], tuple[ExerciseFault, list[int]]] = {}
    start, kept_bytes = time.process_time(), 0
    for seed in range(SEEDS):
        if not _is_time(seed, time.process_time() - start, DRAW_SECONDS):
            break
        if seed >= SLOW_SEEDS and kept_bytes > KEPT_BYTES:
            break
        found.seeds += 1
        one = _draw(draw_cases, seed, found)
        if isinstance(one, ExerciseFault):
            crashed.setdefault((one.file, one.line), (one, []))[1].append(seed)
        else:
            drawn.append(one)
            kept_bytes += len(_write(one))
    for fault, seeds in crashed.values():
        found.add(_counted(fault, seeds, found.seeds))
    return drawn


def _is_time(done: int, used_seconds: float, most_seconds: float) -> bool:
    """Whether another seed is drawn or solved. The first two always are: a comparison needs them."""
    return done < 2 or used_seconds < (most_seconds if done < SLOW_SEEDS else MORE_SECONDS)


def _draw(draw_cases: Any, seed: int, found: _Examination) -> CaseSet | ExerciseFault:
    try:
        told = draw_cases(random.Random(seed))
        parts = split_cases(told, found.request.findings, found.request.judge)
        hosts = [{HOST: case[HOST]} if HOST in case else {} for case in told]
    except ExerciseProblem as problem:
        return read_problem(found.folder, problem)
    except Exception as error:  # noqa: BLE001 - author's code
        return locate(found.folder, error, CASES)
    return [(facts, inputs, host) for (facts, inputs), host in zip(parts, hosts, strict=True)]


def _counted(fault: ExerciseFault, seeds: list[int], total: int) -> ExerciseFault:
    """Says of what happens with some seeds only with how many: the author cannot see it in every run."""
    if len(seeds) == total:
        return fault
    message = f"{fault.message}, with {len(seeds)} of {total} seeds, such as {seeds[0]}"
    return fault.model_copy(update={"message": message})


def _check_draws(drawn: list[CaseSet], found: _Examination) -> None:
    line = line_of_def(found.text(CASES), "draw_cases")
    for facts, _, _ in drawn[0]:
        if facts.public and not facts.shown and facts.machine is None:
            message = f"the public case {facts.name!r} has no 'shown': a learner sees no input"
            remedy = 'give it the input as text, such as `"shown": f"double({x})"`'
            found.add(
                ExerciseFault(
                    file=CASES, line=line_of_word(found.text(CASES), facts.name), message=message, remedy=remedy
                )
            )
    if not any(facts.public for facts, _, _ in drawn[0]):
        message = "no case is public, so a learner can check nothing before submitting"
        found.add(ExerciseFault(file=CASES, line=line, message=message, remedy='write `"public": True` in one case'))
    with_machine = any(facts.machine is not None for facts, _, _ in drawn[0])
    first = _write(drawn[0])
    # A machine's layers are the judge's, and new in every run.
    if len(drawn) > 1 and not with_machine and all(_write(cases) == first for cases in drawn[1:]):
        message = f"draw_cases gives the same cases for every one of {len(drawn)} seeds"
        remedy = "draw the inputs from `rng`: a learner could write the answers down"
        found.add(ExerciseFault(file=CASES, line=line, message=message, remedy=remedy))


def _write(cases: CaseSet) -> bytes:
    """Whatever tells two draws apart; inputs that cannot be sent are found elsewhere."""
    pieces = []
    for facts, inputs, host in cases:
        try:
            frame = encode_case(inputs)
            pieces.append(frame.header + frame.body)
        except (TypeError, ValueError):
            pieces.append(repr(inputs).encode())
        pieces.append(f"{facts.name} {host!r}".encode())
    return b"\0".join(pieces)


def _solve_all(drawn: list[CaseSet], found: _Examination) -> None:
    """Answers seed by seed; the first two are answered twice, by modules of their own."""
    solvers = [_load_solver(found) for _ in range(1 if found.request.judge is Judge.MACHINE else 2)]
    diagnose = getattr(_load(found, CASES), "diagnose", None)
    start = time.process_time()
    for place, cases in enumerate(drawn):
        if not _is_time(place, time.process_time() - start, SOLVE_SECONDS):
            return
        for case in cases:
            facts, inputs, _ = case
            _check_inputs(facts, inputs, found)
            if facts.machine is not None:
                continue
            expected = solvers[0](case)
            _check_answer(expected, facts, found)
            if place < 2 and not matches(_align(solvers[1](case), expected), expected, found.request.tolerance):
                raise Mistaken(_contradiction(found, facts))
            if diagnose is not None and place < 2 and facts.peak is None:
                _try_diagnose(diagnose, case, expected, found)
        found.solved += 1


def _align(answer: Answer, like: Answer) -> Answer:
    """An answer with other names, or of another shape, matches nothing."""
    return answer if answer.keys() == like.keys() else dict.fromkeys(like, "")


def _contradiction(found: _Examination, facts: CaseFacts) -> ExerciseFault:
    message = f"solution.py contradicts itself: case {facts.name!r} gets another answer the second time"
    remedy = "let the answer depend on the inputs alone, or let the case bring the random numbers"
    return ExerciseFault(file=SOLUTION, line=line_of_def(found.text(SOLUTION)), message=message, remedy=remedy)


def _load_solver(found: _Examination) -> Callable[[DrawnCase], Answer]:
    if found.request.judge is Judge.MACHINE:
        return lambda case: {}
    probe = _load(found, PROBE)
    call = _find_function(found, PROBE, probe, "probe")
    solution = _load(found, SOLUTION)
    prepare = getattr(probe, "prepare", dict)

    def solve(case: DrawnCase) -> Answer:
        facts, inputs, host = case
        try:
            asking = {"ask": ask_freely(open_host(found.folder, host[HOST]))} if host else {}
            given = copy.deepcopy(dict(inputs))
            answer = call(solution, prepare(given | asking))
        except Exception as error:
            raise Mistaken(_of_probe(found, error, solution, facts)) from error
        if found.request.inputs is Inputs.UNTOUCHED and (changed := find_changed(inputs, given)):
            message, remedy = describe_changed(facts, changed).split("; ")
            line = line_of_def(found.text(SOLUTION))
            raise Mistaken(ExerciseFault(file=SOLUTION, line=line, message=message, remedy=remedy))
        return _read_answer(answer, facts, found)

    return solve


def _read_answer(answer: Any, facts: CaseFacts, found: _Examination) -> Answer:
    line = line_of_def(found.text(PROBE), "probe")
    remedy = "return a dict of names to numbers, texts, lists, arrays or tensors"
    if not isinstance(answer, Mapping) or not answer:
        message = f"probe returns {_describe(answer)} for case {facts.name!r}"
        raise Mistaken(ExerciseFault(file=PROBE, line=line, message=message, remedy=remedy))
    try:
        frame = encode_answer(answer)
    except (TypeError, ValueError, OverflowError) as error:
        message = f"the judge cannot compare what probe returns for case {facts.name!r}: {error}"
        raise Mistaken(ExerciseFault(file=PROBE, line=line, message=message, remedy=remedy)) from error
    return decode_answer(read_layout(frame.header), frame.body)


def _describe(value: object) -> str:
    return "an empty dict" if value == {} else "None" if value is None else f"a {type(value).__name__}"


def _check_inputs(facts: CaseFacts, inputs: Mapping[str, Any], found: _Examination) -> None:
    for name, value in inputs.items():
        try:
            encode_case({name: value})
        except (TypeError, ValueError) as error:
            kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
            message = f"case {facts.name!r}: the input {name!r} (a {kind}) cannot be sent into the box: {error}"
            remedy = (
                "write plain numbers, texts, lists and dicts (`int(n)`, `x.tolist()`), or a numpy array by itself"
            )
            line = line_of_word(found.text(CASES), name, after=facts.name)
            raise Mistaken(ExerciseFault(file=CASES, line=line, message=message, remedy=remedy)) from error


def _check_answer(expected: Answer, facts: CaseFacts, found: _Examination) -> None:
    if unknown := [name for name in facts.not_finite if name not in expected]:
        message = f"not_finite of the case {facts.name!r} names {unknown[0]!r}, which probe does not answer"
        line = line_of_word(found.text(CASES), unknown[0], after=facts.name)
        raise Mistaken(
            ExerciseFault(
                file=CASES,
                line=line,
                message=message,
                remedy=suggest(unknown[0], expected, "name an answer of probe.py"),
            )
        )
    if not is_finite({name: value for name, value in expected.items() if name not in facts.not_finite}):
        message = f"the solution answers case {facts.name!r} with NaN or infinity"
        line = line_of_def(found.text(SOLUTION))
        remedy = "draw other inputs, fix it, or name the answer in the case's not_finite"
        raise Mistaken(ExerciseFault(file=SOLUTION, line=line, message=message, remedy=remedy))
    _check_labels(expected, facts, found)
    _check_tolerance(expected, facts, found)


def _check_labels(expected: Answer, facts: CaseFacts, found: _Examination) -> None:
    for name, shapes in facts.labels.items():
        line = line_of_word(found.text(CASES), name, after=facts.name)
        if name not in expected:
            message = f"labels of the case {facts.name!r} has {name!r}, which probe does not answer"
            remedy = suggest(name, expected, "write an answer of probe.py")
            raise Mistaken(ExerciseFault(file=CASES, line=line, message=message, remedy=remedy))
        there, named = as_elements(expected[name]).size, count_labelled(shapes)
        if there != named:
            message = f"labels of the case {facts.name!r} names {named} elements of {name!r}, which has {there}"
            remedy = "name each part in its order with its shape; [] is one element"
            raise Mistaken(ExerciseFault(file=CASES, line=line, message=message, remedy=remedy))


def _check_tolerance(expected: Answer, facts: CaseFacts, found: _Examination) -> None:
    """A tolerance finer than the numbers themselves asks for the author's very order of operations."""
    tolerance = found.request.tolerance
    for name, value in expected.items():
        array = np.asarray(value)
        if np.issubdtype(array.dtype, np.floating):
            array = array[np.isfinite(array)]
        if not np.issubdtype(array.dtype, np.floating) or not array.size or np.all(array * 8 == np.round(array * 8)):
            continue
        size = float(np.max(np.abs(array.astype(np.float64))))
        step = float(np.spacing(array.dtype.type(size)))
        if tolerance.absolute + tolerance.relative * size < step:
            message = (
                f"[tolerance] cannot be met: {name!r} of case {facts.name!r} is a {array.dtype} of about {size:.3g}, "
                f"whose last digit alone is worth {step:.1g}"
            )
            remedy = f"write relative = {10 * float(np.finfo(array.dtype).eps):.0e} or more"
            raise Mistaken(ExerciseFault(file="exercise.toml", line=0, message=message, remedy=remedy))


def _try_diagnose(
    diagnose: Any,
    case: DrawnCase,
    expected: Answer,
    found: _Examination,
) -> None:
    """With answers that a learner might give: all zero, all negated, all one more."""
    facts, inputs, host = case
    for change in (lambda value: value * 0, lambda value: -value, lambda value: value + 1):
        got = {name: _changed(value, change) for name, value in expected.items()}
        try:
            code = diagnose(copy.deepcopy(dict(inputs)) | host, got, copy.deepcopy(expected))
        except Exception as error:
            fault = locate(found.folder, error, CASES)
            message = f"diagnose raises for a wrong answer to case {facts.name!r}: {fault.message}"
            raise Mistaken(fault.model_copy(update={"message": message})) from error
        if code is not None and code not in found.request.findings:
            message = f"diagnose returns {code!r}, which is no finding of exercise.toml"
            remedy = suggest(str(code), found.request.findings, f"add [findings.{code}], or return None")
            line = line_of_word(found.text(CASES), str(code))
            raise Mistaken(ExerciseFault(file=CASES, line=line, message=message, remedy=remedy))


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, str | bool) or (isinstance(value, np.ndarray) and value.dtype == bool):
        return value
    with np.errstate(invalid="ignore"):  # an expected infinity, times 0
        changed = change(value)
    return changed.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(changed)


def _of_probe(found: _Examination, error: Exception, solution: Any, facts: CaseFacts) -> ExerciseFault:
    """A name that the probe wants and the solution lacks is a mistake of the solution's."""
    fault = locate(found.folder, error, PROBE)
    if isinstance(error, AttributeError) and error.obj is solution and error.name:
        names = [name for name, value in vars(solution).items() if callable(value) and not name.startswith("_")]
        line = line_of_def(found.text(SOLUTION), next(iter(find_near(error.name, names)), ""))
        message = f"solution.py has no {error.name!r}, which probe.py calls on line {fault.line}"
        remedy = suggest(error.name, names, f"write `def {error.name}(...)` in solution.py, or correct probe.py")
        return ExerciseFault(file=SOLUTION, line=line, message=message, remedy=remedy)
    return fault.model_copy(update={"message": f"{fault.message} (in case {facts.name!r})"})
