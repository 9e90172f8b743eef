"""A process of ours that dies costs the learner a wait and nothing else: the job is run again, a few times."""

import threading
from dataclasses import dataclass, field

from judging_parts import FIXTURES, ScriptedBox, ScriptedRun, answer_rightly

from graders.box.interface import BoxFault, BoxRequest
from graders.contract.events import EventKind, Output
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.judging.reruns import RERUNS_AFTER_BOX_FAULTS
from graders.judging.run_job import run_job

JOB = GradeJob(exercise="scaling", source="irrelevant: the box is scripted")


@dataclass
class FailingBox(ScriptedBox):
    """Its zygote dies in the first runs, each time when case 1 is asked."""

    failures: int = 1
    starts: list[BoxRequest] = field(default_factory=list)

    def start(self, request: BoxRequest) -> ScriptedRun:
        self.starts.append(request)
        return super().start(request)

    def answer(self, case: int, inputs: dict) -> bytes:
        if case == 1 and len(self.starts) <= self.failures:
            raise BoxFault("the zygote is gone")
        return answer_rightly(case, inputs)


def make_box(failures: int, **more) -> FailingBox:
    box = FailingBox(failures=failures, **more)
    box.respond = box.answer
    return box


def judge(box, reference, heard, cancelled=None) -> Verdict:
    verdict = run_job(
        JOB, box, FIXTURES, reference, lambda *event: heard.append(event), cancelled or threading.Event()
    )
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_box_that_fails_and_recovers_gives_the_verdict_and_each_case_is_told_once(reference):
    heard = []
    box = make_box(RERUNS_AFTER_BOX_FAULTS, output=(("stdout", b"half"),))
    verdict = judge(box, reference, heard)

    assert (verdict.outcome, verdict.cases_passed) == (Outcome.PASSED, 3)
    assert len(box.starts) == 1 + RERUNS_AFTER_BOX_FAULTS
    assert [kind for kind, _ in heard].count(EventKind.CASE) == 3
    assert [body for kind, body in heard if kind is EventKind.OUTPUT] == [Output(stream="stdout", text="half")]


def test_a_box_that_goes_on_failing_is_our_fault_after_a_few_tries(reference):
    box = make_box(99)
    verdict = judge(box, reference, [])

    assert verdict.outcome is Outcome.GRADER_FAULT
    assert len(box.starts) == 1 + RERUNS_AFTER_BOX_FAULTS


def test_what_was_withdrawn_meanwhile_is_not_run_again(reference):
    cancelled = threading.Event()
    cancelled.set()
    box = make_box(99)
    judge(box, reference, [], cancelled)
    assert len(box.starts) == 1


def test_a_rerun_shows_what_it_prints_beyond_what_was_shown(reference):
    heard = []

    class Talking(ScriptedBox):
        def start(self, request: BoxRequest) -> ScriptedRun:
            self.starts = getattr(self, "starts", 0) + 1
            self.output = (("stdout", b"one "), ("stdout", b"two ")) if self.starts > 1 else (("stdout", b"one t"),)
            run = super().start(request)
            if self.starts == 1:
                raise BoxFault("the mother is gone")
            return run

    box = Talking(report=b'{"ok":true,"mistake":null,"trace":null}')
    end = run_job(
        RunJob(source="print(1)"),
        box,
        FIXTURES,
        reference,
        lambda kind, body: heard.append(body.text),
        threading.Event(),
    )
    assert isinstance(end, RunEnd)
    assert end.outcome is Outcome.OK
    assert heard == ["one t", "wo "]
