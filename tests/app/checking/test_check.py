"""`check` runs what a course promises, keeps the evidence, and says where a expectation is broken."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.check import main, make_progress
from app.course.block_tree import blocks_of
from app.course.blocks import Claim
from app.course.loader import load_course
from app.web.edge.rendering import Renderer
from app.web.views.presenting import ChapterState, present_claim

from .conftest import HERE, Desk


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


def test_a_claim_made_false_is_reported_and_its_evidence_says_so(desk: Desk) -> None:
    desk.edit("assert total == 2", 'assert total == 3, "it is not three"')

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["line"]) == ("claim-failed", desk.line_of("assert total"))
    evidence = load_course(desk.root)[0].evidence["sums/adds"]
    assert (evidence.held, evidence.message) == (False, "AssertionError: it is not three")


def test_a_claim_made_false_loses_its_mark_on_the_page_and_gets_it_back_when_mended(desk: Desk) -> None:
    marks = [mark_of_the_claim(desk)]
    desk.edit("assert total == 2", "assert total == 3")
    marks.append(mark_of_the_claim(desk))
    statuses = [desk.check()["status"]]
    marks.append(mark_of_the_claim(desk))
    desk.edit("assert total == 3", "assert total == 2")
    statuses.append(desk.check()["status"])
    marks.append(mark_of_the_claim(desk))

    assert statuses == [1, 0]
    assert marks == ["is-held", "is-waiting", "is-broken", "is-held"]


def mark_of_the_claim(desk: Desk) -> str:
    """The class that the page's block has, read from the course as it is on disk now."""
    course, _ = load_course(desk.root)
    (chapter,) = course.chapters
    claim = next(claim for claim in blocks_of(Claim, chapter.blocks) if claim.id == "adds")
    html = Renderer().block(present_claim(claim, ChapterState(course, chapter)))
    (mark,) = [name for name in ("is-held", "is-waiting", "is-broken") if name in html]
    assert ("✓" in html) == (mark == "is-held")
    return mark


def test_a_claim_whose_code_changed_has_no_evidence_until_it_is_run(desk: Desk) -> None:
    assert load_course(desk.root)[0].evidence["sums/adds"].held

    desk.edit("assert total == 2", "assert total == 4 - 2")

    assert load_course(desk.root)[0].evidence == {}


def test_evidence_names_version_device_and_date(desk: Desk) -> None:
    entry = desk.evidence()["adds"]

    assert (entry["held"], entry["torch"], entry["device"], entry["python"]) == (True, "2.13.0", "cpu", "3.11.0")
    assert len(entry["checked_on"]) == len("2026-01-01")


def test_a_claim_that_held_again_keeps_its_date(desk: Desk) -> None:
    path = desk.chapter.parent / "evidence.json"
    (desk.root / ".cache" / "check.json").unlink()
    path.write_text(path.read_text().replace(desk.evidence()["adds"]["checked_on"], "2001-01-01"))

    desk.check()

    assert desk.evidence()["adds"]["checked_on"] == "2001-01-01"


def test_evidence_of_a_claim_that_is_gone_is_dropped(desk: Desk) -> None:
    desk.edit("{claim} adds", "{claim} sums-up")

    desk.check()

    assert set(desk.evidence()) == {"sums-up"}


def test_a_claim_that_needs_a_gpu_runs_where_there_is_one_and_keeps_that_evidence_elsewhere(desk: Desk) -> None:
    (desk.root / ".cache" / "check.json").unlink()
    with_gpu = desk.check(mode="gpu")
    (desk.root / ".cache" / "check.json").unlink()
    without = desk.check()

    assert (with_gpu["waiting_for_gpu"], without["waiting_for_gpu"]) == (0, 1)
    assert desk.evidence()["needs-gpu"]["device"] == "cuda: fake"


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


def test_a_starter_that_passes_is_reported(desk: Desk) -> None:
    (desk.root / "exercises/double/starter.py").write_text("def double(x):\n    return 2 * x\n")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["path"]) == ("exercise-proof", "exercises/double/starter.py")


def test_an_attempt_with_another_finding_is_reported_where_it_is_listed(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace('finding = "not-doubled"', 'finding = "other"'))

    (found,) = desk.check()["problems"]

    listed = next(n for n, line in enumerate(path.read_text().split("\n"), 1) if "unchanged.py" in line)
    assert (found["path"], found["line"]) == ("exercises/double/exercise.toml", listed)
    assert "should get wrong_answer with the finding 'other'" in found["message"]


def test_only_the_part_that_was_asked_for_is_checked(desk: Desk) -> None:
    (desk.root / "exercises/double/starter.py").write_text("def double(x):\n    return 2 * x\n")

    assert desk.check("--only", "chapters/sums")["status"] == 0
    assert desk.check("--only", "exercises/double")["status"] == 1


