"""The course's own drills: each proven answer is plain torch's, and each misconception is told by its name."""

import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.course.drills.drawing import spread_levels
from app.course.drills.drill import LEVELS, PROVEN, Drill, DrillGraph
from app.course.drills.keeping import Kept, hash_answers
from app.course.loader import load_course
from app.course.questions.choice import Choice
from app.course.questions.code_lines import Order, WrongLine
from app.course.questions.graph_click import GraphClick
from app.course.questions.kinds import Question
from app.course.questions.marking import QuestionResponse
from app.course.questions.number import Number

ROOT = Path(__file__).parents[2]
ORACLE = Path(__file__).with_name("oracle.py")
DRILLS = {drill.id: drill for drill in load_course(ROOT)[0].drills}
ENOUGH = 5


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[dict[str, Any]]]:
    """The values of each drill's draws, by the generator alone."""
    found = {}
    for drill in DRILLS.values():
        for name, text in drill.shared:
            module = sys.modules[name] = ModuleType(name)
            exec(text, module.__dict__)
        space: dict[str, Any] = {}
        exec(drill.code, space)
        wanted = spread_levels(range(PROVEN), LEVELS)
        found[drill.id] = [space["draw"](random.Random(seed), level) for seed, level in wanted]
    for name, _ in drill.shared:
        del sys.modules[name]
    return found


def test_there_are_drills_of_every_kind_that_asks_about_a_graph() -> None:
    assert len(DRILLS) >= ENOUGH
    assert {type(drill.question) for drill in DRILLS.values()} >= {Number, GraphClick, WrongLine, Order}


@pytest.mark.torch
@pytest.mark.slow
def test_plain_torch_agrees_with_every_proven_answer(drawn: dict[str, list[dict[str, Any]]]) -> None:
    asked = [[values["observe"], values["code"]] for each in drawn.values() for values in each]
    ran = subprocess.run(
        [sys.executable, str(ORACLE)], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    said = [values["answer"] for each in drawn.values() for values in each]
    assert len(told) == PROVEN * len(DRILLS)
    assert [pair for pair in zip(told, said, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("name", DRILLS)
def test_the_committed_evidence_is_that_of_these_draws(name: str, drawn: dict[str, list[dict[str, Any]]]) -> None:
    drill = DRILLS[name]
    levels = spread_levels(range(PROVEN), LEVELS)
    graphs = [
        DrillGraph(seed, level, values, "", 0) for (seed, level), values in zip(levels, drawn[name], strict=True)
    ]
    assert drill.evidence is not None
    assert drill.evidence.proven == PROVEN
    assert drill.evidence.content == drill.digest
    assert drill.evidence.answers == hash_answers(Kept(graphs, PROVEN))


@pytest.mark.parametrize("name", DRILLS)
def test_the_right_answer_is_right_and_each_misconception_is_told_by_its_own_feedback(
    name: str, drawn: dict[str, list[dict[str, Any]]]
) -> None:
    drill = DRILLS[name]
    for seed, values in enumerate(drawn[name]):
        question = drill.question.fill(DrillGraph(seed, 1, values, "", 0).draw)
        if isinstance(question, Choice):
            expect_own_feedback_of_each(question, str(values["answer"]))
            continue
        assert mark(question, str(values["answer"])) == (True, "")
        for known in question.wrong.known:
            assert mark(question, known.answer) == (False, known.feedback), (seed, known)
            assert known.feedback != question.wrong.otherwise


def expect_own_feedback_of_each(question: Choice, answer: str) -> None:
    marks = [question.mark(QuestionResponse(values=(option.id,))) for option in question.options]
    assert [answer in option.html for option in question.options] == [mark.right for mark in marks]
    assert len({mark.feedback for mark in marks}) == len(marks)


def mark(question: Question, given: str) -> tuple[bool | None, str]:
    assert not isinstance(question, Choice)
    match question:
        case Number():
            response = QuestionResponse(text=given)
        case GraphClick():
            response = QuestionResponse(text="0", node_names=(given, "leaf"))
        case WrongLine():
            response = QuestionResponse(values=(given.split(", ")[-1],))
        case Order():
            letters = {question.lines[index]: letter for letter, index in question.letters().items()}
            response = QuestionResponse(text=" ".join(letters[line] for line in given.split("\n")))
        case _:
            raise AssertionError(question.kind)
    found = question.mark(response)
    return found.right, found.feedback


def test_no_drill_asks_the_same_program_twice(drawn: dict[str, list[dict[str, Any]]]) -> None:
    for each in drawn.values():
        assert len({values["code"] for values in each}) == PROVEN


def test_a_drill_is_its_generator_and_what_it_imports() -> None:
    drill = next(iter(DRILLS.values()))
    changed = Drill(drill.id, drill.question, drill.code, (("program", "changed"),))
    assert changed.digest != drill.digest
