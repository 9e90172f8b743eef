"""A verdict as Gradescope's results.json, so that an exercise can be graded there by these graders.

The format is https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format: one test per case, each
worth one point; the score is their sum, and missing fields take Gradescope's defaults. Pure.
"""

from typing import Any

from graders.contract.results import CaseResult, Outcome, Verdict

HIDDEN_OUTPUT = "hidden"
"""Students do not see the program's output, because it may come from hidden cases."""


def write_results(verdict: Verdict) -> dict[str, Any] | None:
    """The document, or None if the program was not judged: without a file, Gradescope reports that grading failed."""
    if not verdict.costs_an_attempt:
        return None
    reached = [_write_case(number, case) for number, case in enumerate(verdict.cases, 1)]
    missed = [_write_missed(number) for number in range(len(reached) + 1, verdict.cases_total + 1)]
    weighed = [] if verdict.diagnosis_right is None else [_write_diagnosis(verdict)]
    document: dict[str, Any] = {
        "output": _write_output(verdict),
        "output_format": "text",
        "test_output_format": "text",
        "stdout_visibility": HIDDEN_OUTPUT,
        "tests": [*reached, *missed, *weighed],
        "extra_data": {"exercise": verdict.exercise, "outcome": verdict.outcome.value, "profile": verdict.profile},
    }
    if not document["tests"]:
        document["score"] = 1.0 if verdict.outcome is Outcome.PASSED else 0.0
    wall = next((measure.value for measure in verdict.measures if measure.name == "wall"), None)
    if wall is not None:
        document["execution_time"] = round(wall, 3)
    return document


def _write_case(number: int, case: CaseResult) -> dict[str, Any]:
    return {
        "number": str(number),
        "name": case.idea or case.name,
        "score": 1.0 if case.passed else 0.0,
        "max_score": 1.0,
        "status": "passed" if case.passed else "failed",
        "visibility": "visible",
        "output": _describe_case(case),
    }


def _write_diagnosis(verdict: Verdict) -> dict[str, Any]:
    """For a bug hunt whose code passes: the diagnosis is worth one point, like a case."""
    return {
        "number": str(verdict.cases_total + 1),
        "name": "What was wrong: the kind of fault, and its line",
        "score": 1.0 if verdict.diagnosis_right else 0.0,
        "max_score": 1.0,
        "status": "passed" if verdict.diagnosis_right else "failed",
        "visibility": "visible",
        "output": verdict.finding.short if verdict.finding else "",
    }


def _describe_case(case: CaseResult) -> str:
    """What the learner may see of a case; a hidden case has no values."""
    lines = [case.finding.short, case.finding.long] if case.finding else []
    values = (("input", case.input), ("yours", case.got), ("expected", case.expected))
    lines += [f"{name}: {value}" for name, value in values if value]
    return "\n".join(line for line in lines if line)


def _write_missed(number: int) -> dict[str, Any]:
    return {
        "number": str(number),
        "name": f"case {number}",
        "score": 0.0,
        "max_score": 1.0,
        "status": "failed",
        "visibility": "visible",
        "output": "The run ended before this case.",
    }


def _write_output(verdict: Verdict) -> str:
    lines = [f"{verdict.cases_passed} of {verdict.cases_total} cases held: {verdict.outcome.value.replace('_', ' ')}"]
    if verdict.finding:
        lines += [verdict.finding.short, verdict.finding.long]
    if verdict.mistake:
        lines.append(verdict.mistake.traceback or f"{verdict.mistake.type}: {verdict.mistake.message}")
    return "\n".join(line for line in lines if line)
