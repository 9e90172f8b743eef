"""The table in README.md names tests that exist."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
PLACES = (FOLDER, FOLDER.parent / "graders" / "ledger")


def test_the_table_names_tests_that_exist() -> None:
    named = set(re.findall(r"\| `(test_\w+)` \|$", (FOLDER / "README.md").read_text(), re.MULTILINE))
    files = [file for place in PLACES for file in place.glob("test_*.py")]
    written = {name for file in files for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.M)}
    assert len(named) > 20
    assert named <= written
