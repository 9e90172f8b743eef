"""`python -m graders`: what it prints, and its exit status: 0 passed or ok, 1 not, 2 our fault."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graders.attacks.corpus import Group, list_cell_attacks

ROOT = Path(__file__).resolve().parents[3]
SCALING = ROOT / "tests" / "graders" / "fixtures" / "scaling"

pytestmark = [pytest.mark.box]


def graders(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graders", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("file", "outcome", "status"), [("solution.py", "passed", 0), ("attempts/unchanged.py", "wrong_answer", 1)]
)
def test_grade_tells_the_outcome_at_the_top_of_one_json_object(file, outcome, status):
    done = graders("grade", SCALING, SCALING / file, "--json")
    assert (json.loads(done.stdout)["outcome"], done.returncode) == (outcome, status)


def test_grade_without_json_is_for_reading():
    done = graders("grade", SCALING, SCALING / "attempts" / "unchanged.py")
    assert done.stdout.startswith("wrong_answer: 0 of 3 checks passed\n")
    assert "You returned the numbers as they came." in done.stdout


def test_attack_reports_each_attack_and_passes_where_none_escapes():
    done = graders("attack", "--group", "protocol", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["passed"], report["attacks"]["protocol"]["escaped"]) == (0, True, 0)
    assert {attempt["group"] for attempt in report["attempts"]} == {"protocol"}
    assert report["self_test"]["held"] == report["self_test"]["total"]


@pytest.mark.nightly
def test_attack_goes_through_the_installed_judge_too():
    done = graders("attack", "--kind", "interpreter", "--group", "report", "--json")
    report = json.loads(done.stdout)
    of_kind = [one for one in list_cell_attacks() if one.group is Group.REPORT]
    counts = report["kinds"]["interpreter"]
    assert (done.returncode, counts["escaped"], counts["forged"]) == (0, 0, 0)
    assert counts["held"] > counts["not run"]  # a busy machine may leave some
    assert sum(counts.values()) == len(report["attempts"]) == len(of_kind)


def test_attack_says_which_choice_leaves_nothing_to_run():
    done = graders("attack", "--kind", "judge", "--group", "network")
    assert (done.returncode, "no attack is of kind judge and of group network" in done.stderr) == (2, True)


HUNT = SCALING.parent / "half-an-hour"


@pytest.mark.parametrize(
    ("said", "outcome", "finding"),
    [
        (["--category", "wrong-unit", "--line", "4"], "passed", None),
        (["--category", "wrong-unit", "--line", "2"], "wrong_answer", "wrong-diagnosis"),
        ([], "wrong_answer", "no-diagnosis"),
    ],
)
def test_grade_takes_a_word_on_a_bug_hunts_fault(said, outcome, finding):
    done = graders("grade", HUNT, HUNT / "solution.py", "--json", *said)
    verdict = json.loads(done.stdout)
    assert (verdict["outcome"], (verdict["finding"] or {}).get("code")) == (outcome, finding)


def test_grade_asks_the_public_checks_alone_where_it_is_told_to():
    done = graders("grade", HUNT, HUNT / "solution.py", "--public")
    assert (done.stdout.splitlines()[0], done.returncode) == ("ok: 2 of 2 public checks passed", 0)


def test_a_folder_that_is_no_exercise_is_our_fault_with_a_remedy(tmp_path):
    (tmp_path / "x.py").write_text("")
    done = graders("grade", tmp_path / "no-such", tmp_path / "x.py")
    assert done.returncode == 2
    assert "there is no exercise 'no-such'" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_prints_what_the_cell_prints_and_how_it_ended(tmp_path):
    (tmp_path / "cell.py").write_text("print('hello')\n1 / 0\n")
    done = graders("run", tmp_path / "cell.py", "--flavour", "plain")
    assert done.stdout.startswith("hello\n[runtime_error]\n")
    assert (done.returncode, "line 2" in done.stdout) == (1, True)


def test_stream_says_hello_and_answers_every_line():
    jobs = [
        {"id": "a", "job": {"kind": "grade", "exercise": "scaling", "source": (SCALING / "solution.py").read_text()}},
        {"id": "b", "job": {"kind": "run", "source": "print(7)", "flavour": "plain"}},
        {"id": "c", "job": {"kind": "grade", "exercise": "no-such", "source": ""}},
        {"id": "d", "job": {"kind": "dance"}},
    ]
    done = graders(
        "stream", "--exercises", SCALING.parent, given="\n".join([*map(json.dumps, jobs), "nonsense"]) + "\n"
    )
    hello, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert hello["hello"]["profile"] in ("P1", "P2", "P3")
    outcomes = {answer["id"]: answer.get("result", {}).get("outcome", "no job") for answer in answers}
    assert outcomes == {"a": "passed", "b": "ok", "c": "grader_fault", "d": "no job", None: "no job"}
    assert done.returncode == 0
