"""What can be wrong on our side while judging. Never the learner's fault, never an attempt."""

from graders.contract.model import ExerciseName


class GraderFault(Exception):
    """The grader could not judge. The text is for the operator."""


class OtherVersion(GraderFault):
    """The files that judge here are not those that the website has."""

    def __init__(self, exercise: ExerciseName, ours: str, wanted: str) -> None:
        versions = f"the version of {exercise} is {ours or 'missing'} here and {wanted} at the website"
        super().__init__(f"{versions}; give both the same files")
        self.exercise = exercise


class ExerciseProblem(GraderFault):
    """An exercise's folder is not as it should be. The text is for its author: thing, value, remedy."""
