"""Faults on our side while judging. They are never the learner's fault and count no attempt."""

from graders.contract.model import ExerciseName
from graders.contract.results import Mistake


class GraderFault(Exception):
    """The grader could not judge. The text is for the operator."""


class OtherVersion(GraderFault):
    """The worker's files of an exercise differ from the website's."""

    def __init__(self, exercise: ExerciseName, ours: str, wanted: str) -> None:
        versions = f"the version of {exercise} is {ours or 'missing'} at this worker and {wanted} at the website"
        super().__init__(f"{versions}; give both the same files")
        self.exercise = exercise


class CheckStumbled(GraderFault):
    """An exercise's probe or host was not prepared for what a submission gave it.

    A submission can cause this at will: its own process reports a probe's error, and it chooses a host's questions.
    """

    def __init__(self, exercise: ExerciseName, where: str, mistake: Mistake) -> None:
        said = f"{mistake.type}: {mistake.message}"
        super().__init__(f"{exercise}: {where} stopped with {said}; let it check first what a submission gives it")
        self.mistake = mistake


class ExerciseProblem(GraderFault):
    """Something is wrong in an exercise's folder. The text is for its author: the thing, its value, the remedy.

    `word` is what to look for in the file that the text begins with: the last line that has it is the one to change.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word
