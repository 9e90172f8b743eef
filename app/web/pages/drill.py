"""Drills: a graph that this reader has never seen, one question about it, and the run's tape after the answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Graph
from app.course.drills.drill import ANSWERS, LEVELS, OBSERVED, Drill
from app.course.drills.hiding import hide_answers
from app.course.model import Chapter, Course
from app.course.questions.graph_click import DRAWN_PICTURE
from app.drawing.tasks import DrawPicture, Figure, NotDrawn
from app.learning.calibration import Confidence
from app.learning.review import Key
from app.storage.drill_graphs import StoredGraph, Wanted
from app.storage.records import Answer
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.views.blocks import ConfidenceView, GraphView, QuestionView
from app.web.views.reviewing import Instance, link_to_explanation, show_answered, show_graph, show_question
from graders.contract.model import LearnerId

router = APIRouter(include_in_schema=False)

LEVEL_WORDS = {1: "small", 2: "medium", 3: "large"}
NOTHING_NEW = (
    "There is no graph at hand that you have not seen. New ones are drawn whenever the graders have nothing else to "
    "do: try again in a minute, or choose another concept or size."
)


@dataclass(frozen=True)
class Choice:
    """An entry of a list to choose from."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class DrillPage:
    """What to practise. `problem` says why no graph came."""

    template: ClassVar[str] = "drill.html"
    frame: Frame
    concepts: tuple[Choice, ...]
    levels: tuple[Choice, ...]
    problem: str


@dataclass(frozen=True)
class DrillQuestionPage:
    """A graph and the question about it. `choice_href` leads back to the choice of concept and size."""

    template: ClassVar[str] = "drill_question.html"
    frame: Frame
    view: QuestionView
    graph: GraphView | None
    confidences: tuple[ConfidenceView, ...]
    size: str
    choice_href: str


@dataclass(frozen=True)
class DrillAnsweredPage:
    """The answer with the truth, and the tape of the run. `concept` and `level` are sent with the next request."""

    template: ClassVar[str] = "drill_answered.html"
    frame: Frame
    view: QuestionView
    graph: GraphView | None
    section: Link
    concept: str
    level: str
    choice_href: str


@dataclass(frozen=True)
class Practised:
    """What a reader chose: a concept (empty: all) and a level (None: any)."""

    concept: str = ""
    level: int | None = None

    @property
    def pairs(self) -> dict[str, str]:
        return {"concept": self.concept, "level": str(self.level or "")}

    def href(self, path: str) -> str:
        given = {name: value for name, value in self.pairs.items() if value}
        return f"{path}?{urlencode(given)}" if given else path


def read_practised(course: Course, concept: str, level: str) -> Practised:
    """What a form or an address names. Anything that is not there counts as no choice."""
    known = concept if any(concept in drill.question.concepts for drill in course.drills) else ""
    return Practised(known, int(level) if level in map(str, LEVELS) else None)


Text = Annotated[str, Query(max_length=80)]


@router.api_route("/drill", methods=["GET", "HEAD"])
async def drill(context: RequestContextDep, concept: Text = "", level: Text = "") -> Response:
    return await show_choice(context, read_practised(context.course, concept, level))


async def show_choice(context: RequestContext, practised: Practised, problem: str = "") -> Response:
    course = context.course
    if not course.drills:
        raise HTTPException(404, "This course has no drills.")
    concepts = [name for name in course.concepts if any(name in each.question.concepts for each in course.drills)]
    page = DrillPage(
        frame=await context.frame("Drill", "Practise on small programs that you have never seen."),
        concepts=(
            Choice("", "Mixed: everything", not practised.concept),
            *(Choice(name, course.concepts[name], name == practised.concept) for name in concepts),
        ),
        levels=(
            Choice("", "any size", practised.level is None),
            *(Choice(str(each), LEVEL_WORDS[each], each == practised.level) for each in LEVELS),
        ),
        problem=problem,
    )
    return context.site.renderer.page(page)


@router.api_route("/drill/{graph}", methods=["GET", "HEAD"])
async def drill_graph(graph: str, context: RequestContextDep, concept: Text = "", level: Text = "") -> Response:
    """A graph that this reader was asked: with its question, or with the truth once they have answered."""
    stored = await need_asked(graph, context)
    practised = read_practised(context.course, concept, level)
    if not stored.answered:
        return await show_asked(context, stored, practised)
    return await _show_answered(context, stored, practised)


async def need_asked(graph: str, context: RequestContext) -> StoredGraph:
    """A graph that this reader was asked, of a drill that the course still has. Raises a 404 in words."""
    stored = await context.site.store.drill_graphs.find(context.learner, graph) if context.learner else None
    if stored is None or find_drill(context.course, stored.drill) is None:
        raise HTTPException(404, "That graph is gone, or it was not drawn for you. Ask for another one.")
    return stored


