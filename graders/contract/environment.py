"""The variables UNWIND_* that this project reads, and what is said of one that is misspelled or has a wrong value."""

import difflib
import os
from collections.abc import Mapping

from pydantic import ValidationError

PREFIX = "UNWIND_"
SITE_SETTINGS = frozenset(
    "env data course host port database_url secret trust_proxy rate_factor preview".split()  # noqa: SIM905
)
GRADER_SETTINGS = frozenset({"data", "course", "database_url", "profile", "slots"})
# Read by docker-compose.yml, and perhaps handed on.
COMPOSE_SETTINGS = frozenset({"address"})


def find_unknown(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """A line for each variable UNWIND_* that nothing here reads: a misspelled setting would count as not given."""
    known = {name.upper() for name in SITE_SETTINGS | GRADER_SETTINGS | COMPOSE_SETTINGS}
    lines = []
    for name in sorted(environment):
        head, own = name[: len(PREFIX)].upper(), name[len(PREFIX) :].upper()
        if head != PREFIX or own in known:
            continue
        near = difflib.get_close_matches(own, known, n=1)
        remedy = f"did you mean {PREFIX}{near[0]}?" if near else "unset it."
        lines.append(f"{name} is no setting; {remedy} See docs/settings.md")
    return tuple(lines)


def describe_invalid(problem: ValidationError) -> str:
    """Each wrong setting with its variable, what is wrong, and its value."""
    lines = [
        f"{PREFIX}{str(error['loc'][0]).upper()}: {error['msg']}, and it is {error['input']!r}; see docs/settings.md"
        if error["loc"]
        else error["msg"]
        for error in problem.errors()
    ]
    return "\n".join(line.replace("Value error, ", "") for line in lines)
