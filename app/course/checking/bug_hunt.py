"""Reports an author's mistakes in what a bug hunt asks beside the code: kinds of fault, guilty lines. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.course.language.python_code import is_code_line, source_lines
from app.course.language.toml_file import find_line
from app.course.problems import Report, Rule, one_of, suggest
from graders.contract.manifest import Attempt, Diagnosis, Manifest
from graders.contract.results import Outcome

FEWEST_CATEGORIES = 4
"""With fewer choices, a guess would succeed too often."""

REFUSED = "wrong-diagnosis"


@dataclass(frozen=True)
class _Hunt:
    """A diagnosis with the texts that it refers to."""

    asked: Diagnosis
    toml: str
    starter: tuple[str, ...]
    report: Report

    def complain(self, line: int, value: str, message: str, remedy: str) -> None:
        self.report.add(line, Rule.DIAGNOSIS, value, message, remedy)


def check_diagnosis(manifest: Manifest, toml: str, starter: str, report: Report) -> None:
    """Reports every contradiction in `[diagnosis]` and in the attempts' diagnoses."""
    if manifest.diagnosis is None:
        _check_no_words(manifest.attempts, toml, report)
        return
    hunt = _Hunt(manifest.diagnosis, toml, source_lines(starter), report)
    _check_categories(hunt)
    at = find_line(toml, "[diagnosis]", "lines")
    for line in hunt.asked.lines:
        _check_guilty_line(hunt, line, at)
    for attempt in manifest.attempts:
        _check_attempt(hunt, attempt)
    _check_proof(hunt, manifest.attempts)


def _check_no_words(attempts: Iterable[Attempt], toml: str, report: Report) -> None:
    for attempt in attempts:
        said = "category" if attempt.category else "line" if attempt.line else None
        if said:
            message = f"attempts/{attempt.file} gives a {said}, but the exercise asks for no diagnosis"
            remedy = f"remove `{said}`, or write [diagnosis] with categories, answer and lines"
            report.add(find_line(toml, attempt.file, said), Rule.DIAGNOSIS, said, message, remedy)


def _check_categories(hunt: _Hunt) -> None:
    count = len(hunt.asked.categories)
    if count < FEWEST_CATEGORIES:
        message = f"there are {count} kinds of fault to choose from, so a guess would often be right"
        remedy = f"write at least {FEWEST_CATEGORIES}, each one that fits the symptom at first sight"
        hunt.complain(find_line(hunt.toml, "[diagnosis"), str(count), message, remedy)


def _check_guilty_line(hunt: _Hunt, line: int, at: int) -> None:
    count = len(hunt.starter)
    if line < 1 or line > count:
        message = f"line {line} is listed as guilty, but starter.py has {count} lines"
        hunt.complain(at, str(line), message, f"write a line from 1 to {count}")
        return
    text = hunt.starter[line - 1]
    if not is_code_line(text):
        what = "a comment" if text.strip() else "blank"
        message = f"line {line} is listed as guilty, but in starter.py it is {what}"
        hunt.complain(
            at, str(line), message, "write the number of the line that causes the fault; lines count from 1"
        )


def _check_attempt(hunt: _Hunt, attempt: Attempt) -> None:
    known = hunt.asked.categories
    if attempt.category is not None and attempt.category not in known:
        message = f"attempts/{attempt.file} chooses the category {attempt.category!r}, which is not offered"
        at = find_line(hunt.toml, attempt.file, "category")
        hunt.complain(at, attempt.category, message, suggest(attempt.category, known, one_of(known)))
    if attempt.line is not None and attempt.line > len(hunt.starter):
        message = f"attempts/{attempt.file} marks line {attempt.line}, but starter.py has {len(hunt.starter)} lines"
        at = find_line(hunt.toml, attempt.file, "line")
        hunt.complain(at, str(attempt.line), message, f"write a line from 1 to {len(hunt.starter)}")


def _check_proof(hunt: _Hunt, attempts: tuple[Attempt, ...]) -> None:
    """Requires two attempts with a right fix, one naming another fault and one another line: both must be refused."""
    asked = hunt.asked
    said = [
        (attempt.category or asked.answer, attempt.line or asked.lines[0]) for attempt in attempts if _gets(attempt)
    ]
    wanted = (
        ("category", "category = another", any(kind != asked.answer and line in asked.lines for kind, line in said)),
        ("line", "line = another", any(kind == asked.answer and line not in asked.lines for kind, line in said)),
    )
    for part, other, proven in wanted:
        if not proven:
            message = f"no attempt shows that a right fix with a wrong {part} is refused"
            remedy = f'add [[attempts]] with a right fix, {other}, outcome = "wrong_answer", finding = "{REFUSED}"'
            hunt.complain(find_line(hunt.toml, "[diagnosis"), f"wrong {part}", message, remedy)


def _gets(attempt: Attempt) -> bool:
    return attempt.outcome is Outcome.WRONG_ANSWER and attempt.finding == REFUSED
