"""The variables UNWIND_* of an environment: which are misspelled, and what is wrong with a value."""

import difflib
import os
from collections.abc import Collection, Iterator, Mapping

from pydantic import ValidationError

PREFIX = "UNWIND_"
RESEMBLES = 0.75
"""From this likeness on (difflib's ratio), one name is taken for a misspelling of the other."""


def find_unknown(known: Collection[str], environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """A line for each variable UNWIND_* not in `known`: otherwise a misspelled setting would silently be ignored."""
    lines = []
    for name, own in _find_others(known, environment):
        near = difflib.get_close_matches(own, known, n=1)
        remedy = f"did you mean {PREFIX}{near[0].upper()}?" if near else "unset it."
        lines.append(f"{name} is not a setting; {remedy} See docs/settings.md")
    return tuple(lines)


def find_misspelled(known: Collection[str], environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The same for a program that does not know all settings: only variables that resemble one of `known`."""
    others = _find_others(known, environment)
    return find_unknown(
        known, {name: "" for name, own in others if difflib.get_close_matches(own, known, 1, RESEMBLES)}
    )


def _find_others(known: Collection[str], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each variable UNWIND_* not in `known`, with its name as a setting."""
    for name in sorted(environment):
        head, own = name[: len(PREFIX)].upper(), name[len(PREFIX) :].lower()
        if head == PREFIX and own not in known:
            yield name, own


def describe_invalid(problem: ValidationError) -> str:
    """A line per wrong setting: its variable, what is wrong, and its value."""
    lines = [
        f"{PREFIX}{str(error['loc'][0]).upper()}: {error['msg']}, and it is {error['input']!r}; see docs/settings.md"
        if error["loc"]
        else error["msg"]
        for error in problem.errors()
    ]
    return "\n".join(line.replace("Value error, ", "") for line in lines)
