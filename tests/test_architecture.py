"""The house's rules that a linter does not know: sizes, and an engine that knows no course by name."""

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ("app", "graders", "unwind", "static/src")
FUNCTION_LINES = 40
MODULE_LINES = 420
TEMPLATE_LINES = 140
CONTENT = ROOT / "graders" / "attacks" / "relu-vjp"
"""The exercise that recorded forgeries are submitted to. It is content, so the engine's rules are not for it."""


def engine_files(*suffixes: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *ENGINE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return sorted(ROOT / name for name in listed if is_engine(ROOT / name) and name.endswith(suffixes))


def is_engine(path: Path) -> bool:
    return path.exists() and CONTENT not in path.parents


def course_names() -> set[str]:
    folders = [*(ROOT / "chapters").iterdir(), *(ROOT / "exercises").iterdir()]
    return {folder.name for folder in folders if folder.is_dir()}


@pytest.mark.slow
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
            if lines > FUNCTION_LINES and node.name not in LONG_FUNCTIONS:
                long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines")
    assert long == []


LONG_FUNCTIONS = {
    "_assemble": "the loader's one list of everything that a course is made of, each with its problems",
    "render_exercise": "one dataclass, filled field by field",
}
"""Name -> why it may be longer than a page."""


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
    "graders/attacks/judged.py": "its clean program looks, in the box, for what another run left in the environment",
    "graders/attacks/on_the_process.py": "an attack leaves an environment for the next run",
    "graders/box/attempts.py": "looks, from inside the box, whether anything of the environment came along",
    "graders/contract/course_versions.py": "finds the live version of the course, for the website and the graders",
    "graders/contract/environment.py": "looks for settings that are misspelled, and would count as not given",
    "graders/box/jail/mother.py": "empties the environment of the process that learners' runs are forked from",
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


def test_no_two_files_of_tests_share_a_name() -> None:
    """pytest imports them by name, so that the second of two stops a run of the whole suite before it begins."""
    paths: dict[str, list[str]] = {}
    for name in files_under(["tests"]):
        if Path(name).name.startswith("test_") and name.endswith(".py"):
            paths.setdefault(Path(name).name, []).append(name)
    assert {name: found for name, found in paths.items() if len(found) > 1} == {}


PURE_PACKAGES = ("app/course", "app/learning", "app/pictures", "graders/contract")
IMPURE_MODULES = {
    "app/course/loader.py": "reads the course's files",
    "app/course/files.py": "says which files the loader may read",
    "app/course/gallery.py": "lists and reads the gallery's programs for the loader",
    "graders/contract/course_versions.py": "finds the live version of the course, for the website and the graders",
    "graders/contract/environment.py": "looks for settings that are misspelled",
    "graders/contract/log_lines.py": "sets up the log of each process",
    "graders/contract/settings.py": "reads the settings from the environment",
}
"""Path -> why a module of a pure package touches the world."""
WORLDLY_MODULES = {
    "asyncio", "glob", "http", "io", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil", "socket",
    "ssl", "subprocess", "sys", "tempfile", "time", "urllib", "uuid",
}  # fmt: skip
WORLDLY_CALLS = re.compile(
    r"\b(open|input|print)\(|\.(read_text|read_bytes|write_text|write_bytes|now|today|utcnow)\("
)
HARMLESS_NAMES = {"pathlib": {"PurePath", "PurePosixPath", "Path"}, "io": {"StringIO", "BytesIO"}}
"""Names that alone open nothing: a path is a name until somebody opens it, and that is a call."""


def worldly_imports(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in WORLDLY_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in WORLDLY_MODULES:
            harmless = HARMLESS_NAMES.get(node.module or "", set())
            found += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in harmless]
    return found


def test_pure_packages_touch_no_file_no_socket_no_clock_and_no_chance() -> None:
    found = {}
    for path in engine_files(".py"):
        name = str(path.relative_to(ROOT))
        if not name.startswith(PURE_PACKAGES) or name in IMPURE_MODULES:
            continue
        source = path.read_text(encoding="utf-8")
        calls = [match.group() for match in WORLDLY_CALLS.finditer(strip_texts(source))]
        if touched := worldly_imports(ast.parse(source)) + calls:
            found[name] = touched
    assert found == {}


def strip_texts(source: str) -> str:
    """The program without its comments and strings, which may speak of anything."""
    # Since Python 3.12, the text of an f-string is a token of its own.
    texts = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", None))
    kept = (
        token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in texts
    )
    return re.sub(r"(?<=\w) (?=\()|(?<=\.) | (?=\.)", "", " ".join(kept))


def test_what_is_excused_from_purity_is_still_there() -> None:
    assert [name for name in IMPURE_MODULES if not (ROOT / name).is_file()] == []


RETIRED = tomllib.loads((ROOT / "tests" / "retired_words.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("word", sorted(RETIRED))
def test_a_retired_word_is_not_used_again(word: str) -> None:
    """`pattern` finds the word in its retired sense; `allowed` lists files in which it means something else."""
    rule = RETIRED[word]
    pattern = re.compile(rule["pattern"])
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in files_under(rule.get("folders", DEFAULT_FOLDERS))
        if name not in rule.get("allowed", ())
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"say {rule['now']!r} instead"


DEFAULT_FOLDERS = ["app", "graders", "unwind", "static/src", "bench", "tools", "docs", "README.md"]


def files_under(folders: list[str]) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    text = (".py", ".ts", ".html", ".md", ".css", ".toml")
    return [
        name
        for name in listed.stdout.split()
        if name.endswith(text)
        and (ROOT / name).exists()
        and not name.startswith(("docs/decisions/", "app/storage/migrations/", "app/course/vendor/"))
    ]
