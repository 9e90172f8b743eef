"""A reader's note as HTML: CommonMark without raw HTML, pictures and headings, which belong to the page. No I/O."""

from markdown_it import MarkdownIt

from app.course.blocks import Html

_PARSER = MarkdownIt("commonmark", {"html": False}).disable(
    ["html_block", "html_inline", "image", "heading", "lheading"]
)
"""markdown-it itself makes no link of an address that would run a script."""


def render_note(text: str) -> Html:
    """Code is in a box that scrolls, so the keyboard must reach it. A "<" of the note's own is escaped by now."""
    return str(_PARSER.render(text)).replace("<pre>", '<pre tabindex="0">')
