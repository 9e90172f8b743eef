"""Advice: what is worth an author's look and fails only a strict check. Pure."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.course.chapter import ParsedChapter
from app.course.language.toml_file import find_line
from app.course.model import Exercise
from app.course.problems import ContentProblem, Report, Rule
from graders.contract.exercise_files import CASES
from graders.contract.manifest import Manifest
from graders.contract.results import Outcome

ENGINE_FINDINGS = frozenset(
    {"no-diagnosis", "wrong-diagnosis", "too-many-forwards", "too-much-held", "too-many-calls"}
)
"""Findings that the engine itself gives; exercise.toml may replace their sentences."""

RIGHT_ANSWERS = 4
"""How many attempts should pass, besides the solution: a judge that knows one style refuses the others."""

RANDOM_MODULES = frozenset({"random", "np.random", "numpy.random", "torch"})
SEEDED = frozenset({"Random", "SystemRandom", "default_rng", "Generator", "SeedSequence", "PCG64", "RandomState"})
TORCH_DRAWS = frozenset(
    {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "rand_like", "randn_like"}
)


@dataclass(frozen=True)
class UnseededDraw:
    line: int
    call: str


def advise_exercise(name: str, manifest: Manifest, texts: Mapping[str, str]) -> list[ContentProblem]:
    """Findings that nothing gives, no cheat and few right answers among the attempts, and unseeded draws."""
    toml, cases = texts["exercise.toml"], texts.get(CASES, "")
    report = Report(f"exercises/{name}/exercise.toml")
    given = {attempt.finding for attempt in manifest.attempts} | ENGINE_FINDINGS
    for code in manifest.findings:
        if code not in given and not re.search(rf"""["']{re.escape(code)}["']""", cases):
            message = f"no case and no attempt gives the finding {code!r}"
            remedy = "give it to a case, let `diagnose` return it, or remove it"
            report.add(find_line(toml, f"findings.{code}"), Rule.UNUSED_FINDING, code, message, remedy)
    if manifest.attempts and not any(attempt.cheat for attempt in manifest.attempts):
        message = "none of the attempts is a cheat"
        remedy = "add an answer that tries to pass without solving the task, with `cheat = true`"
        report.add(find_line(toml, "attempts"), Rule.NO_CHEAT, "", message, remedy)
    right = sum(attempt.outcome is Outcome.PASSED for attempt in manifest.attempts)
    if manifest.attempts and right < RIGHT_ANSWERS:
        message = f"right answers among the attempts: {right}, where at least {RIGHT_ANSWERS} are wanted"
        remedy = 'add right answers in other styles than the solution\'s, with `outcome = "passed"`'
        report.add(find_line(toml, "attempts"), Rule.FEW_RIGHT, str(right), message, remedy)
    there = Report(f"exercises/{name}/{CASES}")
    for draw in find_unseeded(cases):
        message = f"`{draw.call}` does not follow the seed of the run, so a verdict cannot be repeated"
        there.add(draw.line, Rule.UNSEEDED, draw.call, message, "draw from `rng`, or seed a generator from it")
    return [*report.problems, *there.problems]


def find_unseeded(cases: str) -> list[UnseededDraw]:
    """Calls of the random generators that a module shares. torch's is fine once the file seeds it."""
    try:
        nodes = list(ast.walk(ast.parse(cases)))
    except (SyntaxError, ValueError):
        return []
    calls = [(node.lineno, ast.unparse(node.func)) for node in nodes if isinstance(node, ast.Call)]
    is_torch_seeded = any(call.endswith("manual_seed") for _, call in calls)
    found = []
    for line, call in sorted(calls):
        module, _, function = call.rpartition(".")
        if module not in RANDOM_MODULES or function in SEEDED or function == "seed":
            continue
        if module != "torch" or (function in TORCH_DRAWS and not is_torch_seeded):
            found.append(UnseededDraw(line, call))
    return found


def advise_offers(parsed: Mapping[str, ParsedChapter], exercises: Iterable[Exercise]) -> list[ContentProblem]:
    """Exercises that no chapter offers, and those that are offered a second time."""
    offered: dict[str, str] = {}
    advice: list[ContentProblem] = []
    for slug, chapter in parsed.items():
        report = Report(f"chapters/{slug}/chapter.md")
        for use in chapter.exercises:
            place = f"{report.path}:{use.line}"
            if use.name in offered:
                message = f"the exercise {use.name!r} is offered at {offered[use.name]} already"
                report.add(use.line, Rule.OFFERED, use.name, message, "link to it with [text](exercise:NAME) instead")
            offered.setdefault(use.name, place)
        advice += report.problems
    for exercise in exercises:
        if exercise.name not in offered:
            report = Report(f"exercises/{exercise.name}/exercise.toml")
            message = f"no chapter offers the exercise {exercise.name!r}"
            report.add(1, Rule.OFFERED, exercise.name, message, f"write :::{{exercise}} {exercise.name} in a chapter")
            advice += report.problems
    return advice


def advise_files(slug: str, parsed: ParsedChapter, names: Iterable[str]) -> list[ContentProblem]:
    """Files of a chapter's folder that no block of it uses; `names` are their paths within the folder."""
    if parsed.chapter is None:
        return []
    index = parsed.chapter.index
    used = {image.path for image in parsed.images}
    used |= {f"traces/{name}.json" for name in index.graphs}
    used |= {f"variants/{name}.json" for name, question in index.questions.items() if question.variant}
    used |= {f"measures/{name}.json" for name in index.measures}
    return [
        ContentProblem(
            f"chapters/{slug}/{name}",
            1,
            Rule.UNUSED_FILE,
            name,
            f"nothing in the chapter uses {name}",
            "remove the file, or show it",
        )
        for name in names
        if name not in used
    ]
