"""The house's rules that a linter does not know: sizes, and an engine that knows no course by name."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ("app", "graders", "unwind", "static/src")
FUNCTION_LINES = 60
MODULE_LINES = 420
TEMPLATE_LINES = 140


def engine_files(*suffixes: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *ENGINE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return sorted(ROOT / name for name in listed if name.endswith(suffixes) and (ROOT / name).exists())


def course_names() -> set[str]:
    folders = [*(ROOT / "chapters").iterdir(), *(ROOT / "exercises").iterdir()]
    return {folder.name for folder in folders if folder.is_dir()}


def test_the_engine_knows_no_chapter_and_no_exercise_by_name() -> None:
    names = course_names()
    assert names
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(names)))
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in engine_files(".py", ".ts", ".html", ".css", ".mjs")
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_module_is_longer_than_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in engine_files(".py", ".ts", ".css")
        if "vendor" not in path.parts and (lines := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LINES
    }
    assert long == {}


def test_no_template_is_longer_than_a_screen_or_two() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in engine_files(".html")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > TEMPLATE_LINES
    }
    assert long == {}


def test_no_function_is_longer_than_a_page() -> None:
    long = []
    for path in engine_files(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines")
    assert long == []


def test_every_module_opens_with_a_sentence() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in engine_files(".py")
        if "vendor" not in path.parts
        and (source := path.read_text(encoding="utf-8")).strip()
        and not ast.get_docstring(ast.parse(source))
        and "versions" not in path.parts
    ]
    assert silent == []


def test_only_settings_reads_the_environment() -> None:
    reads = re.compile(r"os\.environ|os\.getenv|environ\[")
    found = [
        str(path.relative_to(ROOT))
        for path in engine_files(".py")
        if path.name != "settings.py"
        and "inside" not in path.parts
        and reads.search(path.read_text(encoding="utf-8"))
        and str(path.relative_to(ROOT)) not in ENVIRONMENT_READERS
    ]
    assert found == []


ENVIRONMENT_READERS = {
    "graders/box/attempts.py": "looks, from inside the box, whether anything of the environment came along",
    "graders/contract/environment.py": "looks for settings that are misspelled, and would count as not given",
    "graders/box/jail/serve.py": "empties the environment of the process that learners' runs are forked from",
}
"""Path -> why it touches the environment of a process."""


def test_nothing_loads_from_another_host() -> None:
    remote = re.compile(r"""(?:src|href|url\(|import|from)\s*=?\s*['"(]?\s*(?:https?:)?//(?!www\.w3\.org)""")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in engine_files(".html", ".ts", ".css")
        if "vendor" not in path.parts
        for match in remote.finditer(path.read_text(encoding="utf-8"))
        if "<a " not in path.read_text(encoding="utf-8")[max(0, match.start() - 80) : match.start()]
    ]
    assert found == []


def test_every_declared_dependency_has_its_reason_written_down() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    names = {re.split(r"[<>=\[]", requirement)[0] for requirement in declared}
    reasons = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text(encoding="utf-8")
    assert {name for name in names if f"`{name}`" not in reasons} == set()
