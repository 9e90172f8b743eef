"""The zip that Gradescope takes: what is in it, and what its run_autograder writes for a submission."""

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = ROOT / "tests" / "course" / "exercises" / "double"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gradescope's folder, with the zip unpacked where it unpacks it."""
    home = tmp_path_factory.mktemp("autograder")
    command = [str(ROOT / "tools" / "make_gradescope"), str(EXERCISE), str(home / "out.zip")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHON": sys.executable}, capture_output=True)
    with zipfile.ZipFile(home / "out.zip") as archive:
        archive.extractall(home / "source")
    return home


def hand_in(home: Path, text: str | None) -> Path:
    """Runs the autograder as Gradescope does; returns where the results should be."""
    submission, results = home / "submission", home / "results" / "results.json"
    submission.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)
    for old in submission.iterdir():
        old.unlink()
    if text is not None:
        (submission / "answer.py").write_text(text)
    environment = {**os.environ, "AUTOGRADER": str(home), "PYTHON": sys.executable}
    command = ["bash", str(home / "source" / "run_autograder")]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return results


def test_the_zip_holds_what_gradescope_asks_for(home: Path) -> None:
    names = {path.name for path in (home / "source").iterdir()}

    assert names == {"setup.sh", "run_autograder", "requirements.txt", "graders", "exercises"}
    needed = (home / "source" / "requirements.txt").read_text().split()
    assert [line.partition(">")[0] for line in needed] == [
        "pydantic",
        "pydantic-settings",
        "packaging",
        "pyyaml",
        "numpy",
    ]
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", str(home / "source" / name)], check=True)


def test_the_requirements_are_what_the_graders_command_imports(home: Path) -> None:
    """Gradescope's image has nothing else, so one import of anything else would fail every submission."""
    listing = """
import sys
before = set(sys.modules)
import graders.__main__
print(*{name.partition(".")[0] for name in sys.modules.keys() - before})
"""
    command = [sys.executable, "-c", listing]
    loaded = subprocess.run(command, check=True, cwd=home / "source", capture_output=True, text=True).stdout.split()
    distributions = packages_distributions()
    imported = {normalise(name) for module in loaded for name in distributions.get(module, ())}

    needed = (home / "source" / "requirements.txt").read_text().splitlines()
    assert imported <= {"unwind"} | find_all_needed(needed)


def normalise(requirement: str) -> str:
    """The name of the distribution that a requirement asks for, as an index spells it."""
    name = re.match(r"[\w.-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def find_all_needed(wanted: list[str]) -> set[str]:
    """The distributions that these requirements bring, those of the distributions included."""
    found: set[str] = set()
    while wanted:
        name = normalise(wanted.pop())
        if name not in found:
            found.add(name)
            wanted += [one for one in requires(name) or () if "extra ==" not in one]
    return found


def test_a_submission_without_a_file_is_told_so(home: Path) -> None:
    assert json.loads(hand_in(home, None).read_text()) == {"score": 0, "output": "Hand in one Python file."}


def test_a_grader_that_fails_leaves_no_results(home: Path) -> None:
    manifest = home / "source" / "exercises" / "double" / "exercise.toml"
    before = manifest.read_text()
    manifest.write_text("broken")

    results = hand_in(home, "def double(x):\n    return 2 * x\n")

    manifest.write_text(before)
    assert not results.exists()


@pytest.mark.box
@pytest.mark.parametrize(("body", "passed"), [("2 * x", 2), ("x", 0)])
def test_a_submission_gets_its_points(home: Path, body: str, passed: int) -> None:
    results = json.loads(hand_in(home, f"def double(x):\n    return {body}\n").read_text())

    assert sum(test["score"] for test in results["tests"]) == passed
