"""The check of a drill: many draws, each run, each with an answer that its run confirms."""

from dataclasses import dataclass

from app.course.drills.drawing import drill_job, spread_levels
from app.course.drills.drill import LEVELS, PROVEN, Drill
from app.course.drills.keeping import Kept, keep_drawn, make_evidence
from app.course.problems import Report, Rule
from graders.contract.jobs import RunJob
from graders.contract.results import RunEnd

SPARE = 40
"""Draws beyond those to prove, because some are refused."""


@dataclass(frozen=True)
class DrillCheck:
    """A drill whose draws are to be proven."""

    drill: Drill


def proving_job(drill: Drill) -> RunJob:
    return drill_job(drill, spread_levels(range(PROVEN + SPARE), LEVELS))


def read_proof(drill: Drill, result: RunEnd) -> Kept:
    return keep_drawn(drill, result.stdout, at_most=PROVEN)


def judge_drill(check: DrillCheck, result: RunEnd, report: Report) -> None:
    """Reports a drill of which too few draws can be asked, and evidence that no longer fits."""
    drill, kept = check.drill, read_proof(check.drill, result)
    line = drill.question.where.line
    if kept.tried == 0:
        message = f"the drill {drill.id!r} drew nothing"
        report.add(line, Rule.VARIANT_FAILED, "", message, "let `draw(rng, level)` return a dict")
        return
    if len(kept.graphs) < PROVEN:
        why, count = kept.refused.most_common(1)[0]
        message = f"{len(kept.graphs)} of {kept.tried} draws of {drill.id!r} can be asked, but {PROVEN} are wanted"
        report.add(line, Rule.VARIANT_FAILED, why, message, f"{count} were refused because {why}: fix {drill.id}.py")
        return
    now, before = make_evidence(drill, kept, ""), drill.evidence
    if before is None:
        message = f"the drill {drill.id!r} has no committed evidence"
    elif before.model_copy(update={"torch": ""}) != now:
        message = f"the draws of {drill.id!r} are no longer the committed ones"
    else:
        return
    report.add(line, Rule.VARIANT_CHANGED, "", message, "run `python -m app check --update`, and commit the new file")


def has_same_draws(drill: Drill, one: RunEnd, other: RunEnd) -> bool:
    """Whether two runs proved the same draws."""
    return make_evidence(drill, read_proof(drill, one), "") == make_evidence(drill, read_proof(drill, other), "")
