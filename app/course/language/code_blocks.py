"""Builds the directives that hold code: cells, graphs and claims. Checks that their Python parses."""

import re
from dataclasses import dataclass
from pathlib import Path

from app.course.blocks import Cell, Claim, Graph, Variant
from app.course.language.code import highlight, highlight_unnumbered
from app.course.language.directive_scan import Fence
from app.course.language.directive_specs import CellOptions, ClaimOptions, GraphOptions, NoOptions, VariantOptions
from app.course.language.draft import Draft
from app.course.language.options import read_options
from app.course.language.python_code import find_idle_check, find_syntax_mistake, has_code
from app.course.language.tree import Directive
from app.course.problems import Rule, one_of, suggest

SEPARATOR = "---"

SILENTLY = """\
with __import__("contextlib").redirect_stdout(__import__("io").StringIO()):
    exec({source!r}, globals())
"""
"""Runs a cell for the names it defines. Its output is discarded: the cell itself has already shown it."""


@dataclass(frozen=True)
class Code:
    """A fence's text around its `---` line; `after_line` is the file's line on which the second part starts."""

    before: str
    after: str | None
    line: int
    after_line: int


def split_code(directive: Directive) -> Code:
    lines = directive.content.split("\n")
    first = directive.fence.body + 1
    if SEPARATOR not in (line.rstrip() for line in lines):
        return Code(directive.content.strip("\n"), None, first + _blank_lines(lines), 0)
    cut = [line.rstrip() for line in lines].index(SEPARATOR)
    before, after = lines[:cut], lines[cut + 1 :]
    return Code(
        "\n".join(before).strip("\n"),
        "\n".join(after).strip("\n"),
        first + _blank_lines(before),
        first + cut + 1 + _blank_lines(after),
    )


def _blank_lines(lines: list[str]) -> int:
    """The number of leading blank lines, which are cut off: code starts this many lines later in the file."""
    return next((number for number, line in enumerate(lines) if line.strip()), 0)


def check_python(source: str, line: int, fence: Fence, draft: Draft) -> None:
    if not source.strip():
        draft.report.add(fence.line, Rule.MISSING_PART, "", f"{{{fence.name}}} has no code", "write it in the fence")
        return
    mistake = find_syntax_mistake(source)
    if mistake is None and not has_code(source):
        message = f"{{{fence.name}}} holds nothing but comments"
        draft.report.add(fence.line, Rule.MISSING_PART, "", message, "write its code")
    if mistake:
        message = f"this Python does not parse: {mistake.message}"
        broken = source.split("\n")[min(mistake.line, source.count("\n") + 1) - 1].strip()
        draft.report.add(line + mistake.line - 1, Rule.PYTHON, broken, message, "fix the line")


def read_setup(directive: Directive, draft: Draft) -> None:
    """Keeps the code of a setup fence under its id; cells name it."""
    read_options(directive.fence, NoOptions, draft.report)
    code = split_code(directive)
    check_python(code.before, code.line, directive.fence, draft)
    draft.setups.setdefault(directive.fence.argument, code.before)


def read_variant(directive: Directive, draft: Draft) -> None:
    """Keeps a generator under its id; questions name it."""
    fence = directive.fence
    options = read_options(fence, VariantOptions, draft.report) or VariantOptions()
    code = split_code(directive)
    check_python(code.before, code.line, fence, draft)
    if code.before.strip() and not re.search(r"^def draw\(", code.before, re.MULTILINE):
        message = f"the variant {fence.argument!r} defines no function `draw`"
        draft.report.add(fence.line, Rule.MISSING_PART, "draw", message, "write `def draw(rng):`, returning a dict")
    draft.variants.setdefault(
        fence.argument, Variant(fence.argument, code.before, options.flavour, options.draws, code.line)
    )


