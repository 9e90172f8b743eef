"""How each outcome reads: one sentence a learner sees for it. The graders' findings say more, case by case."""

from collections.abc import Mapping

from graders.contract.results import Outcome

HEADLINES: Mapping[Outcome, str] = {
    Outcome.OK: "It ran to its end.",
    Outcome.PASSED: "Passed: every case held, the hidden ones too.",
    Outcome.WRONG_ANSWER: "Not yet: an answer differs from what was expected.",
    Outcome.WRONG_SHAPE: "Not yet: an answer has another shape than expected.",
    Outcome.WRONG_DTYPE: "Not yet: an answer has another type of number than expected.",
    Outcome.NOT_FINITE: "Not yet: an answer is infinite or not a number.",
    Outcome.OVER_BUDGET: "Not yet: the answer is right, and cost more than the budget allows.",
    Outcome.SYNTAX_ERROR: "Python could not read the code.",
    Outcome.RUNTIME_ERROR: "The code raised an error.",
    Outcome.TIME_LIMIT: "Stopped: it used up its time.",
    Outcome.MEMORY_LIMIT: "Stopped: it used up its memory.",
    Outcome.OUTPUT_LIMIT: "Stopped: it printed more than it may.",
    Outcome.CRASHED: "The Python process itself crashed.",
    Outcome.FORBIDDEN: "Stopped: it tried something that the sandbox does not allow.",
    Outcome.NO_RESULT: "It ended without giving an answer.",
    Outcome.PROTOCOL_ERROR: "It ended without an answer that could be read.",
    Outcome.CANCELLED: "Stopped, as you asked.",
    Outcome.SUPERSEDED: "Not run: you sent a newer one before its turn came.",
    Outcome.GRADER_FAULT: "A fault of ours: this was not judged, and it cost you nothing. Send it again.",
}

DIAGNOSIS_OFF = "The code holds. What you said of the fault does not, yet."
LOOK_HELD = "Every public check holds."

NAMES: Mapping[Outcome, str] = {outcome: outcome.value.replace("_", " ") for outcome in Outcome} | {
    Outcome.GRADER_FAULT: "our fault, no attempt"
}
"""The outcome in a list, in two or three words."""
