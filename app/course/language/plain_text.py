"""The words of rendered HTML, as a reader sees them: a formula once, blocks apart. Pure."""

from html.parser import HTMLParser

BLOCKS = frozenset(
    {
        "p",
        "div",
        "li",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "pre",
        "table",
        "tr",
        "td",
        "th",
        "blockquote",
        "br",
        "hr",
        "figure",
    }
)
"""Tags between which words do not run together."""
VOID = frozenset({"br", "hr", "img", "input", "wbr", "col", "source"})


def words_of(html: str) -> str:
    """The text of our renderer's HTML on one line. Of a formula it has the signs, without its TeX and its layout."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.pieces).split())


class _Reader(HTMLParser):
    """A formula comes three times: as MathML, as its TeX within the MathML, and laid out for the eye."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden_depth = 0
        """How many tags are open inside a part that is left out, that part's own tag included."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.pieces.append(" ")
        if tag in VOID:
            return
        if self._hidden_depth or tag == "annotation" or ("class", "katex-html") in attributes:
            self._hidden_depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self._hidden_depth and tag not in VOID:
            self._hidden_depth -= 1
        if tag in BLOCKS:
            self.pieces.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden_depth:
            self.pieces.append(data)
