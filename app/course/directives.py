"""Every directive of the course language: its options as one pydantic model, its argument, and what it may hold.

A field's description is the remedy that an author reads, and `docs/writing-a-chapter.md` has to name every
directive and option that stands here.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.course.blocks import Axis, Chart, Kind, Role
from graders.contract.jobs import Flavour


def _split_on(separator: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(separator) if part.strip())


def _read_flag(value: object) -> object:
    if value in ("", True):
        return True
    raise ValueError("takes no value")


Flag = Annotated[bool, BeforeValidator(_read_flag)]
Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: _split_on(",", value)), Field(min_length=1)]
Alternatives = Annotated[tuple[str, ...], BeforeValidator(lambda value: _split_on("|", value)), Field(min_length=1)]
LineNumbers = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(lambda value: _split_on(",", value)), Field(min_length=1)
]
Text = Annotated[str, Field(min_length=1)]


class Options(BaseModel):
    """The options of one directive; names in a chapter have hyphens where fields have underscores."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=lambda name: name.replace("_", "-"))


class NoOptions(Options):
    """A directive that takes none."""


class PredictOptions(Options):
    resolved_by: Text = Field(description="write the id of the cell whose run shows the truth")


class QuestionOptions(Options):
    kind: Kind = Field(description="write one of " + ", ".join(Kind))
    role: Role = Field(description="write one of " + ", ".join(Role))
    concepts: Names = Field(description="write concept ids of course.toml, with commas between them")


class NumberOptions(QuestionOptions):
    value: float = Field(allow_inf_nan=False, description="write the right number, e.g. `:value: 3`")
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="write a number from 0 up")
    unit: str = Field(default="", description="write the unit shown beside the field")


class TextOptions(QuestionOptions):
    accept: Alternatives = Field(description="write the accepted answers with ` | ` between them")


class GraphClickOptions(QuestionOptions):
    cell: Text = Field(description="write the id of the cell or graph that is clicked")
    targets: Names = Field(description="write the right nodes: forward names or variables, with commas between them")


class WrongLineOptions(QuestionOptions):
    lines: LineNumbers = Field(description="write the wrong lines' numbers, from 1, with commas between them")


class VariantQuestionOptions(QuestionOptions):
    variant: Text = Field(description="write the id of a variant fence of this chapter")


class NumberVariantOptions(VariantQuestionOptions):
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="write a number from 0 up")
    unit: str = Field(default="", description="write the unit shown beside the field")


class SeveralVariantOptions(VariantQuestionOptions):
    slips: Names = Field(default=(), description="write names of the draw's values, with commas between them")


OPTIONS_OF_DRAWN_KIND: dict[Kind, type[QuestionOptions]] = {
    Kind.CHOICE: VariantQuestionOptions,
    Kind.SEVERAL: SeveralVariantOptions,
    Kind.NUMBER: NumberVariantOptions,
    Kind.TEXT: VariantQuestionOptions,
    Kind.ORDER: VariantQuestionOptions,
    Kind.WRONG_LINE: VariantQuestionOptions,
}
"""Of a question whose right answer comes from a draw, and not from its options."""

OPTIONS_OF_KIND: dict[Kind, type[QuestionOptions]] = {
    Kind.CHOICE: QuestionOptions,
    Kind.SEVERAL: QuestionOptions,
    Kind.NUMBER: NumberOptions,
    Kind.TEXT: TextOptions,
    Kind.ORDER: QuestionOptions,
    Kind.GRAPH_CLICK: GraphClickOptions,
    Kind.WRONG_LINE: WrongLineOptions,
    Kind.OPEN: QuestionOptions,
}


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
    y: Annotated[tuple[str, ...], BeforeValidator(lambda value: _split_on(",", value))] = Field(
        default=(), description="write the columns to draw, with commas between them"
    )
    log: Annotated[tuple[Axis, ...], BeforeValidator(lambda value: _split_on(",", value))] = Field(
        default=(), description="write x, y or both, with a comma between them"
    )
    exact: Flag = Field(default=False, description="write `:exact:` alone")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    flavour: Flavour = Field(default=Flavour.TORCH, description="write one of " + ", ".join(Flavour))
    needs: Literal["cpu", "gpu"] = Field(default="cpu", description="write `gpu`, or leave the option out")
    readonly: Flag = Field(default=False, description="write `:readonly:` alone")
    cuts: str = Field(
        default="", pattern=r"^[A-Za-z_]\w*$", description="write the name of a list of whole numbers in the code"
    )
    layers: int = Field(default=0, ge=2, le=64, description="write how many layers the strip has, from 2 to 64")


class GraphOptions(Options):
    caption: str = Field(default="", description="write one line")
    setup: str = Field(default="", description="write the id of a setup fence of this chapter")
    alt: Text = Field(description="say in words what the picture shows")


class ClaimOptions(Options):
    needs: Literal["cpu", "gpu"] = Field(default="cpu", description="write `gpu`, or leave the option out")
    myth: str = Field(default="", description="write the belief that the claim corrects")


class Argument(StrEnum):
    """What stands after the name on the opening line."""

    ID = "an id"
    EXERCISE = "an exercise's name"
    TITLE = "a title"
    LEVEL = "a level"
    NONE = "nothing"


class Holds(StrEnum):
    """Which directives may stand inside."""

    ANYTHING = "anything"
    TO_LOOK_AT = "to look at"
    """Cells, graphs, claims and asides: nothing that a reader has to answer."""
    NOTHING = "nothing"


@dataclass(frozen=True)
class Spec:
    """What a directive is made of. `title` is shown when the author gives none."""

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
    "ladder": Spec(NoOptions, Argument.NONE),
    "exercise": Spec(NoOptions, Argument.EXERCISE),
    "interview": Spec(NoOptions, Argument.LEVEL, Holds.TO_LOOK_AT),
    "faq": Spec(NoOptions, Argument.NONE, Holds.TO_LOOK_AT),
    **{name: Spec(NoOptions, Argument.TITLE, Holds.ANYTHING) for name in BOXES},
}

TO_LOOK_AT = frozenset({"cell", "measure", "graph", "claim", "figure", "steps", "setup", "variant", "aside"})

HIDDEN = frozenset({"setup", "variant"})
"""What a page does not show: code that other directives name."""


def all_option_names(directive: str) -> frozenset[str]:
    """Every option that the directive knows in any of its kinds, as an author writes it."""
    models: list[type[Options]] = [SPECS[directive].options]
    if directive == "question":
        models += [*OPTIONS_OF_KIND.values(), *OPTIONS_OF_DRAWN_KIND.values()]
    return frozenset(name.replace("_", "-") for model in models for name in model.model_fields)
