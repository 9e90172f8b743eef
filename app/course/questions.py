"""Builds predictions and questions, and checks that each can be answered and judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from app.course.answers import Body, Item, as_options, check_choice, check_drawn_several, read_body
from app.course.blocks import GraphKey, Html, Kind, NumberKey, Option, Predict, Question, Variant
from app.course.directives import (
    GraphClickOptions,
    NumberOptions,
    NumberVariantOptions,
    PredictOptions,
    QuestionOptions,
    SeveralVariantOptions,
    TextOptions,
    VariantQuestionOptions,
    WrongLineOptions,
)
from app.course.draft import Draft, Named
from app.course.marks import unmark
from app.course.options import read_options, read_question_options
from app.course.problems import Rule, one_of, suggest
from app.course.tree import Directive, tokens_of

EVERY_OTHER = "*"
"""The label of the feedback that belongs to every answer not listed."""

ADD_OTHERWISE = "add `- [ ] *` with a quotation under it"


@dataclass(frozen=True)
class Halves:
    """A directive's body around its `+++`. `after` is None where there is no split."""

    before: list[Token]
    after: list[Token] | None


def split_body(tokens: Sequence[Token], draft: Draft) -> Halves:
    """Cuts a body at its first split, and reports a second one."""
    cuts = [index for index, token in enumerate(tokens) if token.type == "split"]
    for extra in cuts[1:]:
        where = tokens[extra].map
        draft.report.add(
            where[0] + 1 if where else 0, Rule.STRAY_SPLIT, "+++", "+++ stands here a second time", "keep one"
        )
    if not cuts:
        return Halves(list(tokens), None)
    return Halves(list(tokens[: cuts[0]]), [token for token in tokens[cuts[0] + 1 :] if token.type != "split"])


def require(html: Html, line: int, message: str, remedy: str, draft: Draft) -> None:
    """Reports a part that has to be there and is empty."""
    if not html:
        draft.report.add(line, Rule.MISSING_PART, "", message, remedy)


def build_predict(directive: Directive, name: str, draft: Draft) -> Predict | None:
    fence = directive.fence
    options = read_options(fence, PredictOptions, draft.report)
    halves = split_body(tokens_of(directive.parts), draft)
    body = read_body(halves.before, draft)
    prompt, truth = draft.prose.html(body.prose), draft.prose.html(halves.after or [])
    check_choice(body.items, fence.line, True, draft)
    require(
        prompt, fence.line, f"the prediction {name!r} asks nothing", "write the question before its answers", draft
    )
    require(
        truth, fence.line, f"the prediction {name!r} has no truth", "write `+++` and then what the run shows", draft
    )
    if options is None:
        return None
    line = next((option.line for option in fence.options if option.name == "resolved-by"), fence.line)
    draft.resolvers.append(Named(options.resolved_by, line, f"the prediction {name!r}"))
    return Predict(name, prompt, as_options(body.items), options.resolved_by, truth, draft.where(fence.line))


def build_question(directive: Directive, name: str, draft: Draft) -> Question | None:
    fence = directive.fence
    draft.questions += 1
    options = read_question_options(fence, draft.report)
    halves = split_body(tokens_of(directive.parts), draft)
    body = read_body(halves.before, draft)
    answer = read_body(halves.after or [], draft)
    shown = [token for token in body.prose if not (token in body.code and _code_is_the_question(options))]
    prompt, model_answer = draft.prose.html(shown), draft.prose.html(answer.prose)
    require(prompt, fence.line, f"the question {name!r} asks nothing", "write it before its answers", draft)
    _note_concepts(directive, name, draft)
    if options is None:
        return None
    if options.kind not in (Kind.CHOICE, Kind.SEVERAL):
        remedy = "write `+++` and then the model answer"
        require(model_answer, fence.line, f"the question {name!r} has no answer to show", remedy, draft)
    if isinstance(options, VariantQuestionOptions):
        key = _variant_key(options, body, fence.line, draft)
    else:
        key = _read_key(options, body, answer, directive, draft)
    code = body.code[0] if body.code and _code_is_the_question(options) else None
    return Question(
        id=name,
        kind=options.kind,
        role=options.role,
        concepts=options.concepts,
        prompt=prompt,
        where=draft.where(fence.line),
        options=key.options,
        number=key.number,
        accepted=key.accepted,
        graph=key.graph,
        code=code.content.rstrip("\n") if code else "",
        code_language=code.info.strip() if code else "python",
        slips=options.slips if isinstance(options, SeveralVariantOptions) else (),
        answer=model_answer,
        rubric=answer.rubric,
        variant=_find_variant(options, directive, draft) if isinstance(options, VariantQuestionOptions) else None,
    )


