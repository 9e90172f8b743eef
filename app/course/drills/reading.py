"""Reads the drills of a course from the texts of its folder drills/, and reports what is missing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from app.course.blocks import Variant
from app.course.chapter import ChapterParser
from app.course.drills.drill import FOLDER, Drill, DrillEvidence
from app.course.language.draft import Named
from app.course.language.prose import Link
from app.course.language.python_code import find_syntax_mistake
from app.course.problems import ContentProblem, Report, Rule, one_of, suggest
from app.course.questions.kinds import Question
from graders.contract.jobs import Flavour

NO_DRAW = re.compile(r"^def draw\(", re.MULTILINE)


@dataclass(frozen=True)
class ReadDrills:
    """The drills that can be asked, and every problem of the folder. `links` are those in the texts, by path."""

    drills: tuple[Drill, ...]
    problems: tuple[ContentProblem, ...]
    links: Mapping[str, tuple[Link, ...]]


def read_drills(texts: Mapping[str, str], concepts: Mapping[str, str], parser: ChapterParser) -> ReadDrills:
    """`texts` are the folder's files by name. A .py file without a question is a module for the others."""
    names = sorted(name.removesuffix(".md") for name in texts if name.endswith(".md"))
    shared = tuple(
        (name.removesuffix(".py"), text)
        for name, text in sorted(texts.items())
        if name.endswith(".py") and name.removesuffix(".py") not in names
    )
    problems: list[ContentProblem] = []
    for module, text in shared:
        _check_python(f"{FOLDER}/{module}.py", text, problems)
    drills, links = [], {}
    for name in names:
        path = f"{FOLDER}/{name}.md"
        code = texts.get(f"{name}.py", "")
        report = Report(path)
        _check_generator(name, code, report, problems)
        variant = Variant(name, code, Flavour.TORCH, 0, 1)
        parsed = parser.question(texts[f"{name}.md"], path, variant)
        links[path] = parsed.links
        report.problems += parsed.problems
        _check_concepts(parsed.concepts, concepts, report)
        question = _find_question(name, parsed.questions, report)
        if question is not None:
            evidence = _read_evidence(name, texts.get(f"{name}.json"), problems)
            drills.append(Drill(name, question, code, shared, evidence))
        problems += report.problems
    return ReadDrills(tuple(drills), tuple(problems), links)


def _find_question(name: str, questions: tuple[Question, ...], report: Report) -> Question | None:
    """The file's one question, which has the file's name and is drawn."""
    if len(questions) != 1:
        message = f"{name}.md has {len(questions)} questions; a drill has one"
        report.add(1, Rule.DRILL, str(len(questions)), message, "write one `:::{question} " + name + "` in it")
        return None
    question = questions[0]
    if question.id != name:
        message = f"the question is called {question.id!r}, and its file {name!r}"
        report.add(question.where.line, Rule.DRILL, question.id, message, f"call it {name!r}: answers are kept by it")
        return None
    if question.variant is None:
        message = f"the question of {name}.md is not drawn"
        report.add(question.where.line, Rule.DRILL, name, message, f"write `:variant: {name}`")
        return None
    return question


def _check_generator(name: str, code: str, report: Report, problems: list[ContentProblem]) -> None:
    if not NO_DRAW.search(code):
        message = f"{name}.py defines no function `draw`"
        remedy = f"write {FOLDER}/{name}.py with `def draw(rng, level):`, returning a dict"
        report.add(1, Rule.DRILL, f"{name}.py", message, remedy)
    _check_python(f"{FOLDER}/{name}.py", code, problems)


def _check_python(path: str, code: str, problems: list[ContentProblem]) -> None:
    mistake = find_syntax_mistake(code)
    if mistake:
        message = f"this Python does not parse: {mistake.message}"
        problems.append(ContentProblem(path, mistake.line, Rule.PYTHON, path, message, "fix the line"))


def _check_concepts(used: tuple[Named, ...], concepts: Mapping[str, str], report: Report) -> None:
    for use in used:
        if use.name not in concepts:
            message = f"{use.by} names the concept {use.name!r}, which course.toml does not have"
            report.add(
                use.line, Rule.UNKNOWN_CONCEPT, use.name, message, suggest(use.name, concepts, one_of(concepts))
            )


def _read_evidence(name: str, text: str | None, problems: list[ContentProblem]) -> DrillEvidence | None:
    if text is None:
        return None
    try:
        return DrillEvidence.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        path = f"{FOLDER}/{name}.json"
        remedy = "delete the file and run `python -m app check --update`"
        problems.append(ContentProblem(path, 1, Rule.EVIDENCE_FILE, field, f"{field}: {first['msg']}", remedy))
        return None
