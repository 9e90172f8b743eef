"""Reads a chapter's front matter, with the line of every field that is wrong."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from yaml.nodes import MappingNode, Node, SequenceNode

from app.course.language.toml_file import drop_consequences
from app.course.language.value_words import say_wrong, shorten
from app.course.problems import Report, Rule, one_of, suggest

FENCE = "---"
BODY = re.compile(r"#{2,6} |`{3}|~{3}|:{3}")
"""The beginnings of lines that cannot be YAML: such a line means that the front matter was not closed."""

Line = Annotated[str, Field(min_length=1)]


class HeadlineFields(BaseModel):
    """A headline figure; `claim` is the id of the claim that proves it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    value: Line = Field(description='write the figure between quotes, e.g. "0 bytes"')
    label: Line = Field(description="say what the figure is")
    claim: Line = Field(description="write the id of the claim of this chapter that proves it")


class FrontMatter(BaseModel):
    """The fields between the `---` lines at the top of a chapter."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    title: Line = Field(description="write the chapter's title")
    subtitle: Line = Field(description="write one sentence")
    minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        description="write how many minutes it takes, a whole number"
    )
    objectives: Annotated[tuple[Line, ...], Field(min_length=1)] = Field(
        description="list what a reader can do by the end, one `- ` item per objective"
    )
    concepts: Annotated[tuple[Line, ...], Field(min_length=1)] = Field(
        description="list concept ids of course.toml, e.g. [recording, saved-tensors]"
    )
    prerequisites: tuple[Line, ...] = Field(default=(), description="list chapter slugs, or write []")
    headlines: Annotated[tuple[HeadlineFields, ...], Field(max_length=4)] = Field(
        default=(), description="list at most four, each with value, label and claim"
    )
    draft: bool = Field(default=False, description="write true or false, or leave it out")


@dataclass(frozen=True)
class Head:
    """The front matter and the line of each value, by its keys. `fields` is None if a required field is wrong."""

    fields: FrontMatter | None
    lines: dict[tuple[str | int, ...], int]
    end: int
    """The number of lines of the file that it takes, both `---` lines included."""

    def line(self, *keys: str | int) -> int:
        """The line of a value, or of the nearest value that encloses it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)


def read_front_matter(lines: list[str], report: Report) -> Head:
    """The head of a chapter. Reports each missing or wrong field at its line."""
    stop, end = _find_extent(lines, report)
    if end == 0:
        return Head(None, {}, 0)
    # Blank lines in front make YAML's line numbers equal those of the file.
    text = "\n" + "\n".join(lines[1:stop])
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        by_keys: dict[tuple[str | int, ...], int] = {}
        _note_lines(node, (), by_keys, report)
        data = loader.construct_document(node) if node else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        message = f"the front matter does not parse: {error.problem}"
        remedy = "quote text that contains `: ` or starts with a punctuation mark"
        report.add(mark.line + 1 if mark else 1, Rule.FRONT_MATTER, "", message, remedy)
        return Head(None, {}, end)
    return Head(_validate(data, by_keys, report), by_keys, end)


def _find_extent(lines: list[str], report: Report) -> tuple[int, int]:
    """The line after the last field, and the line after the closing one, both from 0; (0, 0) without front matter."""
    if not lines or lines[0].rstrip() != FENCE:
        message = "the file does not begin with front matter"
        remedy = "begin it with `---`, title, subtitle, minutes, objectives, concepts, and `---`"
        report.add(1, Rule.FRONT_MATTER, lines[0] if lines else "", message, remedy)
        return 0, 0
    for number in range(1, len(lines)):
        if lines[number].rstrip() == FENCE:
            return number, number + 1
        if BODY.match(lines[number]):
            break
    message = "the front matter is never closed"
    report.add(1, Rule.FRONT_MATTER, FENCE, message, "add a line `---` after its last field")
    return (number, number) if number < len(lines) - 1 else (0, 0)


def _note_lines(
    node: Node | None, keys: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int], report: Report
) -> None:
    if node is None:
        return
    lines.setdefault(keys, node.start_mark.line + 1)
    if isinstance(node, MappingNode):
        for key, value in node.value:
            line, first = key.start_mark.line + 1, lines.get((*keys, key.value))
            if first is not None:
                message = f"the front matter has {key.value!r} twice"
                report.add(line, Rule.FRONT_MATTER, key.value, message, f"keep one; the other is on line {first}")
            lines[(*keys, key.value)] = line
            _note_lines(value, (*keys, key.value), lines, report)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*keys, index), lines, report)


def _validate(data: Any, lines: dict[tuple[str | int, ...], int], report: Report) -> FrontMatter | None:
    try:
        return FrontMatter.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in drop_consequences(faults):
        _report_fault(fault, lines, report)
    if not isinstance(data, dict):
        return None
    wrong = {fault["loc"][0] for fault in faults if fault["loc"]}
    try:
        return FrontMatter.model_validate({key: value for key, value in data.items() if key not in wrong})
    except ValidationError:
        return None


def _report_fault(fault: ErrorDetails, lines: dict[tuple[str | int, ...], int], report: Report) -> None:
    keys = fault["loc"]
    line = next((lines[keys[:size]] for size in range(len(keys), 0, -1) if keys[:size] in lines), 1)
    name = str(keys[-1]) if keys else ""
    inside_headline = len(keys) == 3 and keys[0] == "headlines"
    model: type[BaseModel] = HeadlineFields if inside_headline else FrontMatter
    if fault["type"] == "extra_forbidden":
        known = list(model.model_fields)
        report.add(
            line, Rule.FRONT_MATTER, name, f"front matter has no field {name!r}", suggest(name, known, one_of(known))
        )
        return
    field = model.model_fields.get(name if inside_headline else str(keys[0]) if keys else "")
    remedy = (field.description if field else None) or "write fields as `name: value`"
    if fault["type"] == "missing":
        report.add(line, Rule.FRONT_MATTER, name, f"the front matter has no {name!r}", remedy)
        return
    shown = ".".join(str(part) for part in keys) or "front matter"
    message = f"{shown} is {shorten(fault['input'])}: {say_wrong(fault)}"
    report.add(line, Rule.FRONT_MATTER, str(fault["input"]), message, remedy)
