"""An exercise's page: the prompt, hints one at a time, the editor, and this learner's submissions."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.model import Course, Exercise
from app.learning.grading import Kind
from app.storage.draft_key import diagnosis_key, exercise_key
from app.storage.rankings import SectionBests
from app.web.edge.asking import gather_beside
from app.web.edge.assigned import say_assigned
from app.web.edge.closed_exercises import choose_queue, find_closing
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.links import link_to
from app.web.edge.mistakes import list_problems
from app.web.edge.rates import Act
from app.web.edge.site import CourseDep, Site, SiteDep
from app.web.edge.source import MAX_SOURCE_KIB
from app.web.views.alike import rank_alike
from app.web.views.blocks import ProblemView
from app.web.views.diagnosis import DiagnosisForm, make_form
from app.web.views.history import MAX_SHOWN, SubmissionRow, show_history
from app.web.views.lab_chart import ChartView, show_chart
from app.web.views.ranking import RankingView, show_ranking
from app.web.views.scripts import has_script
from app.web.views.spots import PROMPT, report_address
from app.web.views.threads import BlockThreads
from graders.contract.jobs import Diagnosed, Queue
from graders.contract.limits import Limits
from graders.contract.manifest import Checks, Manifest
from graders.contract.model import ExerciseName, SubmissionId
from graders.ledger import Submission

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HintView:
    """`html` is empty until the hint is opened; `may_open` is true only for the next one in order."""

    number: int
    html: Html
    opened: bool
    may_open: bool


@dataclass(frozen=True)
class LimitRow:
    name: str
    value: str


@dataclass(frozen=True)
class ChecksView:
    """What the two buttons do, in words. `button` is the first one's label; `note` says what submitting checks."""

    button: str
    note: str


@dataclass(frozen=True)
class ExercisePage:
    """With `idempotency_key`, a form sent twice is one submission. `text` is the draft, else the last submission,
    else the starter.

    `action` and `check_action` take source and idempotency_key, and category and line for a bug hunt; `script_action`
    takes source;
    `hint_action` takes `number`. `problem` is a sentence about a submission that could not be accepted. `solved_href`
    leads to the newest submission that passed, which shows the reference; it is empty before that.
    """

    template: ClassVar[str] = "exercise.html"
    frame: Frame
    name: str
    title: str
    summary: str
    kind: str
    difficulty: str
    minutes: int
    concepts: tuple[Link, ...]
    """What it practises; each leads to the exercises that practise it."""
    alike: Link | None
    """The exercise that is most like this one."""
    prompt: Html
    starter: str
    text: str
    idempotency_key: str
    action: str
    check_action: str
    script_action: str
    """Runs the text as a program; empty if the starter has no main part."""
    hint_action: str
    draft_key: str
    api_action: str
    api_check_action: str
    max_source_kib: int
    checks: ChecksView
    timed: bool
    """Whether it is a lab with a benchmark, and so has a button that measures."""
    diagnosis: DiagnosisForm | None
    chart: ChartView | None
    ranking: RankingView | None
    limits: tuple[LimitRow, ...]
    hints: tuple[HintView, ...]
    history: tuple[SubmissionRow, ...]
    history_cut: bool
    solved_href: str
    closed: str
    """Why nothing can be submitted just now, as a sentence; empty if something can."""
    chapters: tuple[Link, ...]
    report_href: str
    threads: BlockThreads | None
    """The questions about the task that the reader may read."""
    assigned: tuple[str, ...]
    """For which sections of the reader's it counts, each in a sentence or two."""
    problem: str = ""
    problems: tuple[ProblemView, ...] = ()
    """The mistakes in the exercise's files, for its author in a preview."""


def need_exercise(name: str, site: SiteDep, course: CourseDep) -> Exercise:
    exercise = course.exercises.get(name)
    if exercise is None:
        raise HTTPException(404, _say_missing(name, site))
    return exercise


def _say_missing(name: str, site: Site) -> str:
    """The error for an exercise that does not exist, or that its mistakes keep from being shown in a preview."""
    if list_problems(site, f"exercises/{name}"):
        return "Mistakes keep this exercise from being shown."
    return "There is no exercise of that name."


ExerciseDep = Annotated[Exercise, Depends(need_exercise)]


@dataclass(frozen=True)
class _Mine:
    """This learner's history with the exercise."""

    history: tuple[Submission, ...] = ()
    hints_opened: int = 0
    draft: str | None = None
    diagnosis: str | None = None
    new_comments: Mapping[SubmissionId, int] = field(default_factory=dict)
    bests: tuple[SectionBests, ...] = ()
    """What their sections reached, if the exercise has a ranking."""


@dataclass(frozen=True)
class Refused:
    """A submission that could not be accepted, with its text, which goes back into the form."""

    problem: str
    source: str
    said: Diagnosed | None
    status: int


