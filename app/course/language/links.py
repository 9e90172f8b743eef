"""Checks that every concept, chapter, anchor and exercise that a chapter or an exercise refers to exists."""

from collections.abc import Collection, Iterable, Mapping

from app.course.chapter import ParsedChapter
from app.course.course_file import CourseFile
from app.course.language.draft import Named
from app.course.language.prose import Link
from app.course.problems import ContentProblem, Report, Rule, one_of, suggest


def check_links(
    parsed: Mapping[str, ParsedChapter],
    file: CourseFile,
    exercises: frozenset[str],
    links: Mapping[str, tuple[Link, ...]],
    draft_exercises: frozenset[str] = frozenset(),
) -> list[ContentProblem]:
    """Problems for every name that does not exist, at the line that uses it.

    `exercises` are the folders' names. An unreadable exercise is reported there, not at each link to it.
    `links` are the links in the exercises' own texts, by path.
    """
    draft_chapters = frozenset(slug for slug, found in parsed.items() if found.chapter and found.chapter.draft)
    planned = frozenset(entry.slug for module in file.modules for entry in module.chapters)
    problems: list[ContentProblem] = []
    for slug, chapter in parsed.items():
        report = Report(f"chapters/{slug}/chapter.md")
        _check_names(chapter.concepts, file.concepts, Rule.UNKNOWN_CONCEPT, "concept", "course.toml", report)
        _check_names(chapter.prerequisites, planned, Rule.UNKNOWN_CHAPTER, "chapter", "course.toml", report)
        _check_itself(chapter.prerequisites, slug, report)
        _check_names(chapter.exercises, exercises, Rule.UNKNOWN_EXERCISE, "exercise", "exercises/", report)
        for link in chapter.links:
            _check_link(link, slug, parsed, planned, exercises, report)
        if slug not in draft_chapters:
            _check_published(_leans(chapter), draft_chapters, draft_exercises, report)
        problems += report.problems
    for path, found in links.items():
        report = Report(path)
        for link in found:
            _check_link(link, "", parsed, planned, exercises, report)
        if path.removeprefix("exercises/").split("/")[0] not in draft_exercises:
            _check_published(_links_out(found), draft_chapters, draft_exercises, report)
        problems += report.problems
    return problems


def check_drills(parsed: Mapping[str, ParsedChapter], drills: Collection[str]) -> list[ContentProblem]:
    """Problems for chapters that ask a drill which the course does not have.

    `drills` are the names of all in the folder: one that cannot be read is reported there.
    """
    problems: list[ContentProblem] = []
    for slug, chapter in parsed.items():
        report = Report(f"chapters/{slug}/chapter.md")
        _check_names(chapter.drills, drills, Rule.DRILL, "drill", "drills/", report)
        problems += report.problems
    return problems


def _check_itself(prerequisites: Iterable[Named], slug: str, report: Report) -> None:
    for use in prerequisites:
        if use.name == slug:
            message = "the chapter names itself as its prerequisite"
            report.add(use.line, Rule.UNKNOWN_CHAPTER, slug, message, "name the chapters before it, or none")


def _leans(chapter: ParsedChapter) -> list[tuple[int, str, str]]:
    """The chapters and exercises that a chapter sends its readers to: (line, "chapter" or "exercise", name)."""
    chapters = [(use.line, "chapter", use.name) for use in chapter.prerequisites]
    exercises = [(use.line, "exercise", use.name) for use in chapter.exercises]
    return [*chapters, *exercises, *_links_out(chapter.links)]


def _links_out(links: Iterable[Link]) -> list[tuple[int, str, str]]:
    named = [(link.line, "exercise" if link.exercise else "chapter", link.exercise or link.chapter) for link in links]
    return [found for found in named if found[2]]


def _check_published(
    leans: Iterable[tuple[int, str, str]], chapters: frozenset[str], exercises: frozenset[str], report: Report
) -> None:
    """Reports references from published pages to drafts, which learners cannot see."""
    for line, what, name in leans:
        if name in (chapters if what == "chapter" else exercises):
            message = f"the {what} {name!r} is a draft, which learners do not see"
            report.add(line, Rule.DRAFT, name, message, "publish it too, make this a draft, or leave it out")


def _check_names(
    uses: Iterable[Named], known: Iterable[str], rule: Rule, what: str, home: str, report: Report
) -> None:
    names = sorted(known)
    for use in uses:
        if use.name not in names:
            message = f"{use.by} names the {what} {use.name!r}, which is not in {home}"
            report.add(use.line, rule, use.name, message, suggest(use.name, names, one_of(names)))


def _check_link(
    link: Link,
    slug: str,
    parsed: Mapping[str, ParsedChapter],
    planned: frozenset[str],
    exercises: frozenset[str],
    report: Report,
) -> None:
    if link.term or link.guide is not None:
        # `glossary` and `debugging` check their own links.
        return
    if link.exercise:
        if link.exercise not in exercises:
            remedy = suggest(
                f"exercise:{link.exercise}", [f"exercise:{name}" for name in exercises], one_of(exercises)
            )
            report.add(link.line, Rule.DEAD_LINK, link.href, f"no exercise is called {link.exercise!r}", remedy)
        return
    target = parsed.get(link.chapter or slug)
    if target is None:
        message = (
            f"no chapter is called {link.chapter!r}" if link.chapter else f"there is no anchor {link.anchor!r} here"
        )
        if link.chapter in planned:
            message = f"the chapter {link.chapter!r} is planned but not written"
        remedy = (
            suggest(link.chapter, parsed, one_of(parsed))
            if link.chapter not in planned
            else "write its title as text"
        )
        report.add(link.line, Rule.DEAD_LINK, link.href, message, remedy)
        return
    if link.anchor and link.anchor not in target.anchors:
        home = f"the chapter {link.chapter!r}" if link.chapter else "this chapter"
        remedy = suggest(link.anchor, target.anchors, one_of(target.anchors))
        report.add(link.line, Rule.DEAD_LINK, link.href, f"{home} has no anchor {link.anchor!r}", remedy)
