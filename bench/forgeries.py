"""Which forgeries an ordinary in-process grader accepts, compared with this one, on the same task and sources.

The ordinary grader is of a common design: one process imports the submission, runs the checks on it, compares with
`torch.allclose`, and reports by its exit status (as in a CI job) and in a results.json (as an uploaded autograder
does). Some forgeries target our channel and others the ordinary grader; each is tried on both.
"""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graders.attacks.judged import EXERCISE, EXERCISES, Judge  # noqa: E402
from graders.attacks.on_the_judge import HONEST, LAZY, ON_THE_JUDGE  # noqa: E402
from graders.box.profiles import probe_profile  # noqa: E402
from graders.box.slot import open_box  # noqa: E402
from graders.contract.results import Outcome  # noqa: E402
from graders.trusted.reference import ReferenceServer  # noqa: E402

SECONDS = 30
MEMORY_BYTES = 8 << 30

ORDINARY = f"""
import importlib.util, json, os, random, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
import numpy, torch

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

def grade(task, submission, results):
    cases, probe = load("cases", f"{{task}}/cases.py"), load("probe", f"{{task}}/probe.py")
    solution, given = load("solution", f"{{task}}/solution.py"), load("submission", submission)
    passed = 0
    drawn = cases.draw_cases(random.Random())
    for case in drawn:
        got, want = probe.probe(given, dict(case["inputs"])), probe.probe(solution, dict(case["inputs"]))
        for name in want:
            assert torch.allclose(torch.as_tensor(got[name]), torch.as_tensor(want[name])), case["name"]
        passed += 1
    with open(results, "w") as file:
        json.dump({{"score": passed, "of": len(drawn)}}, file)

grade(*sys.argv[1:])
"""

# Of the attacks, those that are broken code rather than a claim to have passed, and one whose answer is right.
NO_FORGERIES = {
    "hides an operation from a search of the source",
    "has no function of that name",
    "cannot be parsed",
    "has a null byte",
    "nests without end",
    "recurses without end",
}

# Forgeries against a grader that shares its process with the submission.
INSIDE_JOBS: dict[str, str] = {
    "replaces torch.allclose": "import torch\ntorch.allclose = lambda *a, **k: True" + LAZY,
    "replaces the solution in sys.modules": ("import sys\nsys.modules['solution'].solve = lambda x, w: w * 0" + LAZY),
    "replaces the probe in the grader's frame": """
import sys
f = sys._getframe()
while f:
    if "probe" in f.f_locals:
        f.f_locals["probe"].probe = lambda module, inputs: {"gradient": 0.0}
    f = f.f_back
"""
    + LAZY,
    "calls the solution that lies beside the checks": """
import sys
def solve(x, w):
    return sys.modules["solution"].solve(x, w)
""",
    "reads the solution from the folder of the checks": """
import sys
f = sys._getframe()
task = None
while f:
    task = f.f_locals.get("task", task)
    f = f.f_back
exec(open(f"{task}/solution.py").read())
""",
    "writes the results file and leaves": """
import json, os, sys
json.dump({"score": 9, "of": 9}, open(sys.argv[3], "w"))
os._exit(0)
"""
    + LAZY,
    "writes the results file when the process ends": """
import atexit, json, os, sys
def forge():
    json.dump({"score": 9, "of": 9}, open(sys.argv[3], "w"))
    os._exit(0)
atexit.register(forge)
"""
    + LAZY,
    "makes every assertion hold": """
import builtins, sys
class Never(Exception):
    def __new__(cls, *a): sys.exit(0)
builtins.AssertionError = Never
"""
    + LAZY,
    "leaves no case to fail": """
import sys
sys.modules["cases"].draw_cases = lambda rng: []
"""
    + LAZY,
    "sends a module that answers for itself": """
import sys, types
class Liar(types.ModuleType):
    def __getattr__(self, name): return lambda x, w: w * 0
sys.modules["submission"].__class__ = Liar
"""
    + LAZY,
    "finds the expected answer among live objects": """
import gc, torch
def solve(x, w):
    found = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.shape == w.shape and t is not w]
    return found[0].clone() if found else w * 0
""",
    "swaps the number generator for one it knows": """
import random
random.Random = lambda *a: random._inst
random.seed(0)
"""
    + LAZY,
    "an audit hook that ends the process well": """
import os, sys
sys.excepthook = lambda *a: os._exit(0)
"""
    + LAZY,
}


def grade_ordinarily(source: str) -> tuple[bool, bool]:
    """(accepted by the exit status, accepted by results.json)."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "submission.py").write_text(source, encoding="utf-8", errors="surrogatepass")
        results = place / "results.json"
        # A shell in between, because one of the forgeries kills its parent.
        shell = ["sh", "-c", '"$@"; exit $?', "sh"]
        command = [
            *shell,
            sys.executable,
            "-c",
            ORDINARY,
            str(EXERCISES / EXERCISE),
            str(place / "submission.py"),
            str(results),
        ]
        try:
            ended = subprocess.run(
                command,
                cwd=place,
                capture_output=True,
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return False, False
        try:
            told = json.loads(results.read_text())
            full = told["score"] == told["of"]
        except (OSError, ValueError, KeyError, TypeError):
            full = False
        return ended.returncode == 0, full


def main() -> None:
    honest = {"an honest answer": HONEST, "a lazy answer": LAZY}
    forgeries = {name: source for name, (source, _) in ON_THE_JUDGE.items() if name not in NO_FORGERIES} | INSIDE_JOBS
    everything = {**honest, **forgeries}
    with ThreadPoolExecutor(2) as pool:
        ordinary = dict(zip(everything, pool.map(grade_ordinarily, everything.values()), strict=True))
    assert ordinary["an honest answer"] == (True, True), ordinary["an honest answer"]
    assert ordinary["a lazy answer"] == (False, False), ordinary["a lazy answer"]
    box, reference = open_box(profile=probe_profile()), ReferenceServer()
    reference.warm(with_torch=True)
    ours: dict[str, Outcome] = {}
    try:
        for name, source in everything.items():
            ours[name] = Judge(box, reference).grade(source).outcome
    finally:
        box.close()
        reference.close()
    assert ours["an honest answer"] is Outcome.PASSED, ours["an honest answer"]
    print(f"{'forgery':58} exit status  results.json  here")
    for name in forgeries:
        marks = ["ACCEPTED" if accepted else "-" for accepted in ordinary[name]]
        print(f"{name:58} {marks[0]:11}  {marks[1]:12}  {ours[name].value}")
    by_status, by_file = (sum(ordinary[name][way] for name in forgeries) for way in (0, 1))
    either = sum(any(ordinary[name]) for name in forgeries)
    here = sum(ours[name] is Outcome.PASSED for name in forgeries)
    print(
        f"of {len(forgeries)} forgeries the in-process grader accepts {by_status} by its exit status, {by_file} by "
        f"its results.json, {either} by either; this one accepts {here}"
    )


if __name__ == "__main__":
    main()
