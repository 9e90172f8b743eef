"""A grader for the queue `gpu`, up to the card itself: stand-ins for its nodes, its tools and its answers."""

import json
import logging
import threading
from pathlib import Path

import pytest

from graders.box import card as cards
from graders.box.card import Card
from graders.contract.events import OnEvent
from graders.contract.jobs import Device, Job, Queue, RunJob
from graders.contract.limits import Limits
from graders.contract.manifest import Manifest
from graders.contract.results import MeasuredBy, Outcome, RunEnd
from graders.contract.settings import GraderSettings
from graders.worker import open_worker
from graders.worker.card_health import CardFacts, CardUnfit, read_facts
from graders.worker.card_meter import CardMeter, watch_card
from graders.worker.main import REFUSED, main

SOUND = {"torch": "2.13.0", "cuda": "13.0", "stale": 0, "right": True, "name": "Card", "memory_mib": 8192, "cards": 1}
STAND_IN = Card(nodes=(("/dev/full", "/dev/nvidiactl"), ("/dev/zero", "/dev/nvidia0")))
JOB = RunJob(source="", device=Device.GPU, limits=Limits(card_mib=100))


def test_a_grader_without_a_card_ends_with_the_status_of_a_refusal(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_worker, "find_card", lambda number: cards.find_card(number, devices=tmp_path))
    with caplog.at_level(logging.ERROR):
        assert main(GraderSettings(slots=1), Queue.GPU) == REFUSED
    assert "the queue gpu is not served: no card: " in caplog.text


def test_a_card_serves_one_slot(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_worker, "find_card", lambda number: STAND_IN)
    with caplog.at_level(logging.ERROR):
        assert main(GraderSettings(slots=2), Queue.GPU) == REFUSED
    assert "UNWIND_SLOTS is 2; set UNWIND_SLOTS=1" in caplog.text


def test_a_build_of_torch_without_cuda_is_refused_by_what_the_box_answers(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    if torch.version.cuda:
        pytest.skip("torch is a build with CUDA here")
    monkeypatch.setattr(open_worker, "find_card", lambda number: STAND_IN)
    monkeypatch.setattr(open_worker, "_prove", lambda boxes: None)
    with caplog.at_level(logging.ERROR):
        assert main(GraderSettings(slots=1, data=tmp_path), Queue.GPU) == REFUSED
    assert f"torch {torch.__version__} is a build without CUDA" in caplog.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"cuda": ""}, "a build without CUDA"),
        ({"stale": 3}, "held 3 numbers that an earlier run left"),
        ({"right": False}, "multiplied two small matrices wrongly"),
        ({"cards": 2}, "sees 2 cards and must see one; set UNWIND_CARD"),
    ],
)
def test_an_unfit_card_is_named(answer: dict[str, object], words: str) -> None:
    with pytest.raises(CardUnfit, match=words):
        read_facts(json.dumps(SOUND | answer))


def test_a_sound_card_says_what_it_is() -> None:
    assert read_facts(json.dumps(SOUND)) == CardFacts("Card", 8192)


def make_meter(folder: Path, *lines: str) -> CardMeter:
    """A meter whose nvidia-smi prints these lines and then goes on with the last one."""
    command = folder / "nvidia-smi"
    said = "\n".join(lines)
    command.write_text(f"#!/bin/sh\nprintf '{said}\\n'\nwhile sleep 0.02; do echo '{lines[-1]}'; done\n")
    command.chmod(0o755)
    return CardMeter(command=str(command))


def wait_for_stop(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    assert kill.wait(20)
    return RunEnd(outcome=Outcome.CANCELLED)


def end_at_once(job: Job, on_event: OnEvent, kill: threading.Event) -> RunEnd:
    return RunEnd(outcome=Outcome.OK)


def test_a_run_that_takes_too_much_of_the_card_ends_at_its_limit(tmp_path: Path) -> None:
    meter = make_meter(tmp_path, "500, 1980", "[N/A], [N/A]", "2000, 1410")
    run = watch_card(wait_for_stop, meter, lambda job: JOB.limits)
    end = run(JOB, lambda kind, body: None, threading.Event())
    assert end.outcome is Outcome.MEMORY_LIMIT
    assert end.finding
    assert "100 MiB of the card" in end.finding.short + end.finding.long
    assert [(one.name, one.value, one.measured_by) for one in end.measures] == [
        ("card memory, with CUDA's own", 1500.0, MeasuredBy.CARD),
        ("card clock, lowest", 1410.0, MeasuredBy.CARD),
        ("card clock, highest", 1980.0, MeasuredBy.CARD),
    ]


def test_a_run_within_its_limit_is_only_measured(tmp_path: Path) -> None:
    run = watch_card(end_at_once, make_meter(tmp_path, "500, 1980"), lambda job: JOB.limits)
    end = run(JOB, lambda kind, body: None, threading.Event())
    assert end.outcome is Outcome.OK
    assert end.measures[0].value == 0


def test_a_run_that_is_cancelled_stays_cancelled_without_the_drivers_tool() -> None:
    killed = threading.Event()
    killed.set()
    run = watch_card(wait_for_stop, CardMeter(command="/nothing/nvidia-smi"), lambda job: JOB.limits)
    end = run(JOB, lambda kind, body: None, killed)
    assert end.outcome is Outcome.CANCELLED
    assert end.measures == ()


@pytest.mark.parametrize(
    ("more", "words"), [({"flavour": "plain"}, "needs flavour 'torch'"), ({"memory_meter": True}, "memory_meter")]
)
def test_a_manifest_that_no_card_could_serve_is_refused(more: dict[str, object], words: str) -> None:
    written = {
        "format": 1, "title": "T", "summary": "S", "kind": "lab", "difficulty": "deep", "minutes": 5, "concepts": [],
        "flavour": "torch", "device": "gpu", "findings": {}, "attempts": [],
    }  # fmt: skip
    assert Manifest.model_validate(written).device.choose_queue(has_card=False) is Queue.GPU
    with pytest.raises(ValueError, match=words):
        Manifest.model_validate(written | more)