def _find_variant(options: VariantQuestionOptions, directive: Directive, draft: Draft) -> Variant | None:
    draft.used.add(options.variant)
    if options.variant not in draft.variants:
        message = f"the variant {options.variant!r} is not in this chapter"
        known = draft.variants
        draft.report.add(
            _option_line(directive, "variant"),
            Rule.UNKNOWN_ID,
            options.variant,
            message,
            suggest(options.variant, known, one_of(known)),
        )
    return draft.variants.get(options.variant)


def _note_concepts(directive: Directive, name: str, draft: Draft) -> None:
    """Taken from the option's line itself, so that they are checked even where another option is wrong."""
    for option in directive.fence.options:
        if option.name == "concepts":
            for concept in filter(None, map(str.strip, option.value.split(","))):
                draft.concepts.append(Named(concept, option.line, f"the question {name!r}"))


@dataclass(frozen=True)
class _Key:
    """What judges an answer."""

    options: tuple[Option, ...] = ()
    number: NumberKey | None = None
    accepted: tuple[str, ...] = ()
    graph: GraphKey | None = None


def _code_is_the_question(options: QuestionOptions | None) -> bool:
    return options is not None and options.kind in (Kind.ORDER, Kind.WRONG_LINE)


def _option_line(directive: Directive, name: str) -> int:
    return next((option.line for option in directive.fence.options if option.name == name), directive.fence.line)


def _read_key(options: QuestionOptions, body: Body, answer: Body, directive: Directive, draft: Draft) -> _Key:
    line = directive.fence.line
    if isinstance(options, NumberOptions):
        return _Key(number=_number_key(options, body.items, draft))
    if isinstance(options, TextOptions):
        return _Key(options=_slips(body.items, options.accept, draft), accepted=options.accept)
    if isinstance(options, GraphClickOptions):
        draft.clicked.append(Named(options.cell, _option_line(directive, "cell"), f"the question in line {line}"))
        return _Key(graph=_graph_key(options, body.items, line, draft))
    if isinstance(options, WrongLineOptions):
        right = tuple(str(number) for number in options.lines)
        total = _check_lines(options, body, _option_line(directive, "lines"), draft)
        slips = _slips(body.items, right, draft)
        _check_line_feedback(slips, total - len(right), line, draft)
        return _Key(options=slips, accepted=right)
    if options.kind is Kind.ORDER:
        _check_code(body, 3, line, draft)
        return _Key(options=_order_slip(body.items, draft))
    if options.kind is Kind.OPEN:
        if not answer.rubric:
            remedy = "list what a good answer says after `+++`: `- [rubric] point`"
            draft.report.add(line, Rule.MISSING_PART, "", "this open question has no rubric", remedy)
        return _Key()
    check_choice(body.items, line, options.kind is Kind.CHOICE, draft)
    return _Key(options=as_options(body.items))


def _variant_key(options: VariantQuestionOptions, body: Body, line: int, draft: Draft) -> _Key:
    """What stands for the key until a draw fills it: the ids of the options are their words, places included."""
    if options.kind in (Kind.CHOICE, Kind.SEVERAL):
        if options.kind is Kind.CHOICE:
            check_choice(body.items, line, True, draft)
        else:
            check_drawn_several(body.items, line, draft)
        return _Key(options=tuple(Option(item.text, item.html, item.right, item.feedback) for item in body.items))
    slips = _slips(body.items, ["{{answer}}"], draft)
    if _code_is_the_question(options):
        _check_code(body, 1, line, draft)
        if options.kind is Kind.WRONG_LINE:
            # Which lines are right, and perhaps how many there are, only a draw can tell.
            _check_line_feedback(slips, len(slips) + 1, line, draft)
        return _Key(slips)
    if all(slip.id == EVERY_OTHER for slip in slips):
        remedy = "list what a reader with a wrong idea would answer: `- [ ] {{name}}`, with a quotation under it"
        draft.report.add(
            line, Rule.MISSING_PART, "", "this variant question has no slip to tell from the truth", remedy
        )
    if isinstance(options, NumberVariantOptions):
        return _Key(slips, NumberKey(0.0, options.tolerance, options.unit))
    return _Key(slips)


