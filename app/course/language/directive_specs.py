"""Every directive of the course language: its options as one pydantic model, its argument, and what it may hold.

A field's description is the remedy that an author reads, and `docs/writing-a-chapter.md` has to name every
directive and option defined here.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from app.course.blocks import Axis, Chart, Need
from app.course.language.option_fields import Flag, Names, Options, Text, split_on
from app.course.questions.kinds import KINDS
from app.course.questions.question import QuestionOptions
from graders.contract.jobs import Flavour


class NoOptions(Options):
    """The options of a directive that takes none."""


class PredictOptions(Options):
    resolved_by: Text = Field(description="write the id of the cell whose run shows the truth")


class VariantOptions(Options):
    draws: int = Field(default=12, ge=2, le=64, description="write how many draws are kept, from 2 to 64")
    flavour: Flavour = Field(default=Flavour.TORCH, description="write one of " + ", ".join(Flavour))


class CellOptions(Options):
    graph: Flag = Field(default=False, description="write `:graph:` alone")
    caption: str = Field(default="", description="write one line")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    flavour: Flavour = Field(default=Flavour.TORCH, description="write one of " + ", ".join(Flavour))
    readonly: Flag = Field(default=False, description="write `:readonly:` alone")
    depends_on: Names = Field(default=(), description="write ids of cells above it, with commas between them")
    needs: Literal["cpu", "gpu"] = Field(default="cpu", description="write `gpu`, or leave the option out")
    raises: str = Field(
        default="", pattern=r"^[A-Za-z_][\w.]*$", description="write the type of the error, e.g. `RuntimeError`"
    )


class FigureOptions(Options):
    file: Text = Field(pattern=r"^[\w.-]+$", description="write the name of a file in the chapter's figures/")
    alt: Text = Field(description="say in words what the picture shows")


class StepsOptions(Options):
    caption: str = Field(default="", description="write one line")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    flavour: Flavour = Field(default=Flavour.TORCH, description="write one of " + ", ".join(Flavour))
    raises: str = Field(
        default="", pattern=r"^[A-Za-z_][\w.]*$", description="write the type of the error, e.g. `RuntimeError`"
    )


class IncidentOptions(Options):
    title: Text = Field(description="write what happened, in a few words")


class MeasureOptions(Options):
    alt: Text = Field(description="say in words what the table or its chart shows")
    caption: str = Field(default="", description="write one line")
    chart: Chart = Field(default=Chart.NONE, description="write one of " + ", ".join(Chart))
    x: str = Field(default="", description="write the column along the bottom")
    y: Annotated[tuple[str, ...], BeforeValidator(lambda value: split_on(",", value))] = Field(
        default=(), description="write the columns to draw, with commas between them"
    )
    y_title: str = Field(default="", max_length=30, description="write what the numbers are, in at most 30 letters")
    log: Annotated[tuple[Axis, ...], BeforeValidator(lambda value: split_on(",", value))] = Field(
        default=(), description="write x, y or both, with a comma between them"
    )
    exact: Flag = Field(default=False, description="write `:exact:` alone")
    agrees_with: str = Field(default="", description="write the id of another measurement of this chapter")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    flavour: Flavour = Field(default=Flavour.TORCH, description="write one of " + ", ".join(Flavour))
    needs: Need = Field(default="cpu", description="write `gpu`, `compiler` or `ranks`, or leave the option out")
    readonly: Flag = Field(default=False, description="write `:readonly:` alone")
    cuts: str = Field(
        default="", pattern=r"^[A-Za-z_]\w*$", description="write the name of a list of whole numbers in the code"
    )
    layers: int = Field(default=0, ge=2, le=64, description="write how many layers the strip has, from 2 to 64")
    sliders: Annotated[tuple[str, ...], BeforeValidator(lambda value: split_on(",", value))] = Field(
        default=(), description="write a name in the code with its smallest and largest value and the step"
    )
    series: str = Field(default="", description="write the column whose values each have a line of their own")


class GraphOptions(Options):
    caption: str = Field(default="", description="write one line")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    alt: Text = Field(description="say in words what the picture shows")


class ClaimOptions(Options):
    needs: Need = Field(default="cpu", description="write `gpu`, `compiler` or `ranks`, or leave the option out")
    myth: str = Field(default="", description="write the belief that the claim corrects")


class Argument(StrEnum):
    """What follows the name on the opening line."""

    ID = "an id"
    EXERCISE = "an exercise's name"
    TITLE = "a title"
    LEVEL = "a level"
    NONE = "nothing"


class Holds(StrEnum):
    """Which directives may be used inside."""

    ANYTHING = "anything"
    TO_LOOK_AT = "to look at"
    """Cells, graphs, claims and asides: nothing that asks the reader for an answer."""
    NOTHING = "nothing"


@dataclass(frozen=True)
class Spec:
    """The parts of a directive. `title` is shown when the author gives none."""

    options: type[Options]
    argument: Argument
    holds: Holds = Holds.NOTHING
    is_code: bool = False


LEVELS = ("junior", "mid", "senior", "staff")

BOXES = {
    "core-idea": "Core idea",
    "careful": "Careful",
    "when-to": "When to use it",
    "production": "In production",
    "break-it": "Break it",
    "diagnosis": "Diagnosis",
    "takeaways": "Takeaways",
    "mistake": "A common mistake",
    "scale": "At scale",
    "research": "Research",
    "debug": "Where to look",
    "aside": "Aside",
}
"""What each kind of box is called on a page."""

SPECS: dict[str, Spec] = {
    "predict": Spec(PredictOptions, Argument.ID),
    "question": Spec(QuestionOptions, Argument.ID),
    "cell": Spec(CellOptions, Argument.ID, is_code=True),
    "setup": Spec(NoOptions, Argument.ID, is_code=True),
    "variant": Spec(VariantOptions, Argument.ID, is_code=True),
    "measure": Spec(MeasureOptions, Argument.ID, is_code=True),
    "graph": Spec(GraphOptions, Argument.ID, is_code=True),
    "claim": Spec(ClaimOptions, Argument.ID, is_code=True),
    "figure": Spec(FigureOptions, Argument.ID),
    "steps": Spec(StepsOptions, Argument.ID),
    "incident": Spec(IncidentOptions, Argument.ID, Holds.TO_LOOK_AT),
    "drill": Spec(NoOptions, Argument.ID),
    "ladder": Spec(NoOptions, Argument.NONE),
    "exercise": Spec(NoOptions, Argument.EXERCISE),
    "interview": Spec(NoOptions, Argument.LEVEL, Holds.TO_LOOK_AT),
    "faq": Spec(NoOptions, Argument.NONE, Holds.TO_LOOK_AT),
    "fold": Spec(NoOptions, Argument.TITLE, Holds.ANYTHING),
    **{name: Spec(NoOptions, Argument.TITLE, Holds.ANYTHING) for name in BOXES},
}

TO_LOOK_AT = frozenset({"cell", "measure", "graph", "claim", "figure", "steps", "setup", "variant", "aside"})

HIDDEN = frozenset({"setup", "variant"})
"""Directives that a page does not show: code that other directives refer to by name."""


def all_option_names(directive: str) -> frozenset[str]:
    """Every option that the directive knows in any of its kinds, as an author writes it."""
    models: list[type[Options]] = [SPECS[directive].options]
    if directive == "question":
        models += [model for kind in KINDS.values() for model in kind.option_models()]
    return frozenset(name.replace("_", "-") for model in models for name in model.model_fields)
