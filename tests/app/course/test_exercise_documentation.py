"""docs/writing-an-exercise.md names every field of exercise.toml, and its bug hunt can be copied."""

import re
import tomllib
from pathlib import Path

import pytest

from graders.contract.limits import Limits
from graders.contract.manifest import Attempt, Diagnosis, FindingText, Manifest, Tolerance
from graders.contract.results import Outcome

DOCUMENT = (Path(__file__).parents[3] / "docs" / "writing-an-exercise.md").read_text(encoding="utf-8")
TABLE = DOCUMENT.partition("## exercise.toml")[2].partition("The outcomes of an attempt")[0]


@pytest.mark.parametrize("model", [Limits, Tolerance, FindingText, Attempt, Diagnosis])
def test_every_field_of_a_table_in_exercise_toml_is_documented(model: type) -> None:
    assert [name for name in model.model_fields if not re.search(rf"`{name}( = true)?`", TABLE)] == []


@pytest.mark.parametrize("field", Manifest.model_fields)
def test_every_field_of_exercise_toml_is_documented(field: str) -> None:
    assert re.search(rf"`(\[\[?)?{field}(\.CODE)?(\]\]?)?`", TABLE)


def test_every_outcome_that_an_attempt_can_have_is_documented() -> None:
    never = {Outcome.OK, Outcome.CANCELLED, Outcome.SUPERSEDED, Outcome.GRADER_FAULT}
    assert [outcome for outcome in Outcome if outcome not in never and f"`{outcome}`" not in DOCUMENT] == []


def test_the_diagnosis_that_is_shown_is_one() -> None:
    (shown,) = re.findall(r"```toml\n(\[diagnosis\].*?)```", DOCUMENT, re.DOTALL)
    diagnosis = Diagnosis.model_validate(tomllib.loads(shown)["diagnosis"])
    assert (diagnosis.answer, diagnosis.lines, len(diagnosis.categories)) == ("never-cleared", (27,), 4)
