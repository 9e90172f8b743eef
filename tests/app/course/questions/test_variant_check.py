"""Draws and tables come from the box as printed lines; what cannot be asked or shown is refused with its reason."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.course.block_tree import blocks_of
from app.course.blocks import Measure
from app.course.checking.hidden_setup import cell_job, drop_lines, variant_job
from app.course.loader import load_course
from app.course.model import Chapter
from app.course.problems import Report
from app.course.questions.committed import MeasureFile, hash_measure, read_file, write_file
from app.course.questions.placeholders import mark_placeholders
from app.course.questions.question import Listing, QuestionBase
from app.course.questions.variant_check import (
    MeasureCheck,
    VariantCheck,
    judge_measure,
    judge_variant,
    make_variant_file,
    read_draws,
    read_table,
)
from graders.contract.results import Outcome, RunEnd

FIXTURE = Path(__file__).parents[3] / "course"


@pytest.fixture(scope="module")
def chapter() -> Chapter:
    return load_course(FIXTURE)[0].chapters[1]


@pytest.fixture
def question(chapter: Chapter) -> QuestionBase:
    return next(found for found in blocks_of(QuestionBase, chapter.blocks) if found.id == "after-several-calls")


@pytest.fixture
def measure(chapter: Chapter) -> Measure:
    return blocks_of(Measure, chapter.blocks)[0]


def printed(*draws: dict[str, object]) -> RunEnd:
    lines = (f"draw: {json.dumps([seed, values])}" for seed, values in enumerate(draws))
    return RunEnd(outcome=Outcome.OK, stdout="\n".join(lines))


def values(answer: float, **others: object) -> dict[str, object]:
    return {"factor": 2, "calls": 3, "answer": answer, "last": 0.25, "doubled": 0.5, **others}


def said(chapter: Chapter, question: QuestionBase, end: RunEnd) -> list[tuple[str, str, str]]:
    report = Report("chapter.md")
    judge_variant(VariantCheck(chapter, question, None), end, report)
    return [(found.rule.value, found.message, found.remedy) for found in report.problems]


def test_a_draw_in_which_a_distractor_is_the_truth_is_rejected(question: QuestionBase) -> None:
    drawing = read_draws(question, printed(values(1), values(2, last=2), values(3)).stdout)

    assert [draw.seed for draw in drawing.kept] == [0, 2]
    assert drawing.rejected == {"the wrong answer {{last}} is the truth": 1}


@pytest.mark.parametrize(
    ("drawn", "why"),
    [
        (values(float("nan")), "it holds a number that is not finite"),
        ({**values(1), "answer": "many"}, "its 'answer' is not a number"),
        ({"factor": 2, "calls": 3}, "it has no 'answer'"),
        ({"factor": 2, "answer": 3, "last": 1, "doubled": 9}, "it has no 'calls'"),
        (values(1, last="none"), "the wrong answer {{last}} is not a number"),
        (values(1, last=[1]), "it is not a dict of names to numbers, texts and booleans"),
        (values(1.0004, last=1), "the wrong answer {{last}} is the truth"),
    ],
)
def test_what_cannot_be_asked_is_rejected_with_its_reason(
    question: QuestionBase, drawn: dict[str, object], why: str
) -> None:
    assert list(read_draws(question, printed(drawn).stdout).rejected) == [why]


@pytest.fixture
def asked(chapter: Chapter) -> dict[str, QuestionBase]:
    return {found.id: found for found in blocks_of(QuestionBase, chapter.blocks)}


SUMS = {"a": True, "b": False, "c": False, "answer": "a + b | c + a", "both": ""}
LINES = {"code": "x = 1\ny = x\nz = y", "answer": 3, "filled": 2}


@pytest.mark.parametrize(
    ("name", "drawn", "why"),
    [
        ("tracked-sums", SUMS, ""),
        ("tracked-sums", {**SUMS, "answer": "`c + a`|a +  b"}, ""),
        ("tracked-sums", {**SUMS, "answer": ""}, "none of its answers is right"),
        ("tracked-sums", {**SUMS, "answer": "a + d"}, "its 'answer' names 'a + d', which is not one of the answers"),
        ("tracked-sums", {**SUMS, "both": "c + a | a + b"}, "the wrong answer 'both' is the truth"),
        ("tracked-sums", {**SUMS, "both": "all"}, "its 'both' names 'all', which is not one of the answers"),
        ("tracked-sums", {key: SUMS[key] for key in ("a", "b", "c", "answer")}, "it has no 'both'"),
        ("guilty-line", LINES, ""),
        ("guilty-line", {**LINES, "answer": "1, 3"}, ""),
        ("guilty-line", {**LINES, "answer": ""}, "its 'answer' names no line"),
        ("guilty-line", {**LINES, "answer": 4}, "its 'answer' names the line '4', but the code has lines 1 to 3"),
        ("guilty-line", {**LINES, "answer": "1, 2, 3"}, "every one of its lines is a right answer"),
        ("guilty-line", {**LINES, "filled": 3}, "the wrong answer {{filled}} is the truth"),
        ("guilty-line", {**LINES, "filled": 0}, "the wrong answer {{filled}} is not a line of its code"),
        ("guilty-line", {"answer": 3, "filled": 2}, "it has no 'code'"),
        ("drawn-order", {"optimizer": "sgd", "data": "x"}, ""),
        ("drawn-order", {"optimizer": "sgd"}, "it has no 'data'"),
        ("sum-of-uses", {"uses": 2, "answer": 4, "operands": 4}, "two answers are '4'"),
    ],
)
def test_a_drawn_list_or_listing_that_cannot_be_asked_is_rejected_with_its_reason(
    asked: dict[str, QuestionBase], name: str, drawn: dict[str, object], why: str
) -> None:
    assert list(read_draws(asked[name], printed(drawn).stdout).rejected) == ([why] if why else [])


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("{{code}}", "its code has fewer than 3 lines"),
        ("{{code}}\nx = 1\nx = 1", "its lines are shown in the right order"),
    ],
)
def test_lines_that_cannot_be_put_in_order_are_rejected(asked: dict[str, QuestionBase], code: str, why: str) -> None:
    question = replace(asked["drawn-order"], code=Listing(mark_placeholders(code), "python"))

    assert list(read_draws(question, printed({"code": "x = 1"}).stdout).rejected) == [why]


def test_a_drawn_listing_that_does_not_parse_is_reported(chapter: Chapter, asked: dict[str, QuestionBase]) -> None:
    drawn = [{**LINES, "code": f"x = {number}\ny = (\nz = y"} for number in range(4)]

    assert said(chapter, asked["guilty-line"], printed(*drawn))[0][:2] == (
        "python-syntax",
        "the code of 'guilty-line' does not parse with the draw of seed 0",
    )


def test_a_draw_that_came_before_is_not_kept_twice(question: QuestionBase) -> None:
    assert len(read_draws(question, printed(values(1), values(1)).stdout).kept) == 1


def test_too_few_draws_are_reported_with_what_kept_the_others_out(chapter: Chapter, question: QuestionBase) -> None:
    assert said(chapter, question, printed(values(1), values(2, last=2), values(3, last=3))) == [
        (
            "variant-failed",
            "1 of 3 draws of 'after-several-calls' can be asked, but 6 are wanted",
            "2 were rejected because the wrong answer {{last}} is the truth: let `draw` choose from more values, "
            "or write a smaller `:draws:`",
        )
    ]


def test_a_generator_that_prints_nothing_is_reported(chapter: Chapter, question: QuestionBase) -> None:
    assert said(chapter, question, RunEnd(outcome=Outcome.OK))[0][0] == "variant-failed"


def test_draws_that_are_not_committed_or_differ_ask_for_an_update(chapter: Chapter, question: QuestionBase) -> None:
    end = printed(*(values(number) for number in range(6)))
    committed = make_variant_file(VariantCheck(chapter, question, None), end, "2.13.0")
    report = Report("chapter.md")

    assert said(chapter, question, end)[0][0] == "variant-changed"
    judge_variant(VariantCheck(chapter, question, committed), end, report)
    assert report.problems == []
    judge_variant(VariantCheck(chapter, question, committed), printed(*(values(n + 1) for n in range(6))), report)
    assert [found.rule.value for found in report.problems] == ["variant-changed"]


def test_two_machines_may_differ_in_the_last_bits(chapter: Chapter, question: QuestionBase) -> None:
    committed = make_variant_file(
        VariantCheck(chapter, question, None), printed(*(values(n + 1 / 3) for n in range(6))), "2.13.0"
    )
    report = Report("chapter.md")

    judge_variant(
        VariantCheck(chapter, question, committed), printed(*(values(n + 1 / 3 + 1e-12) for n in range(6))), report
    )
    assert report.problems == []


def test_the_hidden_setup_keeps_the_authors_line_numbers(question: QuestionBase) -> None:
    assert question.variant
    job = variant_job(question.variant)

    assert job.source.startswith(question.variant.code)
    assert job.source.endswith("print_draws(draw, 30)")
    assert job.flavour == "plain"


@pytest.mark.parametrize(
    ("stdout", "why"),
    [
        ("nothing\n", "it printed no table"),
        ("table: []\n", "`result` is empty"),
        ('table: {"a": [1], "b": [1, 2]}\n', "the columns of `result` differ in length"),
        ('table: {"a": [[1]]}\n', "`result` holds something that is neither a number nor a text"),
        ('table: {"a": [NaN]}\n', "`result` holds something that is neither a number nor a text"),
    ],
)
def test_what_is_no_table_is_refused_with_its_reason(stdout: str, why: str) -> None:
    assert read_table(stdout) == why


def test_the_last_table_counts() -> None:
    assert read_table('table: {"a": [1]}\nmore\ntable: {"a": [2, null], "b": ["x", true]}\n') == {
        "a": (2, None),
        "b": ("x", True),
    }


def judged(chapter: Chapter, measure: Measure, committed: MeasureFile | None, stdout: str) -> list[tuple[str, str]]:
    report = Report("chapter.md")
    judge_measure(MeasureCheck(chapter, measure, committed), RunEnd(outcome=Outcome.OK, stdout=stdout), report)
    return [(found.rule.value, found.message) for found in report.problems]


def committed_table(measure: Measure, content: str = "") -> MeasureFile:
    return MeasureFile(
        content=content or hash_measure(measure),
        torch="2.13.0",
        columns={"elements": (1,), "square": (4,), "sum": (0,)},
        device="cpu",
        machine="a machine",
        python="3.11",
        measured_on="2026-01-01",
        seconds=0.1,
    )


SAME = 'table: {"elements": [1], "square": [4], "sum": [0]}'


def test_an_exact_measurement_that_gives_the_same_holds(chapter: Chapter, measure: Measure) -> None:
    assert judged(chapter, measure, committed_table(measure), SAME) == []


def test_an_exact_measurement_that_gives_something_else_says_what(chapter: Chapter, measure: Measure) -> None:
    found = judged(chapter, measure, committed_table(measure), SAME.replace("4", "8"))

    assert found == [
        ("measure-changed", "the measurement 'saved-by-size' is exact, but its result differs: square: 8 for 4")
    ]


def test_a_measurement_whose_code_changed_is_stale(chapter: Chapter, measure: Measure) -> None:
    assert judged(chapter, measure, committed_table(measure, "another"), SAME)[0][0] == "measure-changed"


def test_a_chart_of_a_column_that_is_not_there_is_reported(chapter: Chapter, measure: Measure) -> None:
    found = judged(chapter, measure, None, 'table: {"elements": [1], "squares": [4], "sum": [0]}')

    assert found == [("measure-failed", "the table of 'saved-by-size' has no column 'square'")]


def test_a_committed_file_is_written_and_read_back_whole(measure: Measure) -> None:
    file, report = committed_table(measure), Report("a.json")

    assert read_file(write_file(file), MeasureFile, report) == file
    assert report.problems == []


def test_a_file_that_cannot_be_read_is_reported_and_taken_as_missing() -> None:
    report = Report("chapters/x/measures/y.json")

    assert read_file('{"content": 1}', MeasureFile, report) is None
    assert [(found.path, found.rule.value) for found in report.problems] == [(report.path, "evidence-file")]


def test_a_reader_sees_the_table_and_not_the_hidden_document(measure: Measure) -> None:
    assert drop_lines("a  b\n1  2\ntable: {}\n", "table: ") == "a  b\n1  2\n"
    assert cell_job(measure.cell, "result = {}").source == "result = {}\n\nprint_table(result)"
