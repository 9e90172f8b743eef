"""The graders' command line: whoever asks for JSON gets JSON, also when nothing could be judged."""

import json
from pathlib import Path

import pytest

from graders.__main__ import main

EXERCISE = "exercises/scalar-engine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "exercises/nothing-here", "x.py"], "nothing-here"),
        (["grade", EXERCISE, "nothing.py"], "nothing.py: no such file"),
        (["run", "nothing.py"], "nothing.py: no such file"),
    ],
)
def test_what_could_not_be_judged_is_one_json_object_that_names_it(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert main([*arguments, "--json"]) == 2
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert told["outcome"] == "grader_fault"
    assert said in told["message"]
    assert said in shown.err


def test_a_wrong_setting_is_named_by_its_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("UNWIND_SLOTS", "many")
    assert main(["run", "x.py"]) == 2
    assert "UNWIND_SLOTS" in capsys.readouterr().err
    monkeypatch.setenv("UNWIND_SLOTS", "1")
    monkeypatch.setenv("UNWIND_PROFIL", "P2")
    assert main(["run", "x.py"]) == 2
    assert "did you mean UNWIND_PROFILE?" in capsys.readouterr().err
