"""Builds a chapter's blocks from its tree, and reports directives that are unknown or in the wrong place."""

import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from app.course.block_tree import Block, Box, Reveal
from app.course.blocks import ExerciseLink, Heading, LadderPlace
from app.course.blocks import Prose as ProseBlock
from app.course.language.code_blocks import build_cell, build_claim, build_graph
from app.course.language.directive_scan import Fence
from app.course.language.directive_specs import BOXES, HIDDEN, SPECS, TO_LOOK_AT, Argument, Holds, NoOptions, Spec
from app.course.language.draft import Draft, Named
from app.course.language.illustrations import build_figure
from app.course.language.incidents import build_incident
from app.course.language.measures import build_measure
from app.course.language.options import read_argument, read_options
from app.course.language.stepping import build_steps
from app.course.language.tree import Directive, Part, directives_of, line_of, plain_text, tokens_of
from app.course.problems import Rule, one_of, suggest
from app.course.questions.building import build_drill, build_predict, build_question, require

NOT_A_WORD = re.compile(r"[^\w]+")

NAMED: dict[str, Callable[[Directive, str, Draft], Block | None]] = {
    "predict": build_predict,
    "question": build_question,
    "cell": build_cell,
    "measure": build_measure,
    "graph": build_graph,
    "claim": build_claim,
    "figure": build_figure,
    "steps": build_steps,
    "drill": build_drill,
}


def build_blocks(
    parts: Sequence[Part], draft: Draft, holds: Holds = Holds.ANYTHING, lines: list[int] | None = None
) -> tuple[Block, ...]:
    """The blocks in order. Descends into a directive even where its own options are wrong.

    `lines` is filled with the file's line on which each of them begins.
    """
    blocks: list[Block] = []
    lines = [] if lines is None else lines
    run: list[Token] = []
    for index, part in enumerate(parts):
        if isinstance(part, Directive):
            _flush(run, blocks, lines, draft)
            block = _build_directive(part, draft, holds)
            if block is not None:
                blocks.append(block)
                lines.append(part.fence.line)
        elif part.type == "heading_open" and part.level == _level_of(parts):
            _flush(run, blocks, lines, draft)
            inline = parts[index + 1]
            assert isinstance(inline, Token)
            blocks.append(_build_heading(part, inline, draft))
            lines.append(line_of([part], 0))
        elif part.type == "split":
            _report_stray_split(part, draft)
        elif not _belongs_to_heading(parts, index):
            run.append(part)
    _flush(run, blocks, lines, draft)
    return tuple(blocks)


def _level_of(parts: Sequence[Part]) -> int:
    return next((part.level for part in parts if isinstance(part, Token)), 0)


def _belongs_to_heading(parts: Sequence[Part], index: int) -> bool:
    part = parts[index]
    if isinstance(part, Token) and part.type == "heading_close" and part.level == _level_of(parts):
        return True
    before = parts[index - 1] if index else None
    return isinstance(before, Token) and before.type == "heading_open" and before.level == _level_of(parts)


def _flush(run: list[Token], blocks: list[Block], lines: list[int], draft: Draft) -> None:
    html = draft.prose.html(run)
    if html:
        blocks.append(ProseBlock(html))
        lines.append(line_of(run, 0))
    run.clear()


def _report_stray_split(token: Token, draft: Draft) -> None:
    line = token.map[0] + 1 if token.map else 0
    draft.report.add(
        line, Rule.STRAY_SPLIT, "+++", "+++ splits nothing here", "it belongs in predict, question, interview and faq"
    )


def _build_heading(opening: Token, inline: Token, draft: Draft) -> Heading:
    level = int(opening.tag[1:])
    line = opening.map[0] + 1 if opening.map else 0
    text = plain_text([inline])
    deepest = draft.heading_level + 1
    if not text:
        draft.report.add(line, Rule.HEADING, opening.markup, "this heading is empty", "write its words, or remove it")
    if level == 1:
        draft.report.add(line, Rule.HEADING, text, "# is the chapter's title, from the front matter", "write ## here")
    elif level > deepest:
        message = f"a heading of level {level} follows one of level {draft.heading_level}"
        draft.report.add(line, Rule.HEADING, text, message, f"write {'#' * deepest}")
    draft.heading_level = max(level, 2)
    if first := draft.headings.get(text):
        message = f"the heading {text!r} stands on line {first} too, and a link could lead to either"
        draft.report.add(line, Rule.DUPLICATE_ID, text, message, "give one of them other words")
    draft.headings.setdefault(text, line)
    return Heading(max(level, 2), draft.prose.html([inline]), text, _take_anchor(text, line, draft))


def _take_anchor(text: str, line: int, draft: Draft) -> str:
    stem = NOT_A_WORD.sub("-", text.lower()).strip("-") or "section"
    anchor, number = stem, 1
    while anchor in draft.anchors or anchor in draft.reserved_ids:
        number += 1
        anchor = f"{stem}-{number}"
    draft.anchors[anchor] = line
    return anchor


