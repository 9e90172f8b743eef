"""The files of graders/inside are top-level modules in the box; here too."""

from pathlib import Path

import pytest

INSIDE = Path(__file__).resolve().parents[3] / "graders" / "inside"


@pytest.fixture(autouse=True)
def _as_in_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(INSIDE)
