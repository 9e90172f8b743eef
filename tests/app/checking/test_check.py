"""`check` runs what a course promises, and again only what changed."""

import pytest

from .conftest import Desk


def test_a_course_that_keeps_its_promises_holds(desk: Desk) -> None:
    said = desk.check()

    assert (said["status"], said["outcome"], said["problems"], said["faults"]) == (0, "holds", [], [])
    assert said["waiting_for_gpu"] == 1


def test_an_unchanged_course_is_not_run_again(desk: Desk) -> None:
    first, second = desk.check(), desk.check()

    assert (first["ran"], first["known"]) == (0, 10)
    assert (second["ran"], second["known"]) == (0, 10)


def test_only_what_changed_is_run_again(desk: Desk) -> None:
    desk.check()
    desk.edit("assert total == 2", "assert total < 3")

    assert desk.check()["ran"] == 1


def test_a_fresh_clone_proves_everything_for_itself(desk: Desk) -> None:
    (desk.root / ".cache" / "check.json").unlink()

    assert desk.check()["known"] == 0


def test_mistakes_in_the_text_and_broken_promises_come_in_one_report(desk: Desk) -> None:
    desk.edit("assert total == 2", "assert total == 3")
    desk.edit("Click the leaf.", "Click the [leaf](#nowhere).")

    assert {found["rule"] for found in desk.check()["problems"]} == {"claim-failed", "dead-link"}


def test_text_alone_runs_nothing(desk: Desk) -> None:
    desk.edit("assert total == 2", "assert total == 3")

    said = desk.check("--text", mode="dies")

    assert (said["status"], said["ran"]) == (0, 0)


def test_runs_that_are_the_same_are_run_once(desk: Desk) -> None:
    text = desk.chapter.read_text()
    twin = text[text.index("```{cell} prints") : text.index("```{cell} fails-on-purpose")]
    desk.chapter.write_text(text + "\n" + twin.replace("cell} prints", "cell} prints-too"))
    (desk.root / ".cache" / "check.json").unlink()

    said = desk.check()

    assert (said["status"], said["ran"]) == (0, 10)
    assert desk.check()["known"] == 11


def test_a_draft_is_named_and_proven_like_everything_else(desk: Desk) -> None:
    desk.edit("title: Sums", "title: Sums\ndraft: true")
    desk.edit("assert total == 2", "assert total == 3")

    said = desk.check()

    assert said["drafts"] == ["chapters/sums/chapter.md"]
    assert [found["rule"] for found in said["problems"]] == ["claim-failed"]


def test_each_run_has_its_time(desk: Desk) -> None:
    (desk.root / ".cache" / "check.json").unlink()

    timings = desk.check()["timings"]

    assert timings["run_seconds"]["sums#adds"] == 0.25
    assert timings["prove_seconds"] > 0


def test_an_unchanged_course_is_known_without_starting_the_graders(desk: Desk) -> None:
    desk.check()

    assert desk.check(mode="dies")["status"] == 0


def test_what_held_on_another_torch_is_run_again(desk: Desk) -> None:
    desk.check()
    desk.edit("total = 1 + 1", "total = 2")

    assert desk.check(mode="gpu")["known"] == 0


def test_numbers_of_another_torch_are_reported_at_the_line_that_names_it(desk: Desk) -> None:
    path = desk.root / "course.toml"
    path.write_text(path.read_text().replace('"2.13.0"', '"2.4.0"'))

    said = desk.check()

    assert [(found["path"], found["line"], found["rule"]) for found in said["problems"]] == [
        ("course.toml", 4, "torch-version")
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_advice_fails_a_strict_check_alone(desk: Desk, strict: bool) -> None:
    desk.edit("One and one are two.", "One and one are are two.")

    said = desk.check(*(["--strict"] if strict else []))

    assert "doubled-word" in [found["rule"] for found in said["advice"]]
    assert (said["status"], said["outcome"]) == ((1, "broken") if strict else (0, "holds"))