def find_drill(course: Course, name: str) -> Drill | None:
    return next((each for each in course.drills if each.id == name), None)


async def make_instance(context: RequestContext, stored: StoredGraph, *, answered: bool) -> Instance:
    """The question about a drawn graph, with its picture: before the answer, without what the run says."""
    drill = find_drill(context.course, stored.drill)
    assert drill is not None
    question, graph = drill.ask(stored.graph), stored.graph
    block = Graph(
        id=DRAWN_PICTURE,
        source=graph.source,
        caption="",
        alt="The graph of the program",
        trace_path=Path(),
        where=question.where,
    )
    trace = graph.trace_json if answered else hide_answers(graph.trace_json, str(graph.values[OBSERVED]))
    return Instance(
        key=Key(ANSWERS, drill.id),
        course=context.course,
        chapter=find_chapter(context.course, question.concepts),
        question=question,
        draw=graph.seed,
        figure=await _draw(context, graph.source, trace),
        drawn=block,
        tape_href=f"/api/drill/{stored.id}/tape" if answered else "",
    )


async def find_drill_instance(context: RequestContext, key: Key, draw: int | None) -> Instance | None:
    """A drill as review asks it: on the graph that was drawn from the seed `draw`, or on one not answered yet."""
    drill, learner = find_drill(context.course, key.question), context.learner
    if drill is None or learner is None:
        return None
    if draw is None:
        taken = await context.site.drills.take(learner, Wanted({drill.id: drill.digest}))
        stored = taken.stored if taken else None
    else:
        stored = await context.site.store.drill_graphs.find_draw(learner, drill.id, draw)
    return await make_instance(context, stored, answered=stored.answered) if stored else None


async def keep_drill_answer(context: RequestContext, learner: LearnerId, answer: Answer) -> int | None:
    """Store the answer to a drill that review asked; returns its number. None if this graph was answered before."""
    store, draw = context.site.store, answer.response.draw
    stored = None if draw is None else await store.drill_graphs.find_draw(learner, answer.question, draw)
    return None if stored is None else await store.answer_drill(learner, stored.id, answer)


async def _draw(context: RequestContext, source: str, trace: str) -> Figure | None:
    task = DrawPicture(source=source, id_prefix=f"{DRAWN_PICTURE}-picture", list_nodes=True)
    try:
        return await context.site.figures.draw(task, trace, context.asker)
    except NotDrawn:
        return None


def find_chapter(course: Course, concepts: tuple[str, ...]) -> Chapter:
    """The chapter that lists the first of these concepts nearest to the top; concepts that none teaches do not count.

    Chapters list what they are about first, and concepts of others that they come back to later.
    """
    for concept in concepts:
        taught = [chapter for chapter in course.chapters if concept in chapter.concepts]
        if taught:
            return min(taught, key=lambda chapter: chapter.concepts.index(concept))
    return course.chapters[0]


async def show_asked(
    context: RequestContext, stored: StoredGraph, practised: Practised, problem: str = ""
) -> Response:
    instance = await make_instance(context, stored, answered=False)
    page = DrillQuestionPage(
        frame=await context.frame("Drill", "One question about a graph that you have never seen."),
        view=show_question(instance, practised.href(f"/drill/{stored.id}"), problem),
        graph=show_graph(instance),
        confidences=tuple(ConfidenceView(level.value, level.label) for level in Confidence),
        size=LEVEL_WORDS[stored.graph.level],
        choice_href=practised.href("/drill"),
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _show_answered(context: RequestContext, stored: StoredGraph, practised: Practised) -> Response:
    instance = await make_instance(context, stored, answered=True)
    given = await find_answer(context, stored)
    if given is None:
        raise HTTPException(404, "Your answer to this graph is not kept any more. Ask for another graph.")
    page = DrillAnsweredPage(
        frame=await context.frame("Drill", "Your answer, and what the run says."),
        view=show_answered(instance, given),
        graph=show_graph(instance),
        section=link_to_explanation(instance),
        choice_href=practised.href("/drill"),
        **practised.pairs,
    )
    return context.site.renderer.page(page)


async def find_answer(context: RequestContext, stored: StoredGraph) -> Answer | None:
    """What this reader answered about a graph; None where it is not kept any more."""
    assert context.learner is not None
    history = await context.site.store.history(context.learner, ANSWERS)
    mine = (each for each in reversed(history.answers) if each.question == stored.drill)
    return next((each for each in mine if each.response.draw == stored.graph.seed), None)
