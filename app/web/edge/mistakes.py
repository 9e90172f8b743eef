"""An author's mistakes in a preview, shown at their place on the page that they concern, or instead of the page."""

from collections.abc import Sequence

from app.course.model import Chapter
from app.course.problems import ContentProblem
from app.web.edge.site import Site
from app.web.views.blocks import BlockView, ProblemView


def view_problem(problem: ContentProblem) -> ProblemView:
    return ProblemView(problem.path, problem.line, problem.rule.value, problem.message, problem.remedy)


def list_problems(site: Site, address: str) -> tuple[ProblemView, ...]:
    """In a preview, the mistakes in the files of a page. The page's address is also the name of their folder."""
    if site.preview is None:
        return ()
    return tuple(view_problem(problem) for problem in site.preview.problems_under(address.strip("/")))


def place_problems(
    chapter: Chapter, views: Sequence[BlockView], problems: Sequence[ContentProblem]
) -> tuple[BlockView, ...]:
    """The chapter's blocks, with each mistake after the block that contains it (which may be impossible to show).

    Mistakes in the other files of the folder come last.
    """
    left = sorted(problem for problem in problems if problem.path == chapter.where.path)
    elsewhere = sorted(problem for problem in problems if problem.path != chapter.where.path)
    placed: list[BlockView] = []
    for view, line in zip(views, chapter.lines, strict=True):
        while left and left[0].line < line:
            placed.append(view_problem(left.pop(0)))
        placed.append(view)
    return (*placed, *map(view_problem, (*left, *elsewhere)))
