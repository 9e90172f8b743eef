"""The self-test refuses a box that lacks a layer, whichever it is."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ablations import UNNOTICED, ZERO_ANYWAY, Ablation, list_ablations

from graders.box.interface import Profile
from graders.box.interpreter import plan_root
from graders.contract.jobs import Flavour

HERE = Path(__file__).parent
ABLATIONS = list_ablations()

pytestmark = [
    pytest.mark.box,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can take layers away where nothing can be harmed"),
]

FindMissed = Callable[[Ablation], list[str]]


@pytest.fixture(scope="module")
def find_missed(profile: Profile) -> Iterator[FindMissed]:
    """What of the self-test does not hold without a layer."""
    if profile is not Profile.P1:
        pytest.skip("the laboratory chooses profiles by itself, and needs them all")
    with subprocess.Popen(
        [sys.executable, str(HERE / "laboratory.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as laboratory:
        assert laboratory.stdin is not None
        assert laboratory.stdout is not None
        asking, answers = laboratory.stdin, laboratory.stdout

        def ask(ablation: Ablation) -> list[str]:
            fields = {name: getattr(ablation, name) for name in ("mother", "launcher", "profile", "slots")}
            asking.write(json.dumps(fields) + "\n")
            asking.flush()
            answer = json.loads(answers.readline())
            assert "error" not in answer, answer["error"]
            return answer["missed"]

        yield ask
        asking.close()


@pytest.mark.parametrize("profile_name", ["P1", "P2", "P3"])
def test_with_all_layers_everything_holds(profile_name: str, find_missed: FindMissed) -> None:
    assert find_missed(Ablation("nothing", profile=profile_name, slots=2)) == []


def mark(ablation: Ablation) -> list[pytest.MarkDecorator]:
    return [] if ablation.is_daily else [pytest.mark.nightly]


@pytest.mark.parametrize("ablation", [pytest.param(one, id=one.id, marks=mark(one)) for one in ABLATIONS])
def test_a_layer_that_is_missing_is_missed(ablation: Ablation, find_missed: FindMissed) -> None:
    """Those that the list excuses must still go unnoticed: what is noticed by now needs no excuse."""
    if ablation.name in ZERO_ANYWAY and not resource.getrlimit(getattr(resource, ablation.name))[1]:
        pytest.skip("this host's own limit is 0 already")
    if ablation.name == "hidden folders" and not plan_root(Flavour.PLAIN).covered:
        pytest.skip("this Python has no packages beneath its standard library")

    missed = find_missed(ablation)

    assert (missed == []) == (ablation.id in UNNOTICED), missed


def test_every_ablation_has_a_name_of_its_own_and_every_excuse_an_ablation() -> None:
    names = [ablation.id for ablation in ABLATIONS]

    assert len(set(names)) == len(names) >= 116
    assert UNNOTICED.keys() <= set(names)
