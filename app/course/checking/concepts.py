"""Compares the course's concepts with its questions: each concept needs a question, preferably with a variant."""

from collections.abc import Mapping

from app.course.chapter import ParsedChapter
from app.course.model import Course
from app.course.problems import ContentProblem, Report, Rule

FRONT_MATTER = "the front matter"


def check_concepts(parsed: Mapping[str, ParsedChapter], known: Mapping[str, str]) -> list[ContentProblem]:
    """A problem for each concept that a written chapter teaches but no question asks for."""
    if any(chapter.chapter is None for chapter in parsed.values()):
        # An unreadable chapter may hold the missing questions.
        return []
    asked = {use.name for chapter in parsed.values() for use in chapter.concepts if use.by != FRONT_MATTER}
    problems: list[ContentProblem] = []
    for slug, chapter in parsed.items():
        report = Report(f"chapters/{slug}/chapter.md")
        for use in chapter.concepts:
            if use.by == FRONT_MATTER and use.name in known and use.name not in asked:
                message = f"no question of the course asks for the concept {use.name!r}"
                remedy = f"write a {{question}} with `:concepts: {use.name}`, or leave the concept out"
                report.add(use.line, Rule.CONCEPT_UNASKED, use.name, message, remedy)
        problems += report.problems
    return problems


def advise_variants(course: Course) -> tuple[ContentProblem, ...]:
    """Advice, not mistakes: the concepts of written chapters whose questions use the same numbers every time."""
    questions = [(question, chapter) for chapter in course.chapters for question in chapter.index.questions.values()]
    varied = {concept for question, _ in questions if question.variant for concept in question.concepts}
    advice = []
    for concept in course.concepts:
        first = next((found for found in questions if concept in found[0].concepts), None)
        if first is not None and concept not in varied:
            question, chapter = first
            report = Report(chapter.where.path)
            message = f"the concept {concept!r} has no question with a variant"
            remedy = "give one of its questions a `:variant:`, so that a reader can ask for another one like it"
            report.add(question.where.line, Rule.CONCEPT_UNVARIED, concept, message, remedy)
            advice += report.problems
    return tuple(sorted(advice))
