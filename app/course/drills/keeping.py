"""Which drawn programs may be asked about: those whose run agrees with their generator and whose question is fair."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from app.course.blocks import Value, VariantDraw
from app.course.drills.drawing import DrawnProgram, read_drawn
from app.course.drills.drill import CODE, OBSERVED, Drill, DrillEvidence, DrillGraph
from app.course.drills.observing import NotObserved, observe
from app.course.questions.draw_values import ANSWER
from app.course.questions.kinds import Choice, Number, Open, Several
from graders.contract.trace_check import CheckedTrace

FEWEST_OPERATIONS = 3
CLOSE = 1e-6


@dataclass
class Kept:
    """The graphs that may be asked about, and why the others were refused."""

    graphs: list[DrillGraph] = field(default_factory=list)
    tried: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def keep_drawn(drill: Drill, stdout: str, known: Collection[str] = (), at_most: int | None = None) -> Kept:
    """Reads what a job printed. `known` are the programs that there are already: none is drawn twice."""
    kept, sources = Kept(), set(known)
    for drawn in read_drawn(stdout):
        if at_most is not None and len(kept.graphs) >= at_most:
            break
        kept.tried += 1
        why = find_flaw(drill, drawn)
        if not why and drawn.values[CODE] in sources:
            why = "its program was drawn before"
        if why:
            kept.refused[why] += 1
            continue
        assert drawn.trace is not None
        sources.add(str(drawn.values[CODE]))
        operations = count_operations(drawn)
        kept.graphs.append(DrillGraph(drawn.seed, drawn.level, drawn.values, drawn.trace_json, operations))
    return kept


def count_operations(drawn: DrawnProgram) -> int:
    return sum(kind != "leaf" for kind in drawn.trace.nodes.kind) if drawn.trace else 0


def find_flaw(drill: Drill, drawn: DrawnProgram) -> str:
    """Why a drawn program cannot be asked about, in words; empty if it can."""
    if drawn.trace is None or drawn.failed:
        return f"its run failed: {drawn.failed}"
    missing = next((name for name in (CODE, OBSERVED, ANSWER) if name not in drawn.values), None)
    if missing:
        return f"it has no {missing!r}"
    if count_operations(drawn) < FEWEST_OPERATIONS:
        return f"its graph has fewer than {FEWEST_OPERATIONS} operations"
    draw = VariantDraw(drawn.seed, drawn.values)
    return (
        _find_disagreement(drill, drawn, drawn.trace) or drill.question.why_not(draw, ()) or _find_twins(drill, draw)
    )


def _find_twins(drill: Drill, draw: VariantDraw) -> str:
    """Two misconceptions with one answer could not be told apart, so that the feedback would name the wrong one."""
    filled = drill.question.fill(draw)
    if isinstance(filled, Choice | Several | Open):
        return ""
    answers = [known.answer for known in filled.wrong.known]
    return "two of its wrong answers are the same" if len(set(answers)) < len(answers) else ""


def _find_disagreement(drill: Drill, drawn: DrawnProgram, trace: CheckedTrace) -> str:
    """Why the run does not confirm the generator's answer, or gives one that gives nothing to think about."""
    if trace.truncated:
        return "its trace is not complete"
    try:
        seen = observe(trace, str(drawn.values[CODE]), str(drawn.values[OBSERVED]), drawn.number)
    except NotObserved as why:
        return str(why)
    said = drawn.values[ANSWER]
    if not _agree(seen, said):
        return "its run does not give the generator's answer"
    is_number = isinstance(drill.question, Number) and isinstance(said, int | float)
    return "its answer is zero" if is_number and said == 0 else ""


def _agree(seen: Value, said: object) -> bool:
    if isinstance(seen, str) or isinstance(said, str):
        return seen == said
    return isinstance(said, int | float) and abs(seen - said) <= CLOSE * max(1.0, abs(seen))


def make_evidence(drill: Drill, kept: Kept, torch: str) -> DrillEvidence:
    nodes = [graph.nodes for graph in kept.graphs]
    return DrillEvidence(
        content=drill.digest,
        torch=torch,
        proven=len(kept.graphs),
        tried=kept.tried,
        refused=dict(sorted(kept.refused.items())),
        nodes=(min(nodes, default=0), max(nodes, default=0)),
        answers=hash_answers(kept),
    )


def hash_answers(kept: Kept) -> str:
    told = [[graph.seed, graph.level, graph.source, graph.values[ANSWER]] for graph in kept.graphs]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def write_evidence(evidence: DrillEvidence) -> str:
    return evidence.model_dump_json(indent=1) + "\n"
