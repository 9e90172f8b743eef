"""One sentence per outcome, shown above a result. The graders' findings add details for each case."""

from collections.abc import Mapping

from graders.contract.outcome_sentences import UNJUDGED
from graders.contract.results import Outcome

HEADLINES: Mapping[Outcome, str] = {
    Outcome.OK: "It ran to the end.",
    Outcome.PASSED: "Passed: every case is right, including the hidden ones.",
    Outcome.WRONG_ANSWER: "Not yet: an answer differs from what was expected.",
    Outcome.WRONG_SHAPE: "Not yet: an answer has a different shape from the expected one.",
    Outcome.WRONG_DTYPE: "Not yet: an answer has a different type of number from the expected one.",
    Outcome.NOT_FINITE: "Not yet: an answer is infinite or not a number.",
    Outcome.OVER_BUDGET: "Not yet: the answer is right, but it cost more than the budget allows.",
    Outcome.SYNTAX_ERROR: "Python could not read the code.",
    Outcome.RUNTIME_ERROR: "The code raised an error.",
    Outcome.TIME_LIMIT: "Stopped: it ran out of time.",
    Outcome.MEMORY_LIMIT: "Stopped: it ran out of memory.",
    Outcome.OUTPUT_LIMIT: "Stopped: it printed more than is allowed.",
    Outcome.CRASHED: "The Python process itself crashed.",
    Outcome.FORBIDDEN: "Stopped: it tried something that the sandbox does not allow.",
    Outcome.NO_RESULT: "It ended without giving an answer.",
    Outcome.PROTOCOL_ERROR: "It ended without an answer that could be read.",
} | {outcome: finding.short for outcome, finding in UNJUDGED.items()}

WRONG_DIAGNOSIS = "The code holds. Your diagnosis is not right yet."
PUBLIC_CHECKS_HELD = "Every public check holds."

NAMES: Mapping[Outcome, str] = {outcome: outcome.value.replace("_", " ") for outcome in Outcome} | {
    Outcome.GRADER_FAULT: "our fault, no attempt"
}
"""The outcome in two or three words, for a list."""