async def render_exercise(context: RequestContext, exercise: Exercise, refused: Refused | None = None) -> Response:
    course, manifest = context.course, exercise.manifest
    mine = await _gather_mine(context, exercise)
    last = mine.history[0] if mine.history else None
    texts = (refused.source if refused else None, mine.draft, last.job.source if last else None)
    said = refused.said.model_dump_json() if refused and refused.said else mine.diagnosis
    zone = await context.own_zone()
    history = show_history(exercise, mine.history, mine.new_comments, zone)
    base, report_href = f"/exercises/{exercise.name}", report_address(f"exercises/{exercise.name}", PROMPT)
    page = ExercisePage(
        frame=await context.frame(manifest.title, manifest.summary),
        name=exercise.name,
        title=manifest.title,
        summary=manifest.summary,
        kind=manifest.kind,
        difficulty=manifest.difficulty.label,
        minutes=manifest.minutes,
        concepts=tuple(
            Link(f"/problems?{urlencode({'concept': concept})}", course.concepts.get(concept, concept))
            for concept in manifest.concepts
        ),
        alike=_find_alike(course, exercise.name),
        prompt=exercise.prompt,
        starter=exercise.starter,
        closed=await find_closing(context.site, exercise),
        text=next((each for each in texts if each is not None), exercise.starter),
        idempotency_key=secrets.token_hex(16),
        action=f"{base}/submissions",
        check_action=f"{base}/checks",
        script_action=f"{base}/run" if has_script(exercise) else "",
        hint_action=f"{base}/hints",
        draft_key=exercise_key(exercise.name),
        api_action=f"/api{base}/submissions",
        api_check_action=f"/api{base}/checks",
        max_source_kib=MAX_SOURCE_KIB,
        checks=show_checks(manifest.checks),
        timed=manifest.benchmark is not None,
        diagnosis=make_form(exercise, said, last),
        chart=show_chart(exercise, mine.history, zone),
        ranking=show_ranking(exercise, mine.history, mine.bests, zone),
        limits=show_limits(manifest.limits) + await _show_card(context, manifest),
        hints=_show_hints(exercise, mine.hints_opened),
        history=history,
        history_cut=len(history) >= MAX_SHOWN,
        solved_href=next((row.href for row in history if row.passed), ""),
        chapters=tuple(link_to(chapter) for chapter in course.index.offering.get(exercise.name, ())),
        report_href=report_href,
        threads=(await gather_beside(context, f"exercises/{exercise.name}")).get(report_href),
        assigned=await say_assigned(context, exercise.name, Kind.EXERCISE),
        problem=refused.problem if refused else "",
        problems=list_problems(context.site, base),
    )
    return context.site.renderer.page(page, refused.status if refused else 200)


async def _gather_mine(context: RequestContext, exercise: Exercise) -> _Mine:
    site, learner = context.site, context.learner
    if context.viewing is not None and context.viewing.learner is not None:
        # What staff may see of a learner: no draft, no hint.
        seen = await site.ledger.history(context.viewing.learner, ExerciseName(exercise.name), MAX_SHOWN)
        return _Mine(seen)
    if learner is None:
        return _Mine()
    key = exercise_key(exercise.name)
    drafts = await site.store.drafts(learner, key)
    return _Mine(
        await site.ledger.history(learner, ExerciseName(exercise.name), MAX_SHOWN),
        await site.store.hints_opened(learner, exercise.name),
        drafts.get(key),
        drafts.get(diagnosis_key(exercise.name)),
        await site.store.comments.count_unread(learner),
        await site.store.rankings.of_learner(learner, exercise.name) if exercise.manifest.ranking else (),
    )


def _find_alike(course: Course, exercise: str) -> Link | None:
    alike = next(iter(rank_alike(course, exercise)), None)
    return Link(f"/exercises/{alike}", course.exercises[alike].manifest.title) if alike else None


def show_checks(checks: Checks | None) -> ChecksView:
    """The buttons' words. They contain numbers only if `app check` has counted the checks."""
    fresh = "with fresh inputs each time"
    if checks is None:
        return ChecksView("Run the public checks", f"Submit asks these and more, {fresh}.")
    public = "the public check" if checks.public == 1 else f"the {checks.public} public checks"
    more = f" and {checks.hidden} more" if checks.hidden else ""
    return ChecksView(f"Run {public}", f"Submit asks {public}{more}, {fresh}.")


def show_limits(limits: Limits) -> tuple[LimitRow, ...]:
    return (
        LimitRow("processor time", f"{limits.cpu_seconds:g} s"),
        LimitRow("total time", f"{limits.wall_seconds:g} s"),
        LimitRow("memory", f"{limits.memory_mib} MiB"),
        LimitRow("printed text", f"{limits.output_kib} KiB"),
        LimitRow("files", f"{limits.disk_mib} MiB, deleted after the run"),
        LimitRow("threads and processes", f"{limits.threads}"),
        LimitRow("network", "none"),
    )


async def _show_card(context: RequestContext, manifest: Manifest) -> tuple[LimitRow, ...]:
    """For an exercise on a GPU: its memory, and how much of their time on it the reader has used."""
    if await choose_queue(context.site, manifest.device) is Queue.CPU:
        return ()
    ledger, learner = context.site.ledger, context.learner
    seconds = (await ledger.card_quota(learner)).used_seconds if learner else 0.0
    used = f"{seconds:.0f} of {ledger.policy.card_seconds:.0f} s used within the last hour"
    return (LimitRow("GPU memory", f"{manifest.limits.card_mib} MiB"), LimitRow("your time on the GPU", used))


def _show_hints(exercise: Exercise, opened: int) -> tuple[HintView, ...]:
    return tuple(
        HintView(number, html if number <= opened else "", number <= opened, number == opened + 1)
        for number, html in enumerate(exercise.hints, 1)
    )


@router.api_route("/exercises/{name}", methods=["GET", "HEAD"])
async def exercise_page(context: RequestContextDep, exercise: ExerciseDep) -> Response:
    return await render_exercise(context, exercise)


@router.post("/exercises/{name}/hints")
async def open_hint(exercise: ExerciseDep, context: LearnerContextDep, number: Annotated[int, Form()]) -> Response:
    """Open the next hint. An earlier one is already open; a later one stays closed."""
    await context.request_context.count(Act.WRITE)
    opened = await context.site.store.hints_opened(context.learner, exercise.name)
    if number == opened + 1 <= len(exercise.hints):
        await context.site.store.open_hint(context.learner, exercise.name, number, context.now)
    return RedirectResponse(f"/exercises/{exercise.name}#hints", 303)
