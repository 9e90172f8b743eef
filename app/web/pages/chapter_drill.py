"""A drill inside a chapter: the reader's graph with its question, or with their answer, at the place of the block."""

from dataclasses import dataclass, replace

from app.course.blocks import DrillPlace
from app.course.drills.drill import Drill
from app.course.model import Chapter, Course
from app.learning.calibration import Confidence
from app.storage.drill_graphs import StoredGraph
from app.web.edge.identity import RequestContext
from app.web.pages.drill import find_answer, find_drill, make_instance
from app.web.views.blocks import ConfidenceView, DrillView
from app.web.views.reviewing import show_answered, show_graph, show_question


@dataclass(frozen=True)
class ChapterDrill:
    """A chapter, the place in it that asks a drill, and the drill."""

    chapter: Chapter
    place: DrillPlace
    drill: Drill


def find_chapter_drill(course: Course, slug: str) -> ChapterDrill | None:
    """The drill of the chapter of that name; None if there is no such chapter, or it asks none."""
    chapter = course.index.by_slug.get(slug)
    place = chapter.index.drill if chapter else None
    drill = find_drill(course, place.id) if place else None
    return ChapterDrill(chapter, place, drill) if chapter and place and drill else None


async def show_chapter_drill(context: RequestContext, chapter: Chapter, problem: str = "") -> DrillView | None:
    """The drill as this reader finds it; None if the chapter has none. Reading alone asks for no graph."""
    found = find_chapter_drill(context.course, chapter.slug)
    if found is None:
        return None
    place, drill = found.place, found.drill
    view = DrillView(place.id, place.id, chapter.slug, place.note, problem=problem)
    if context.learner is None:
        return view
    stored = await context.site.store.drill_graphs.newest(context.learner, drill.id, drill.digest)
    return view if stored is None else await _show_stored(context, view, stored)


async def _show_stored(context: RequestContext, view: DrillView, stored: StoredGraph) -> DrillView:
    answer = await find_answer(context, stored) if stored.answered else None
    if stored.answered and answer is None:
        return view
    instance = await make_instance(context, stored, answered=stored.answered)
    if answer is not None:
        return replace(view, question=show_answered(instance, answer), graph=show_graph(instance))
    return replace(
        view,
        question=show_question(instance, f"/drill/{stored.id}?chapter={view.chapter}", view.problem),
        graph=show_graph(instance),
        confidences=tuple(ConfidenceView(level.value, level.label) for level in Confidence),
    )
