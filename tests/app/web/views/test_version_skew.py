"""An operator reads which versions differ, and who has which."""

from app.web.views.version_skew import ExerciseRow, WaitingRow, compare_exercises, compare_programs, show_waiting
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, Queue
from graders.ledger import Lack, Unjudged


def make_hello(name: str, **other: object) -> WorkerHello:
    values = {
        "worker": name, "queue": Queue.CPU, "slots": 1, "flavours": (Flavour.PLAIN,), "profile": "P2",
        "memory_cgroup": False, "python": "3.11.2", "torch": "2.13.0", "device": "cpu", "self_test_passed": 1,
        "self_test_total": 1, "version": "0.2.0", "code": "aaaa",
    }  # fmt: skip
    return WorkerHello(**{**values, **other})


def test_nothing_is_said_while_all_run_the_same_program() -> None:
    assert compare_programs("0.2.0", [make_hello("a"), make_hello("b", queue=Queue.GPU, device="cuda")]) == ()


def test_each_part_that_differs_is_one_sentence_that_says_who_has_what() -> None:
    old = make_hello("a", version="", code="", torch="")
    new = [make_hello("b"), make_hello("c", python="3.12.1")]
    assert compare_programs("0.3.0", [old, *new]) == (
        "The versions of Unwind differ: 0.2.0 (b, c); 0.3.0 (the website); not told (a).",
        "The versions of the graders’ code differ: aaaa (b, c); not told (a).",
        "The versions of Python differ: 3.11.2 (a, b); 3.12.1 (c).",
        "The versions of torch differ: 2.13.0 (b, c); none (a).",
    )


def test_only_graders_that_cannot_follow_the_website_are_listed_and_kept_versions_are_named() -> None:
    website = {"one": "1" * 16, "two": "2" * 16}
    hellos = [
        make_hello("same", exercises=website),
        make_hello("any"),
        make_hello("old", exercises={"one": "0" * 16, "two": "2" * 16}),
        make_hello("ahead", exercises={"one": "9" * 16, "two": "2" * 16}, earlier_exercises={"one": ("1" * 16,)}),
        make_hello("small", exercises={"one": "1" * 16}),
    ]
    assert compare_exercises(website, hellos) == (
        ExerciseRow(
            "one",
            "1" * 16,
            (f"{'0' * 16}: old", f"{'1' * 16}: same, small", f"{'9' * 16}, and {'1' * 16} too: ahead"),
        ),
        ExerciseRow("two", "2" * 16, (f"{'2' * 16}: same, old, ahead", "none: small")),
    )


def test_what_waits_is_shown_with_its_remedy() -> None:
    unjudged = (
        Unjudged(Queue.GPU, Lack.GRADER, 7, 61.4),
        Unjudged(Queue.CPU, Lack.EXERCISE, 1, 3.0, "one", "1" * 16),
        Unjudged(Queue.CPU, Lack.PROGRAM, 2, 9.0),
    )
    assert show_waiting(unjudged) == (
        WaitingRow("gpu", "all of the queue", 7, "61 s", "start a grader with --queue gpu"),
        WaitingRow("cpu", f"one in version {'1' * 16}", 1, "3 s", "give a grader the website’s course"),
        WaitingRow("cpu", "what a newer website wrote", 2, "9 s", "give the graders the website’s version of Unwind"),
    )
