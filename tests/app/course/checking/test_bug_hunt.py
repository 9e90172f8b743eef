"""What an author of a bug hunt can get wrong: each mistake is reported alone, at its line of exercise.toml."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.course.checking.checks import ExerciseFolder, plan_checks
from app.course.loader import load_course
from app.course.problems import ContentProblem
from graders.contract.jobs import Diagnosed

HUNT = Path(__file__).resolve().parents[3] / "graders" / "fixtures" / "half-an-hour"
COURSE = """\
format = 1
title = "Hunts"
tagline = "One."
torch = "2.13.0"

[concepts]
vjp = "One"

[[modules]]
id = "one"
number = 1
title = "One"
summary = "One."
chapters = []
"""


@pytest.fixture
def hunt(tmp_path: Path) -> Path:
    (tmp_path / "course.toml").write_text(COURSE, encoding="utf-8")
    shutil.copytree(HUNT, tmp_path / "exercises" / "hunt")
    return tmp_path / "exercises" / "hunt"


def change(hunt: Path, old: str, new: str) -> tuple[ContentProblem, ...]:
    """The problems of the hunt after one change of its exercise.toml."""
    manifest = hunt / "exercise.toml"
    text = manifest.read_text(encoding="utf-8")
    assert text.count(old) == 1
    manifest.write_text(text.replace(old, new), encoding="utf-8")
    return load_course(hunt.parents[1])[1]


def line_of(hunt: Path, text: str) -> int:
    return (hunt / "exercise.toml").read_text(encoding="utf-8").split("\n").index(text) + 1


def test_a_hunt_as_it_should_be_has_no_problem(hunt: Path) -> None:
    assert load_course(hunt.parents[1])[1] == ()


MISTAKES: list[tuple[str, str, str, str, str]] = [
    ("lines = [4, 5]", "lines = [4, 6]", "lines = [4, 6]", "starter.py has 5 lines", "write a line from 1 to 5"),
    ("lines = [4, 5]", "lines = [4, 0]", "lines = [4, 0]", "starter.py has 5 lines", "write a line from 1 to 5"),
    ("lines = [4, 5]", "lines = [3, 5]", "lines = [3, 5]", "it is blank", "write the number of the line that causes"),
    ('category = "rounding"\nwhy = "The right fix, by', 'category = "roundin"\nwhy = "The right fix, by',
     'category = "roundin"', "not offered", "did you mean 'rounding'?"),
    ("line = 2", "line = 20", "line = 20", "marks line 20", "write a line from 1 to 5"),
    ("line = 2", "line = 4", "[diagnosis]", "a right fix with a wrong line", 'finding = "wrong-diagnosis"'),
    ('category = "rounding"\nwhy = "The right fix, by', 'why = "The right fix, by', "[diagnosis]",
     "a right fix with a wrong category", 'finding = "wrong-diagnosis"'),
    ('rounding = "A part of the number is cut off."\nshared-state = "One call changes what the next one sees."\n',
     'rounding = "A part of the number is cut off."\n', "[diagnosis]", "3 kinds of fault", "write at least 4"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "at", "message", "remedy"), MISTAKES)
def test_a_mistake_is_reported_at_its_line_with_its_remedy(
    hunt: Path, old: str, new: str, at: str, message: str, remedy: str
) -> None:
    (found,) = change(hunt, old, new)

    assert (found.path, found.line, found.rule) == ("exercises/hunt/exercise.toml", line_of(hunt, at), "diagnosis")
    assert message in found.message
    assert remedy in found.remedy


def test_a_comment_is_no_guilty_line(hunt: Path) -> None:
    starter = hunt / "starter.py"
    starter.write_text(starter.read_text(encoding="utf-8").replace("\n\n", "\n    # the sum\n"), encoding="utf-8")

    (found,) = change(hunt, "lines = [4, 5]", "lines = [3, 5]")

    assert "it is a comment" in found.message


def test_an_answer_that_is_not_offered_is_reported(hunt: Path) -> None:
    (found,) = change(hunt, 'answer = "wrong-unit"', 'answer = "wrong-units"')

    assert (found.rule, found.line) == ("exercise-file", line_of(hunt, "[diagnosis]"))
    assert "answer 'wrong-units' is not one of the categories" in found.remedy


@pytest.mark.parametrize(("said", "word"), [("line = 5", "line"), ('category = "rounding"', "category")])
def test_an_attempt_that_says_a_word_where_none_is_asked_is_reported(hunt: Path, said: str, word: str) -> None:
    text = (hunt / "exercise.toml").read_text(encoding="utf-8")
    before, _, after = text.partition("[diagnosis]")
    own = "[findings." + after.partition("[findings.")[2].partition("[[attempts]]")[0]
    attempts = "".join(
        f'[[attempts]]\nfile = "{file}"\noutcome = "passed"\n{said if file == "rounds.py" else ""}\nwhy = "x"\n'
        for file in ("rounds.py", "other_way.py", "other_kind.py", "other_line.py")
    )
    (hunt / "exercise.toml").write_text(before + own + attempts, encoding="utf-8")

    (found,) = load_course(hunt.parents[1])[1]

    assert (found.rule, found.line) == ("diagnosis", line_of(hunt, said))
    assert f"remove `{word}`" in found.remedy


def read_folder(hunt: Path) -> Callable[[str], Diagnosed | None]:
    """What the check of a file says of the fault."""
    course, _ = load_course(hunt.parents[1])
    files = {path.relative_to(hunt).as_posix(): path.read_text(encoding="utf-8") for path in hunt.rglob("*.*")}
    checks = plan_checks(course, {}, [ExerciseFolder(course.exercises["hunt"], files)], available=("cpu",))
    said = {check.name: check.job.diagnosed for check in checks if check.job.kind == "grade"}
    return lambda file: said[f"hunt/{file}"]


def test_the_check_says_the_right_words_for_whoever_says_none_of_their_own(hunt: Path) -> None:
    said = read_folder(hunt)

    right = Diagnosed(category="wrong-unit", line=4)
    assert [said(file) for file in ("solution.py", "starter.py", "attempts/rounds.py")] == [right] * 3
    assert said("attempts/other_way.py") == Diagnosed(category="wrong-unit", line=5)
    assert said("attempts/other_kind.py") == Diagnosed(category="rounding", line=4)
    assert said("attempts/other_line.py") == Diagnosed(category="wrong-unit", line=2)


def test_without_a_diagnosis_the_check_says_nothing(hunt: Path) -> None:
    text = (hunt / "exercise.toml").read_text(encoding="utf-8")
    head = text.partition("[diagnosis]")[0]
    own = '[findings.too-early]\nshort = "No."\n'
    attempts = "".join(
        f'[[attempts]]\nfile = "{path.name}"\noutcome = "passed"\nwhy = "x"\n' for path in hunt.glob("attempts/*")
    )
    (hunt / "exercise.toml").write_text(head + own + attempts, encoding="utf-8")

    assert read_folder(hunt)("solution.py") is None


def test_blank_lines_at_the_end_of_a_starter_are_no_lines_to_be_guilty(hunt: Path) -> None:
    starter = hunt / "starter.py"
    starter.write_text(starter.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")

    (found,) = change(hunt, "lines = [4, 5]", "lines = [4, 7]")

    assert "starter.py has 5 lines" in found.message


def test_a_formula_in_a_finding_is_reported_at_its_finding_and_a_price_is_not(hunt: Path) -> None:
    text = (hunt / "exercise.toml").read_text(encoding="utf-8")
    code = text.partition("[findings.")[2].partition("]")[0]
    first = text[text.index("[findings.") :].partition("short = ")[2].split("\n")[0]
    (problem,) = change(hunt, f"short = {first}", 'short = "It costs $5, or $6; and $3x^2$ is the slope."')

    assert (problem.line, problem.value) == (line_of(hunt, f"[findings.{code}]"), "$3x^2$")
    assert "in backticks" in problem.remedy
