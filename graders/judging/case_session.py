"""Asks a submission its cases, one after another, and collects the judge's ruling on each."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby

import numpy as np

from graders.box.interface import BoxClosed, Cause, Driver, Exit, Run
from graders.contract.events import EventKind, OnEvent
from graders.contract.jobs import GradeJob
from graders.contract.manifest import Tolerance
from graders.contract.results import CaseResult, Finding, Measure, Outcome
from graders.judging.exits import describe_limit, outcome_of_exit
from graders.trusted.answers import Ruling, judge_answer
from graders.trusted.differing import tell_difference
from graders.trusted.exercise import Exercise
from graders.trusted.faults import CheckStumbled, ExerciseProblem, GraderFault
from graders.trusted.finding_sentences import Check, find_code, find_for_exercise, find_mistake, find_outcome
from graders.trusted.host import judge_hosted
from graders.trusted.machine import Machine, judge_schedule
from graders.trusted.peak import Submitted, judge_peak, read_baseline
from graders.trusted.reference import PreparedCase, ReferenceRun
from graders.trusted.render import render_answer
from graders.trusted.wire import CASE, decode_answer, read_layout

CaseBatch = list[tuple[int, PreparedCase]]
"""Cases that share a run, each with its number among all cases."""
MAX_SAID_LENGTH = 1000


def choose_driver(case: PreparedCase) -> Driver:
    """The driver that asks such a case inside the box."""
    if case.facts.peak is not None:
        return Driver.PEAK
    if case.facts.hosted:
        return Driver.HOST
    return Driver.ANSWERS if case.facts.machine is None else Driver.MACHINE


class CaseSession:
    """Asks case after case: the next one is sent only after the one before is answered.

    A case is identified by its number among all cases, even if only the public ones are `asked`.
    """

    def __init__(self, job: GradeJob, exercise: Exercise, answers: ReferenceRun, on_event: OnEvent) -> None:
        self.source = job.source
        self.exercise = exercise
        self.answers = answers
        self.public_only = job.public_only
        self.is_over = False
        self.asked = [each for each in enumerate(answers.cases) if each[1].facts.public or not self.public_only]
        if not self.asked:
            raise GraderFault(f"{exercise.name}: no case is public, so there are no public checks; make one public")
        self.on_event = on_event
        self.results: list[CaseResult] = []
        self.rulings: list[Ruling] = []

    def batches(self) -> Iterator[CaseBatch]:
        """The cases in order, grouped by the run that they share. A case judged by its peak has its own run."""
        for driver, stretch in groupby(self.asked, key=lambda each: choose_driver(each[1])):
            cases = list(stretch)
            yield from ([each] for each in cases) if driver is Driver.PEAK else [cases]

    def ask(self, batch: CaseBatch, run: Run) -> Exit:
        """Ask a batch in its run. Stops at the first ruling that does not go on, or when the run ends."""
        try:
            for number, case in batch:
                ruling = self._ask(number, case, run)
                if ruling.check is Check.STUMBLES:
                    self._give_up(case, ruling)
                    break
                self._note(number, case, ruling)
                if not ruling.goes_on:
                    self.is_over = True
                    break
        except BoxClosed:
            self.is_over = True
            return run.wait()
        return run.stop()

    def _give_up(self, case: PreparedCase, ruling: Ruling) -> None:
        """Raise CheckStumbled, unless a case before this one has already failed: then that decides."""
        self.is_over = True
        if ruling.mistake and all(result.passed for result in self.results):
            where = f"probe.py, line {ruling.check_line}, in case {case.facts.name!r}"
            raise CheckStumbled(self.exercise.name, where, ruling.mistake)

    def conclude(self, exit_: Exit) -> tuple[Outcome, Finding | None]:
        """The outcome and its finding. The first failing case decides; a run that ended early has not passed."""
        if exit_.cause is Cause.CANCELLED:
            return Outcome.CANCELLED, find_outcome(Outcome.CANCELLED)
        for ruling, result in zip(self.rulings, self.results, strict=True):
            if not result.passed:
                return ruling.outcome, result.finding
        if len(self.results) == len(self.asked):
            return Outcome.OK if self.public_only else Outcome.PASSED, None
        outcome = outcome_of_exit(exit_)
        _, waiting = self.asked[len(self.results)]
        if outcome is Outcome.TIME_LIMIT and waiting.facts.slow:
            return outcome, find_for_exercise(waiting.facts.slow, self.exercise.manifest)
        return outcome, find_outcome(outcome, limit=describe_limit(outcome, exit_, self.exercise.manifest.limits))

    def measure(self) -> tuple[Measure, ...]:
        """The cost of the first failing case, or else of the last public one; empty if no case is metered."""
        costs = [
            (result.passed, ruling.metered.measures)
            for ruling, result in zip(self.rulings, self.results, strict=True)
            if ruling.metered and (result.public or not result.passed)
        ]
        decided = next((measures for passed, measures in costs if not passed), None)
        return decided or (costs[-1][1] if costs else ())

    def _ask(self, number: int, case: PreparedCase, run: Run) -> Ruling:
        tolerance = self.exercise.manifest.tolerance
        if case.facts.peak is not None:
            if not self.exercise.manifest.memory_meter:
                raise ExerciseProblem(
                    f"the case {case.facts.name!r} is judged by its peak; write memory_meter = true in exercise.toml"
                )
            baseline_bytes = self._read_baseline(number, case, run)
            return judge_peak(number, case, Submitted(self.source, baseline_bytes, tolerance), run)
        # A file that fails while it is loaded reports that and ends, perhaps before this write: we can still read it.
        with suppress(BoxClosed):
            run.send(case.question.numbered(CASE, number))
        if case.facts.hosted:
            return judge_hosted(number, case, tolerance, run, self.answers.ask_host)
        if case.facts.machine is None:
            return judge_answer(number, case, tolerance, run.receive)
        machine = Machine(case.facts.machine, np.random.default_rng(secrets.randbits(128)))
        return judge_schedule(number, machine, run.send, run.receive)

    def _read_baseline(self, number: int, case: PreparedCase, run: Run) -> int:
        try:
            return read_baseline(number, case, run)
        except BoxClosed as closed:
            exit_ = run.wait()
            if exit_.cause is Cause.CANCELLED or (
                self.results and exit_.cause in (Cause.CPU_LIMIT, Cause.WALL_LIMIT)
            ):
                raise  # not our fault: the cases before this one left too little time
            # The learner's code has not run yet, so this is our fault.
            said = exit_.stderr.decode(errors="replace").strip()[-MAX_SAID_LENGTH:]
            where = f"{self.exercise.name}, case {case.facts.name!r}"
            raise GraderFault(f"{where} was not prepared: {exit_.cause}; look at probe.py. {said}") from closed

    def _note(self, number: int, case: PreparedCase, ruling: Ruling) -> None:
        finding = None if ruling.outcome is Outcome.PASSED else self._find(number, case, ruling)
        result = present_case(case, ruling, finding, self.exercise.manifest.tolerance)
        self.rulings.append(ruling)
        self.results.append(result)
        self.on_event(EventKind.CASE, result)

    def _find(self, number: int, case: PreparedCase, ruling: Ruling) -> Finding:
        if ruling.mistake:
            limit = describe_limit(ruling.outcome, None, self.exercise.manifest.limits)
            return find_mistake(ruling.outcome, ruling.mistake, limit=limit, check=ruling.check)
        if ruling.dtype == "NoneType":
            return find_code("nothing-returned")
        if ruling.finding:
            # Use the exercise's own words if it has some for this finding.
            known = ruling.finding.code in self.exercise.manifest.findings
            return find_for_exercise(ruling.finding.code, self.exercise.manifest) if known else ruling.finding
        if ruling.outcome is not Outcome.WRONG_ANSWER:
            own = case.facts.find_instead(ruling.outcome)
            return find_for_exercise(own, self.exercise.manifest) if own else find_outcome(ruling.outcome)
        code = self.answers.diagnose(number, ruling.frame) if ruling.frame else None
        return find_for_exercise(code or case.facts.finding, self.exercise.manifest)


def present_case(case: PreparedCase, ruling: Ruling, finding: Finding | None, tolerance: Tolerance) -> CaseResult:
    """A case as its learner may see it: a hidden case shows what it checks, but no values."""
    facts = case.facts
    passed = ruling.outcome is Outcome.PASSED
    if not facts.public:
        return CaseResult(name=facts.name, idea=facts.idea, passed=passed, public=False, finding=finding)
    got, expected = describe_answers(case, ruling)
    told = tell_difference(case, ruling, tolerance)
    return CaseResult(
        name=facts.name,
        idea=facts.idea,
        passed=passed,
        public=True,
        input=facts.shown,
        got=got,
        expected=expected,
        finding=finding,
        measures=ruling.metered.measures if ruling.metered else (),
        schedule=ruling.metered.schedule if ruling.metered else None,
        difference=told.difference,
        graph=told.graph,
    )


def describe_answers(case: PreparedCase, ruling: Ruling) -> tuple[str, str]:
    """(the program's answer, the expected answer) as text; for a metered case, what it used and its budget."""
    if ruling.metered and ruling.metered.used:
        return ruling.metered.used, ruling.metered.budget
    got = render_answer(ruling.answer) if ruling.answer is not None else ruling.layout
    return got, render_answer(decode_answer(read_layout(case.expected.header), case.expected.body))
