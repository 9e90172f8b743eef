"""The ends that an attack may come to, under short names for the tables of attacks."""

from graders.contract.results import Outcome

OK, ERROR, TIME, CRASH = Outcome.OK, Outcome.RUNTIME_ERROR, Outcome.TIME_LIMIT, Outcome.CRASHED
NOTHING, BREACH, MEMORY, OUTPUT = (
    Outcome.NO_RESULT,
    Outcome.PROTOCOL_ERROR,
    Outcome.MEMORY_LIMIT,
    Outcome.OUTPUT_LIMIT,
)
ANY_END = {OK, ERROR, TIME, CRASH, NOTHING, BREACH, MEMORY, OUTPUT, Outcome.FORBIDDEN, Outcome.SYNTAX_ERROR}

Attacks = dict[str, tuple[set[Outcome], str]]
"""By what the program does: the ends that are in order, and its source."""