def test_a_path_inside_a_course_means_that_part_of_it(desk: Desk) -> None:
    out = io.StringIO()

    status = main([str(desk.chapter)], [sys.executable, str(HERE / "fake_graders.py"), "", ""], out)

    assert status == 0
    assert "known" in out.getvalue()


def test_mistakes_in_the_text_and_broken_promises_come_in_one_report(desk: Desk) -> None:
    desk.edit("assert total == 2", "assert total == 3")
    desk.edit("Click the leaf.", "Click the [leaf](#nowhere).")

    assert {found["rule"] for found in desk.check()["problems"]} == {"claim-failed", "dead-link"}


def test_text_alone_runs_nothing(desk: Desk) -> None:
    desk.edit("assert total == 2", "assert total == 3")

    said = desk.check("--text", mode="dies")

    assert (said["status"], said["ran"]) == (0, 0)


@pytest.mark.parametrize("mode", ["dies", "dies-later", "babbles"])
def test_graders_that_fail_are_not_the_courses_fault(desk: Desk, mode: str) -> None:
    (desk.root / ".cache" / "check.json").unlink()

    said = desk.check(mode=mode)

    assert (said["status"], said["outcome"], said["problems"]) == (2, "fault", [])
    assert len(said["faults"]) == 1


def test_a_fault_during_one_run_says_which_and_leaves_the_others_proven(desk: Desk) -> None:
    desk.edit("total = 1 + 1", "total = 1 + 1  # the graders fail here")

    said = desk.check()

    assert said["status"] == 2
    assert said["faults"] == ["sums#adds: grader_fault"]


def test_a_fault_that_passes_is_run_once_more_and_forgotten(desk: Desk) -> None:
    desk.edit("total = 1 + 1", "total = 1 + 1  # the graders stumble here once")

    said = desk.check()

    assert (said["status"], said["faults"], said["repeated"]) == (0, [], 1)


def test_runs_that_are_the_same_are_run_once(desk: Desk) -> None:
    text = desk.chapter.read_text()
    twin = text[text.index("```{cell} prints") : text.index("```{cell} fails-on-purpose")]
    desk.chapter.write_text(text + "\n" + twin.replace("cell} prints", "cell} prints-too"))
    (desk.root / ".cache" / "check.json").unlink()

    said = desk.check()

    assert (said["status"], said["ran"]) == (0, 10)
    assert desk.check()["known"] == 11


def test_what_update_wrote_is_known_to_hold(desk: Desk) -> None:
    desk.edit("x = 1.0", "x = 1.0\nz = 2.0")
    desk.edit('print("two")', 'print("three")')

    assert desk.check("--update")["ran"] == 2
    assert desk.check(mode="dies")["status"] == 0


def test_a_limit_with_no_room_above_the_solution_is_reported_where_it_is_set(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace("memory_mib = 256", "memory_mib = 100"))

    (found,) = desk.check(mode="hungry")["problems"]

    line = path.read_text().split("\n").index("memory_mib = 100") + 1
    assert (found["rule"], found["path"], found["line"]) == ("tight-limit", "exercises/double/exercise.toml", line)
    assert found["remedy"] == "allow at least 3 times as much: memory_mib = 128"


def test_a_number_of_checks_that_no_run_has_is_reported_where_it_is_said(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace("public = 1\n", "public = 3\n"))

    (found,) = desk.check()["problems"]

    line = path.read_text().split("\n").index("public = 3") + 1
    assert (found["rule"], found["path"], found["line"]) == ("checks", "exercises/double/exercise.toml", line)
    assert found["remedy"].startswith("write public = 1 and hidden = 1")


