"""Stands in for `python -m graders stream`: the same lines in and out, without a box; runs these tests' own code."""

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path

HELLO = {
    "worker": "fake",
    "queue": "cpu",
    "slots": 1,
    "flavours": ["plain", "torch"],
    "profile": "P3",
    "memory_cgroup": False,
    "python": "3.11.0",
    "torch": "2.13.0",
    "device": "cpu",
    "self_test_passed": 0,
    "self_test_total": 0,
}


STUMBLED = set()


def stumbles(job: dict) -> bool:
    """The first run of such code is the graders' fault."""
    first = job["source"] not in STUMBLED
    STUMBLED.add(job["source"])
    return first and "stumble here once" in job["source"]


def measure(name: str, value: float, unit: str) -> dict:
    return {"name": name, "value": value, "unit": unit, "measured_by": "kernel"}


def run(job: dict) -> dict:
    out = io.StringIO()
    names: dict = {}
    end = {"kind": "run_end", "outcome": "ok", "measures": [measure("wall", 0.25, "s")]}
    if "the graders fail here" in job["source"] or stumbles(job):
        return {"kind": "run_end", "outcome": "grader_fault"}
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(job["setup"], "setup.py", "exec"), names)
            exec(compile(job["source"], "cell.py", "exec"), names)
    except (ArithmeticError, AssertionError, NameError) as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        end["outcome"] = "runtime_error"
        end["mistake"] = {"type": type(error).__name__, "message": str(error), "line": line}
    if job["want_trace"] and end["outcome"] == "ok":
        end["trace"] = draw(names)
    return {**end, "stdout": out.getvalue()}


def draw(names: dict) -> dict:
    """A trace with one leaf for each number that the code left behind."""
    leaves = [(name, str(value)) for name, value in names.items() if isinstance(value, float)]
    count = len(leaves)
    return {
        "nodes": {
            "name": ["AccumulateGrad"] * count,
            "forward": [""] * count,
            "kind": ["leaf"] * count,
            "module": [""] * count,
            "span": [None] * count,
            "shape": [[]] * count,
            "dtype": ["float32"] * count,
            "variable": [name for name, _ in leaves],
            "values": [value for _, value in leaves],
            "saved_bytes": [0] * count,
            "saved": [""] * count,
            "sequence": list(range(count)),
        }
    }


def grade(job: dict, mode: str) -> dict:
    peak_mib = 40.0 if mode == "hungry" else 10.0
    verdict = {"kind": "verdict", "exercise": job["exercise"], "measures": [measure("peak memory", peak_mib, "MiB")]}
    if "while True" in job["source"]:
        return {**verdict, "outcome": "time_limit"}
    if "_exit" in job["source"]:
        return {**verdict, "outcome": "no_result"}
    names: dict = {}
    exec(job["source"], names)
    try:
        right = names["double"](2.0) == 4.0
    except NotImplementedError as error:
        mistake = {"type": "NotImplementedError", "message": str(error)}
        return {**verdict, "outcome": "runtime_error", "mistake": mistake}
    if right:
        cases = [{"name": str(public), "idea": "", "passed": True, "public": public} for public in (True, False)]
        return {**verdict, "outcome": "passed", "cases": cases}
    return {**verdict, "outcome": "wrong_answer", "finding": {"code": "not-doubled", "short": "Not doubled."}}


def examine(job: dict, exercises: str) -> dict:
    """The real examination, in this process: it needs no box."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from graders.trusted.examination import ExamineRequest
    from graders.trusted.examination import examine as look
    from graders.trusted.exercise import load_exercise

    exercise = load_exercise(Path(exercises), job["exercise"])
    manifest = exercise.manifest
    asked = ExamineRequest(exercise.path, frozenset(manifest.findings), manifest.judge, manifest.tolerance)
    return look(asked, lambda file: None).model_dump(mode="json")


def answer(job: dict, mode: str, exercises: str) -> dict:
    if job["kind"] == "examine":
        return examine(job, exercises)
    return grade(job, mode) if job["kind"] == "grade" else run(job)


def say(document: dict) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def main(mode: str, exercises: str) -> None:
    if mode == "dies":
        sys.stderr.write("no box on this machine\n")
        sys.exit(2)
    hello = {**HELLO, "device": "cuda: fake"} if mode == "gpu" else HELLO
    say({"hello": hello})
    if mode == "dies-later":
        sys.stdin.readline()
        sys.exit(1)
    if mode == "babbles":
        sys.stdout.write("this is no JSON\n")
        sys.stdout.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        say({"id": asked["id"], "result": answer(asked["job"], mode, exercises)})


main(*sys.argv[1:])
