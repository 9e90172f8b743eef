"""Compares what the hidden setup printed with the committed files: a variant's draws, a measurement's table. Pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.course.blocks import Measure, Value, VariantDraw
from app.course.checking.hidden_setup import DRAW_LINE, TABLE_LINE, read_lines
from app.course.language.python_code import find_syntax_mistake
from app.course.model import Chapter
from app.course.problems import Report, Rule, one_of, suggest
from app.course.questions.code_lines import CodeQuestion
from app.course.questions.committed import DrawEntry, MeasureFile, VariantFile, hash_measure, hash_variant
from app.course.questions.draw_values import show_values
from app.course.questions.placeholders import code_in, fill_text
from app.course.questions.question import QuestionBase
from graders.contract.results import RunEnd

CLOSE = 1e-5
"""Numbers from two machines whose relative difference is at most this count as equal."""

MAX_ROWS = 400
MAX_COLUMNS = 12


@dataclass(frozen=True)
class VariantCheck:
    """`committed` is the file's present content, or None if there is no file."""

    chapter: Chapter
    question: QuestionBase
    committed: VariantFile | None


@dataclass(frozen=True)
class MeasureCheck:
    """`agreed` is the committed file of the measurement that this one has to agree with."""

    chapter: Chapter
    measure: Measure
    committed: MeasureFile | None
    agreed: MeasureFile | None = None


@dataclass
class Drawing:
    """The draws that were kept, and why the others were rejected."""

    kept: list[VariantDraw] = field(default_factory=list)
    tried: int = 0
    rejected: dict[str, int] = field(default_factory=dict)


def read_draws(question: QuestionBase, stdout: str) -> Drawing:
    """The wanted number of draws, by seed. In each, every wrong answer differs from the truth; none is repeated."""
    drawing = Drawing()
    wanted = question.variant.wanted if question.variant else 0
    for seed, values in read_lines(stdout, DRAW_LINE):
        drawing.tried += 1
        draw = VariantDraw(int(seed), values if isinstance(values, dict) else {})
        why = question.why_not(draw, drawing.kept)
        if why:
            drawing.rejected[why] = drawing.rejected.get(why, 0) + 1
        elif len(drawing.kept) < wanted:
            drawing.kept.append(draw)
    return drawing


def judge_variant(check: VariantCheck, result: RunEnd, report: Report) -> None:
    question = check.question
    drawing = read_draws(question, result.stdout)
    wanted = question.variant.wanted if question.variant else 0
    if drawing.tried == 0:
        message = f"the variant of {question.id!r} printed no draws"
        report.add(question.where.line, Rule.VARIANT_FAILED, "", message, "let `draw(rng)` return a dict")
        return
    if len(drawing.kept) < wanted:
        _report_too_few(question, drawing, wanted, report)
        return
    _check_code(question, drawing, report)
    remedy = "run `python -m app check --update`, look at the draws, and commit them"
    if check.committed is None:
        message = f"the question {question.id!r} has no committed draws"
        report.add(question.where.line, Rule.VARIANT_CHANGED, "", message, remedy)
    elif not _are_same_draws(check.committed.draws, drawing):
        message = f"the draws of {question.id!r} differ from the committed ones"
        report.add(question.where.line, Rule.VARIANT_CHANGED, "", message, remedy)


def _report_too_few(question: QuestionBase, drawing: Drawing, wanted: int, report: Report) -> None:
    why, count = max(drawing.rejected.items(), key=lambda item: item[1])
    message = f"{len(drawing.kept)} of {drawing.tried} draws of {question.id!r} can be asked, but {wanted} are wanted"
    remedy = f"{count} were rejected because {why}: "
    missing = next((name for name in question.names() if why == f"it has no {name!r}"), None)
    if missing:
        remedy += suggest(missing, (), f"let `draw` return {missing!r}, or correct the name in the question")
    else:
        remedy += "let `draw` choose from more values, or write a smaller `:draws:`"
    report.add(question.where.line, Rule.VARIANT_FAILED, why, message, remedy)


def _check_code(question: QuestionBase, drawing: Drawing, report: Report) -> None:
    """Reports a filled listing that does not parse."""
    listings = code_in(question.prompt + question.answer)
    if isinstance(question, CodeQuestion):
        listings = (*listings, (question.code.language, question.code.source))
    for draw in drawing.kept:
        for language, source in listings:
            mistake = find_syntax_mistake(fill_text(source, show_values(draw))) if language == "python" else None
            if mistake:
                message = f"the code of {question.id!r} does not parse with the draw of seed {draw.seed}"
                remedy = f"{mistake.message} in its line {mistake.line}: fix it, or mark the fence ```text"
                report.add(question.where.line, Rule.PYTHON, str(draw.seed), message, remedy)
                return


def _are_same_draws(committed: Iterable[DrawEntry], drawing: Drawing) -> bool:
    before = [(entry.seed, entry.values) for entry in committed]
    now = [(draw.seed, draw.values) for draw in drawing.kept]
    return len(before) == len(now) and all(
        one[0] == other[0] and _are_alike(one[1], other[1]) for one, other in zip(before, now, strict=True)
    )