def _build_directive(directive: Directive, draft: Draft, holds: Holds) -> Block | None:
    fence = directive.fence
    spec = SPECS.get(fence.name)
    if spec is None:
        remedy = suggest(fence.name, SPECS, one_of(SPECS))
        draft.report.add(
            fence.line, Rule.UNKNOWN_DIRECTIVE, fence.name, f"no directive is called {fence.name!r}", remedy
        )
        build_blocks(directive.parts, draft)
        return None
    _check_place(fence, spec, draft, holds)
    if spec.is_code != fence.is_code:
        _report_wrong_fence(fence, spec, draft)
        build_blocks(directive.parts, draft)
        return None
    if spec.argument is Argument.ID:
        return _build_named(directive, spec, draft)
    return _build_unnamed(directive, spec, draft)


def _check_place(fence: Fence, spec: Spec, draft: Draft, holds: Holds) -> None:
    fits = holds is Holds.ANYTHING or (holds is Holds.TO_LOOK_AT and fence.name in TO_LOOK_AT)
    if not fits:
        message = f"{{{fence.name}}} may not be used inside this directive"
        remedy = "move it before or after the directive that contains it"
        draft.report.add(fence.line, Rule.MISPLACED, fence.name, message, remedy)


def _report_wrong_fence(fence: Fence, spec: Spec, draft: Draft) -> None:
    right = "```" if spec.is_code else ":::"
    what = "code" if spec.is_code else "Markdown"
    message = f"{{{fence.name}}} holds {what} but is fenced with {fence.mark}"
    remedy = f"write {right}{{{fence.name}}} and close it with {right}"
    draft.report.add(fence.line, Rule.WRONG_FENCE, fence.mark, message, remedy)


def _build_named(directive: Directive, spec: Spec, draft: Draft) -> Block | None:
    fence = directive.fence
    name = read_argument(fence, spec, draft.report)
    if name:
        draft.take_id(fence, name)
    if fence.name in HIDDEN:
        return None
    inner = build_blocks(directives_of(directive.parts), draft, spec.holds)
    called = name or f"line-{fence.line}"
    if fence.name == "incident":
        block: Block | None = build_incident(directive, called, inner, draft)
    else:
        block = NAMED[fence.name](directive, called, draft)
    return block if name else None


def _build_unnamed(directive: Directive, spec: Spec, draft: Draft) -> Block | None:
    fence = directive.fence
    read_options(fence, NoOptions, draft.report)
    argument = read_argument(fence, spec, draft.report)
    if fence.name in BOXES:
        title = draft.prose.inline(fence.argument, fence.line) if fence.argument else ""
        blocks = build_blocks(directive.parts, draft, spec.holds)
        require("".join(map(repr, blocks)), fence.line, f"{{{fence.name}}} is empty", "write its text", draft)
        return Box(fence.name, title, blocks)
    if fence.name == "exercise":
        build_blocks(directives_of(directive.parts), draft, spec.holds)
        note = draft.prose.html(tokens_of(directive.parts))
        if argument:
            draft.exercises.append(Named(argument, fence.line, "{exercise}"))
        return ExerciseLink(argument, note) if argument else None
    if fence.name == "ladder":
        return LadderPlace()
    if fence.name == "fold":
        return _build_fold(directive, draft, spec.holds)
    return _build_reveal(directive, argument or "", draft, spec.holds)


def _build_fold(directive: Directive, draft: Draft, holds: Holds) -> Reveal:
    fence = directive.fence
    require(fence.argument, fence.line, "{fold} has no title", "write it after the name: it is all that shows", draft)
    blocks = build_blocks(directive.parts, draft, holds)
    require("".join(map(repr, blocks)), fence.line, "{fold} is empty", "write what it folds away", draft)
    return Reveal("fold", draft.prose.inline(fence.argument, fence.line), "", blocks)


def _build_reveal(directive: Directive, level: str, draft: Draft, holds: Holds) -> Reveal:
    parts = directive.parts
    fence = directive.fence
    cuts = [index for index, part in enumerate(parts) if isinstance(part, Token) and part.type == "split"]
    cut = cuts[0] if cuts else len(parts)
    asked = parts[:cut]
    build_blocks(directives_of(asked), draft, Holds.NOTHING)
    prompt = draft.prose.compact(tokens_of(asked))
    blocks = build_blocks(parts[cut + 1 :], draft, holds)
    line = line_of(parts, fence.line)
    require(prompt, line, f"{{{fence.name}}} asks nothing", "write the question first", draft)
    answered = "yes" if blocks else ""
    require(answered, fence.line, f"{{{fence.name}}} has no answer", "write `+++` and then the answer", draft)
    return Reveal("interview" if fence.name == "interview" else "faq", prompt, level, blocks)
