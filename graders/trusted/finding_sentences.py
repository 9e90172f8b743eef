"""Every sentence of the judge that a learner can read about a result, as data. An exercise may have its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from graders.contract.manifest import FindingText, Manifest
from graders.contract.outcome_sentences import CHECK_STUMBLED, MACHINE_BUSY, UNJUDGED
from graders.contract.results import Finding, Mistake, Outcome


class Check(Enum):
    """What an error that stopped the exercise's check has to do with it, if the learner's code did not raise it."""

    SAYS = "says"
    """The check refuses on purpose what it was given."""
    MISSES = "misses"
    """A name that it asks for is missing."""
    STUMBLES = "stumbles"
    """It is not prepared for what it was given: a fault of ours."""


@dataclass(frozen=True)
class Sentence:
    """`short` and `long` may name {type}, {message} and {line} of a mistake, {limit} and {used} of a resource."""

    short: str
    long: str = ""


SENTENCES: Mapping[str, Sentence] = {
    "wrong-answer": Sentence("The answer is not the expected one."),
    "wrong-shape": Sentence(
        "The answer has a different shape from the expected one.",
        "Print the shape, or the length, of what you return. A gradient has the shape of what it is the gradient of.",
    ),
    "wrong-dtype": Sentence(
        "The answer has a different type from the expected one.",
        "Look for a conversion, or a constant of a different type, on the way to what you return.",
    ),
    "inputs-changed": Sentence(
        "Your code changed its input `{message}`.",
        "It belongs to the caller, who still needs it. Compute a new value, or make a copy before you write into it.",
    ),
    "nothing-returned": Sentence(
        "Your function returned None.",
        "A function without a return statement returns None. Does every branch of yours have one?",
    ),
    "not-finite": Sentence(
        "The answer holds NaN or infinity.",
        "Look for a division by zero, a logarithm of zero, or an exponential of a large number.",
    ),
    "syntax-error": Sentence("Python cannot read your file: {message}", "See line {line}."),
    "runtime-error": Sentence("Your code raised {type}: {message}", "It was raised on line {line} of your file."),
    "not-as-asked": Sentence(
        "The check could not use what your code gave it: {message}.",
        "Your code raised no error, but it gave the check something that the task does not ask for.",
    ),
    "missing-module": Sentence(
        "{message}: that module is not available here.",
        "This run has the standard library and what the task names. Where you build something from scratch, the "
        "library that has it ready-made is left out on purpose.",
    ),
    "missing-name": Sentence(
        "A name that the task asks for is missing: {message}",
        "Names are part of the task: compare yours with the text.",
    ),
    "too-deep": Sentence(
        "Your recursion went deeper than Python allows: {message}",
        "Either nothing stops it, or it goes through the same things again and again, or it takes one level for each "
        "link of a long chain, where a loop would take none.",
    ),
    "refused": Sentence(
        "The sandbox refused this: {message}",
        "Files, the network, new processes and signals are closed to your code. The task needs none of them.",
    ),
    "time-limit": Sentence(
        "Your code ran out of time ({limit}).",
        "Look for a loop that never ends, or for work that is done again for every path through the graph.",
    ),
    "memory-limit": Sentence(
        "Your code ran out of memory ({limit}).",
        "Look for one array that is far larger than the answer needs, such as a whole matrix where only its product "
        "with a vector is asked for, or for something that grows in a loop and is never released.",
    ),
    "output-limit": Sentence(
        "Your code printed more than {limit}.", "Take the print out of the loop, and try again."
    ),
    "no-diagnosis": Sentence(
        "Your fix works; now say what was wrong.",
        "Choose the kind of fault, mark the guilty line of the code as it was given, and submit again.",
    ),
    "wrong-diagnosis": Sentence(
        "Your fix works; your diagnosis is not right yet.",
        "The kind of fault, the line, or both. Which line of the given code causes the fault? If a line is missing, "
        "which line goes wrong without it? Then say in one sentence how that line leads to the symptom.",
    ),
    "over-budget": Sentence("The gradient is right, but it took more than the budget allows."),
    "too-many-forwards": Sentence(
        "The gradient is right, but took {used} forward steps; {limit} are allowed.",
        "Some states are computed again more often than necessary. Which of them should you keep?",
    ),
    "too-much-held": Sentence(
        "The gradient is right, but at one moment {used} units were held; {limit} are allowed.",
        "Look for a state or a gradient that is kept although nothing needs it any more, or that could be computed "
        "again.",
    ),
    "too-many-calls": Sentence(
        "Your program called the machine {used} times without coming to an end.",
        "Look for a loop around the calls that never ends.",
    ),
    "crashed": Sentence(
        "The Python process itself crashed.",
        "This happens after a fault in native code, or a call that ends the process.",
    ),
    "forbidden": Sentence(
        "Your code made a system call that the sandbox forbids, and was stopped.", "The task needs no such call."
    ),
    "no-result": Sentence(
        "Your program ended before it had answered.",
        "Something left the process: sys.exit, os._exit, or a SystemExit. Let your functions return instead.",
    ),
    "protocol-error": Sentence(
        "Your program sent something that is not an answer.",
        "Something wrote into the channel that carries the answers, or changed the code that sends them.",
    ),
    "left-early": Sentence("The program ended itself, with code {message}, before its graph could be sent."),
}
ENGINE_CODES = (
    frozenset(SENTENCES) | {finding.code for finding in (*UNJUDGED.values(), MACHINE_BUSY)} | {CHECK_STUMBLED}
)

BY_MISTAKE: Mapping[str, str] = {
    "ModuleNotFoundError": "missing-module",
    "RecursionError": "too-deep",
    "PermissionError": "refused",
    "BlockingIOError": "refused",
}

BY_CHECK: Mapping[Check | None, str] = {Check.SAYS: "not-as-asked", Check.MISSES: "missing-name"}


def find_outcome(outcome: Outcome, *, limit: str = "", detail: str = "") -> Finding:
    """The engine's words for an outcome."""
    if outcome in UNJUDGED:
        return UNJUDGED[outcome]
    return _say(outcome.value.replace("_", "-"), {"limit": limit, "message": detail, "type": "", "line": ""})


def find_code(code: str, detail: str = "") -> Finding:
    return _say(code, {"limit": "", "message": detail, "type": "", "line": ""})


def find_budget(code: str, *, used: int | str, limit: int | str) -> Finding:
    """The engine's words for a right answer that cost too much."""
    return _say(code, {"used": used, "limit": limit})


def find_mistake(outcome: Outcome, mistake: Mistake, *, limit: str, check: Check | None = None) -> Finding:
    """The engine's words for an error that the learner's code raised, or a check that could not use its result."""
    code = outcome.value.replace("_", "-")
    if outcome is Outcome.RUNTIME_ERROR:
        code = BY_CHECK.get(check) or BY_MISTAKE.get(mistake.type, code)
    sentence = SENTENCES[code]
    words = {"type": mistake.type, "message": mistake.message or "no message", "line": mistake.line, "limit": limit}
    # Without a line in the learner's file, the sentence would say "line None".
    long = "" if mistake.line is None and "{line}" in sentence.long else sentence.long
    return Finding(code=code, short=sentence.short.format_map(words), long=long.format_map(words))


def find_for_exercise(code: str, manifest: Manifest) -> Finding:
    """An exercise's own words for one of its findings."""
    text: FindingText = manifest.findings[code]
    return Finding(code=code, short=text.short, long=text.long)


def _say(code: str, words: Mapping[str, object]) -> Finding:
    sentence = SENTENCES[code]
    return Finding(code=code, short=sentence.short.format_map(words), long=sentence.long.format_map(words))