def _are_alike(one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    return one.keys() == other.keys() and all(is_close(one[name], other[name]) for name in one)


def has_same_draws(question: QuestionBase, one: RunEnd, other: RunEnd) -> bool:
    """Whether two runs of a question's generator drew the same."""
    drawn = make_entries(read_draws(question, one.stdout).kept)
    return _are_same_draws(drawn, read_draws(question, other.stdout))


def has_same_table(one: RunEnd, other: RunEnd) -> bool:
    """Whether two runs of a measurement left the same table."""
    first, second = read_table(one.stdout), read_table(other.stdout)
    return not isinstance(first, str) and not isinstance(second, str) and not _find_difference(first, second)


def is_close(one: Any, other: Any) -> bool:
    """Whether two runs gave the same value, except for the last bits of a float."""
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-12)
    return bool(one == other)


def make_variant_file(check: VariantCheck, result: RunEnd, torch: str) -> VariantFile:
    """The file to commit after a run that drew enough."""
    entries = make_entries(read_draws(check.question, result.stdout).kept)
    return VariantFile(content=hash_variant(check.question), torch=torch, draws=entries)


def make_entries(draws: Iterable[VariantDraw]) -> tuple[DrawEntry, ...]:
    return tuple(DrawEntry(seed=draw.seed, values=dict(draw.values)) for draw in draws)


Columns = dict[str, tuple[Value | None, ...]]


def read_table(stdout: str) -> Columns | str:
    """The last table that a measurement printed, or a string that says what is wrong with it."""
    tables = list(read_lines(stdout, TABLE_LINE))
    if not tables:
        return "it printed no table"
    table = tables[-1]
    if not isinstance(table, dict) or not table:
        return "`result` is empty"
    lengths = {len(column) for column in table.values()}
    if len(lengths) > 1:
        return "the columns of `result` differ in length"
    if len(table) > MAX_COLUMNS or max(lengths) > MAX_ROWS:
        return f"`result` has more than {MAX_COLUMNS} columns or {MAX_ROWS} rows"
    if not all(_is_value(value) for column in table.values() for value in column):
        return "`result` holds something that is neither a number nor a text"
    return {str(name): tuple(column) for name, column in table.items()}


def _is_value(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)


def judge_measure(check: MeasureCheck, result: RunEnd, report: Report) -> None:
    measure = check.measure
    line = measure.where.line
    table = read_table(result.stdout)
    if isinstance(table, str):
        remedy = "assign to `result` a dict of columns, or a list of rows as dicts"
        report.add(line, Rule.MEASURE_FAILED, "", f"the measurement {measure.id!r} failed: {table}", remedy)
        return
    for name in (measure.chart.x, *measure.chart.y):
        if name and name not in table:
            message = f"the table of {measure.id!r} has no column {name!r}"
            report.add(line, Rule.MEASURE_FAILED, name, message, suggest(name, table, one_of(table)))
            return
    if measure.agrees_with:
        _judge_agreement(check, table, report)
    remedy = "run `python -m app check --update`, look at the numbers, and commit them"
    if check.committed is None:
        message = f"the measurement {measure.id!r} is not committed"
        report.add(line, Rule.MEASURE_CHANGED, "", message, remedy)
    elif check.committed.content != hash_measure(measure):
        message = f"the code of the measurement {measure.id!r} has changed since it was taken"
        report.add(line, Rule.MEASURE_CHANGED, "", message, remedy)
    elif measure.exact and (differs := _find_difference(check.committed.columns, table)):
        message = f"the measurement {measure.id!r} is exact, but its result differs: {differs}"
        report.add(line, Rule.MEASURE_CHANGED, differs, message, remedy)


def _judge_agreement(check: MeasureCheck, table: Columns, report: Report) -> None:
    """Compares the columns that both measurements have, such as those of a simulation and of real processes."""
    line, name, other = check.measure.where.line, check.measure.id, check.measure.agrees_with
    measures = check.chapter.index.measures
    if other not in measures or other == name:
        message = (
            f"the measurement {name!r} has to agree with {other!r}, which is no other measurement of this chapter"
        )
        remedy = suggest(other, measures, one_of(each for each in measures if each != name))
        report.add(line, Rule.UNKNOWN_ID, other, message, remedy)
        return
    if check.agreed is None or check.agreed.content != hash_measure(measures[other]):
        message = (
            f"the measurement {name!r} cannot be compared: {other!r} has not been committed with its present code"
        )
        remedy = "run `python -m app check --update` first, with `--outside` if it runs outside the box"
        report.add(line, Rule.MEASURES_DISAGREE, other, message, remedy)
        return
    before = {column: values for column, values in check.agreed.columns.items() if column in table}
    differs = _find_difference(before, {column: table[column] for column in before}) if before else "no common column"
    if differs:
        message = f"the measurement {name!r} does not agree with {other!r}: {differs}"
        remedy = "correct the code of one of them; equal columns have the same name and the same rows"
        report.add(line, Rule.MEASURES_DISAGREE, differs, message, remedy)


def _find_difference(before: Mapping[str, tuple[Value | None, ...]], now: Columns) -> str:
    if list(before) != list(now):
        return "list of columns"
    for name, column in now.items():
        if len(column) != len(before[name]):
            return "number of rows"
        for one, other in zip(before[name], column, strict=True):
            if not is_close(one, other):
                return f"{name}: {other!r} for {one!r}"
    return ""
