"""Reads a directive's opening lines into its options, and reports each problem at the option's own line."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from app.course.language.directive_scan import Fence
from app.course.language.directive_specs import LEVELS, Argument, Spec, all_option_names
from app.course.language.option_fields import Options
from app.course.language.value_words import say_wrong
from app.course.problems import Report, Rule, one_of, suggest
from app.course.questions.kinds import KINDS
from app.course.questions.question import QuestionOptions

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Model = TypeVar("Model", bound=Options)


def _refuse_kind(_value: str) -> str:
    *others, last = map(repr, KINDS)
    raise ValueError(f"input should be {', '.join(others)} or {last}")


class _OptionsOfNoKind(QuestionOptions):
    """The options of a question whose kind is missing or unknown."""

    kind: Annotated[str, AfterValidator(_refuse_kind)] = Field(description="write one of " + ", ".join(KINDS))


def read_argument(fence: Fence, spec: Spec, report: Report) -> str | None:
    """The argument, or None if it is wrong; the problem is then reported."""
    problem = _argument_problem(fence, spec)
    if problem is None:
        return fence.argument
    report.add(fence.line, Rule.ARGUMENT, fence.argument, f"{{{fence.name}}} {problem[0]}", problem[1])
    return None


def _argument_problem(fence: Fence, spec: Spec) -> tuple[str, str] | None:
    given = fence.argument
    match spec.argument:
        case Argument.TITLE:
            return None
        case Argument.NONE if given:
            return f"takes no argument but has {given!r}", "remove it, or write it in the body"
        case Argument.LEVEL if given not in LEVELS:
            return f"needs a level but has {given!r}", suggest(given, LEVELS, one_of(LEVELS))
        case Argument.ID | Argument.EXERCISE if not ID.fullmatch(given):
            wrong = f"needs {spec.argument.value} but has {given!r}"
            return wrong, "write lower-case letters, digits and single hyphens after the name"
        case _:
            return None


def read_options(fence: Fence, model: type[Model], report: Report) -> Model | None:
    """The options, or None if a required one is missing or wrong. A wrong optional one takes its default."""
    values, lines = _collect(fence, report)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in faults:
        _report_fault(fault, fence, model, lines, report)
    wrong = {str(fault["loc"][0]) for fault in faults}
    try:
        return model.model_validate({name: value for name, value in values.items() if name not in wrong})
    except ValidationError:
        return None


def read_question_options(fence: Fence, report: Report) -> QuestionOptions | None:
    """A question's options; its kind decides which of them are allowed."""
    kinds = [option.value for option in fence.options if option.name == "kind"]
    if kinds and kinds[0] in KINDS:
        drawn = any(option.name == "variant" for option in fence.options)
        models = KINDS[kinds[0]].option_models()
        return read_options(fence, models[-1] if drawn else models[0], report)
    # Without a kind it is unknown which other options are allowed, so options of any kind are accepted.
    of_some_kind = all_option_names("question") - {"kind", "role", "concepts"}
    kept = tuple(option for option in fence.options if option.name not in of_some_kind)
    read_options(replace(fence, options=kept), _OptionsOfNoKind, report)
    return None


def _collect(fence: Fence, report: Report) -> tuple[dict[str, Any], dict[str, int]]:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for number in fence.badly_written:
        report.add(
            number, Rule.OPTION_SYNTAX, "", f"this line of {{{fence.name}}} is not an option", "write `:name: value`"
        )
    for option in fence.astray:
        message = f":{option.name}: is indented or follows a blank line"
        remedy = f"write it in the first column, right under the line that opens {{{fence.name}}}"
        report.add(option.line, Rule.OPTION_SYNTAX, option.name, message, remedy)
    for option in fence.options:
        if option.name in values:
            first = lines[option.name]
            message = f"{{{fence.name}}} has the option :{option.name}: twice"
            remedy = f"keep one of them; the other is on line {first}"
            report.add(option.line, Rule.DUPLICATE_OPTION, option.name, message, remedy)
            continue
        values[option.name] = option.value
        lines[option.name] = option.line
    return values, lines


def _report_fault(
    fault: ErrorDetails, fence: Fence, model: type[Options], lines: Mapping[str, int], report: Report
) -> None:
    name = str(fault["loc"][0])
    line = lines.get(name, fence.line)
    if fault["type"] == "extra_forbidden":
        known = frozenset(field.replace("_", "-") for field in model.model_fields)
        message = f"{{{fence.name}}} has no option :{name}:" + _kinds_that_have(fence, name)
        remedy = suggest(name, known, one_of(known) if known else "it takes no options")
        report.add(line, Rule.UNKNOWN_OPTION, name, message, remedy)
        return
    remedy = model.model_fields[name.replace("-", "_")].description or "see docs/writing-a-chapter.md"
    if fault["type"] == "missing":
        report.add(line, Rule.MISSING_OPTION, name, f"{{{fence.name}}} needs the option :{name}:", remedy)
        return
    value = str(fault["input"]) if not isinstance(fault["input"], tuple) else ", ".join(map(str, fault["input"]))
    report.add(line, Rule.OPTION_VALUE, value, f":{name}: is {value!r}: {say_wrong(fault)}", _near(value, remedy))


def _kinds_that_have(fence: Fence, name: str) -> str:
    if fence.name != "question":
        return ""
    field = name.replace("-", "_")
    models = [(kind.kind, model) for kind in KINDS.values() for model in kind.option_models()]
    kinds = dict.fromkeys(kind for kind, model in models if field in model.model_fields)
    return f" in this kind; {', '.join(kinds)} has it" if kinds else ""


def _near(value: str, remedy: str) -> str:
    """The remedy; if it lists names, the one nearest to `value` is suggested."""
    if not remedy.startswith("write one of "):
        return remedy
    return suggest(value, remedy.removeprefix("write one of ").split(", "), remedy)
