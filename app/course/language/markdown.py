"""The Markdown of a course: CommonMark, tables, footnotes, dollar math, and directives where `fences` found them."""

from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from app.course.language.code import highlight
from app.course.language.directive_scan import Fence
from app.course.questions.placeholders import keep_code, names_in

FENCES: Final = "fences"
"""The key of the parse environment that holds the scan of `fences`, by opening line."""

SPLIT = "+++"
ALTERNATIVES: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def", "table"]}


def make_parser() -> MarkdownIt:
    """A parser with raw HTML disabled; one instance can be used for every file."""
    options = {"html": False, "linkify": False, "typographer": True, "quotes": "“”‘’"}
    parser = MarkdownIt("commonmark", options).enable(["table", "smartquotes"])
    parser.use(footnote_plugin, inline=False)
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, allow_blank_lines=False)
    parser.block.ruler.before("fence", "directive", _directive, ALTERNATIVES)
    parser.block.ruler.before("fence", "split", _split, ALTERNATIVES)
    for name, rule in RENDER_RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    fence: Fence | None = state.env.get(FENCES, {}).get(start)
    if fence is None or state.blkIndent > 0 or state.parentType in ("blockquote", "list"):
        return False
    if silent:
        return True
    opening = state.push("directive_open", "div", 1)
    opening.meta = {"fence": fence}
    opening.map = [start, fence.end]
    if fence.is_code:
        opening.content = state.getLines(fence.body, fence.close, 0, False)
    else:
        _tokenize_within(state, fence.body, fence.close)
    state.push("directive_close", "div", -1)
    state.line = fence.end
    return True


def _tokenize_within(state: StateBlock, first: int, last: int) -> None:
    old_parent, old_line_max = state.parentType, state.lineMax
    # Lazy continuation must not run past the closing line.
    state.parentType, state.lineMax = "container", last
    state.md.block.tokenize(state, first, last)
    state.parentType, state.lineMax = old_parent, old_line_max


def _split(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    text = state.src[state.bMarks[start] : state.eMarks[start]]
    if text.rstrip() != SPLIT:
        return False
    if silent:
        return True
    token = state.push("split", "", 0)
    token.map = [start, start + 1]
    state.line = start + 1
    return True


def _typeset(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    html: str = token.meta.get("html", "") or f"<code>{escape(token.content)}</code>"
    return f'<div class="math">{html}</div>\n' if token.type == "math_block" else html


def _code(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0] if token.info.strip() else "text"
    if names_in(token.content):
        return keep_code(token.content, language)
    return f'<pre class="code" tabindex="0">{highlight(token.content, language)}</pre>\n'


def _table_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return '<div class="table-scroll" role="group" aria-label="Table" tabindex="0"><table>\n'


def _table_close(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return "</table></div>\n"


def _nothing(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return ""


RENDER_RULES = {
    "math_inline": _typeset,
    "math_block": _typeset,
    "fence": _code,
    "code_block": _code,
    "table_open": _table_open,
    "table_close": _table_close,
    "split": _nothing,
}
