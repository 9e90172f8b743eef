"""The state of one chapter while it is built: its problems, prose, ids and references."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.course.blocks import Cell, Claim, Graph, Variant, Where
from app.course.language.directive_scan import Fence
from app.course.language.directive_specs import HIDDEN
from app.course.language.prose import Prose
from app.course.problems import Report, Rule, suggest


@dataclass(frozen=True)
class Named:
    """A use of a name that has to exist: an id of this chapter, a concept, a chapter, an exercise or a drill."""

    name: str
    line: int
    by: str
    """The directive that refers to it, in the author's terms: "the prediction double-use"."""


@dataclass
class Draft:
    """One chapter being built. The lists are filled in reading order."""

    slug: str
    report: Report
    prose: Prose
    lines: tuple[str, ...]
    """As the author wrote them, front matter included."""
    ids: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, int] = field(default_factory=dict)
    setups: dict[str, str] = field(default_factory=dict)
    variants: dict[str, Variant] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """The hidden fences, such as setups, that another directive names."""
    cells: dict[str, Cell] = field(default_factory=dict)
    pieces: dict[str, dict[str, str]] = field(default_factory=dict)
    """What runs before each cell, piece by piece: code to its display. No piece runs twice."""
    before: dict[str, str] = field(default_factory=dict)
    """The code that runs before each cell, in the form shown to a reader."""
    measures: dict[str, Cell] = field(default_factory=dict)
    graphs: dict[str, Graph] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    headings: dict[str, int] = field(default_factory=dict)
    """The line of each heading, by its words."""
    questions: int = 0
    heading_level: int = 1
    reserved_ids: frozenset[str] = frozenset()
    concepts: list[Named] = field(default_factory=list)
    exercises: list[Named] = field(default_factory=list)
    drills: list[Named] = field(default_factory=list)
    resolvers: list[Named] = field(default_factory=list)
    clicked: list[Named] = field(default_factory=list)
    asks_about_drawn: bool = False
    """Whether it is a drill, whose picture is drawn with each question."""

    def where(self, line: int) -> Where:
        return Where(self.report.path, line)

    def take_id(self, fence: Fence, name: str) -> None:
        """Records an id, which is also an anchor. Reports it if another directive already has it."""
        if name in self.ids:
            message = f"the id {name!r} is taken by line {self.ids[name]}"
            remedy = "choose another; ids are unique within a chapter"
            self.report.add(fence.line, Rule.DUPLICATE_ID, name, message, remedy)
            return
        self.ids[name] = fence.line
        if fence.name not in HIDDEN:
            self.anchors[name] = fence.line

    def find_missing(self, uses: list[Named], known: Mapping[str, object], what: str) -> None:
        """Reports each use of a name that is not in `known`."""
        for use in uses:
            if use.name not in known:
                otherwise = (
                    f"this chapter has {', '.join(known)}" if known else f"this chapter has no {what} yet; add it"
                )
                message = f"{use.by} points to the {what} {use.name!r}, which this chapter does not have"
                remedy = suggest(use.name, known, otherwise)
                self.report.add(use.line, Rule.UNKNOWN_ID, use.name, message, remedy)
