"""docs/tracing.md: its examples run as they stand, and it names everything that a tape can do."""

import re
from pathlib import Path

import pytest
from tape_parts import run_cell

from unwind import Tape

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tracing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.torch
def test_the_example_with_torch_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(EXAMPLES[0])
    assert 'made by "(x * 3).exp()" at line 6' in capsys.readouterr().out


def test_the_example_with_an_engine_of_ones_own_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(EXAMPLES[1])
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == ["* recorded: gives -0.6", "tanh recorded: gives y = -0.537", "backward begins at tanh"]
    assert told[-1] == "w.grad: 0.0 += 0.3558 gives 0.3558"


def test_everything_that_a_tape_can_do_is_named() -> None:
    public = {name for name in vars(Tape) if not name.startswith("_")}
    named = set(re.findall(r"`t\.(\w+)", TEXT))
    assert named == public
