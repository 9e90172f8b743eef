"""Builds an exercise from the texts of its folder, and reports what is missing. Pure: the loader reads the files."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.course.chapter import ChapterParser
from app.course.checking.advice import advise_exercise
from app.course.checking.bug_hunt import check_diagnosis
from app.course.checking.charts import check_chart
from app.course.language.prose import Link
from app.course.language.python_code import find_syntax_mistake
from app.course.language.toml_file import find_line, read_toml
from app.course.model import Exercise
from app.course.problems import ContentProblem, Report, Rule, one_of, suggest
from graders.contract.manifest import Manifest

EXERCISE_FILES = ("exercise.toml", "prompt.md", "hints.md", "starter.py", "solution.py", "cases.py", "probe.py")
HINTS = 3
FORMULA = re.compile(r"\$[^$\s](?:[^$]*[^$\s])?\$")


@dataclass(frozen=True)
class ExerciseText:
    """The files of an exercise's folder by name, and the names of its attempts."""

    folder: Path
    texts: Mapping[str, str]
    attempts: frozenset[str]

    @property
    def name(self) -> str:
        return self.folder.name


@dataclass(frozen=True)
class ReadExercise:
    """A folder as read. `exercise` is None if it cannot be shown; `links` are those in its texts, by path."""

    exercise: Exercise | None
    problems: tuple[ContentProblem, ...]
    links: Mapping[str, tuple[Link, ...]]


def read_exercise(
    files: ExerciseText, concepts: Collection[str], parser: ChapterParser, report: Report
) -> ReadExercise:
    """The exercise with every problem of its folder. `concepts` are the course's; the exercise may name no others."""
    folder = f"exercises/{files.name}"
    problems = _find_missing_files(files) + _find_python_mistakes(files)
    manifest = read_toml(files.texts.get("exercise.toml", ""), Manifest, Rule.EXERCISE_FILE, report)
    prompt = parser.markdown(files.texts.get("prompt.md", ""), f"{folder}/prompt.md")
    hints = parser.markdown(files.texts.get("hints.md", ""), f"{folder}/hints.md", cut_at="h2")
    links = {f"{folder}/prompt.md": prompt.links, f"{folder}/hints.md": hints.links}
    problems += [*prompt.problems, *hints.problems]
    if files.texts.get("hints.md") and len(hints.parts) != HINTS:
        message = f"there are {len(hints.parts)} hints; an exercise has {HINTS}"
        remedy = "write three steps, each under its own heading: `## What to try first`"
        problems.append(
            ContentProblem(f"{folder}/hints.md", 1, Rule.EXERCISE_FILE, str(len(hints.parts)), message, remedy)
        )
    exercise = None
    if manifest is not None and "prompt.md" in files.texts:
        _check_attempts(manifest, files, report)
        _check_concepts(manifest, concepts, files.texts["exercise.toml"], report)
        starter = files.texts.get("starter.py", "")
        _check_findings(manifest, files.texts["exercise.toml"], report)
        check_diagnosis(manifest, files.texts["exercise.toml"], starter, report)
        check_chart(manifest, files.texts["exercise.toml"], report)
        problems += advise_exercise(files.name, manifest, files.texts)
        exercise = Exercise(files.name, files.folder, manifest, "\n".join(prompt.parts), hints.parts, starter)
    return ReadExercise(exercise, tuple(problems + report.problems), links)


def _find_missing_files(files: ExerciseText) -> list[ContentProblem]:
    return [
        ContentProblem(
            f"exercises/{files.name}/{name}",
            1,
            Rule.MISSING_FILE,
            name,
            f"the exercise {files.name!r} has no {name}",
            "write it; docs/writing-an-exercise.md says what belongs in it",
        )
        for name in EXERCISE_FILES
        if name not in files.texts
    ]


def _find_python_mistakes(files: ExerciseText) -> list[ContentProblem]:
    problems = []
    for name, text in files.texts.items():
        mistake = find_syntax_mistake(text) if name.endswith(".py") else None
        if mistake:
            message = f"this Python does not parse: {mistake.message}"
            path = f"exercises/{files.name}/{name}"
            problems.append(ContentProblem(path, mistake.line, Rule.PYTHON, "", message, "fix the line"))
    return problems


def _check_concepts(manifest: Manifest, concepts: Collection[str], text: str, report: Report) -> None:
    for name in manifest.concepts:
        if name not in concepts:
            message = f"the exercise names the concept {name!r}, which is not in course.toml"
            remedy = suggest(name, concepts, one_of(concepts))
            report.add(find_line(text, "concepts", name), Rule.UNKNOWN_CONCEPT, name, message, remedy)


def _check_findings(manifest: Manifest, text: str, report: Report) -> None:
    """Reports formulas in findings: terminals and other graders show them too, and cannot typeset them."""
    for code, finding in manifest.findings.items():
        for formula in FORMULA.findall(f"{finding.short} {finding.long}"):
            message = f"the finding {code!r} holds the formula {formula}, which is not typeset"
            remedy = "write it as code in backticks, such as `3 * x ** 2`"
            report.add(find_line(text, f"[findings.{code}]"), Rule.MATH, formula, message, remedy)


def _check_attempts(manifest: Manifest, files: ExerciseText, report: Report) -> None:
    text = files.texts["exercise.toml"]
    listed = {attempt.file for attempt in manifest.attempts}
    unlisted = files.attempts - listed
    for name in sorted(listed - files.attempts):
        message = f"attempts/{name} does not exist"
        remedy = suggest(name, files.attempts, one_of(files.attempts))
        # The file that was meant is not one more mistake.
        unlisted = frozenset(other for other in unlisted if repr(other) not in remedy)
        report.add(find_line(text, name), Rule.MISSING_FILE, name, message, remedy)
    for name in sorted(unlisted):
        message = f"attempts/{name} has no outcome"
        remedy = f'add [[attempts]] with file = "{name}", outcome and why'
        report.add(find_line(text, "attempts"), Rule.EXERCISE_FILE, name, message, remedy)
