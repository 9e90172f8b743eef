"""A cell's committed output and a graph's committed trace are what a run gives, or are reported."""

from collections.abc import Callable

from .conftest import Desk


def test_a_cell_that_prints_something_else_is_reported_at_the_line_of_the_output(desk: Desk) -> None:
    desk.edit('print("two")', 'print("three")')

    said = desk.check()

    (found,) = said["problems"]
    assert said["status"] == 1
    assert (found["rule"], found["line"]) == ("cell-output", desk.line_of("{cell} prints") + 5)
    assert "'three'" in found["message"]
    assert "'two'" in found["message"]


def test_update_writes_what_the_cell_prints(desk: Desk) -> None:
    desk.edit('print("two")', 'print("three")\nprint("four")')

    updated = desk.check("--update")

    assert updated["status"] == 0
    assert len(updated["updated"]) == 1
    assert "---\n2\nthree\nfour\n```" in desk.chapter.read_text()
    assert desk.check()["status"] == 0


def test_a_cell_that_raises_is_reported_at_the_line_that_raised(desk: Desk) -> None:
    desk.edit("print(1 + 1)", "print(1 + 1)\nunknown_name")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["line"]) == ("cell-failed", desk.line_of("unknown_name"))
    assert "NameError" in found["message"]


def test_a_cell_that_should_raise_and_does_not_is_reported(desk: Desk) -> None:
    desk.edit("1 / 0", "1 / 1")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["line"]) == ("cell-failed", desk.line_of("{cell} fails-on-purpose"))


def test_a_graph_without_a_committed_trace_asks_for_an_update(make_desk: Callable[[], Desk]) -> None:
    (found,) = make_desk().check()["problems"]

    assert found["rule"] == "graph-changed"
    assert "--update" in found["remedy"]


def test_a_graph_that_changed_is_reported_and_update_commits_it(desk: Desk) -> None:
    desk.edit("x = 1.0", "x = 1.0\nz = 2.0")

    (found,) = desk.check()["problems"]
    assert (found["rule"], found["line"]) == ("graph-changed", desk.line_of("{graph} leaves"))

    desk.check("--update")
    assert desk.check()["status"] == 0


def test_a_question_that_wants_a_click_on_a_node_that_is_not_drawn_is_reported(desk: Desk) -> None:
    desk.edit(":targets: x", ":targets: xx")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["remedy"]) == ("graph-target", "did you mean 'x'?")


def test_what_update_wrote_is_known_to_hold(desk: Desk) -> None:
    desk.edit("x = 1.0", "x = 1.0\nz = 2.0")
    desk.edit('print("two")', 'print("three")')

    assert desk.check("--update")["ran"] == 2
    assert desk.check(mode="dies")["status"] == 0


def test_a_cell_that_prints_something_else_each_time_is_reported_and_not_written(desk: Desk) -> None:
    desk.edit('print("two")', "import os; print(os.getpid())")
    before = desk.chapter.read_text()

    said = desk.check("--update")

    (found,) = said["problems"]
    assert (said["status"], found["rule"], said["updated"]) == (1, "unrepeatable", [])
    assert found["line"] == desk.line_of("{cell} prints") + 5
    assert "seed what is random" in found["remedy"]
    assert desk.chapter.read_text() == before
    assert desk.check("--update")["status"] == 1


def test_an_order_that_only_a_fresh_process_changes_is_found(desk: Desk) -> None:
    desk.edit('print("two")', 'print({f"name {n}" for n in range(40)})')

    assert [found["rule"] for found in desk.check("--update")["problems"]] == ["unrepeatable"]


def test_a_graph_without_a_node_is_reported_and_never_committed(desk: Desk) -> None:
    trace = desk.chapter.parent / "traces" / "leaves.json"
    before = trace.read_text()
    desk.edit("x = 1.0", "x = 1")

    said = desk.check("--update")

    assert [(found["rule"], found["line"]) for found in said["problems"]] == [
        ("graph-failed", desk.line_of("{graph} leaves"))
    ]
    assert trace.read_text() == before
