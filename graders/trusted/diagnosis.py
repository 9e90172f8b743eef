"""Judges a learner's diagnosis of a bug hunt's fault: the line and the kind together. It never enters the box."""

from graders.contract.jobs import Diagnosed
from graders.contract.manifest import Diagnosis, Manifest
from graders.contract.results import Finding
from graders.trusted.finding_sentences import find_code, find_for_exercise


def weigh_diagnosis(diagnosed: Diagnosed | None, manifest: Manifest) -> Finding | None:
    """What is wrong with a learner's diagnosis; None if it is right, or if the exercise asks for none."""
    code = _find_mistake(diagnosed or Diagnosed(), manifest.diagnosis) if manifest.diagnosis else None
    if code is None:
        return None
    return find_for_exercise(code, manifest) if code in manifest.findings else find_code(code)


def _find_mistake(said: Diagnosed, asked: Diagnosis) -> str | None:
    if said.category is None or said.line is None:
        return "no-diagnosis"
    # One answer for both: told apart, the line and the kind could be guessed one after the other.
    is_right = said.line in asked.lines and said.category == asked.answer
    return None if is_right else "wrong-diagnosis"
