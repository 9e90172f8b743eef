"""What a learner's words were worth: on the page of their progress, and in one line before a question."""

from app.course.model import Course
from app.learning.calibration import Confidence, Guess
from app.storage.records import Stated
from app.web.views.calibrating import find_guesses, say_worth, say_worth_before, show_calibration
from app.web.views.presenting import ChapterState, present_asked

CHAPTER = "a-first-graph"


def made(confidence: Confidence, right: int, wrong: int, concept: str = "recording") -> tuple[Guess, ...]:
    return (Guess(confidence, True, (concept,)),) * right + (Guess(confidence, False, (concept,)),) * wrong


def test_a_prediction_is_marked_by_the_present_key_and_an_answer_keeps_its_mark(course: Course) -> None:
    stated = (
        Stated(CHAPTER, "double-use", "certain", option="4"),
        Stated(CHAPTER, "double-use", "guess", option="2"),
        Stated(CHAPTER, "how-many-nodes", "guess", correct=True),
        Stated(CHAPTER, "double-use", "guess", option="an option that is gone"),
        Stated(CHAPTER, "a question that is gone", "guess", correct=True),
    )

    assert [(guess.confidence.value, guess.right, guess.concepts) for guess in find_guesses(course, stated)] == [
        ("certain", True, ("recording", "accumulation")),
        ("guess", False, ("recording", "accumulation")),
        ("guess", True, ("recording",)),
    ]


def test_below_twenty_neither_plot_nor_table_has_a_share(course: Course) -> None:
    view = show_calibration(course, made(Confidence.CERTAIN, 15, 4) + made(Confidence.GUESS, 15, 5))

    assert [(level.resolved, level.share, level.bounds) for level in view.levels] == [
        (20, "75 %", "53 to 89 %"),
        (19, "", ""),
    ]
    (row,) = view.concepts
    assert row.cells == ("15 of 20: 75 % (53 to 89 %)", "none", "15 of 19")


def test_places_in_the_plot_are_in_the_order_of_the_shares(course: Course) -> None:
    (level,) = show_calibration(course, made(Confidence.CERTAIN, 15, 5)).levels

    assert 130 <= level.x_low < level.x_right < level.x_high < level.x_promised <= 430


def test_the_line_before_a_question_needs_five_answers_on_its_subject(course: Course) -> None:
    four = made(Confidence.CERTAIN, 3, 1)
    five = four + made(Confidence.GUESS, 0, 1)

    assert say_worth(course, four, ("recording",)) == ""
    assert say_worth(course, five, ("accumulation",)) == ""
    assert say_worth(course, five, ("recording",)).endswith(": so far a guess 0 of 1 right, certain 3 of 4.")


def test_a_chapter_says_it_once_for_a_subject_and_only_before_the_first_attempt(course: Course) -> None:
    chapter = course.index.by_slug[CHAPTER]
    stated = tuple(Stated(CHAPTER, "double-use", "certain", option="2") for _ in range(6))

    said = say_worth_before(course, chapter, stated)

    assert said
    assert len(set(said.values())) == len(said)
    assert all("so far" in words for words in said.values())
    name = next(iter(said))
    state = ChapterState(course, chapter, worth=said)
    assert present_asked(chapter.index.questions[name], state, None, ()).worth == said[name]
    assert say_worth_before(course, chapter, ()) == {}
