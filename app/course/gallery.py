"""The course's gallery: short programs to step through, whose docstrings say what to watch. Pure: takes texts."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.course.language.python_code import find_syntax_mistake
from app.course.problems import ContentProblem, Report, Rule
from graders.contract.results import Outcome, RunEnd

FOLDER = "gallery"
MAX_TITLE_LENGTH = 40
SHOWN = 200


@dataclass(frozen=True)
class Snippet:
    """A program with its title and the sentences that say what to watch for; `source` excludes that docstring.

    `source_line` is the file's line on which the source begins.
    """

    id: str
    title: str
    text: str
    source: str
    source_line: int = 1

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.id}.py"


def read_snippet(name: str, text: str) -> Snippet:
    """A file's text as a snippet. If it has no docstring, or is not Python, its name is the title."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        # Python 3.11.3 and older raise ValueError for a NUL byte.
        body = []
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return Snippet(name, name, "", text)
    title, _, rest = str(first.value.value).strip().partition("\n")
    lines = text.splitlines()[first.end_lineno or 0 :]
    source = "\n".join(lines).strip("\n") + "\n"
    blank = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return Snippet(name, title.strip(), " ".join(rest.split()), source, (first.end_lineno or 0) + blank + 1)


def check_gallery(snippets: Iterable[Snippet]) -> list[ContentProblem]:
    """The problems of the gallery's texts. Whether each program runs is decided in the box, by `judge_snippet`."""
    problems: list[ContentProblem] = []
    for snippet in snippets:
        report = Report(snippet.path)
        _check_snippet(snippet, report)
        problems += report.problems
    return problems


def _check_snippet(snippet: Snippet, report: Report) -> None:
    mistake = find_syntax_mistake(snippet.source)
    if mistake:
        line = snippet.source_line + mistake.line - 1
        report.add(line, Rule.PYTHON, snippet.id, f"the program does not parse: {mistake.message}", "fix it")
        return
    if not snippet.text:
        remedy = "begin with a docstring: a title line, an empty line, and sentences that say what to watch"
        report.add(1, Rule.GALLERY, snippet.id, "the program does not say what to watch", remedy)
    if not 0 < len(snippet.title) <= MAX_TITLE_LENGTH:
        message = f"the title has {len(snippet.title)} letters"
        report.add(1, Rule.GALLERY, snippet.title, message, f"write 1 to {MAX_TITLE_LENGTH}: it is a button's text")


def judge_snippet(snippet: Snippet, result: RunEnd, report: Report) -> None:
    """Reports a program that fails or records no tape. An error is intended if the docstring names its type."""
    mistake = result.mistake
    if result.outcome is not Outcome.OK and not (mistake and _names(snippet.text, mistake.type)):
        ended = f"{mistake.type}: {mistake.message}" if mistake else result.outcome.value
        line = snippet.source_line + mistake.line - 1 if mistake and mistake.line else snippet.source_line
        message = f"the program ends with {ended[:SHOWN]}"
        remedy = "fix it; if the error is what the program shows, name its type in the docstring"
        report.add(line, Rule.GALLERY, ended[:SHOWN], message, remedy)
    elif result.trace is None or not result.trace.events.kind:
        why = result.trace_refused or "no step was recorded"
        remedy = "write a program whose graph is small enough to be sent"
        report.add(snippet.source_line, Rule.GALLERY, snippet.id, f"there is no tape to step through: {why}", remedy)


def _names(text: str, error: str) -> bool:
    return error.rpartition(".")[2] in re.findall(r"\w+", text)
