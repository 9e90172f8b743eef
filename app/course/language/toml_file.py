"""Reads a TOML file into a model and reports each problem at its line. Pure: takes the text."""

import difflib
import re
import tomllib
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.course.language.value_words import say_wanted, say_wrong, shorten
from app.course.problems import Report, Rule, one_of, suggest

Model = TypeVar("Model", bound=BaseModel)

AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def find_line(text: str, *words: str) -> int:
    """The line (from 1) on which the last word is found, each word searched for from the line of the one before it.

    A word that is not found leaves the search where it was. TOML's parser keeps no line numbers.
    """
    lines = text.split("\n")
    number = 0
    for word in words:
        number = _next_line(lines, word, number)
    return number + 1


def _find_key(text: str, keys: tuple[int | str, ...]) -> int:
    """The line of a value; a number in `keys` is an index into the `[[tables]]` named by the key before it."""
    lines = text.split("\n")
    number = 0
    for index, part in enumerate(keys):
        if isinstance(part, int):
            table = re.compile(rf"\[\[(?:[\w-]+\.)*{re.escape(str(keys[index - 1]))}\]\]")
            headers = [n for n in range(number, len(lines)) if table.match(lines[n].strip())]
            number = headers[part] if part < len(headers) else number
        else:
            number = _next_line(lines, part, number)
    return number + 1


def _next_line(lines: list[str], word: str, start: int) -> int:
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return next((number for number in range(start, len(lines)) if pattern.search(lines[number])), start)


def read_toml(text: str, model: type[Model], rule: Rule, report: Report) -> Model | None:
    """The file's data, or None if any field is wrong; every wrong field is reported."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        message = AT_LINE.sub("", str(error)).strip()
        report.add(line, rule, "", f"this is not TOML: {message}", "fix the line; see https://toml.io")
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for fault in drop_consequences(error.errors(include_url=False)):
            _report_fault(fault, text, model, rule, report)
        return None


def drop_consequences(faults: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Without those that another one explains: a list that is short of a wrong item, a name that was misspelt."""
    places = [fault["loc"] for fault in faults]
    misspelt = [fault["loc"] for fault in faults if fault["type"] == "extra_forbidden"]

    def is_explained(fault: ErrorDetails) -> bool:
        place = fault["loc"]
        if fault["type"] == "too_short":
            return any(len(other) > len(place) and other[: len(place)] == place for other in places)
        beside = [str(other[-1]) for other in misspelt if other[:-1] == place[:-1]]
        return fault["type"] == "missing" and bool(
            difflib.get_close_matches(str(place[-1]), beside, n=1, cutoff=0.55)
        )

    return [fault for fault in faults if not is_explained(fault)]


def _report_fault(fault: ErrorDetails, text: str, model: type[BaseModel], rule: Rule, report: Report) -> None:
    keys = fault["loc"]
    names = [str(part) for part in keys if isinstance(part, str)]
    shown = ".".join(str(part) for part in keys)
    missing = fault["type"] == "missing"
    line = _find_key(text, keys[:-1] if missing else keys)
    if missing:
        report.add(line, rule, names[-1], f"{shown} is missing", f"write `{names[-1]} = ...`")
        return
    if fault["type"] == "extra_forbidden":
        known = list(model.model_fields) if len(names) == 1 else []
        remedy = suggest(names[-1], known, one_of(known) if known else "remove it, or fix its name")
        report.add(line, rule, names[-1], f"no field is called {shown}", remedy)
        return
    remedy = f"write {wanted}" if (wanted := say_wanted(fault)) else say_wrong(fault)
    report.add(line, rule, str(fault["input"]), f"{shown} is {shorten(fault['input'])}", remedy)
