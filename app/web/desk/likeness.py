"""Which programs of a section are most alike, for an instructor who then reads them. It gives no verdict.

The first text with which each present learner passed is compared, and the reference as one more author. Opening the
list or a pair writes a line to the audit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.language.code import highlight
from app.course.model import Exercise
from app.learning.likeness import find_groups, find_shared_lines
from app.storage.class_submissions import PassedText
from app.storage.records import SectionId
from app.web.api.submissions import read_after_pass
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import HERE, exercise_href, likeness_href
from app.web.edge.comparisons import Compared
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.steps import CodeLineView

router = APIRouter(include_in_schema=False)

REFERENCE = "reference"
PAIRS_SHOWN = 50


@dataclass(frozen=True)
class PairRow:
    """`left_shared` of `left_lines` lines are in the other program too."""

    left: str
    right: str
    href: str
    left_shared: int
    left_lines: int
    right_shared: int
    right_lines: int


@dataclass(frozen=True)
class LikenessPage:
    template: ClassVar[str] = "likeness.html"
    frame: Frame
    navigation: SectionNavigation
    heading: str
    exercise_href: str
    compared: int
    pairs: tuple[PairRow, ...]
    groups: tuple[str, ...]
    too_little: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True)
class Side:
    """One of two programs. `href` leads to its submission; the reference has none."""

    name: str
    href: str
    shared: int
    lines: tuple[CodeLineView, ...]


@dataclass(frozen=True)
class PairPage:
    template: ClassVar[str] = "likeness_pair.html"
    frame: Frame
    navigation: SectionNavigation
    heading: str
    back_href: str
    sides: tuple[Side, ...]
    problem: str = ""


@dataclass(frozen=True)
class ClassPrograms:
    """What is compared: each learner's text by account, and the comparison."""

    exercise: Exercise
    passed: Mapping[str, PassedText]
    reference: str
    compared: Compared

    def name(self, author: str) -> str:
        return "the reference" if author == REFERENCE else self.passed[author].who.name

    def text(self, author: str) -> str:
        return self.reference if author == REFERENCE else self.passed[author].source

    def shared(self, author: str, other: str) -> frozenset[int]:
        prints, given = self.compared.prints, self.compared.comparison.given
        return find_shared_lines(prints[author], prints[other], given)

    def count_lines(self, author: str) -> int:
        """The lines that can be shared: not comments, docstrings or a lone `else`."""
        return len(set(self.compared.prints[author].lines))


@router.api_route("/desk/{section}/likeness/{exercise}", methods=["GET", "HEAD"])
async def likeness_page(context: RequestContextDep, section: str, exercise: str) -> Response:
    here = SectionId(section)
    found = await _compare_class(context, here, exercise)
    navigation = await navigate(context, here, HERE)
    await context.site.store.class_submissions.note_compared(here, (f"exercise {exercise}",), actor_of(context))
    comparison, title = found.compared.comparison, found.exercise.manifest.title
    listed = comparison.pairs[:PAIRS_SHOWN]
    little = (*comparison.too_little, *found.compared.unreadable)
    page = LikenessPage(
        frame=await context.frame(f"Programs, {title}: {navigation.section_title}", "Which programs are most alike."),
        navigation=navigation,
        heading=title,
        exercise_href=exercise_href(here, exercise),
        compared=len(found.passed) - len(little),
        pairs=tuple(_show_pair(found, here, pair.left, pair.right) for pair in listed),
        groups=tuple(", ".join(map(found.name, group)) for group in find_groups(listed)),
        too_little=tuple(sorted(map(found.name, little))),
    )
    return context.site.renderer.page(page)


@router.api_route("/desk/{section}/likeness/{exercise}/{left}/{right}", methods=["GET", "HEAD"])
async def pair_page(context: RequestContextDep, section: str, exercise: str, left: str, right: str) -> Response:
    here = SectionId(section)
    found = await _compare_class(context, here, exercise)
    if left == right or not {left, right} <= set(found.compared.prints):
        raise HTTPException(404, "No two such programs of this section are compared.")
    navigation = await navigate(context, here, HERE)
    people = tuple(one for one in (left, right) if one != REFERENCE)
    await context.site.store.class_submissions.note_compared(here, people, actor_of(context))
    heading = f"{found.name(left)} and {found.name(right)}"
    page = PairPage(
        frame=await context.frame(f"{heading}: {navigation.section_title}", "Two programs side by side."),
        navigation=navigation,
        heading=heading,
        back_href=likeness_href(here, exercise),
        sides=(_show_side(found, here, left, right), _show_side(found, here, right, left)),
    )
    return context.site.renderer.page(page)


async def _compare_class(context: RequestContext, section: SectionId, name: str) -> ClassPrograms:
    exercise = context.course.exercises.get(name)
    if exercise is None:
        raise HTTPException(404, "There is no exercise of that name.")
    await context.count(Act.COMPARE)
    passed = {
        str(one.who.account): one for one in await context.site.store.class_submissions.first_passed(section, name)
    }
    after_pass = read_after_pass(exercise)
    reference = after_pass.reference if after_pass else ""
    texts = {author: one.source for author, one in passed.items()}
    compared = await context.site.comparisons.compare(texts, exercise.starter, {REFERENCE: reference})
    return ClassPrograms(exercise, passed, reference, compared)


def _show_pair(found: ClassPrograms, section: SectionId, left: str, right: str) -> PairRow:
    return PairRow(
        left=found.name(left),
        right=found.name(right),
        href=f"{likeness_href(section, found.exercise.name)}/{left}/{right}",
        left_shared=len(found.shared(left, right)),
        left_lines=found.count_lines(left),
        right_shared=len(found.shared(right, left)),
        right_lines=found.count_lines(right),
    )


def _show_side(found: ClassPrograms, section: SectionId, author: str, other: str) -> Side:
    shared = found.shared(author, other)
    lines = found.text(author).rstrip("\n").split("\n")
    return Side(
        name=found.name(author),
        href="" if author == REFERENCE else f"/desk/{section}/submissions/{found.passed[author].submission}",
        shared=len(shared),
        lines=tuple(CodeLineView(number, highlight(line), number in shared) for number, line in enumerate(lines, 1)),
    )