def _number_key(options: NumberOptions, items: Sequence[Item], draft: Draft) -> NumberKey:
    slips = []
    otherwise = next((item.feedback for item in items if item.text == EVERY_OTHER), "")
    for item in items:
        if item.right:
            report_right_slip(item, draft)
        if item.text == EVERY_OTHER:
            continue
        try:
            value = float(item.text)
        except ValueError:
            remedy = "write one number after the box"
            draft.report.add(item.line, Rule.ANSWER_KEY, item.text, f"{item.text!r} is no number", remedy)
            continue
        if abs(value - options.value) <= options.tolerance:
            draft.report.add(
                item.line,
                Rule.ANSWER_KEY,
                item.text,
                f"the slip {item.text} is within the tolerance of the right number",
                "make the tolerance smaller, or remove the slip",
            )
        slips.append((value, item.feedback))
    return NumberKey(options.value, options.tolerance, options.unit, tuple(slips), otherwise)


def report_right_slip(item: Item, draft: Draft) -> None:
    message = f"{item.text!r} is listed as a slip and is right"
    draft.report.add(item.line, Rule.ANSWER_KEY, item.text, message, "list wrong answers only, each with `- [ ]`")


def _slips(items: Sequence[Item], right: Sequence[str], draft: Draft) -> tuple[Option, ...]:
    """Known wrong answers; the id of each is what the learner gives."""
    for item in items:
        if item.right or unmark(item.text) in right:
            report_right_slip(item, draft)
    return tuple(Option(item.text, item.html, False, item.feedback) for item in items)


def _order_slip(items: Sequence[Item], draft: Draft) -> tuple[Option, ...]:
    """There are too many wrong orders to name any: what can be said is said to all of them."""
    for item in items:
        if item.text != EVERY_OTHER:
            message = f"{item.text!r} is no answer to a question of order"
            draft.report.add(item.line, Rule.ANSWER_KEY, item.text, message, "write `- [ ] *`, for every wrong order")
    return _slips(items, (), draft)


def _check_line_feedback(slips: Sequence[Option], wrong: int, line: int, draft: Draft) -> None:
    """Reports a wrong line without feedback; `wrong` is how many lines there are to choose wrongly."""
    if len(slips) < wrong and not any(slip.id == EVERY_OTHER for slip in slips):
        message = "the choice of any other line gets no feedback"
        draft.report.add(line, Rule.MISSING_FEEDBACK, EVERY_OTHER, message, ADD_OTHERWISE)


def _graph_key(options: GraphClickOptions, items: Sequence[Item], line: int, draft: Draft) -> GraphKey:
    _slips(items, options.targets, draft)
    otherwise = next((item.feedback for item in items if item.text == EVERY_OTHER), "")
    if not any(item.text == EVERY_OTHER for item in items):
        draft.report.add(
            line,
            Rule.MISSING_FEEDBACK,
            EVERY_OTHER,
            "a click on any other node gets no feedback",
            ADD_OTHERWISE,
        )
    wrong = {item.text: item.feedback for item in items if item.text != EVERY_OTHER}
    return GraphKey(options.cell, options.targets, wrong, otherwise)


def _check_lines(options: WrongLineOptions, body: Body, line: int, draft: Draft) -> int:
    total = _check_code(body, 1, line, draft)
    for number in options.lines:
        if total and number > total:
            remedy = f"write a line from 1 to {total}"
            draft.report.add(line, Rule.ANSWER_KEY, str(number), f"the code has no line {number}", remedy)
    return total


def _check_code(body: Body, fewest: int, line: int, draft: Draft) -> int:
    """How many lines the question's one code block has; reports where it is missing or too short."""
    if len(body.code) != 1:
        message = f"this question has {len(body.code)} code blocks and needs one"
        draft.report.add(
            line, Rule.MISSING_PART, str(len(body.code)), message, "write one ```python block in its body"
        )
        return 0
    total = len(body.code[0].content.rstrip("\n").split("\n"))
    if total < fewest:
        message = f"the code has {total} lines and needs at least {fewest}"
        draft.report.add(line, Rule.ANSWER_KEY, str(total), message, "add lines")
    return total
