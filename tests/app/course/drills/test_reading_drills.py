"""The folder drills/: what makes a drill, and how its mistakes are told."""

import pytest
from drill_parts import GENERATOR, TEXT, read, sums

from app.course.questions.number import Number


def test_a_drill_is_a_question_with_its_generator_and_the_modules_beside_it() -> None:
    found = read()
    assert found.problems == ()
    (drill,) = found.drills
    assert (drill.id, drill.path, drill.code) == ("sums", "drills/sums.md", GENERATOR)
    assert drill.shared == (("program", "make = dict\n"),)
    assert isinstance(drill.question, Number)


def test_a_change_of_a_shared_module_changes_the_drill() -> None:
    (changed,) = read(program_py="make = list\n").drills
    assert changed.digest != sums().digest


@pytest.mark.parametrize(
    ("files", "path", "line", "rule", "words"),
    [
        ({"sums_py": ""}, "drills/sums.md", 1, "drill", "sums.py defines no function `draw`"),
        ({"sums_py": "def draw(:\n"}, "drills/sums.py", 1, "python-syntax", "does not parse"),
        ({"program_py": "x = (\n"}, "drills/program.py", 1, "python-syntax", "does not parse"),
        ({"sums_md": "Words.\n"}, "drills/sums.md", 1, "drill", "0 questions; a drill has one"),
        ({"sums_md": TEXT.replace("} sums", "} other")}, "drills/sums.md", 1, "drill", "called 'other'"),
        (
            {"sums_md": TEXT.replace(":variant: sums", ":value: 2")},
            "drills/sums.md",
            1,
            "drill",
            "the question of sums.md is not drawn",
        ),
        ({"sums_md": TEXT.replace("accumulation", "nothing")}, "drills/sums.md", 4, "unknown-concept", "'nothing'"),
        ({"sums_json": "{}"}, "drills/sums.json", 1, "evidence-file", "content: Field required"),
    ],
)
def test_a_mistake_is_told_at_its_place(files: dict[str, str], path: str, line: int, rule: str, words: str) -> None:
    told = [problem for problem in read(**files).problems if problem.rule == rule]
    assert [(problem.path, problem.line) for problem in told] == [(path, line)]
    assert words in told[0].message
