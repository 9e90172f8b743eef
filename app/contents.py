"""`python -m app contents`: a course's contents, by chapter and by exercise, as two Markdown tables."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from markupsafe import Markup

from app.course.block_tree import Block, Box, blocks_of
from app.course.blocks import Cell, ExerciseLink, Heading, Incident, Measure, Predict, Prose
from app.course.chapter import MINUTES_A_CELL, MINUTES_A_QUESTION, WORDS_A_MINUTE
from app.course.loader import load_course
from app.course.model import Chapter, Course, Exercise
from app.course.questions.kinds import KINDS
from app.course.questions.question import QuestionBase
from graders.contract.results import Outcome

CHAPTER_HEAD = (
    "chapter", "words", "of running text", "minutes", "estimated", "claims", "of them myths", "cells", "measurements",
    "graphs", "predictions", "questions by kind", "with variants", "exercises",
)  # fmt: skip
EXERCISE_HEAD = (
    "exercise", "kind", "difficulty", "checks", "wrong attempts", "right ones", "cheats", "mutants", "findings",
)  # fmt: skip


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Prints the tables. Exit status: 0 printed, 1 the course cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m app contents", description="List the contents of a course.")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    given = parser.parse_args(arguments)
    out = out or sys.stdout
    course, problems = load_course(given.course.resolve())
    for problem in problems:
        sys.stderr.write(f"{problem.path}:{problem.line}: {problem.message}\n")
    write_table(CHAPTER_HEAD, [describe_chapter(chapter) for chapter in course.chapters], out)
    out.write("\n")
    write_table(EXERCISE_HEAD, [describe_exercise(course.exercises[name]) for name in sorted(course.exercises)], out)
    out.write(f"\n{say_sums(course)}\n")
    return 1 if problems else 0


def write_table(head: Sequence[str], rows: Iterable[Sequence[str | int]], out: TextIO) -> None:
    for row in (head, ["---"] * len(head), *rows):
        out.write("| " + " | ".join(str(entry) for entry in row) + " |\n")


def describe_chapter(chapter: Chapter) -> tuple[str | int, ...]:
    found = chapter.index
    claims, questions = found.claims.values(), found.questions.values()
    kinds = Counter(question.kind for question in questions)
    return (
        f"{chapter.number} {chapter.title}".strip(),
        chapter.words,
        count_running_text(chapter.blocks),
        chapter.minutes,
        round(estimate_minutes(chapter.blocks)),
        len(claims),
        sum(bool(claim.myth) for claim in claims),
        len(blocks_of(Cell, chapter.blocks)),
        *(len(blocks) for blocks in (found.measures, found.graphs, found.predicts)),
        ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind]),
        sum(question.variant is not None for question in questions),
        len(blocks_of(ExerciseLink, chapter.blocks)),
    )


def count_running_text(blocks: tuple[Block, ...]) -> int:
    """The words of paragraphs, tables, headings and boxes, but not of questions, claims or folded answers."""
    count = 0
    for block in blocks:
        match block:
            case Prose():
                count += len(Markup(block.html).striptags().split())
            case Heading():
                count += len(block.text.split())
            case Box():
                count += count_running_text(block.blocks)
    return count


def estimate_minutes(blocks: tuple[Block, ...]) -> float:
    """What is not folded takes so long: its running text, its cells, and its questions and predictions."""
    minutes = count_running_text(blocks) / WORDS_A_MINUTE
    for block in _list_unfolded(blocks):
        match block:
            case Cell() | Measure() | Incident():
                minutes += MINUTES_A_CELL
            case QuestionBase() | Predict():
                minutes += MINUTES_A_QUESTION
    return minutes


def _list_unfolded(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Box):
            yield from _list_unfolded(block.blocks)


def describe_exercise(exercise: Exercise) -> tuple[str | int, ...]:
    manifest = exercise.manifest
    honest = [attempt for attempt in manifest.attempts if not attempt.cheat]
    right = sum(attempt.outcome is Outcome.PASSED for attempt in honest)
    return (
        exercise.name,
        manifest.kind,
        manifest.difficulty.value,
        f"{manifest.checks.public} + {manifest.checks.hidden}" if manifest.checks else "",
        len(honest) - right,
        right,
        len(manifest.attempts) - len(honest),
        len(list((exercise.folder / "mutants").glob("*.py"))),
        len(manifest.findings),
    )


def say_sums(course: Course) -> str:
    """One line with the totals."""
    chapters = course.chapters
    beside = len(chapters) - len(course.numbered_chapters)
    pages = f" and {beside} page{'' if beside == 1 else 's'} beside them" if beside else ""
    return (
        f"{len(course.numbered_chapters)} of {course.chapter_total} chapters{pages}, "
        f"{sum(chapter.words for chapter in chapters)} words, "
        f"{sum(len(chapter.index.claims) for chapter in chapters)} claims, "
        f"{sum(len(chapter.index.questions) for chapter in chapters)} questions, "
        f"{len(course.exercises)} exercises."
    )