def build_cell(directive: Directive, name: str, draft: Draft) -> Cell | None:
    fence = directive.fence
    options = read_options(fence, CellOptions, draft.report) or CellOptions()
    code = split_code(directive)
    check_python(code.before, code.line, fence, draft)
    setup = ""
    if options.setup:
        setup = find_setup(options.setup, fence, draft)
    before = _find_code_before(options, setup, fence, draft)
    shown = "\n\n\n".join(before.values())
    shown_by = next((cell for cell, other in draft.before.items() if other == shown and shown), "")
    draft.before[name] = shown
    draft.pieces[name] = before
    cell = Cell(
        id=name,
        source=code.before,
        setup="\n\n".join(before),
        setup_html=highlight_unnumbered(shown) if shown and not shown_by else "",
        setup_shown_by=shown_by,
        caption=draft.prose.inline(options.caption, fence.line_of("caption")),
        graph=options.graph,
        editable=not options.readonly,
        flavour=options.flavour,
        expected=code.after,
        where=draft.where(fence.line),
        raises=options.raises,
        html=highlight(code.before),
        code_line=code.line,
        needs=options.needs,
    )
    draft.cells[name] = cell
    return cell


def find_setup(name: str, fence: Fence, draft: Draft) -> str:
    draft.used.add(name)
    if name not in draft.setups:
        message = f"the setup {name!r} is not in this chapter"
        remedy = suggest(name, draft.setups, one_of(draft.setups))
        draft.report.add(fence.line_of("setup"), Rule.UNKNOWN_ID, name, message, remedy)
    return draft.setups.get(name, "")


def _find_code_before(options: CellOptions, setup: str, fence: Fence, draft: Draft) -> dict[str, str]:
    """What runs before a cell, each piece once: the cells it depends on, then its setup. Maps code to its display."""
    pieces: dict[str, str] = {}
    for name in options.depends_on:
        before = draft.cells.get(name)
        if before is None:
            message = f"no cell above this one is called {name!r}"
            remedy = suggest(name, draft.cells, one_of(draft.cells))
            draft.report.add(fence.line_of("depends-on"), Rule.UNKNOWN_ID, name, message, remedy)
        else:
            pieces |= draft.pieces[name]
            pieces[SILENTLY.format(source=before.source)] = before.source
    return pieces | ({setup: setup} if setup else {})


def build_graph(directive: Directive, name: str, draft: Draft) -> Graph | None:
    fence = directive.fence
    options = read_options(fence, GraphOptions, draft.report)
    code = split_code(directive)
    check_python(code.before, code.line, fence, draft)
    if code.after is not None:
        remedy = "remove the `---` line and what follows, or make it a {cell}"
        draft.report.add(
            code.after_line - 1, Rule.MISSING_PART, SEPARATOR, "a {graph} has no expected output", remedy
        )
    graph = Graph(
        id=name,
        source=code.before,
        setup=find_setup(options.setup, fence, draft) if options and options.setup else "",
        caption=draft.prose.inline(options.caption if options else "", fence.line_of("caption")),
        alt=options.alt if options else "",
        trace_path=Path("chapters") / draft.slug / "traces" / f"{name}.json",
        where=draft.where(fence.line),
        html=highlight(code.before),
        code_line=code.line,
    )
    draft.graphs[name] = graph
    return graph


def _check_claim(source: str, line: int, name: str, draft: Draft) -> None:
    """Reports code that cannot fail: it would pass for a false sentence too."""
    if find_syntax_mistake(source) or not has_code(source):
        return
    idle = find_idle_check(source)
    if idle:
        message = f"the code of the claim {name!r} cannot fail: {idle.message}"
        remedy = "write `assert` with a condition that is false when the sentence is false"
        draft.report.add(line + idle.line - 1, Rule.IDLE_CLAIM, name, message, remedy)


def build_claim(directive: Directive, name: str, draft: Draft) -> Claim | None:
    fence = directive.fence
    options = read_options(fence, ClaimOptions, draft.report) or ClaimOptions()
    code = split_code(directive)
    if code.after is None:
        message = f"the claim {name!r} has no `---` line between its sentence and its code"
        draft.report.add(fence.line, Rule.MISSING_PART, name, message, "write the sentence, `---`, then the code")
    else:
        check_python(code.after, code.after_line, fence, draft)
        _check_claim(code.after, code.after_line, name, draft)
    if not code.before.strip():
        message = f"the claim {name!r} has no sentence"
        draft.report.add(fence.line, Rule.MISSING_PART, name, message, "write it before the `---` line")
    claim = Claim(
        id=name,
        sentence=draft.prose.block(code.before, code.line),
        text=" ".join(code.before.split()),
        code=code.after or "",
        myth=draft.prose.inline(options.myth, fence.line_of("myth")),
        needs=options.needs,
        where=draft.where(fence.line),
        html=highlight(code.after or ""),
        code_line=code.after_line,
    )
    draft.claims[name] = claim
    return claim
