"""Finds the file and the line that an exercise's author has to change."""

import ast
import difflib
import traceback
from collections.abc import Collection
from pathlib import Path

from graders.contract.examination import ExerciseFault
from graders.contract.exercise_files import CASES, PROBE, SOLUTION
from graders.trusted.exercise import read_file
from graders.trusted.faults import ExerciseProblem

CASE_REMEDY = "fix the line; docs/writing-an-exercise.md says what belongs in cases.py"


def locate(folder: Path, error: Exception, file: str) -> ExerciseFault:
    """The deepest line of the folder's own that the error came through."""
    words = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.lineno:
        return ExerciseFault(file=file, line=error.lineno, message=words, remedy="fix the line")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == folder and frame.lineno
    ]
    place, line = (Path(frames[-1].filename).name, frames[-1].lineno or 1) if frames else (file, 1)
    remedy = "fix the line"
    if isinstance(error, ModuleNotFoundError):
        remedy = "an exercise's files can import what is installed, and nothing of its own folder: put the code here"
    return ExerciseFault(file=place, line=line, message=f"{place} raises {words}", remedy=remedy)


def read_problem(folder: Path, problem: ExerciseProblem) -> ExerciseFault:
    """The words of a message that begins with its file: "cases.py: what is wrong; what to write"."""
    file, _, rest = str(problem).partition(": ")
    if file not in (CASES, PROBE, SOLUTION):
        file, rest = CASES, str(problem)
    message, _, remedy = rest.partition("; ")
    text = read_file(folder, file)
    line = line_of_word(text, problem.word) if problem.word else line_of_def(text, "draw_cases")
    return ExerciseFault(file=file, line=line, message=message, remedy=remedy or CASE_REMEDY)


def line_of_word(text: str, word: str, after: str = "") -> int:
    """The last line with the word between quotation marks, or with the word at all; else that of draw_cases.

    `after` is a word that stands before it, such as the name of its case: then it is the next line that counts.
    """
    lines = text.split("\n")
    start = line_of_word(text, after) if after else 1
    quoted = [n for n, line in enumerate(lines, 1) if n >= start and (f'"{word}"' in line or f"'{word}'" in line)]
    plain = [n for n, line in enumerate(lines, 1) if n >= start and word and word in line]
    return (quoted or plain or [line_of_def(text, "draw_cases")])[0 if after else -1]


def line_of_def(text: str, name: str = "") -> int:
    """Where a function of this name begins, or the file's first one; 1 where there is none."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return 1
    defined = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return next((node.lineno for node in defined if node.name == name or not name), 1)


def find_near(word: str, known: Collection[str]) -> list[str]:
    return difflib.get_close_matches(word, list(known), n=1, cutoff=0.55)


def suggest(word: str, known: Collection[str], otherwise: str) -> str:
    near = find_near(word, known)
    return f"did you mean {near[0]!r}?" if near else otherwise
