"""What the front door needs: no torch for a learner's engine, the website's stylesheet, all of its packages."""

import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import find_packages

from unwind.look import read_look

ROOT = Path(__file__).resolve().parents[2]

ENGINE = """\
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op
    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")
    def backward(self):
        self.grad = 1.0
        one, other = self._prev
        one.grad += other.data * self.grad
        other.grad += one.data * self.grad
"""
PROGRAM = """\
import sys
sys.modules["torch"] = None
import unwind
from engine import Value
x, w = Value(2.0), Value(3.0)
with unwind.tape(engine="learner") as t:
    y = x * w
    y.backward()
print(t.text())
print(*(row.sentence for row in t.steps()), sep="\\n")
"""


def test_an_engine_of_ones_own_is_recorded_where_there_is_no_torch(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(ENGINE, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Graph of 1 operation and 2 leaves; backward starts at * (y). Inputs are at the top, results below.",
        '1. *, made by "x * w" at line 7, gives y = 6.0, from x and w',
        "leaf x = 2.0, its gradient goes to .grad",
        "leaf w = 3.0, its gradient goes to .grad",
        "* recorded: gives y = 6.0",
        "backward begins at *",
        "* runs: receives 1.0, sends 3.0 to x and 2.0 to w",
        "x.grad: 0.0 += 3.0 gives 3.0",
        "w.grad: 0.0 += 2.0 gives 2.0",
    ]


def test_pictures_look_in_a_notebook_as_on_the_website() -> None:
    imported = '@import "../../app/pictures/drawing/graph.css";'
    assert imported in (ROOT / "static" / "src" / "site.css").read_text(encoding="utf-8").splitlines()
    assert ".graph-picture" in read_look()


def test_every_package_of_the_front_door_is_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    found = set(find_packages(str(ROOT), include=settings["packages"]["find"]["include"]))
    needed = {"unwind", "app.pictures", "graders.contract", "graders.inside.tracer", "graders.inside.tracer.learner"}
    assert needed <= found
    assert settings["package-data"]["app.pictures.drawing"] == ["graph.css"]