def test_a_mutant_that_passes_is_reported_and_one_that_is_caught_is_not(desk: Desk) -> None:
    mutants = desk.root / "exercises/double/mutants"
    mutants.mkdir()
    (mutants / "adds_nothing.py").write_text("def double(x):\n    return x\n")
    (mutants / "multiplies.py").write_text("def double(x):\n    return x * 2\n")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["path"]) == ("exercise-proof", "exercises/double/mutants/multiplies.py")


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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_a_log_gets_lines() -> None:
    log, screen = io.StringIO(), Terminal()
    for done in range(1, 41):
        make_progress(log)(done, 40, f"cell {done}")
        make_progress(screen)(done, 40, f"cell {done}")

    assert log.getvalue().split("\n")[:2] == ["4 of 40 proven; last: cell 4", "8 of 40 proven; last: cell 8"]
    assert log.getvalue().count("\n") == 10
    assert "[##########          ] 20/40, about 10 s left cell 20" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[2K")


def test_a_terminal_says_about_how_long_it_still_takes() -> None:
    screen, clock = Terminal(), iter([0.0, 2.0, 30.0, 105.0])
    show = make_progress(screen, lambda: next(clock))
    for done, total in ((1, 12), (6, 12), (12, 120)):
        show(done, total, "cell")

    shown = [line.partition("]")[2] for line in screen.getvalue().split("\r\x1b[2K")[1:]]
    assert shown == [
        " 1/12, about 30 s left cell",
        " 6/12, about 30 s left cell",
        " 12/120, about 16 min left cell",
    ]


def test_a_folder_without_a_course_is_reported(tmp_path: Path) -> None:
    out = io.StringIO()

    status = main([str(tmp_path)], [], out)

    assert status == 1
    assert "course.toml" in out.getvalue()


def test_an_unchanged_course_is_known_without_starting_the_graders(desk: Desk) -> None:
    desk.check()

    assert desk.check(mode="dies")["status"] == 0


def test_what_held_on_another_torch_is_run_again(desk: Desk) -> None:
    desk.check()
    desk.edit("total = 1 + 1", "total = 2")

    assert desk.check(mode="gpu")["known"] == 0


def test_an_exercise_that_needs_a_meter_is_left_out_in_words_where_there_is_none(desk: Desk) -> None:
    manifest = desk.root / "exercises" / "double" / "exercise.toml"
    manifest.write_text(manifest.read_text().replace('flavour = "plain"', 'flavour = "plain"\nmemory_meter = true'))

    said = desk.check()

    assert (said["status"], said["waiting_for_meter"]) == (0, ["double"])
    assert not any(name.startswith("exercises/double") for name in said["timings"]["run_seconds"])


def test_a_mistake_in_an_exercises_programs_is_a_problem_once_and_no_fault(desk: Desk) -> None:
    cases = desk.root / "exercises/double/cases.py"
    cases.write_text(cases.read_text().replace("rng.randint", "rng.randnt"))

    said = desk.check()

    assert (said["status"], said["faults"]) == (1, [])
    assert [(found["path"], found["line"], found["rule"]) for found in said["problems"]] == [
        ("exercises/double/cases.py", 5, "exercise-code")
    ]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("solution.py", b"def double(x)\n    return 2 * x\n", 1),
        ("solution.py", "# zwölf\n".encode("latin-1"), 1),
        ("exercise.toml", "# zwölf\n".encode("latin-1"), 1),
        ("probe.py", None, 1),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_once_and_nothing_is_graded_with_it(
    desk: Desk, file: str, text: bytes | None, line: int
) -> None:
    path = desk.root / "exercises/double" / file
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text + path.read_bytes())

    said = desk.check()

    assert (said["status"], said["faults"], said["ran"]) == (1, [], 0)
    assert [(found["path"], found["line"]) for found in said["problems"]] == [(f"exercises/double/{file}", line)]


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        (["--only", "chapters/sum"], "did you mean chapters/sums"),
        (["--only", "chapters/sums/chaptr.md"], "did you mean chapters/sums/chapter.md"),
        (["--only", "exercises/duoble"], "did you mean exercises/double"),
        (["--only", "zzz"], "name a chapter's or an exercise's folder"),
        (["--only", "/etc"], "name a chapter's or an exercise's folder"),
        (["--only", "chapters/sums", "--only", "chapters/typo"], "chapters/typo is not in the course"),
    ],
)
def test_a_name_that_the_course_does_not_have_checks_nothing_and_names_the_nearest(
    desk: Desk, capsys: pytest.CaptureFixture[str], asked: list[str], near: str
) -> None:
    out = io.StringIO()

    status = main([str(desk.root), *asked], [], out)

    assert (status, out.getvalue()) == (2, "")
    assert near in capsys.readouterr().err


def test_a_path_that_is_not_there_checks_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = [main([str(desk.root / name)], []) for name in ("chapters/sum", "chapters/sums/chapter.mdx")]
    statuses.append(main(["/nowhere/at/all"], []))

    said = capsys.readouterr().err
    assert statuses == [2, 2, 2]
    assert "did you mean chapters/sums" in said
    assert "/nowhere/at/all does not exist" in said


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


def test_an_assert_in_a_loop_that_is_never_entered_proves_nothing(desk: Desk) -> None:
    desk.edit("assert total == 2", "for total in []:\n    assert total == 2")

    said = desk.check()

    assert [(found["rule"], found["line"]) for found in said["problems"]] == [
        ("idle-claim", desk.line_of("    assert total"))
    ]


def test_asserts_under_a_condition_need_not_run(desk: Desk) -> None:
    loop = "for n in [1]:\n    assert (\n        n == 1\n    ), 'one'\n"
    desk.edit("assert total == 2", f"{loop}if total > 5:\n    assert False == total\nassert total == 2")

    assert desk.check()["problems"] == []


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
