"""What a file means for a section that has lines already: nobody twice, nobody blanked, nobody merged by chance."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.roster import Comparison, Entry, KnownLine, State, compare

ADA = Entry("Ada Lovelace", "ada@uni.example", "12", "ada")


def states(found: Comparison) -> list[State]:
    return [row.state for row in found.rows]


def test_each_line_of_a_file_says_what_it_means() -> None:
    known = [
        KnownLine("a", ADA),
        KnownLine("b", Entry("Bob", student_number="13")),
        KnownLine("c", Entry("Cyd", student_number="14"), is_here=False),
        KnownLine("d", Entry("Dan", student_number="15")),
        KnownLine("e", Entry("Eve", student_number="16"), from_file=False),
    ]
    file = [
        ADA,
        Entry("Bobby", student_number="13"),
        Entry("Cyd", student_number="14"),
        Entry("Flo", student_number="17"),
        Entry("FLO", student_number="17"),
    ]

    found = compare(file, known)

    assert states(found) == [State.UNCHANGED, State.CHANGED, State.BACK, State.NEW, State.TWICE]
    assert [row.line for row in found.rows] == ["a", "b", "c", "", ""]
    assert [row.changes for row in found.rows] == ["", "name", "", "", ""]
    assert [line.id for line in found.missing] == ["d"]


@pytest.mark.parametrize(
    ("file", "state"),
    [
        (Entry("ADA LOVELACE", student_number="12"), State.CHANGED),
        (Entry("Somebody", student_number="13", email=ADA.email), State.NEW),
        (Entry("Ada", email="ADA@UNI.EXAMPLE"), State.CHANGED),
        (Entry("Ada Lovelace", email="other@uni.example"), State.NEW),
        (Entry("ada  lovelace"), State.CHANGED),
        (Entry("Ada Lovelace", platform_ids={"canvas": "901"}), State.CHANGED),
    ],
)
def test_the_strongest_thing_that_both_have_decides(file: Entry, state: State) -> None:
    assert states(compare([file], [KnownLine("a", ADA)])) == [state]


def test_what_the_file_does_not_say_stays() -> None:
    (row,) = compare([Entry("Ada King", student_number="12")], [KnownLine("a", ADA)]).rows

    assert row.entry == Entry("Ada King", ADA.email, "12", "ada")


def test_a_name_that_two_people_have_is_left_to_the_instructor() -> None:
    two = [KnownLine("a", Entry("Peter", student_number="1")), KnownLine("b", Entry("PETER", student_number="2"))]

    found = compare([Entry("peter")], two)

    assert states(found) == [State.UNCLEAR]
    assert found.missing == ()


def test_a_namesake_does_not_take_the_line_of_somebody_with_a_number() -> None:
    file = [Entry("Ada Lovelace", email="namesake@uni.example"), Entry("Ada King", student_number="12")]
    line = KnownLine("a", Entry("Ada Lovelace", student_number="12"))

    assert [row.line for row in compare(file, [line]).rows] == ["", "a"]


def test_two_people_of_one_name_with_their_own_numbers_are_two() -> None:
    file = [Entry("Peter", student_number="1"), Entry("Peter", student_number="2")]

    assert states(compare(file, [])) == [State.NEW, State.NEW]


def test_a_new_person_who_is_in_another_section_is_said_to_be() -> None:
    (row,) = compare([ADA], [], [(Entry("A. Lovelace", student_number="12"), "Autumn")]).rows

    assert (row.state, row.elsewhere) == (State.NEW, "Autumn")


SMALL = st.sampled_from(["", "1", "2", "x@y"])
PEOPLE = st.lists(
    st.builds(Entry, name=st.sampled_from(["Ada", "ADA", "Bob"]), email=SMALL, student_number=SMALL, login=SMALL),
    max_size=6,
)


def take_over(found: Comparison, known: list[KnownLine]) -> list[KnownLine]:
    """The section's lines after the file was applied, without dropping anybody."""
    written = {row.line: row.entry for row in found.rows if row.line}
    kept = [KnownLine(line.id, written.get(line.id, line.entry)) for line in known]
    new = [row.entry for row in found.rows if row.state is State.NEW]
    return kept + [KnownLine(f"new {number}", entry) for number, entry in enumerate(new, len(known))]


@given(PEOPLE, PEOPLE)
def test_a_file_applied_twice_adds_nobody_the_second_time(first: list[Entry], second: list[Entry]) -> None:
    lines = take_over(compare(first, []), [])
    once = take_over(compare(second, lines), lines)
    again = compare(second, once)

    assert again.count(State.NEW) == 0
    assert len(take_over(again, once)) == len(once)


@pytest.mark.parametrize("field", ["name", "email", "login"])
def test_a_file_in_which_everybody_shares_something_is_compared_in_few_steps(field: str) -> None:
    """Comparing each line with each other one would take ten million steps."""
    shared = {"name": "Student", **{field: "the same"}}
    file = [Entry(**{**shared, "student_number": str(number)}) for number in range(5000)]
    lines = [KnownLine(str(number), entry) for number, entry in enumerate(file)]
    steps = count_steps(lambda: compare(file, lines))

    assert steps < 5_000_000


def count_steps(work: Callable[[], object]) -> int:
    steps = 0

    def step(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal steps
        steps += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps
