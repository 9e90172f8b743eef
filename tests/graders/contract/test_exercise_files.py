"""The digest of an exercise changes with what judges it, and with nothing else."""

import random

import pytest

from graders.contract.exercise_files import JUDGING_FILES, digest_exercise

FILES = {name: f"text of {name}".encode() for name in JUDGING_FILES}


def test_it_is_sixteen_digits_whatever_order_the_files_come_in() -> None:
    digest = digest_exercise(FILES)
    shuffled = list(FILES)
    random.Random(1).shuffle(shuffled)

    assert int(digest, 16)
    assert len(digest) == 16
    assert digest_exercise({name: FILES[name] for name in shuffled}) == digest


@pytest.mark.parametrize("name", JUDGING_FILES)
def test_each_file_that_judges_changes_it(name: str) -> None:
    changed, missing = FILES | {name: FILES[name] + b" "}, {each: FILES[each] for each in FILES if each != name}

    assert len({digest_exercise(files) for files in (FILES, changed, missing)}) == 3


def test_a_text_that_moves_to_another_file_changes_it() -> None:
    swapped = FILES | {"cases.py": FILES["probe.py"], "probe.py": FILES["cases.py"]}

    assert digest_exercise(swapped) != digest_exercise(FILES)


@pytest.mark.parametrize("name", ["prompt.md", "hints.md", "starter.py", "attempts/one.py"])
def test_what_does_not_judge_leaves_it_alone(name: str) -> None:
    assert digest_exercise(FILES | {name: b"text"}) == digest_exercise(FILES)
