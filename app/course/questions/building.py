"""Builds predictions and questions, and checks that each can be answered and marked."""

import hashlib
from collections.abc import Sequence

from markdown_it.token import Token

from app.course.blocks import DrillPlace, Html, Predict, Variant
from app.course.language.directive_scan import Fence
from app.course.language.directive_specs import NoOptions, PredictOptions
from app.course.language.draft import Draft, Named
from app.course.language.options import read_options, read_question_options
from app.course.language.tree import Directive, line_of, tokens_of
from app.course.problems import Rule, one_of, suggest
from app.course.questions.answers import read_body
from app.course.questions.graph_click import GraphClick
from app.course.questions.items import as_options, check_choice
from app.course.questions.kinds import KINDS, Question
from app.course.questions.question import DrawnOptions, Listing, QuestionBase, Written


def split_body(tokens: Sequence[Token], draft: Draft) -> tuple[list[Token], list[Token]]:
    """The tokens before and after a body's `+++`. Reports a second `+++`."""
    cuts = [index for index, token in enumerate(tokens) if token.type == "split"] or [len(tokens)]
    for extra in cuts[1:]:
        line = line_of([tokens[extra]], 0)
        draft.report.add(line, Rule.STRAY_SPLIT, "+++", "this is a second +++", "keep one")
    return list(tokens[: cuts[0]]), [token for token in tokens[cuts[0] :] if token.type != "split"]


def require(html: Html, line: int, message: str, remedy: str, draft: Draft) -> None:
    """Reports a required part that is empty."""
    if not html:
        draft.report.add(line, Rule.MISSING_PART, "", message, remedy)


def build_predict(directive: Directive, name: str, draft: Draft) -> Predict | None:
    fence = directive.fence
    options = read_options(fence, PredictOptions, draft.report)
    asked, shown = split_body(tokens_of(directive.parts), draft)
    body = read_body(asked, draft)
    prompt, truth = draft.prose.html(body.prose), draft.prose.html(shown)
    check_choice(body.items, fence.line, True, draft.report)
    require(
        prompt, fence.line, f"the prediction {name!r} asks nothing", "write the question before its answers", draft
    )
    require(
        truth, fence.line, f"the prediction {name!r} has no truth", "write `+++` and then what the run shows", draft
    )
    if options is None:
        return None
    draft.resolvers.append(Named(options.resolved_by, fence.line_of("resolved-by"), f"the prediction {name!r}"))
    where, content_hash = draft.where(fence.line), _hash_wording(fence, draft)
    return Predict(name, prompt, as_options(body.items), options.resolved_by, truth, where, content_hash)


def build_drill(directive: Directive, name: str, draft: Draft) -> DrillPlace:
    """The place of a drill. A chapter has one, because each is as large as a section and comes again by itself."""
    fence = directive.fence
    read_options(fence, NoOptions, draft.report)
    if draft.drills:
        message = f"the drill {name!r} is this chapter's second; line {draft.drills[0].line} has the first"
        draft.report.add(fence.line, Rule.DRILL, name, message, "keep one of them; a page shows one drawn graph")
    if name == fence.argument:
        draft.drills.append(Named(name, fence.line, "{drill}"))
    draft.questions += 1
    return DrillPlace(name, draft.prose.html(tokens_of(directive.parts)), draft.where(fence.line))


def _hash_wording(fence: Fence, draft: Draft, variant: Variant | None = None) -> str:
    lines = [*draft.lines[fence.open : fence.end], *(variant.code.split("\n") if variant else ())]
    return hashlib.sha256("\n".join(line.rstrip() for line in lines).encode()).hexdigest()[:16]


def build_question(directive: Directive, name: str, draft: Draft) -> Question | None:
    fence = directive.fence
    draft.questions += 1
    options = read_question_options(fence, draft.report)
    kind = KINDS[options.kind] if options else None
    body, answer = (read_body(tokens, draft) for tokens in split_body(tokens_of(directive.parts), draft))
    asked_code = body.code if kind and kind.asks_about_code else ()
    prompt = draft.prose.html([token for token in body.prose if token not in asked_code])
    model_answer = draft.prose.html(answer.prose)
    require(prompt, fence.line, f"the question {name!r} asks nothing", "write it before its answers", draft)
    _note_concepts(directive, name, draft)
    if options is None or kind is None:
        return None
    if kind.needs_model_answer:
        remedy = "write `+++` and then the model answer"
        require(model_answer, fence.line, f"the question {name!r} has no answer to show", remedy, draft)
    variant = _find_variant(options, directive, draft) if isinstance(options, DrawnOptions) else None
    common = QuestionBase(
        id=name,
        role=options.role,
        concepts=options.concepts,
        prompt=prompt,
        where=draft.where(fence.line),
        content_hash=_hash_wording(fence, draft, variant),
        answer=model_answer,
        variant=variant,
    )
    listings = tuple(Listing(token.content.rstrip("\n"), token.info.strip()) for token in body.code)
    question = kind.read(
        Written(common, options, body.items, listings, answer.rubric, fence.line, fence.line_of, draft.report)
    )
    if isinstance(question, GraphClick) and variant is not None:
        _check_drawn_picture(directive, draft)
    elif isinstance(question, GraphClick):
        draft.clicked.append(Named(question.cell, fence.line_of("cell"), f"the question in line {fence.line}"))
    return question


def _find_variant(options: DrawnOptions, directive: Directive, draft: Draft) -> Variant | None:
    name = options.variant
    draft.used.add(name)
    if name not in draft.variants:
        line = directive.fence.line_of("variant")
        message, known = f"the variant {name!r} is not in this chapter", draft.variants
        draft.report.add(line, Rule.UNKNOWN_ID, name, message, suggest(name, known, one_of(known)))
    return draft.variants.get(name)


def _check_drawn_picture(directive: Directive, draft: Draft) -> None:
    if not draft.asks_about_drawn:
        message = "a picture of a chapter is the same in every draw, so a graph-click question here has no variant"
        remedy = "write `:cell:` and `:targets:` instead, or make it a drill: see docs/writing-a-drill.md"
        draft.report.add(directive.fence.line_of("variant"), Rule.UNKNOWN_OPTION, "variant", message, remedy)


def _note_concepts(directive: Directive, name: str, draft: Draft) -> None:
    """Reads the concepts from the option's own line, so that they are checked even if another option is wrong."""
    for option in directive.fence.options:
        if option.name == "concepts":
            for concept in filter(None, map(str.strip, option.value.split(","))):
                draft.concepts.append(Named(concept, option.line, f"the question {name!r}"))
