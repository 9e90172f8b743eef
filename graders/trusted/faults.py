"""What can be wrong on our side while judging. Never the learner's fault, never an attempt."""


class GraderFault(Exception):
    """The grader could not judge. The text is for the operator."""


class ExerciseProblem(GraderFault):
    """An exercise's folder is not as it should be. The text is for its author: thing, value, remedy."""
