"""debugging.toml: questions that lead to causes, and what is said where they do not."""

from pathlib import Path

import pytest

from app.course.chapter import ChapterParser
from app.course.debugging import read_debugging
from app.course.flow import Flow, walk_way
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX, load_course

COURSE = Path(__file__).parents[2] / "course"
HEAD = 'format = 1\ntitle = "T"\nsummary = "S"\n'
ASK = '[[steps]]\nid = "a"\nask = "Which?"\nanswers = [{ say = "one", go = "b" }, { say = "two", go = "c" }]\n'
CAUSES = "".join(f'[[steps]]\nid = "{name}"\ncause = "C {name}"\nlook = "L"\n' for name in "bc")


@pytest.fixture(scope="module")
def parser() -> ChapterParser:
    return ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))


def messages(parser: ChapterParser, text: str) -> list[str]:
    flow, problems, _ = read_debugging(HEAD + text, parser)
    assert (flow is None) == bool(problems)
    return [problem.message for problem in problems]


def read(parser: ChapterParser, text: str) -> Flow:
    flow, problems, _ = read_debugging(HEAD + text, parser)
    assert flow, problems
    return flow


def test_a_way_of_answers_leads_to_a_cause(parser: ChapterParser) -> None:
    flow = read(parser, ASK + CAUSES)

    given, now = walk_way(flow, "", [2])

    assert [(one.step.id, one.number) for one in given] == [("a", 2)]
    assert now.id == "c"


@pytest.mark.parametrize("numbers", [[], [9], [0]])
def test_an_answer_that_is_not_there_leads_nowhere(parser: ChapterParser, numbers: list[int]) -> None:
    assert walk_way(read(parser, ASK + CAUSES), "", numbers)[1].id == "a"


def test_a_way_goes_on_past_a_cause_no_more(parser: ChapterParser) -> None:
    assert walk_way(read(parser, ASK + CAUSES), "", [1, 1, 2])[1].id == "b"


def test_a_guide_without_a_mistake_is_read(parser: ChapterParser) -> None:
    assert messages(parser, ASK + CAUSES) == []


def test_an_answer_that_leads_to_no_step_is_reported_on_its_line(parser: ChapterParser) -> None:
    text = HEAD + ASK.replace('"c"', '"cc"') + CAUSES
    _, problems, _ = read_debugging(text, parser)

    assert [problem.message for problem in problems] == [
        "an answer of 'a' leads to 'cc', which is not a step",
        "no answer leads to the step 'c'",
    ]
    assert "two" in text.split("\n")[problems[0].line - 1]


def test_questions_that_only_lead_to_each_other_are_reported(parser: ChapterParser) -> None:
    loop = '[[steps]]\nid = "b"\nask = "?"\nanswers = [{ say = "x", go = "a" }, { say = "y", go = "b" }]\n'
    there = ASK.replace('"c"', '"b"')

    assert messages(parser, there + loop) == [
        "no path from the question 'a' reaches a cause",
        "no path from the question 'b' reaches a cause",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (ASK.replace('ask = "Which?"', ""), "the step 'a' needs either `ask` or `cause`"),
        (ASK + 'cause = "C"\nlook = "L"\n', "the step 'a' needs either `ask` or `cause`"),
    ],
)
def test_a_step_is_a_question_or_a_cause(parser: ChapterParser, changed: str, message: str) -> None:
    assert message in messages(parser, changed + CAUSES)


def test_a_question_has_a_choice_and_a_cause_a_place_to_look(parser: ChapterParser) -> None:
    one = '[[steps]]\nid = "a"\nask = "Which?"\nanswers = [{ say = "one", go = "b" }]\n'

    assert messages(parser, one + '[[steps]]\nid = "b"\ncause = "C"\n') == [
        "the question 'a' has 1 answers",
        "the cause 'b' does not say where to look",
    ]


def test_a_command_that_does_not_parse_is_reported(parser: ChapterParser) -> None:
    found = messages(parser, ASK + CAUSES + 'command = "loss.backward("\n')

    assert len(found) == 1
    assert found[0].startswith("the command of 'c' does not parse")


def test_a_field_that_nobody_knows_is_reported(parser: ChapterParser) -> None:
    assert messages(parser, ASK.replace("ask", "asks") + CAUSES) == ["no field is called steps.0.asks"]


def test_dead_links_in_both_directions_are_reported(tmp_path: Path) -> None:
    chapter = tmp_path / "chapters" / "one" / "chapter.md"
    chapter.parent.mkdir(parents=True)
    module = '[[modules]]\nid = "m"\nnumber = 1\ntitle = "M"\nsummary = "S"\n[[modules.chapters]]\nslug = "one"\n'
    course = 'format = 1\ntitle = "T"\ntagline = "T"\ntorch = "2"\n[concepts]\nc = "C"\n'
    (tmp_path / "course.toml").write_text(course + module, encoding="utf-8")
    head = "---\ntitle: T\nsubtitle: S\nminutes: 1\nobjectives: [o]\nconcepts: [c]\n---\n\n"
    chapter.write_text(f"{head}See [it](debugging:nothing), [all](debugging:).\n", encoding="utf-8")

    (tmp_path / "debugging.toml").write_text(HEAD, encoding="utf-8")
    wrong = {problem.message for problem in load_course(tmp_path)[1]}
    assert "steps is missing" in wrong
    assert "the course has no debugging.toml" not in wrong
    (tmp_path / "debugging.toml").unlink()
    assert "the course has no debugging.toml" in {problem.message for problem in load_course(tmp_path)[1]}

    guide = HEAD + ASK + CAUSES.replace('"L"', '"See [it](chapter:two)."')
    (tmp_path / "debugging.toml").write_text(guide, encoding="utf-8")
    found = {(problem.path, problem.message) for problem in load_course(tmp_path)[1]}
    assert ("chapters/one/chapter.md", "the debugging guide has no step 'nothing'") in found
    assert ("debugging.toml", "no chapter is called 'two'") in found


def test_the_small_course_has_a_guide() -> None:
    flow = load_course(COURSE)[0].debugging

    assert flow is not None
    assert flow.steps[0].id == "what-do-you-see"
