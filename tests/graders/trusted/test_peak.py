"""A case judged by its peak: the baseline comes first, the kernel's word counts, and the program's never does."""

import json
import struct
import threading
from dataclasses import dataclass, field

import pytest
from judging_parts import FIXTURES, HEAD, STOPPED, ScriptedBox, ScriptedRun, failure, frame

from graders.box.interface import BoxClosed, Cause, MemoryReading
from graders.contract.jobs import GradeJob
from graders.contract.manifest import Judge
from graders.contract.results import MeasuredBy, Outcome, Verdict
from graders.judging.run_job import run_job
from graders.trusted.case import split_cases
from graders.trusted.faults import ExerciseProblem

MIB = 1 << 20
BASELINE = 9 * MIB
HELD, STEPS = "most held at once", "forward steps"


def total_of(case: int, inputs: dict, off: int = 0) -> bytes:
    return frame(b"ANSW", case, b'[["total","int",[]]]', struct.pack("<q", sum(inputs["firsts"]) + off))


def said(case: int, told: object) -> bytes:
    return frame(b"SAID", case, b"", json.dumps(told).encode())


@dataclass
class MeasuredRun(ScriptedRun):
    """A run with a memory meter. What it takes after the learner's file came is `taken` units."""

    taken: float = 1.0
    meter: bool = True
    prepared: bool = True
    mark: bytes = b"HERE"
    file: str | None = None

    def send(self, data: bytes) -> None:
        kind, case, header_length, _ = HEAD.unpack(data[: HEAD.size])
        if kind == b"CODE":
            self.file = json.loads(data[HEAD.size :])["source"]
            self._pending += self.respond(case, self.cases[-1])
        elif self.request.driver != "peak":
            super().send(data)
        else:
            self.cases.append(json.loads(data[HEAD.size : HEAD.size + header_length])["plain"])
            self._pending += frame(self.mark, case, b"", b"") if self.prepared else b""

    def read_memory(self) -> MemoryReading | None:
        if not self.meter:
            return None
        peak = BASELINE + (int(self.taken * MIB) if self.file is not None else MIB // 2)
        return MemoryReading(BASELINE, peak)


@dataclass
class MeasuringBox(ScriptedBox):
    taken: float = 1.0
    meter: bool = True
    prepared: bool = True
    mark: bytes = b"HERE"
    runs: list[ScriptedRun] = field(default_factory=list)

    def start(self, request) -> MeasuredRun:
        run = MeasuredRun(request, self.respond, self.ending, self.report)
        run.taken, run.meter, run.prepared, run.mark = self.taken, self.meter, self.prepared, self.mark
        self.runs.append(run)
        return run


def judge(reference, respond=total_of, **box) -> tuple[Verdict, MeasuringBox]:
    measuring = MeasuringBox(respond=respond, **box)
    job = GradeJob(exercise="held-at-once", source="total = 'the learner\\'s'")
    verdict = run_job(job, measuring, FIXTURES, reference, lambda *event: None, threading.Event())
    assert isinstance(verdict, Verdict)
    return verdict, measuring


def read_measures(verdict: Verdict, case: int = 1) -> dict[str, tuple[float, MeasuredBy, float | None]]:
    return {m.name: (m.value, m.measured_by, m.most) for m in verdict.cases[case].measures}


def test_each_measured_case_has_a_run_of_its_own_and_gets_the_file_after_the_baseline(reference):
    verdict, box = judge(reference)
    assert verdict.outcome is Outcome.PASSED
    assert [run.request.driver for run in box.runs] == ["answers", "peak", "peak"]
    assert [run.request.one_core for run in box.runs] == [False, True, True]
    assert all("source" not in json.loads(run.request.payload) for run in box.runs[1:])
    assert all(run.file == "total = 'the learner\\'s'" for run in box.runs[1:])


@pytest.mark.parametrize(("taken", "outcome"), [(40.0, Outcome.PASSED), (40.01, Outcome.OVER_BUDGET)])
def test_the_budget_is_held_against_the_kernels_peak_less_the_baseline(reference, taken, outcome):
    verdict, _ = judge(reference, taken=taken)
    assert verdict.outcome is outcome
    assert read_measures(verdict)[HELD] == (taken, MeasuredBy.KERNEL, 40.0)


def test_a_right_answer_beyond_the_budget_says_both_numbers(reference):
    verdict, _ = judge(reference, taken=60.5)
    assert verdict.finding is not None
    assert (verdict.finding.code, verdict.finding.short) == (
        "too-much-held",
        "The gradient is right, but at one moment 60.5 units were held; 40 are allowed.",
    )
    assert verdict.cases[1].got == "units held: at most 60.5, of 1 MiB each"
    assert verdict.cases[2].measures == ()


def test_a_wrong_answer_is_told_first_with_its_values_and_its_measures(reference):
    verdict, _ = judge(reference, lambda case, inputs: total_of(case, inputs, off=case), taken=60)
    assert (verdict.outcome, verdict.finding.code) == (Outcome.WRONG_ANSWER, "wrong-total")
    assert "units" not in verdict.cases[1].got
    assert read_measures(verdict)[HELD][0] == 60


def test_what_the_process_says_is_shown_as_its_word_and_changes_nothing(reference):
    told = {STEPS: 72, HELD: 1, "a lie": -3, "text": "x", "much": 1e300, "flag": True}
    verdict, _ = judge(reference, lambda case, inputs: speak(case, inputs, told), taken=60)
    assert verdict.outcome is Outcome.OVER_BUDGET
    assert read_measures(verdict) == {
        STEPS: (72, MeasuredBy.LEARNER_PROCESS, None),
        HELD: (60, MeasuredBy.KERNEL, 40.0),
    }


def speak(case: int, inputs: dict, told: object) -> bytes:
    return (said(case, told) if len(inputs["firsts"]) > 3 else b"") + total_of(case, inputs)


@pytest.mark.parametrize("told", [[], "x", None, 3, {"": 2}])
def test_a_report_that_is_none_is_left_out(reference, told):
    verdict, _ = judge(reference, lambda case, inputs: speak(case, inputs, told))
    assert verdict.outcome is Outcome.PASSED
    assert set(read_measures(verdict)) <= {HELD, ""}


def test_a_report_that_is_too_long_or_of_another_case_is_a_breach(reference):
    def flood(case, inputs):
        return speak(case, inputs, {"x" * 5000: 1})

    def misplace(case, inputs):
        return (said(case + 1, {STEPS: 1}) if case else b"") + total_of(case, inputs)

    for respond in (flood, misplace):
        assert judge(reference, respond)[0].outcome is Outcome.PROTOCOL_ERROR


def test_two_reports_are_a_breach(reference):
    verdict, _ = judge(
        reference, lambda case, inputs: (said(case, {STEPS: 1}) if case else b"") + speak(case, inputs, {})
    )
    assert verdict.outcome is Outcome.PROTOCOL_ERROR


def test_a_file_that_fails_as_it_is_loaded_stops_the_run(reference):
    def fail(case, inputs):
        told = failure(case, type="TypeError", message="no", stage="load", line=1)
        return told if case else total_of(case, inputs)

    verdict, box = judge(reference, fail)
    assert (verdict.outcome, len(box.runs)) == (Outcome.RUNTIME_ERROR, 2)


@pytest.mark.parametrize("trouble", [{"meter": False}, {"prepared": False}, {"mark": b"FAIL"}])
def test_without_a_meter_or_a_baseline_it_is_our_fault_and_no_pass(reference, trouble):
    verdict, box = judge(reference, **trouble)
    assert verdict.outcome is Outcome.GRADER_FAULT
    assert all(run.file is None for run in box.runs[1:])


def test_a_run_that_is_cancelled_while_it_is_prepared_is_no_fault(reference):
    class Cancelled(MeasuringBox):
        def start(self, request):
            run = super().start(request)
            run.ending = STOPPED if request.driver == "answers" else ScriptedEnd
            return run

    box = Cancelled(respond=total_of, prepared=False)
    job = GradeJob(exercise="held-at-once", source="")
    verdict = run_job(job, box, FIXTURES, reference, lambda *event: None, threading.Event())
    assert verdict.outcome is Outcome.CANCELLED


ScriptedEnd = type(STOPPED)(Cause.CANCELLED, None, None, 0.01, 0.02, None)


def test_the_meter_of_a_run_that_is_gone_is_not_read(reference):
    class Gone(MeasuredRun):
        def read_memory(self):
            raise BoxClosed("the run is over")

    class GoneBox(MeasuringBox):
        def start(self, request):
            return Gone(request, self.respond, self.ending)

    job = GradeJob(exercise="held-at-once", source="")
    verdict = run_job(job, GoneBox(respond=total_of), FIXTURES, reference, lambda *event: None, threading.Event())
    assert verdict.outcome is Outcome.GRADER_FAULT


def test_cases_on_a_machine_may_stand_beside_others_where_the_exercise_says_both():
    on_machine = {**draw(machine={"layers": 2})[0], "name": "m"}
    drawn = [*draw(peak={"unit_bytes": MIB, "most_units": 46}), on_machine]
    assert len(split_cases(drawn, ["f"], Judge.BOTH)) == 2
    for judge_of_all in (Judge.ANSWERS, Judge.MACHINE):
        with pytest.raises(ExerciseProblem, match="machine"):
            split_cases(drawn, ["f"], judge_of_all)


def test_a_machine_has_no_peak_of_the_kernels():
    drawn = draw(peak={"unit_bytes": MIB, "most_units": 46}, machine={"layers": 2})
    with pytest.raises(ExerciseProblem, match="remove 'peak'"):
        split_cases(drawn, ["f"], Judge.BOTH)


def draw(**peak) -> list[dict]:
    return [{"name": "n", "idea": "i", "finding": "f", "public": True, "inputs": {}, **peak}]


@pytest.mark.parametrize(
    "peak",
    [{"unit_bytes": MIB - 1, "most_units": 40}, {"unit_bytes": MIB, "most_units": 0}, {"unit_bytes": MIB}, 46],
)
def test_a_budget_that_cannot_be_judged_is_the_authors_mistake(peak):
    with pytest.raises(ExerciseProblem, match="peak"):
        split_cases(draw(peak=peak), ["f"])
