"""A mistake in the learner's code, or in a check, is named for what it is."""

import pytest
from judging_parts import (
    ScriptedBox,
    answer_rightly,
    failure,
    judge,
    scaled_answer,
)

from graders.contract.results import Outcome


def test_an_error_in_one_case_is_told_with_its_line_and_the_next_case_is_asked(reference):
    def fail_first(case, inputs):
        told = {"type": "ValueError", "message": "no", "line": 3, "traceback": "...", "stage": "case"}
        return failure(case, **told) if case == 0 else answer_rightly(case, inputs)

    verdict = judge(ScriptedBox(fail_first), reference)
    assert [case.passed for case in verdict.cases] == [False, True, True]
    assert verdict.outcome is Outcome.RUNTIME_ERROR
    assert verdict.mistake is not None
    assert (verdict.mistake.type, verdict.mistake.line) == ("ValueError", 3)
    assert verdict.finding is not None
    assert verdict.finding.long == "It was raised on line 3 of your file."


@pytest.mark.parametrize(
    ("told", "outcome", "code"),
    [
        (
            {"type": "SyntaxError", "message": "x", "line": 1, "unreadable": True},
            Outcome.SYNTAX_ERROR,
            "syntax-error",
        ),
        ({"type": "SyntaxError", "message": "from eval"}, Outcome.RUNTIME_ERROR, "runtime-error"),
        ({"type": "MemoryError", "message": ""}, Outcome.MEMORY_LIMIT, "memory-limit"),
        ({"type": "RuntimeError", "message": "can't allocate memory: 1 TB"}, Outcome.MEMORY_LIMIT, "memory-limit"),
        ({"type": "ModuleNotFoundError", "message": "No module"}, Outcome.RUNTIME_ERROR, "missing-module"),
        (
            {"type": "AttributeError", "message": "module 'submission' has no attribute 'f'", "check": "misses"},
            Outcome.RUNTIME_ERROR,
            "missing-name",
        ),
        ({"type": "TypeError", "message": "f is None", "check": "says"}, Outcome.RUNTIME_ERROR, "not-as-asked"),
        ({"type": "RecursionError", "message": "maximum"}, Outcome.RUNTIME_ERROR, "too-deep"),
        ({"type": "PermissionError", "message": "no"}, Outcome.RUNTIME_ERROR, "refused"),
    ],
)
def test_a_mistake_at_load_is_named_for_what_it_is(reference, told, outcome, code):
    verdict = judge(ScriptedBox(lambda case, inputs: failure(0, stage="load", **told)), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (outcome, code)
    assert len(verdict.cases) == 1


STUMBLE = {"type": "AttributeError", "message": "no 'x'", "stage": "case", "check": "stumbles", "check_line": 7}


def test_a_check_that_stumbles_is_our_fault_in_words_that_help_the_learner(reference, caplog):
    verdict = judge(ScriptedBox(lambda case, inputs: failure(case, **STUMBLE)), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (Outcome.GRADER_FAULT, "check-stumbled")
    assert "AttributeError: no 'x'" in verdict.finding.long
    assert "check stumbled: scaling: probe.py, line 7, in case '2 numbers' stopped with AttributeError: no 'x'" in (
        caplog.text
    )
    assert "grader fault" not in caplog.text


def test_a_wrong_answer_before_a_check_that_stumbles_is_what_the_learner_hears_of(reference):
    def wrong_then_stumbling(case, inputs):
        return scaled_answer(case, inputs["numbers"]) if case == 0 else failure(case, **STUMBLE)

    verdict = judge(ScriptedBox(wrong_then_stumbling), reference)
    assert (verdict.outcome, len(verdict.cases), verdict.cases_total) == (Outcome.WRONG_ANSWER, 1, 3)
