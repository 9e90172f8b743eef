"""How long a program is: what counts as a statement, and which programs are too long before they run."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from graders.trusted.brevity import Length, measure_length, weigh_length
from graders.trusted.exercise import load_exercise

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ("", 0),
        ("# a comment\n\n", 0),
        ("import torch\nfrom math import pi\n", 0),
        ("def f(x):\n    '''What it does.'''\n    return x\n", 1),
        ("@once\ndef f(x): return x\n", 1),
        ("x = 1; y = 2;\n", 2),
        ("if x: y = 1\n", 2),
        ("if x:\n    y = 1\nelse:\n    y = 2\n", 4),
        ("for a, b in {1: 2}.items(): print(a); print(b)\n", 3),
        ("f = lambda x: x if x else {1: 2}[1:]\n", 1),
        ("x = [\n    1,\n    2,\n]\n", 1),
        ("while x[1:]: x = x[1:]\n", 2),
        ("with a as b, c as d: pass\n", 2),
        ("class A: x: int = 1\n", 2),
        ("x: int = 1\n", 1),
        ("match x:\n    case 1: y = 2\n", 3),
        ("match = 1\ncase = {1: 2}\n", 2),
        ("async def f():\n    await g()\n", 2),
        ("x = 1", 1),
    ],
)
def test_statements_are_counted_as_the_prompt_says(source: str, statements: int) -> None:
    length = measure_length(source)
    assert length
    assert length.statements == statements


def test_a_text_for_exec_is_as_long_as_it_is() -> None:
    length = measure_length("exec('x = 1\\n' * 500 + 'y' * 300)  # a comment that costs nothing")
    assert length
    assert length.characters == len("exec('x = 1\\n'*500+'y'*300)")


def pack_as_number(program: str) -> str:
    number = int.from_bytes(zlib.compress(program.encode(), 9))
    return f"import zlib\nn = {number}\nexec(zlib.decompress(n.to_bytes((n.bit_length() + 7) // 8)))\n"


@pytest.mark.parametrize("pack", ["exec({!r})".format, '"""{}"""\nexec(__doc__)'.format, pack_as_number])
def test_a_program_in_a_text_or_a_number_is_no_shorter_for_it(pack: Callable[[str], str]) -> None:
    program = (EXERCISES / "an-incident-in-twelve-statements/attempts/too_long.py").read_text()
    plain, packed = measure_length(program), measure_length(pack(program))
    assert plain
    assert packed
    assert packed.statements >= plain.statements > 12


def test_a_name_in_quotes_costs_no_statement() -> None:
    assert measure_length("x = {'params': [b]}\n") == Length(1, 16)


@pytest.mark.parametrize("source", ["x = (1", "  x = 1\n y = 2\n", "'''never closed"])
def test_what_is_no_python_is_left_to_the_box(source: str) -> None:
    assert measure_length(source) is None


def test_the_finding_names_both_figures() -> None:
    exercise = load_exercise(EXERCISES, "an-incident-in-twelve-statements")
    found = weigh_length("x = 1\n" * 13, exercise.manifest)
    assert found
    assert found.code == "too-long"
    assert found.long.startswith("Yours has 13 statements and 39 characters; 12 and 900 are allowed.")
    assert weigh_length("x = 1\n" * 12, exercise.manifest) is None
