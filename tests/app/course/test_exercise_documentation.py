"""docs/writing-an-exercise.md names every field of exercise.toml and every key of a case, and can be copied."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from graders.contract.chart import Chart, Plan
from graders.contract.jobs import Flavour, Queue
from graders.contract.limits import Limits
from graders.contract.manifest import Attempt, Diagnosis, Difficulty, Judge, Manifest, Tolerance
from graders.contract.results import Outcome
from graders.trusted.case import CaseFacts, GraphSpec, MachineSpec, NodeSpec, PeakSpec

DOCUMENT = (Path(__file__).parents[3] / "docs" / "writing-an-exercise.md").read_text(encoding="utf-8")
TABLE = DOCUMENT.partition("## exercise.toml")[2].partition("The outcomes of an attempt")[0]
CASES = DOCUMENT.partition("## cases.py")[2]
CHART = DOCUMENT.partition("## The chart of memory against recomputing")[2].partition("## Rules")[0]

ORDERS = (CaseFacts, MachineSpec, PeakSpec, GraphSpec, NodeSpec)
NO_KEY = "hosted"
"""What the judge notes of a case, and no author writes."""

SECTIONS: dict[type[BaseModel], str] = {Chart: CHART, Plan: CHART}
"""Where a table's fields are named, if not in the table of exercise.toml's own."""


def tables_of(model: type[BaseModel]) -> set[type[BaseModel]]:
    """The model with every table that may stand in it, however deep."""
    found, left = {model}, [field.annotation for field in model.model_fields.values()]
    while left:
        kind = left.pop()
        left += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= tables_of(kind)
    return found


TABLES = sorted(tables_of(Manifest) - {Manifest}, key=lambda model: model.__name__)


def names_field(text: str, name: str) -> bool:
    """Whether a field is named in a table or a sentence, or shown in an example of TOML."""
    named = rf"`(\[\[?)?{name}(\.CODE)?(\]\]?)?( = [^`]+)?`"
    shown = rf"^{name} = |^\[\[\w+\.{name}\]\]"
    return bool(re.search(f"{named}|{shown}", text, re.MULTILINE))


def test_a_table_within_a_table_is_looked_at_too() -> None:
    assert {Attempt, Diagnosis, Limits, Plan} <= set(TABLES)


@pytest.mark.parametrize(
    ("model", "field"), [(model, field) for model in (Manifest, *TABLES) for field in model.model_fields]
)
def test_every_field_of_exercise_toml_is_documented(model: type[BaseModel], field: str) -> None:
    assert names_field(SECTIONS.get(model, TABLE), field)


@pytest.mark.parametrize("word", [*Difficulty, *Judge, *Queue, *Flavour])
def test_every_word_that_a_field_of_exercise_toml_takes_is_documented(word: str) -> None:
    assert f"`{word}`" in TABLE


@pytest.mark.parametrize("model", [Limits, Tolerance])
def test_what_counts_if_a_limit_or_a_tolerance_is_left_out_is_said_as_it_is(model: type[BaseModel]) -> None:
    said = [f"`{name}` ({field.default:.12g})" for name, field in model.model_fields.items()]
    assert [words for words in said if words.replace("1e-0", "1e-") not in TABLE] == []


@pytest.mark.parametrize(
    ("model", "field"),
    [(model, field) for model in ORDERS for field in model.model_fields if field != NO_KEY],
)
def test_every_key_of_a_case_is_documented(model: type[BaseModel], field: str) -> None:
    assert re.search(rf"`{field}`|\"{field}\":", CASES)


def test_a_field_that_nobody_named_would_be_missed() -> None:
    assert not names_field(TABLE, "no_such_field")
    assert not names_field(CHART, "no_such_field")


def test_every_outcome_that_an_attempt_can_have_is_documented() -> None:
    never = {Outcome.OK, Outcome.CANCELLED, Outcome.SUPERSEDED, Outcome.GRADER_FAULT}
    assert [outcome for outcome in Outcome if outcome not in never and f"`{outcome}`" not in DOCUMENT] == []


def test_the_diagnosis_that_is_shown_is_one() -> None:
    (shown,) = re.findall(r"```toml\n(\[diagnosis\].*?)```", DOCUMENT, re.DOTALL)
    diagnosis = Diagnosis.model_validate(tomllib.loads(shown)["diagnosis"])
    assert (diagnosis.answer, diagnosis.lines, len(diagnosis.categories)) == ("never-cleared", (27,), 4)


def test_the_chart_that_is_shown_is_one() -> None:
    (shown,) = re.findall(r"```toml\n(\[chart\].*?)```", DOCUMENT, re.DOTALL)
    chart = Chart.model_validate(tomllib.loads(shown)["chart"])
    assert (chart.most_held, [plan.best for plan in chart.plans]) == (46, [False, True])


@pytest.mark.parametrize(("key", "model"), [("machine", MachineSpec), ("peak", PeakSpec), ("graph", GraphSpec)])
def test_what_a_case_is_shown_with_is_read(key: str, model: type[BaseModel]) -> None:
    (shown,) = re.findall(rf'^```python\n("{key}": .*?)^```', DOCUMENT, re.DOTALL | re.MULTILINE)
    model.model_validate(eval(f"{{{shown}}}")[key])
